// SPDX-License-Identifier: Apache-2.0
// The committed file of format version 1: this library reads it as what it was made from, and still
// writes the same sections, in whatever order. It was written by this test, with
// MXPROF_WRITE_GOLDEN=PATH; a released version's file is never written again, a new version gets a
// file of its own.
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "describe_source.h"
#include "profiler/trace/file/native.h"
#include "trace_sample.h"

static void write_golden(const char *path)
{
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer;
    assert_int_equal(mxp__native_writer_open(path, &writer), 0);
    assert_int_equal(mxp__native_append(writer, first), 0);
    assert_int_equal(mxp__native_append(writer, second), 0);
    mxp__native_writer_close(writer);
    mxp__source_close(first);
    mxp__source_close(second);
}

static const char *golden_path(void)
{
    static char path[4096];
    const char *tree = getenv("MXPROF_SOURCE");
    assert_non_null(tree);  // the build sets it
    snprintf(path, sizeof path, "%s/tests/format/v1.mxp", tree);
    return path;
}

static size_t load(const char *path, char *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    assert_true(size > 0 && size < capacity);
    return size;
}

static bool other_byte_order(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static void version_1_is_read_as_what_it_was_made_from(void **state)
{
    (void)state;
    mxp_source *file;
    mxp_damage damage;
    int error = mxp__native_open(golden_path(), &file, &damage);
    if (other_byte_order()) {
        assert_int_equal(error, MXP_EFORMAT);
        return;
    }
    assert_int_equal(error, 0);
    assert_null(damage.text);
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_strbuf expected = {0}, found = {0};
    assert_int_equal(describe_events(first, &expected), 0);
    assert_int_equal(describe_events(second, &expected), 0);
    assert_int_equal(describe_events(file, &found), 0);
    assert_string_equal(mxp__strbuf_text(&found), mxp__strbuf_text(&expected));
    mxp__strbuf_clear(&expected);
    mxp__strbuf_clear(&found);
    describe_tables(second, &expected);  // the later sections replace the earlier ones
    describe_tables(file, &found);
    assert_string_equal(mxp__strbuf_text(&found), mxp__strbuf_text(&expected));
    mxp__strbuf_fini(&expected);
    mxp__strbuf_fini(&found);
    mxp__source_close(first);
    mxp__source_close(second);
    mxp__source_close(file);
}

static const mxp_section *section_at(const char *bytes, size_t offset)
{
    return (const mxp_section *)(const void *)(bytes + offset);
}

static bool has_section(const char *bytes, size_t size, const mxp_section *wanted)
{
    for (size_t at = sizeof(mxp_file_header); at < size;
         at += section_at(bytes, at)->length_bytes) {
        const mxp_section *found = section_at(bytes, at);
        assert_int_equal(found->magic, MXP_SECTION_MAGIC);
        if (found->length_bytes == wanted->length_bytes &&
            memcmp(found, wanted, wanted->length_bytes) == 0) {
            return true;
        }
    }
    return false;
}

static void version_1_is_still_written_so(void **state)
{
    (void)state;
    if (other_byte_order() || sizeof(void *) != 8) {
        skip();
    }
    _Alignas(16) static char golden[1 << 16], now[1 << 16];
    write_golden("now.mxp");
    size_t size = load("now.mxp", now, sizeof now);
    assert_int_equal(load(golden_path(), golden, sizeof golden), size);
    assert_memory_equal(golden, now, sizeof(mxp_file_header));
    for (size_t at = sizeof(mxp_file_header); at < size;
         at += section_at(golden, at)->length_bytes) {
        assert_true(has_section(now, size, section_at(golden, at)));
    }
    assert_int_equal(remove("now.mxp"), 0);
}

int main(void)
{
    if (getenv("MXPROF_WRITE_GOLDEN") != NULL) {
        write_golden(getenv("MXPROF_WRITE_GOLDEN"));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_read_as_what_it_was_made_from),
        cmocka_unit_test(version_1_is_still_written_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
