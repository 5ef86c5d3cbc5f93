// SPDX-License-Identifier: Apache-2.0
// The walk over an event's arguments, seen by a format that writes "key=value;", and that the two
// formats that take it tell the same.
#include "profiler/export/event_args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/trace/reader.h"

typedef struct plain {
    mxp_source *source;
    mxp_strbuf text;
} plain;

static void on_name(void *to, uint32_t name)
{
    plain *p = to;
    mxp_name_view view = p->source->name(p->source, name);
    mxp__strbuf_printf(&p->text, "%.*s;", (int)view.length, view.text);
}

static void on_key(void *to, mxp_arg_key key)
{
    mxp__strbuf_printf(&((plain *)to)->text, "%s=", mxp__arg_keys[key]);
}

static void on_named_key(void *to, uint32_t name)
{
    plain *p = to;
    mxp_name_view view = p->source->name(p->source, name);
    mxp__strbuf_printf(&p->text, "<%.*s>=", (int)view.length, view.text);
}

static void on_u64(void *to, uint64_t value)
{
    mxp__strbuf_printf(&((plain *)to)->text, "u%" PRIu64 ";", value);
}

static void on_i64(void *to, int64_t value)
{
    mxp__strbuf_printf(&((plain *)to)->text, "i%" PRId64 ";", value);
}

static void on_f64(void *to, double value)
{
    mxp__strbuf_printf(&((plain *)to)->text, "f%g;", value);
}

static void on_us(void *to, int64_t ns)
{
    mxp__strbuf_printf(&((plain *)to)->text, "%" PRId64 "ns;", ns);
}

static void on_yes(void *to)
{
    mxp__strbuf_puts(&((plain *)to)->text, "yes;");
}

static void on_text(void *to, const char *text, size_t length)
{
    mxp__strbuf_printf(&((plain *)to)->text, "'%.*s';", (int)length, text);
}

static const mxp_arg_form form = {.key = on_key,
                                  .named_key = on_named_key,
                                  .u64 = on_u64,
                                  .i64 = on_i64,
                                  .f64 = on_f64,
                                  .us = on_us,
                                  .yes = on_yes,
                                  .text = on_text,
                                  .name = on_name};

// The arguments of the source's first event; closes the source.
static void expect(mxp_source *source, const char *arguments)
{
    mxp_reader *reader;
    mxp_event event;
    plain seen = {.source = source};
    assert_int_equal(mxp__reader_open(source, &reader), 0);
    assert_int_equal(mxp__reader_next(reader, &event), 1);
    assert_true(mxp__event_args(source, &event, &form, &seen));
    assert_string_equal(mxp__strbuf_text(&seen.text), arguments);
    mxp__strbuf_fini(&seen.text);
    mxp__reader_close(reader);
    mxp__source_close(source);
}

static void span_without_arguments_has_none(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, NULL);
    fake_span(source, thread, fake_span_name(source, "c", "s"), 1, 2);
    expect(source, "");
}

static void span_tells_its_arguments_by_type_and_then_what_was_cut(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, NULL);
    uint32_t key = fake_string(source, "k"), word = fake_string(source, "word");
    const mxp_arg args[] = {{key, MXP_ARG_U64, {.u64 = UINT64_MAX}},
                            {key, MXP_ARG_I64, {.i64 = -7}},
                            {word, MXP_ARG_F64, {.f64 = 0.5}},
                            {key, MXP_ARG_NAME, {.u64 = word}}};
    const mxp_span span = {.name = fake_span_name(source, "c", "s"),
                           .begin_ticks = 1,
                           .end_ticks = 2,
                           .flags = MXP_SPAN_BEGIN_CLIPPED | MXP_SPAN_CLOSED_BY_STOP |
                                    MXP_SPAN_OPEN_AT_CRASH | MXP_SPAN_ARGS_CUT,
                           .args = args,
                           .arg_count = 4};
    fake_long_span(source, thread, &span);
    expect(source,
           "<k>=u18446744073709551615;<k>=i-7;<word>=f0.5;<k>=word;begun='before recording';"
           "closed='stop';ended='never';arguments='cut';");
}

static mxp_source *operator_source(void)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, NULL);
    uint32_t outer = fake_scope(source, 0, "net");
    const mxp_operator op = {.name = fake_span_name(source, "operator", "conv"),
                             .id = 9,
                             .released_by = 4,
                             .bulk_parent = 3,
                             .device = 129,
                             .scope = fake_scope(source, outer, "conv0"),
                             .shape = fake_string(source, "(2,3)"),
                             .push_ticks = 100,
                             .ready_ticks = 400,
                             .start_ticks = 1000,
                             .end_ticks = 2000,
                             .flags = 2 | MXP_OP_FAILED};
    fake_operator(source, thread, &op);
    return source;
}

static void operator_tells_times_numbers_phase_scope_shape_and_failure(void **state)
{
    (void)state;
    expect(operator_source(), "op=u9;queued_us=600ns;blocked_us=300ns;after=u4;bulk=u3;"
                              "device=u129;phase='backward';scope='net/conv0';shape=(2,3);"
                              "failed=yes;");
}

static void scope_without_memory_is_an_incomplete_walk(void **state)
{
    (void)state;
    mxp_source *source = operator_source();
    mxp_reader *reader;
    mxp_event event;
    plain seen = {.source = source};
    assert_int_equal(mxp__reader_open(source, &reader), 0);
    assert_int_equal(mxp__reader_next(reader, &event), 1);
    mxp__strbuf_reserve(&seen.text, 1024);
    fake_alloc_fail_after(0);
    assert_false(mxp__event_args(source, &event, &form, &seen));
    fake_alloc_fail_never();
    assert_non_null(strstr(mxp__strbuf_text(&seen.text), "scope='';shape=(2,3);failed=yes;"));
    mxp__strbuf_fini(&seen.text);
    mxp__reader_close(reader);
    mxp__source_close(source);
}

static void arguments_cut_by_their_limit_are_told_in_chrome_json(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, NULL);
    const mxp_span span = {.name = fake_span_name(source, "c", "s"),
                           .begin_ticks = 1,
                           .end_ticks = 2,
                           .flags = MXP_SPAN_ARGS_CUT};
    fake_long_span(source, thread, &span);
    char *text = export_text("chrome", source, NULL);
    assert_non_null(strstr(text, "\"args\":{\"arguments\":\"cut\"}}"));
    free(text);
    mxp__source_close(source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(span_without_arguments_has_none),
        cmocka_unit_test(span_tells_its_arguments_by_type_and_then_what_was_cut),
        cmocka_unit_test(operator_tells_times_numbers_phase_scope_shape_and_failure),
        cmocka_unit_test(scope_without_memory_is_an_incomplete_walk),
        cmocka_unit_test(arguments_cut_by_their_limit_are_told_in_chrome_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
