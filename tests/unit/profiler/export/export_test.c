// SPDX-License-Identifier: Apache-2.0
// The driver: the list of exporters, and the three ways in which one may read its source.
#include "profiler/export/export.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_source.h"

static void exporters_are_found_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"chrome", "perfetto", "table", "json", "csv"};
    const mxp_exporter *const *all = mxp__exporters();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(mxp__exporter_find(names[i])->name, names[i]);
    }
    for (size_t i = 0; all[i] != NULL; i++) {
        assert_ptr_equal(mxp__exporter_find(all[i]->name), all[i]);
        assert_true(all[i]->extension[0] == '.' && strlen(all[i]->help) > 10);
    }
    assert_null(mxp__exporter_find("pftrace"));
    assert_null(mxp__exporter_find(NULL));
}

// An exporter that takes events one by one, in time order.
static int put_begin(mxp_export *run)
{
    mxp__strbuf_puts(run->out, "<");
    return MXP_OK;
}

static int put_event(mxp_export *run, const mxp_event *event)
{
    mxp__strbuf_printf(run->out, " %llu", (unsigned long long)event->end_ticks);
    return event->end_ticks == 666 ? mxp_set_last_error(MXP_ESTATE, "enough") : MXP_OK;
}

static int put_end(mxp_export *run)
{
    mxp__strbuf_puts(run->out, " >");
    return MXP_OK;
}

static const mxp_exporter by_event = {
    .name = "events", .begin = put_begin, .event = put_event, .end = put_end};

static int run_exporter(const mxp_exporter *exporter, mxp_source *source, mxp_strbuf *text)
{
    mxp_sink sink;
    mxp__strbuf_clear(text);
    mxp__sink_string(&sink, text);
    return mxp__export(exporter, source, NULL, &sink);
}

static int run_events(mxp_source *source, mxp_strbuf *text)
{
    return run_exporter(&by_event, source, text);
}

static void an_exporter_may_take_events_in_time_order(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    mxp_strbuf text = {0};
    assert_int_equal(run_events(source, &text), MXP_OK);
    assert_string_equal(mxp__strbuf_text(&text), "< >");
    fake_span(source, a, 0, 0, 10);
    fake_span(source, a, 0, 0, 30);
    fake_span(source, b, 0, 0, 20);
    assert_int_equal(run_events(source, &text), MXP_OK);
    assert_string_equal(mxp__strbuf_text(&text), "< 10 20 30 >");
    fake_span(source, a, 0, 0, 666);
    fake_span(source, a, 0, 0, 700);
    assert_int_equal(run_events(source, &text), MXP_ESTATE);
    assert_string_equal(mxp_last_error(), "enough");
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

static void an_exporter_without_begin_and_end_writes_its_events(void **state)
{
    (void)state;
    static const mxp_exporter events_only = {.name = "events", .event = put_event};
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    fake_span(source, thread, fake_span_name(source, "c", "x"), 10, 20);
    mxp_strbuf text = {0};
    assert_int_equal(run_exporter(&events_only, source, &text), MXP_OK);
    assert_string_equal(mxp__strbuf_text(&text), " 20");
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

static void damage_leaves_a_complete_text_and_an_error(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    const uint64_t endless[2] = {MXP_KIND_SPAN | 0xff << 8, 0};
    fake_span(source, a, 0, 0, 10);
    fake_words(source, a, 10, endless, 2);
    fake_span(source, b, 0, 0, 20);
    mxp_strbuf text = {0};
    assert_int_equal(run_events(source, &text), MXP_EFORMAT);
    assert_string_equal(mxp__strbuf_text(&text), "< 10 20 >");
    static const char *const names[] = {"chrome", "json"};
    for (size_t i = 0; i < 2; i++) {
        mxp_sink sink;
        mxp__strbuf_clear(&text);
        mxp__sink_string(&sink, &text);
        assert_int_equal(mxp__export(mxp__exporter_find(names[i]), source, NULL, &sink),
                         MXP_EFORMAT);
        assert_non_null(strstr(mxp_last_error(), "damaged record"));
        assert_json(text.data, text.length);
    }
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

static void the_aggregate_exporters_follow_the_options(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_span(source, thread, fake_span_name(source, "c", "first"), 0, 10);
    fake_span(source, thread, fake_span_name(source, "c", "second"), 20, 50);
    const mxp_export_options up = {.ascending = 1}, scopes = {.group = MXP_GROUP_SCOPE};
    char *down_text = export_text("csv", source, NULL), *up_text = export_text("csv", source, &up);
    char *scope_text = export_text("csv", source, &scopes);
    assert_true(strstr(down_text, "second") < strstr(down_text, "first"));
    assert_true(strstr(up_text, "second") > strstr(up_text, "first"));
    assert_non_null(strstr(scope_text, "\"Scopes\",\"<no scope>\",duration,ms,2,4e-05,"));
    free(down_text);
    free(up_text);
    free(scope_text);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exporters_are_found_by_name),
        cmocka_unit_test(an_exporter_may_take_events_in_time_order),
        cmocka_unit_test(an_exporter_without_begin_and_end_writes_its_events),
        cmocka_unit_test(damage_leaves_a_complete_text_and_an_error),
        cmocka_unit_test(the_aggregate_exporters_follow_the_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
