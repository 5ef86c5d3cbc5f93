// SPDX-License-Identifier: Apache-2.0
// What a Perfetto export does when the world fails; what it writes is looked at by tests/perfetto.
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "trace_sample.h"

static void without_memory_it_fails_and_leaks_nothing(void **state)
{
    (void)state;
    mxp_source *source = trace_sample_create();
    size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    for (size_t after = 0; error != MXP_OK; after++) {
        mxp_strbuf text = {0};
        mxp_sink sink;
        mxp__sink_string(&sink, &text);
        fake_alloc_fail_after(after);
        error = mxp__export(&mxp__exporter_perfetto, source, NULL, &sink);
        size_t failed = fake_alloc_failed();
        fake_alloc_fail_never();
        mxp__strbuf_fini(&text);
        assert_int_equal(error, failed > 0 ? MXP_ENOMEM : MXP_OK);
        assert_int_equal(fake_alloc_held_blocks(), held);
        assert_true(after < 10000);
    }
    mxp__source_close(source);
}

static size_t largest_write;

static int count_writes(mxp_sink *sink, const char *data, size_t size_bytes)
{
    (void)data;
    largest_write = size_bytes > largest_write ? size_bytes : largest_write;
    sink->written_bytes += size_bytes;
    return MXP_OK;
}

// The heap holds what one piece of text takes, whatever the trace's length.
static void memory_does_not_grow_with_the_trace(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    uint32_t name = fake_span_name(source, "test", "span");
    for (uint64_t i = 0; i < 200000; i++) {
        fake_span(source, thread, name, 10 * i, 10 * i + 7);
    }
    mxp_sink sink = {.write = count_writes};
    assert_int_equal(mxp__export(&mxp__exporter_perfetto, source, NULL, &sink), MXP_OK);
    assert_true(sink.written_bytes > 200000 * 40);
    assert_true(largest_write < 2 << 20);
    mxp__source_close(source);
}

static int refuse(mxp_sink *sink, const char *data, size_t size_bytes)
{
    (void)sink;
    (void)data;
    (void)size_bytes;
    return MXP_EIO;
}

static void an_error_of_the_sink_ends_the_export(void **state)
{
    (void)state;
    mxp_source *source = trace_sample_create();
    mxp_sink sink = {.write = refuse};
    size_t held = fake_alloc_held_blocks();
    assert_int_equal(mxp__export(&mxp__exporter_perfetto, source, NULL, &sink), MXP_EIO);
    assert_int_equal(fake_alloc_held_blocks(), held);
    mxp__source_close(source);
}

static void damage_is_reported_behind_what_could_be_read(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    uint32_t name = fake_span_name(source, "test", "before the damage");
    fake_span(source, thread, name, 10, 20);
    static const uint64_t endless[2];  // a record of length 0
    fake_words(source, thread, 30, endless, 2);
    mxp_strbuf text = {0};
    mxp_sink sink;
    mxp__sink_string(&sink, &text);
    assert_int_equal(mxp__export(&mxp__exporter_perfetto, source, NULL, &sink), MXP_EFORMAT);
    assert_non_null(strstr(mxp_last_error(), "its length is 0"));
    assert_non_null(memmem(text.data, text.length, "before the damage", 17));
    assert_non_null(memmem(text.data, text.length, "lost_records", 12));
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_it_fails_and_leaks_nothing),
        cmocka_unit_test(memory_does_not_grow_with_the_trace),
        cmocka_unit_test(an_error_of_the_sink_ends_the_export),
        cmocka_unit_test(damage_is_reported_behind_what_could_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
