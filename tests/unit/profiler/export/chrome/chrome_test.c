// SPDX-License-Identifier: Apache-2.0
// Whole Chrome exports: hostile names, rows that share ids, several threads, damage, lack of
// memory.
#include "profiler/export/chrome/chrome.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_alloc.h"
#include "fake_source.h"

static const char *const hostile[] = {
    "quote \" backslash \\ slash /",
    "newline \n tab \t bell \a escape \x1b delete \x7f",
    "invalid \xff\xfe utf \xc3 and \xed\xa0\x80 surrogate",
    "emoji \xf0\x9f\x98\x80 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
    "{\"ph\":\"X\"},\n{",
    "",
    "</script>",
    "%s%n%d",
};

static void names_of_any_bytes_give_valid_json(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    static const int styles[] = {MXP_STYLE_SPAN,    MXP_STYLE_ASYNC, MXP_STYLE_COUNTER,
                                 MXP_STYLE_INSTANT, MXP_STYLE_FLOW,  MXP_STYLE_NONE};
    uint64_t now = 1000;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        uint32_t thread = fake_thread(source, hostile[i]);
        fake_info(source, hostile[i], hostile[i]);
        for (size_t s = 0; s < sizeof styles / sizeof styles[0]; s++) {
            uint32_t name = fake_name(source, hostile[i], hostile[i], styles[s], MXP_UNIT_NONE);
            fake_span(source, thread, name, now, now + 100);
            fake_counter_u64(source, thread, name, now + 200, i);
            fake_instant(source, thread, name, now + 300, MXP_INSTANT_THREAD);
            fake_flow(source, thread, name, now + 400, MXP_FLOW_START, now);
            const mxp_arg arg = {.key = name, .type = MXP_ARG_NAME, .value.u64 = name};
            const mxp_span span = {.name = name,
                                   .begin_ticks = now,
                                   .end_ticks = now + 500,
                                   .lane = name,
                                   .arg_count = 1,
                                   .args = &arg};
            fake_long_span(source, thread, &span);
            const mxp_operator op = {.name = name,
                                     .id = 1,
                                     .start_ticks = now + 500,
                                     .end_ticks = now + 600,
                                     .shape = name,
                                     .scope = fake_scope(source, 0, hostile[i])};
            fake_operator(source, thread, &op);
            now += 1000;
        }
    }
    char *text = export_text("chrome", source, NULL);
    assert_json(text, strlen(text));
    assert_int_equal(count_text(text, "\"ph\":\"C\""), 8 * 6);
    assert_non_null(strstr(text, "emoji \xf0\x9f\x98\x80"));
    assert_non_null(strstr(text, "invalid \xef\xbf\xbd\xef\xbf\xbd utf \xef\xbf\xbd and "));
    assert_non_null(strstr(text, "\"cat\":\"user\",\"name\":\"\""));
    free(text);
    mxp__source_close(source);
}

static void bytes_zero_and_names_of_ten_megabytes_are_written(void **state)
{
    (void)state;
    enum { LONG = 10 << 20 };
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    char *big = malloc(LONG);
    assert_non_null(big);
    memset(big, '"', LONG);  // each becomes two
    uint32_t category = fake_string(source, "c");
    uint32_t name = fake_name_bytes(source, category, big, LONG, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    uint32_t zeros = fake_name_bytes(source, category, "a\0b", 3, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    fake_span(source, thread, name, 10, 20);
    fake_span(source, thread, name, 30, 40);
    fake_span(source, thread, zeros, 50, 60);
    char *text = export_text("chrome", source, NULL);
    assert_true(strlen(text) > 4u * LONG);
    assert_non_null(strstr(text, "\"name\":\"a\\u0000b\""));
    assert_json(text, strlen(text));
    free(text);
    free(big);
    mxp__source_close(source);
}

static void ids_beyond_the_source_are_survived(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_span(source, thread, 0x7fffffff, 10, 20);
    fake_counter_u64(source, thread, UINT32_MAX, 30, 1);
    const mxp_span span = {.name = 1000, .begin_ticks = 40, .end_ticks = 50, .lane = 0x7ffffffe};
    fake_long_span(source, thread, &span);
    const mxp_span other = {.name = 1000, .begin_ticks = 40, .end_ticks = 50, .lane = UINT32_MAX};
    fake_long_span(source, thread, &other);
    char *text = export_text("chrome", source, NULL);
    assert_json(text, strlen(text));
    assert_int_equal(count_text(text, "<bad name>"), 5);  // the counter says it twice
    assert_null(strstr(text, "\"tid\":-"));
    free(text);
    mxp__source_close(source);
}

// The system gives the id of a thread that has ended to a new one; rows must not mix.
static void threads_with_one_id_are_two_rows(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t first = fake_thread(source, "first"), second = fake_thread(source, NULL);
    fake_thread_entry(source, second)->tid = fake_thread_entry(source, first)->tid;
    uint32_t name = fake_span_name(source, "c", "n");
    fake_span(source, first, name, 10, 20);
    fake_span(source, second, name, 30, 40);
    char *text = export_text("chrome", source, NULL);
    assert_int_equal(count_text(text, "\"tid\":1000,\"ts\""), 1);
    assert_int_equal(count_text(text, "\"tid\":1500000001,\"ts\""), 1);
    assert_non_null(strstr(text, "\"tid\":1500000001,\"args\":{\"name\":\"thread 1\"}"));
    free(text);
    mxp__source_close(source);
}

static void a_process_has_the_name_that_it_gave_itself(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_info(source, "process_name", "ranker 7");
    char *text = export_text("chrome", source, NULL);
    assert_non_null(strstr(text, "\"args\":{\"name\":\"ranker 7\"}"));
    free(text);
    mxp__source_close(source);
}

static void lanes_with_a_place_come_before_the_others(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, NULL), name = fake_span_name(source, "c", "n");
    uint32_t lanes[] = {fake_string(source, "any"),
                        fake_name(source, "gpu", "third", MXP_STYLE_NONE, 3),
                        fake_name(source, "gpu", "first", MXP_STYLE_NONE, 1)};
    for (int i = 0; i < 3; i++) {
        const mxp_span span = {.name = name, .begin_ticks = 1, .end_ticks = 2, .lane = lanes[i]};
        fake_long_span(source, thread, &span);
    }
    char *text = export_text("chrome", source, NULL);
    assert_non_null(strstr(text, "{\"sort_index\":1000001}"));
    assert_non_null(strstr(text, "{\"sort_index\":1000003}"));
    char expected[40];
    snprintf(expected, sizeof expected, "{\"sort_index\":%u}", 1000256 + lanes[0]);
    assert_non_null(strstr(text, expected));
    free(text);
    mxp__source_close(source);
}

static mxp_source *large_source(uint64_t spans)
{
    enum { THREADS = 5, NAMES = 40 };
    mxp_source *source = fake_source_create();
    uint32_t names[NAMES];
    for (int i = 0; i < NAMES; i++) {
        char text[24];
        snprintf(text, sizeof text, "name %d", i);
        names[i] = fake_name(source, "c", text, i % 7 == 0 ? MXP_STYLE_ASYNC : MXP_STYLE_SPAN, 0);
    }
    uint32_t lane = fake_string(source, "lane");
    uint32_t counter = fake_name(source, "c", "counter", MXP_STYLE_COUNTER, 0);
    for (int t = 0; t < THREADS; t++) {
        uint32_t thread = fake_thread(source, NULL);
        for (uint64_t i = 0; i < spans; i++) {
            fake_span(source, thread, names[i % NAMES], 1000 * i, 1000 * i + 900);
            if (i % 100 == 0) {
                fake_counter_u64(source, thread, counter, 1000 * i + 950, i);
                const mxp_span span = {
                    .name = names[1], .begin_ticks = i, .end_ticks = i + 1, .lane = lane};
                fake_long_span(source, thread, &span);
            }
        }
    }
    return source;
}

static void several_threads_write_what_one_writes(void **state)
{
    (void)state;
    mxp_source *source = large_source(30000);
    mxp_export_options options = {.threads = 1};
    char *alone = export_text("chrome", source, &options);
    assert_json(alone, strlen(alone));
    assert_int_equal(count_text(alone, "\n{\"ph\":\"C\""), 5 * 300);
    for (unsigned threads = 0; threads < 20; threads += threads < 4 ? 1 : 12) {
        options.threads = threads;
        char *together = export_text("chrome", source, &options);
        assert_string_equal(together, alone);
        free(together);
    }
    free(alone);
    mxp__source_close(source);
}

// 4096 spans of a name of 64 KiB would be 256 MiB of text at once.
static void text_of_long_names_goes_out_in_pieces(void **state)
{
    (void)state;
    enum { LONG = 64 << 10, BLOCKS = 18, SPANS = 150 };
    mxp_source *source = fake_source_create();
    char *big = malloc(LONG);
    assert_non_null(big);
    memset(big, 'x', LONG);
    uint32_t name = fake_name_bytes(source, 0, big, LONG, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t thread = fake_thread(source, NULL);
        for (uint64_t i = 0; i < SPANS; i++) {
            fake_span(source, thread, name, 100 * i, 100 * i + b);
        }
    }
    mxp_export_options options = {.threads = 1};
    char *alone = export_text("chrome", source, &options);
    options.threads = 3;
    char *together = export_text("chrome", source, &options);
    assert_int_equal(count_text(alone, "\"ph\":\"X\""), BLOCKS * SPANS);
    assert_true(strcmp(together, alone) == 0);
    free(alone);
    free(together);
    free(big);
    mxp__source_close(source);
}

// One bad record ends its block; the rest is written, and the text is complete.
static void damage_is_reported_behind_what_could_be_read(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        mxp_source *source = fake_source_create();
        uint32_t name = fake_span_name(source, "c", "n");
        for (uint32_t b = 0; b < 20; b++) {
            uint32_t thread = fake_thread(source, NULL);
            fake_span(source, thread, name, 10, 20);
            const uint64_t endless[2] = {MXP_KIND_SPAN | 0xff << 8, 0};
            fake_words(source, thread, 20, endless, b == 7 ? 2 : 0);
        }
        mxp_strbuf text = {0};
        mxp_sink sink;
        mxp__sink_string(&sink, &text);
        const mxp_export_options options = {.threads = threads};
        assert_int_equal(mxp__export(&mxp__exporter_chrome, source, &options, &sink), MXP_EFORMAT);
        assert_non_null(strstr(mxp_last_error(), "damaged record"));
        assert_int_equal(count_text(mxp__strbuf_text(&text), "\"ph\":\"X\""), 20);
        assert_json(text.data, text.length);
        mxp__strbuf_fini(&text);
        mxp__source_close(source);
    }
}

static int refuse(mxp_sink *sink, const char *data, size_t size_bytes)
{
    (void)data;
    sink->written_bytes += size_bytes;
    return sink->written_bytes > 3000000 ? mxp_set_last_error(MXP_EIO, "the disk is full") : 0;
}

static void an_error_of_the_sink_ends_the_export(void **state)
{
    (void)state;
    mxp_source *source = large_source(30000);
    for (unsigned threads = 1; threads <= 3; threads++) {
        mxp_sink sink = {.write = refuse};
        const mxp_export_options options = {.threads = threads};
        mxp_set_last_error(MXP_EINVAL, "");
        assert_int_equal(mxp__export(&mxp__exporter_chrome, source, &options, &sink), MXP_EIO);
        assert_string_equal(mxp_last_error(), "the disk is full");
        assert_true(sink.written_bytes < 8000000);
    }
    mxp__source_close(source);
}

static void without_memory_it_fails_and_leaks_nothing(void **state)
{
    (void)state;
    mxp_source *source = large_source(30000);
    size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    for (size_t after = 0; error != MXP_OK; after++) {
        mxp_sink sink = {.write = refuse};
        const mxp_export_options options = {.threads = 1 + after % 2};
        sink.written_bytes = 0;
        fake_alloc_fail_after(after);
        error = mxp__export(&mxp__exporter_chrome, source, &options, &sink);
        fake_alloc_fail_never();
        if (error == MXP_EIO) {
            break;  // it had all the memory it needs
        }
        assert_int_equal(error, MXP_ENOMEM);
        assert_int_equal(fake_alloc_held_blocks(), held);
        assert_true(after < 10000);
    }
    assert_int_equal(fake_alloc_held_blocks(), held);
    mxp__source_close(source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_has_the_name_that_it_gave_itself),
        cmocka_unit_test(lanes_with_a_place_come_before_the_others),
        cmocka_unit_test(names_of_any_bytes_give_valid_json),
        cmocka_unit_test(bytes_zero_and_names_of_ten_megabytes_are_written),
        cmocka_unit_test(ids_beyond_the_source_are_survived),
        cmocka_unit_test(threads_with_one_id_are_two_rows),
        cmocka_unit_test(several_threads_write_what_one_writes),
        cmocka_unit_test(text_of_long_names_goes_out_in_pieces),
        cmocka_unit_test(damage_is_reported_behind_what_could_be_read),
        cmocka_unit_test(an_error_of_the_sink_ends_the_export),
        cmocka_unit_test(without_memory_it_fails_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
