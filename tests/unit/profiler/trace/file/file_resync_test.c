// SPDX-License-Identifier: Apache-2.0
// Damage in the headers of sections: it costs what it hits, and what that is, is told.
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "describe_source.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "trace_sample.h"

enum { FILE_MAX = 1 << 19, HEADER_BYTES = sizeof(mxp_section), SECTIONS_MAX = 64 };

typedef struct image {
    _Alignas(16) uint8_t bytes[FILE_MAX];
    size_t size;
} image;

static image sample, changed;

static size_t load(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    assert_true(size > 0 && size < FILE_MAX);
    return size;
}

static void load_format(const char *name, image *into)
{
    char path[4096];
    const char *tree = getenv("MXPROF_SOURCE");
    assert_non_null(tree);  // the build sets it
    snprintf(path, sizeof path, "%s/tests/format/%s", tree, name);
    into->size = load(path, into->bytes);
}

static int load_sample(void **state)
{
    (void)state;
    load_format("v1.mxp", &sample);
    return 0;
}

static mxp_section *section_at(image *of, size_t offset)
{
    return (mxp_section *)(void *)(of->bytes + offset);
}

// Offsets of the sections from `begin` to the END of that process, or to where there are none.
static size_t find_sections(image *of, size_t begin, size_t offsets[SECTIONS_MAX])
{
    const mxp_file_header *header = (const void *)(of->bytes + begin);
    size_t count = 0, offset = begin + header->header_bytes;
    while (offset < of->size && section_at(of, offset)->magic == MXP_SECTION_MAGIC) {
        assert_true(count < SECTIONS_MAX);
        offsets[count++] = offset;
        offset += section_at(of, offset)->length_bytes;
    }
    return count;
}

static size_t find_type(image *of, unsigned type, unsigned n)
{
    size_t offsets[SECTIONS_MAX], count = find_sections(of, 0, offsets);
    for (size_t i = 0; i < count; i++) {
        if (section_at(of, offsets[i])->type == type && n-- == 0) {
            return offsets[i];
        }
    }
    fail();
    return 0;
}

static const char *left_out_of(const mxp_source *source)
{
    for (size_t i = 0; i < source->info_count; i++) {
        if (strcmp(source->info[i].key, "left_out") == 0) {
            return source->info[i].value;
        }
    }
    return NULL;
}

// The events of an image, or its error as text.
static mxp_strbuf events_of(const image *of, size_t damaged_at)
{
    mxp_strbuf text = {0};
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(of->bytes, of->size, &source, &damage) != 0) {
        mxp__strbuf_puts(&text, "none");
        return text;
    }
    assert_non_null(damage.text);
    assert_int_equal(damage.offset, damaged_at);
    char place[32];
    snprintf(place, sizeof place, " at offset %zu", damaged_at);
    assert_non_null(strstr(left_out_of(source), place));
    assert_int_equal(describe_events(source, &text), 0);
    mxp__source_close(source);
    return text;
}

static void damaged_header_costs_its_section_only(void **state)
{
    (void)state;
    size_t offsets[SECTIONS_MAX], count = find_sections(&sample, 0, offsets);
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        changed = sample;
        changed.bytes[offsets[i] + 16] ^= 1;  // the checksum itself
        mxp_strbuf expected = events_of(&changed, offsets[i]);
        for (size_t at = 0; at < HEADER_BYTES; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                changed = sample;
                changed.bytes[offsets[i] + at] ^= (uint8_t)(1u << bit);
                if (at == 6 && bit == 0) {
                    continue;  // no checksum, so nothing to see
                }
                mxp_strbuf found = events_of(&changed, offsets[i]);
                assert_string_equal(mxp__strbuf_text(&found), mxp__strbuf_text(&expected));
                mxp__strbuf_fini(&found);
            }
        }
        mxp__strbuf_fini(&expected);
    }
}

static void all_that_is_skipped_is_told(void **state)
{
    (void)state;
    changed = sample;
    size_t first = find_type(&sample, MXP_SECTION_CHUNK, 0);
    size_t second = find_type(&sample, MXP_SECTION_CHUNK, 3);
    size_t beside = find_type(&sample, MXP_SECTION_CHUNK, 1);
    memset(changed.bytes + first, 0xa5, HEADER_BYTES);
    changed.bytes[beside + 16] ^= 1;  // one place with the one before
    memset(changed.bytes + second, 0xa5, HEADER_BYTES);
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open_memory(changed.bytes, changed.size, &source, &damage), 0);
    assert_int_equal(damage.offset, first);
    size_t bytes[] = {section_at(&sample, first)->length_bytes +
                          section_at(&sample, beside)->length_bytes,
                      section_at(&sample, second)->length_bytes};
    char expected[160];
    snprintf(expected, sizeof expected,
             "%zu bytes at offset %zu, %zu bytes at offset %zu; %zu bytes in 2 places", bytes[0],
             first, bytes[1], second, bytes[0] + bytes[1]);
    assert_string_equal(left_out_of(source), expected);
    mxp__source_close(source);
}

// ---- several processes -------------------------------------------------------------------------
static void make_two(image *two)
{
    two->size = 2 * sample.size;
    memcpy(two->bytes, sample.bytes, sample.size);
    memcpy(two->bytes + sample.size, sample.bytes, sample.size);
    mxp_file_header *header = (mxp_file_header *)(void *)(two->bytes + sample.size);
    header->pid = UINT32_MAX;  // the later one
    header->checksum = mxp__checksum(header, offsetof(mxp_file_header, checksum));
}

static void check_processes(const image *of, size_t processes, const char *left_out)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open_memory(of->bytes, of->size, &source, &damage), 0);
    assert_non_null(damage.text);
    mxp_source *process;
    mxp_strbuf expected = {0};
    for (size_t i = 0; (process = mxp__source_process(source, i)) != NULL; i++) {
        mxp_strbuf text = {0};
        assert_int_equal(describe_events(process, &text), 0);
        if (i == 0) {
            expected = text;
        } else {
            assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&expected));
            mxp__strbuf_fini(&text);
        }
        assert_true(i < processes);
    }
    assert_int_equal(source->process_count, processes == 1 ? 0 : processes);
    assert_string_equal(left_out_of(mxp__source_process(source, 0)), left_out);
    mxp__strbuf_fini(&expected);
    mxp__source_close(source);
}

static void another_process_is_found_behind_damage(void **state)
{
    (void)state;
    make_two(&changed);
    size_t offsets[SECTIONS_MAX];
    size_t count = find_sections(&sample, 0, offsets);
    changed.bytes[offsets[count - 1]] ^= 1;  // the END before its header
    char left_out[64];
    snprintf(left_out, sizeof left_out, "%zu bytes at offset %zu", sample.size - offsets[count - 1],
             offsets[count - 1]);
    check_processes(&changed, 2, left_out);
}

static void sections_of_a_process_without_header_are_nobodys(void **state)
{
    (void)state;
    make_two(&changed);
    changed.bytes[sample.size] ^= 1;
    char left_out[64];
    snprintf(left_out, sizeof left_out, "%zu bytes at offset %zu", sample.size, sample.size);
    check_processes(&changed, 1, left_out);
}

// ---- mapped files ------------------------------------------------------------------------------
// But for spans that were open, which are in no chunk.
static size_t count_events(const image *of)
{
    mxp_source *source;
    assert_int_equal(mxp__native_open_memory(of->bytes, of->size, &source, NULL), 0);
    size_t events = 0;
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        mxp_event event;
        while (range.sequence != UINT32_MAX && mxp__decoder_next(&decoder, &event) == 1) {
            events++;
        }
    }
    mxp__source_close(source);
    return events;
}

// Without checksums a section proves itself by what comes after it.
static void killed_process_loses_only_what_is_hit(void **state)
{
    (void)state;
    static image mapped;
    load_format("mapped.mxp", &mapped);
    size_t all = count_events(&mapped), lost = 0, offsets[SECTIONS_MAX];
    size_t count = find_sections(&mapped, 0, offsets);
    for (size_t i = 0; i < count; i++) {
        if (section_at(&mapped, offsets[i])->type == MXP_SECTION_CHUNK) {
            changed = mapped;
            section_at(&changed, offsets[i])->magic ^= 0x40;
            size_t left = count_events(&changed);
            lost += all - left;
            for (unsigned bit = 0; bit < 24; bit++) {
                changed = mapped;
                uint64_t *length = &section_at(&changed, offsets[i])->length_bytes;
                *length ^= UINT64_C(1) << bit;
                assert_true(count_events(&changed) >= left);
            }
        }
    }
    assert_int_equal(lost, all);  // each lost its own
    assert_true(all > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_header_costs_its_section_only),
        cmocka_unit_test(all_that_is_skipped_is_told),
        cmocka_unit_test(another_process_is_found_behind_damage),
        cmocka_unit_test(sections_of_a_process_without_header_are_nobodys),
        cmocka_unit_test(killed_process_loses_only_what_is_hit),
    };
    return cmocka_run_group_tests(tests, load_sample, NULL);
}
