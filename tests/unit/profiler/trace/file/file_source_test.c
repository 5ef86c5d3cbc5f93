// SPDX-License-Identifier: Apache-2.0
// Reading native files that are whole, cut, flipped, foreign, hostile or not files at all.
#include <fcntl.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "describe_source.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/reader.h"
#include "trace_sample.h"

// A file in memory; 16-byte aligned, so that it is not copied.
typedef struct image {
    _Alignas(16) uint8_t bytes[1 << 16];
    size_t size;
} image;

static image whole;  // the sample, with two appends
static mxp_strbuf events;  // its events as text

static void load_image(const char *path, image *into)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    into->size = fread(into->bytes, 1, sizeof into->bytes, file);
    assert_true(into->size > 0 && into->size < sizeof into->bytes);
    fclose(file);
}

static void write_sample(const char *path, int appends)
{
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer;
    assert_int_equal(mxp__native_writer_open(path, &writer), 0);
    assert_int_equal(mxp__native_append(writer, first), 0);
    if (appends == 2) {
        assert_int_equal(mxp__native_append(writer, second), 0);
    }
    mxp__native_writer_close(writer);
    mxp__source_close(first);
    mxp__source_close(second);
}

static int make_whole(void **state)
{
    (void)state;
    write_sample("sample.mxp", 2);
    load_image("sample.mxp", &whole);
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open_memory(whole.bytes, whole.size, &source, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(damage.offset, 0);
    assert_int_equal(describe_events(source, &events), 0);
    mxp__source_close(source);
    return 0;
}

static int forget_whole(void **state)
{
    (void)state;
    mxp__strbuf_fini(&events);
    return remove("sample.mxp");
}

static mxp_section *section_at(image *of, size_t offset)
{
    return (mxp_section *)(void *)(of->bytes + offset);
}

// The offset of the n-th section of a type, 0 if there is none.
static size_t find_section(image *of, unsigned type, unsigned n)
{
    size_t offset = sizeof(mxp_file_header);
    while (offset < of->size) {
        if (section_at(of, offset)->type == type && n-- == 0) {
            return offset;
        }
        offset += section_at(of, offset)->length_bytes;
    }
    return 0;
}

// Makes the checksum of a changed section right again: damage by a bad writer, not by the disk.
static void seal(image *of, size_t offset)
{
    mxp_section *section = section_at(of, offset);
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, section);
    mxp__checksum_add(&checksum, section + 1, section->length_bytes - sizeof *section);
    section->checksum = mxp__checksum_end(&checksum);
}

static void seal_header(image *of)
{
    mxp_file_header *header = (mxp_file_header *)(void *)of->bytes;
    header->checksum = mxp__file_header_checksum(header);
}

// Whether every line of `part` is a line of `all`, in the same order.
static bool is_subsequence(const char *part, const char *all)
{
    while (*part != 0) {
        size_t length = strcspn(part, "\n") + 1;
        while (strncmp(part, all, length) != 0) {
            all += strcspn(all, "\n");
            if (*all++ == 0) {
                return false;
            }
        }
        part += length;
        all += length;
    }
    return true;
}

// Opens `size` bytes and reads everything. Returns the error of opening or reading.
static int read_image(const image *of, size_t size, mxp_damage *damage, mxp_strbuf *text)
{
    // A range of exactly this size: a sanitizer sees any read beyond it.
    void *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, of->bytes, size);
    mxp_source *source;
    int error = mxp__native_open_memory(exact, size, &source, damage);
    if (error == 0) {
        error = describe_events(source, text);
        mxp_strbuf tables = {0};
        describe_tables(source, &tables);
        mxp__strbuf_fini(&tables);
        static char line[256];
        if (damage->text != NULL) {  // it lives only as long as the source
            damage->text = strncpy(line, damage->text, sizeof line - 1);
        }
        mxp__source_close(source);
    } else {
        assert_null(source);
    }
    free(exact);
    return error;
}

// ---- cut and flipped ---------------------------------------------------------------------------
static void file_cut_anywhere_gives_what_precedes_the_cut(void **state)
{
    (void)state;
    size_t first_end = find_section(&whole, MXP_SECTION_END, 0);
    first_end += section_at(&whole, first_end)->length_bytes;
    for (size_t size = 0; size < whole.size; size++) {
        mxp_damage damage;
        mxp_strbuf text = {0};
        int error = read_image(&whole, size, &damage, &text);
        if (size < sizeof(mxp_file_header)) {
            assert_int_equal(error, MXP_EFORMAT);
            continue;
        }
        assert_int_equal(error, 0);
        assert_true(is_subsequence(mxp__strbuf_text(&text), mxp__strbuf_text(&events)));
        if (size == first_end) {  // as whole as before the second append
            assert_null(damage.text);
        } else {
            assert_non_null(damage.text);
            assert_true(damage.offset > 0 && damage.offset <= size);
        }
        mxp__strbuf_fini(&text);
    }
}

static void records_before_a_cut_are_all_there(void **state)
{
    (void)state;
    // Cut behind the first, second ... chunk: exactly so many ranges, and with names and times.
    for (unsigned n = 0; n < 3; n++) {
        size_t end = find_section(&whole, MXP_SECTION_CHUNK, n);
        end += section_at(&whole, end)->length_bytes;
        mxp_source *source;
        mxp_damage damage;
        assert_int_equal(mxp__native_open_memory(whole.bytes, end, &source, &damage), 0);
        assert_int_equal(damage.offset, end);
        assert_non_null(strstr(damage.text, "without an END"));
        mxp_record_range range;
        assert_int_equal(source->range(source, n, &range), 1);
        assert_int_equal(source->range(source, (size_t)n + 1, &range), 0);
        assert_string_equal(source->name(source, source->threads[0].name).text, "main");
        assert_int_equal(source->timebase->segment_count, 2);
        mxp__source_close(source);
    }
}

// The section a byte is in, and the file header as one.
static void section_around(size_t at, size_t *begin, size_t *end)
{
    *begin = 0;
    *end = sizeof(mxp_file_header);
    while (at >= *end) {
        *begin = *end;
        *end += section_at(&whole, *begin)->length_bytes;
    }
}

static void flipped_byte_is_found_and_the_rest_is_read(void **state)
{
    (void)state;
    static image flipped;
    flipped = whole;
    for (size_t at = 0; at < whole.size; at++) {
        size_t begin, end;
        section_around(at, &begin, &end);
        for (unsigned bit = 0; bit < 8; bit += 7) {
            flipped.bytes[at] ^= (uint8_t)(1u << bit);
            mxp_damage damage;
            mxp_strbuf text = {0};
            int error = read_image(&flipped, whole.size, &damage, &text);
            bool reserved = at >= 48 && at < 64;  // the only bytes that mean nothing
            bool switched_off = at == begin + 6 && bit == 0;  // no checksum, so nothing to see
            if (begin == 0 && !reserved) {
                assert_true(error == MXP_EFORMAT || error == MXP_EVERSION);
            } else if (reserved || switched_off) {
                assert_int_equal(error, 0);
                assert_null(damage.text);
                assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
            } else {
                assert_int_equal(error, 0);
                assert_non_null(damage.text);
                assert_int_equal(damage.offset, begin);
            }
            mxp__strbuf_fini(&text);
            flipped.bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
}

static void damaged_chunk_is_left_out_and_only_that(void **state)
{
    (void)state;
    static image changed;
    changed = whole;
    size_t chunk = find_section(&whole, MXP_SECTION_CHUNK, 1);
    changed.bytes[chunk + sizeof(mxp_chunk_header) + 5] ^= 1;
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(read_image(&changed, whole.size, &damage, &text), 0);
    assert_int_equal(damage.offset, chunk);
    assert_string_equal(damage.text, "a section's checksum is wrong");
    const char *found = mxp__strbuf_text(&text);
    assert_true(is_subsequence(found, mxp__strbuf_text(&events)));
    assert_null(strstr(found, "frame"));  // of that chunk
    assert_non_null(strstr(found, "gemm"));  // of the next
    assert_non_null(strstr(found, "tail"));  // of the second append
    mxp__strbuf_fini(&text);
}

static void missing_section_shows_at_the_end(void **state)
{
    (void)state;
    static image shorter;
    size_t chunk = find_section(&whole, MXP_SECTION_CHUNK, 1);
    size_t length = section_at(&whole, chunk)->length_bytes;
    shorter = whole;
    memmove(shorter.bytes + chunk, shorter.bytes + chunk + length, whole.size - chunk - length);
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(read_image(&shorter, whole.size - length, &damage, &text), 0);
    assert_int_equal(damage.offset, find_section(&whole, MXP_SECTION_END, 0) - length);
    assert_non_null(strstr(damage.text, "should come before END"));
    mxp__strbuf_fini(&text);
}

static void clock_that_is_lost_is_an_error(void **state)
{
    (void)state;
    write_sample("one.mxp", 1);
    static image one;
    load_image("one.mxp", &one);
    assert_int_equal(remove("one.mxp"), 0);
    size_t clock = find_section(&one, MXP_SECTION_CLOCK, 0);
    one.bytes[clock + 40] ^= 1;
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(read_image(&one, one.size, &damage, &text), MXP_EFORMAT);
    char expected[32];
    snprintf(expected, sizeof expected, "offset %zu", clock);
    assert_non_null(strstr(mxp_last_error(), expected));
    assert_non_null(strstr(mxp_last_error(), "no CLOCK"));
}

// ---- other versions and machines ---------------------------------------------------------------
static void other_headers_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t bytes[8];
        size_t count;
        int error;
        const char *text;
    } cases[] = {
        {0, "PK\3\4", 4, MXP_EFORMAT, "no mxprof native trace"},
        {8, {1, 2, 3, 4}, 4, MXP_EFORMAT, "other byte order"},
        {8, {9, 9, 9, 9}, 4, MXP_EFORMAT, "makes no sense"},
        {14, {2, 0}, 2, MXP_EVERSION, "newer mxprof"},
        {16, {63, 0, 0, 0}, 4, MXP_EFORMAT, "makes no sense"},
        {16, {72, 0, 0, 0}, 4, MXP_EFORMAT, "makes no sense"},
        {16, {0, 0, 0, 1}, 4, MXP_EFORMAT, "makes no sense"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static image changed;
        changed = whole;
        memcpy(changed.bytes + cases[i].offset, cases[i].bytes, cases[i].count);
        seal_header(&changed);
        mxp_damage damage;
        mxp_strbuf text = {0};
        int error = read_image(&changed, whole.size, &damage, &text);
        assert_int_equal(error, cases[i].error);
        assert_non_null(strstr(mxp_last_error(), cases[i].text));
    }
}

// A later writer may add sections, kinds, and bytes to the header; we read what we know.
static void later_minor_format_is_read(void **state)
{
    (void)state;
    static image later;
    enum { MORE = 32 };
    later = whole;
    memmove(later.bytes + 64 + 2 * MORE, whole.bytes + 64, whole.size - 64);
    memset(later.bytes + 64, 0xee, 2 * MORE);
    mxp_file_header *header = (mxp_file_header *)(void *)later.bytes;
    header->version = 9;
    header->header_bytes = 64 + MORE;
    seal_header(&later);
    *section_at(&later, 64 + MORE) =
        (mxp_section){.magic = MXP_SECTION_MAGIC, .type = 999, .length_bytes = MORE};
    size_t offset = 64 + 2 * MORE;
    while (offset < whole.size + 2 * MORE) {
        if (section_at(&later, offset)->type == MXP_SECTION_END) {
            uint64_t *sections = (uint64_t *)(void *)(later.bytes + offset + sizeof(mxp_section));
            sections[0]++;
            seal(&later, offset);
        }
        offset += section_at(&later, offset)->length_bytes;
    }
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(read_image(&later, whole.size + 2 * MORE, &damage, &text), 0);
    assert_null(damage.text);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__strbuf_fini(&text);
}

// ---- hostile content, checksums right ----------------------------------------------------------
// Overwrites bytes of the n-th section of a type (counted from its begin), seals it and reads.
typedef struct change {
    unsigned type, n;
    size_t offset;
    uint64_t value;
    size_t bytes;
    const char *damage;  // null: none
} change;

static void read_changed(const change *made)
{
    static image changed;
    changed = whole;
    size_t section = find_section(&changed, made->type, made->n);
    assert_true(section != 0);
    memcpy(changed.bytes + section + made->offset, &made->value, made->bytes);
    seal(&changed, section);
    mxp_damage damage;
    mxp_strbuf text = {0};
    size_t held = fake_alloc_held_bytes();
    int error = read_image(&changed, whole.size, &damage, &text);
    if (made->damage != NULL) {
        const char *line = error == 0 ? damage.text : mxp_last_error();
        assert_non_null(line);
        assert_non_null(strstr(line, made->damage));
    } else {
        assert_int_equal(error, 0);
        assert_null(damage.text);
    }
    mxp__strbuf_fini(&text);
    assert_int_equal(fake_alloc_held_bytes(), held);
}

static void content_that_makes_no_sense_is_damage(void **state)
{
    (void)state;
    const change changes[] = {
        // section header: payload
        {MXP_SECTION_NAMES, 0, 24, UINT64_MAX, 8, "content is longer"},
        {MXP_SECTION_CHUNK, 0, 24, 8, 8, "multiple of 16"},
        {MXP_SECTION_CHUNK, 0, 24, UINT64_MAX - 15, 8, "content is longer"},
        // names: first, count, lengths, terminator
        {MXP_SECTION_NAMES, 0, 32, 1, 4, "do not follow"},
        {MXP_SECTION_NAMES, 1, 32, UINT32_MAX, 4, "do not follow"},
        {MXP_SECTION_NAMES, 1, 32, 0, 4, "do not follow"},
        {MXP_SECTION_NAMES, 0, 36, UINT32_MAX, 4, "beyond its section"},
        {MXP_SECTION_NAMES, 0, 48, UINT32_MAX, 4, "beyond its section"},
        {MXP_SECTION_NAMES, 0, 52, 1, 1, "beyond its section"},
        {MXP_SECTION_NAMES, 0, 24, 4, 8, "do not follow"},
        // threads: index, a stub of an entry
        {MXP_SECTION_THREADS, 1, 32, 70000, 4, "thread entry"},
        {MXP_SECTION_THREADS, 1, 32, UINT32_MAX, 4, "thread entry"},
        {MXP_SECTION_THREADS, 1, 24, 47, 8, "thread entry"},
        // chunks: thread
        {MXP_SECTION_CHUNK, 0, 32, UINT32_MAX, 4, "thread 4294967295"},
        {MXP_SECTION_CHUNK, 0, 32, 65535, 4, NULL},
        // clock: counts, mult, order
        {MXP_SECTION_CLOCK, 1, 36, UINT32_MAX, 4, "without its segments"},
        {MXP_SECTION_CLOCK, 1, 40, UINT32_MAX, 4, "without its segments"},
        {MXP_SECTION_CLOCK, 1, 40, 0, 4, "without its segments"},
        {MXP_SECTION_CLOCK, 1, 24, 39, 8, "without its segments"},
        {MXP_SECTION_CLOCK, 1, 72 + 48 + 16, 0, 8, "backwards"},
        {MXP_SECTION_CLOCK, 1, 72 + 48 + 16, UINT64_MAX, 8, "backwards"},
        {MXP_SECTION_CLOCK, 1, 72 + 48 + 8, INT64_MAX, 8, "backwards"},
        {MXP_SECTION_CLOCK, 1, 72 + 48, UINT64_MAX, 8, "backwards"},
        {MXP_SECTION_CLOCK, 1, 72 + 48 + 24 + 8, 5, 8, "backwards"},
        // loss, info, stats
        {MXP_SECTION_LOSS, 1, 24, 33, 8, "loss entry"},
        {MXP_SECTION_INFO, 1, 32, UINT32_MAX, 4, "info pair"},
        {MXP_SECTION_INFO, 1, 36, UINT32_MAX, 4, "info pair"},
        {MXP_SECTION_INFO, 1, 24, 7, 8, "info pair"},
        {MXP_SECTION_STATS, 1, 32, UINT32_MAX, 4, "statistics"},
        {MXP_SECTION_STATS, 1, 24, 4, 8, "statistics"},
        {MXP_SECTION_STATS, 1, 44, UINT32_MAX, 4, "statistics"},
        {MXP_SECTION_STATS, 1, 80, UINT32_MAX, 4, "statistics"},
        {MXP_SECTION_END, 1, 32, 5, 8, "should come before END"},
        {MXP_SECTION_END, 1, 40, 5, 8, "should come before END"},
        {MXP_SECTION_END, 1, 24, 8, 8, "without its content"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        read_changed(&changes[i]);
    }
}

// Following categories upwards always ends, whatever a file says.
static void category_that_is_not_before_its_entry_counts_as_none(void **state)
{
    (void)state;
    for (uint32_t category = 0; category < 100; category++) {
        static image changed;
        changed = whole;
        size_t names = find_section(&changed, MXP_SECTION_NAMES, 0);
        size_t entry = names + 40;
        for (uint32_t id = 0; id < 6; id++) {
            uint32_t length;
            memcpy(changed.bytes + entry, &category, sizeof category);
            memcpy(&length, changed.bytes + entry + 8, sizeof length);
            entry += 12 + (length + 4) / 4 * 4;
        }
        seal(&changed, names);
        mxp_source *source;
        assert_int_equal(mxp__native_open_memory(changed.bytes, whole.size, &source, NULL), 0);
        for (uint32_t id = 0; id < 6; id++) {
            uint32_t found = source->name(source, id).category;
            assert_int_equal(found, category < id ? category : 0);
        }
        mxp__source_close(source);
    }
}

static void names_behind_a_lost_section_keep_their_ids(void **state)
{
    (void)state;
    static image changed;
    changed = whole;
    size_t names = find_section(&whole, MXP_SECTION_NAMES, 0);
    changed.bytes[names + 60] ^= 4;
    mxp_source *source, *original;
    mxp_damage damage;
    assert_int_equal(mxp__native_open_memory(whole.bytes, whole.size, &original, NULL), 0);
    assert_int_equal(mxp__native_open_memory(changed.bytes, whole.size, &source, &damage), 0);
    assert_int_equal(damage.offset, names);
    assert_int_equal(source->name_count, original->name_count);
    uint32_t last = source->name_count - 1;
    assert_string_equal(source->name(source, 2).text, "<lost name>");
    assert_string_equal(source->name(source, last).text, original->name(original, last).text);
    assert_string_equal(source->name(source, last + 1).text, "<bad name>");
    mxp__source_close(source);
    mxp__source_close(original);
}

static void chunk_without_a_thread_entry_gets_one(void **state)
{
    (void)state;
    static image changed;
    changed = whole;
    changed.bytes[find_section(&whole, MXP_SECTION_THREADS, 0) + 40] ^= 4;
    changed.bytes[find_section(&whole, MXP_SECTION_THREADS, 1) + 40] ^= 4;
    mxp_source *source;
    assert_int_equal(mxp__native_open_memory(changed.bytes, whole.size, &source, NULL), 0);
    assert_int_equal(source->thread_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(source->threads[i].index, i);
        assert_int_equal(source->threads[i].tid, 0);
    }
    mxp_strbuf text = {0};
    assert_int_equal(describe_events(source, &text), 0);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

static void bad_record_is_an_error_with_its_offset_in_the_file(void **state)
{
    (void)state;
    static image changed;
    changed = whole;
    size_t chunk = find_section(&whole, MXP_SECTION_CHUNK, 0);
    size_t record = chunk + sizeof(mxp_chunk_header) + 3 * 32;  // behind three META records
    changed.bytes[record + 1] = 0;
    seal(&changed, chunk);
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(read_image(&changed, whole.size, &damage, &text), MXP_EFORMAT);
    char expected[40];
    snprintf(expected, sizeof expected, "damaged record at offset %zu:", record);
    assert_non_null(strstr(mxp_last_error(), expected));
    assert_true(is_subsequence(mxp__strbuf_text(&text), mxp__strbuf_text(&events)));
    assert_non_null(strstr(mxp__strbuf_text(&text), "tail"));
    mxp__strbuf_fini(&text);
}

// ---- files -------------------------------------------------------------------------------------
static void file_and_pipe_give_the_same_as_memory(void **state)
{
    (void)state;
    mxp_source *source;
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(mxp__native_open("sample.mxp", &source, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(describe_events(source, &text), 0);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__source_close(source);
    mxp__strbuf_clear(&text);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], whole.bytes, whole.size), whole.size);
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    assert_int_equal(describe_events(source, &text), 0);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__source_close(source);
    close(ends[0]);
    mxp__strbuf_fini(&text);
}

static void memory_at_any_address_can_be_read(void **state)
{
    (void)state;
    static image moved;
    memcpy(moved.bytes + 3, whole.bytes, whole.size);
    mxp_source *source;
    mxp_strbuf text = {0};
    assert_int_equal(mxp__native_open_memory(moved.bytes + 3, whole.size, &source, NULL), 0);
    assert_int_equal(describe_events(source, &text), 0);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__strbuf_fini(&text);
    mxp__source_close(source);
}

static void what_cannot_be_read_is_an_error_that_names_it(void **state)
{
    (void)state;
    FILE *empty = fopen("empty.mxp", "w");
    fclose(empty);
    static const struct {
        const char *path;
        int error;
        const char *text;
    } cases[] = {
        {"missing.mxp", MXP_EIO, "No such file"},
        {".", MXP_EIO, "directory"},
        {"empty.mxp", MXP_EFORMAT, "empty"},
        {"/dev/null", MXP_EFORMAT, "empty"},
        {"/dev/zero", MXP_EFORMAT, "no mxprof native trace"},  // and it ends
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_source *source;
        mxp_damage damage;
        assert_int_equal(mxp__native_open(cases[i].path, &source, &damage), cases[i].error);
        assert_null(source);
        assert_non_null(strstr(mxp_last_error(), cases[i].path));
        assert_non_null(strstr(mxp_last_error(), cases[i].text));
    }
    assert_int_equal(remove("empty.mxp"), 0);
}

// A file too large to be checked when it is opened: an unknown section with a hole in it.
static void make_large(const char *path, const image *of)
{
    const mxp_section hole = {
        .magic = MXP_SECTION_MAGIC, .type = 999, .length_bytes = UINT64_C(80) << 20};
    const mxp_section end = {.magic = MXP_SECTION_MAGIC,
                             .type = MXP_SECTION_END,
                             .length_bytes = 48,
                             .payload_bytes = 16};
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(of->bytes, 1, 64, file), 64);
    // Counted by its own END; the sample's would not, so those are left out.
    assert_int_equal(fwrite(&hole, 1, sizeof hole, file), sizeof hole);
    assert_int_equal(fseek(file, 64 + (80 << 20), SEEK_SET), 0);
    uint64_t sections = 1, record_bytes = 0;
    static image copy;
    copy = *of;
    for (size_t offset = 64; offset < of->size;) {
        const mxp_section *section = section_at(&copy, offset);
        if (section->type != MXP_SECTION_END) {
            fwrite(section, 1, section->length_bytes, file);
            sections++;
            record_bytes += section->type == MXP_SECTION_CHUNK ? section->payload_bytes : 0;
        }
        offset += section->length_bytes;
    }
    fwrite(&end, 1, sizeof end, file);
    fwrite(&sections, 1, sizeof sections, file);
    fwrite(&record_bytes, 1, sizeof record_bytes, file);
    fclose(file);
}

static void chunks_of_a_large_file_are_checked_when_they_are_read(void **state)
{
    (void)state;
    mxp_source *source;
    mxp_damage damage;
    mxp_strbuf text = {0};
    make_large("large.mxp", &whole);
    assert_int_equal(mxp__native_open("large.mxp", &source, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(describe_events(source, &text), 0);
    assert_string_equal(mxp__strbuf_text(&text), mxp__strbuf_text(&events));
    mxp__source_close(source);
    mxp__strbuf_clear(&text);

    static image changed;
    changed = whole;
    size_t chunk = find_section(&whole, MXP_SECTION_CHUNK, 2);
    changed.bytes[chunk + 100] ^= 1;
    make_large("large.mxp", &changed);
    assert_int_equal(mxp__native_open("large.mxp", &source, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(describe_events(source, &text), MXP_EFORMAT);
    char expected[64];
    snprintf(expected, sizeof expected, "damaged at offset %zu", chunk + (80 << 20));
    assert_non_null(strstr(mxp_last_error(), expected));
    assert_non_null(strstr(mxp__strbuf_text(&text), "tail"));
    mxp__source_close(source);
    mxp__strbuf_fini(&text);
    assert_int_equal(remove("large.mxp"), 0);
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

// 192 MiB of records are read through less than half of that.
static void large_file_is_read_in_bounded_memory(void **state)
{
    (void)state;
    enum { APPENDS = 48, SPANS = 1 << 18 };  // 4 MiB each
    mxp_source *part = fake_source_create();
    for (uint32_t i = 0; i < 4; i++) {
        fake_thread(part, NULL);
    }
    for (uint64_t i = 0; i < SPANS; i++) {
        fake_span(part, (uint32_t)(i % 4), 1, i, i + 1);
    }
    mxp_native_writer *writer;
    assert_int_equal(mxp__native_writer_open("large.mxp", &writer), 0);
    for (int i = 0; i < APPENDS; i++) {
        assert_int_equal(mxp__native_append(writer, part), 0);
    }
    mxp__native_writer_close(writer);
    mxp__source_close(part);

    long before = peak_kib();
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open("large.mxp", &source, &damage), 0);
    assert_null(damage.text);
    mxp_reader *reader;
    assert_int_equal(mxp__reader_open(source, &reader), 0);
    mxp_event event;
    uint64_t count = 0;
    while (mxp__reader_next(reader, &event) == 1) {
        count++;
    }
    mxp__reader_close(reader);
    mxp__source_close(source);
    assert_int_equal(remove("large.mxp"), 0);
    assert_int_equal(count, (uint64_t)APPENDS * SPANS);
    // The thread sanitizer keeps shadows of all that is read.
#ifndef __SANITIZE_THREAD__
    assert_in_range(peak_kib() - before, 0, 92 << 10);
#else
    (void)before;
#endif
}

static void lack_of_memory_is_an_error_and_nothing_leaks(void **state)
{
    (void)state;
    size_t held = fake_alloc_held_blocks();
    mxp_strbuf text = {0};
    size_t allowed = 0;
    for (;; allowed++) {
        mxp__strbuf_clear(&text);
        mxp__strbuf_reserve(&text, 1 << 20);  // its own growing is not what is tested
        fake_alloc_fail_after(allowed);
        mxp_source *source;
        mxp_damage damage;
        int error = mxp__native_open("sample.mxp", &source, &damage);
        if (error == 0) {
            error = describe_events(source, &text);
        }
        size_t failed = fake_alloc_failed();
        fake_alloc_fail_never();
        mxp__source_close(source);
        if (failed == 0) {
            assert_int_equal(error, 0);
            break;
        }
        assert_int_equal(error, MXP_ENOMEM);
    }
    assert_true(allowed > 8);
    mxp__strbuf_fini(&text);
    assert_int_equal(fake_alloc_held_blocks(), held);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_cut_anywhere_gives_what_precedes_the_cut),
        cmocka_unit_test(records_before_a_cut_are_all_there),
        cmocka_unit_test(flipped_byte_is_found_and_the_rest_is_read),
        cmocka_unit_test(damaged_chunk_is_left_out_and_only_that),
        cmocka_unit_test(missing_section_shows_at_the_end),
        cmocka_unit_test(clock_that_is_lost_is_an_error),
        cmocka_unit_test(other_headers_are_refused_with_the_reason),
        cmocka_unit_test(later_minor_format_is_read),
        cmocka_unit_test(content_that_makes_no_sense_is_damage),
        cmocka_unit_test(category_that_is_not_before_its_entry_counts_as_none),
        cmocka_unit_test(names_behind_a_lost_section_keep_their_ids),
        cmocka_unit_test(chunk_without_a_thread_entry_gets_one),
        cmocka_unit_test(bad_record_is_an_error_with_its_offset_in_the_file),
        cmocka_unit_test(file_and_pipe_give_the_same_as_memory),
        cmocka_unit_test(memory_at_any_address_can_be_read),
        cmocka_unit_test(what_cannot_be_read_is_an_error_that_names_it),
        cmocka_unit_test(chunks_of_a_large_file_are_checked_when_they_are_read),
        cmocka_unit_test(large_file_is_read_in_bounded_memory),
        cmocka_unit_test(lack_of_memory_is_an_error_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, make_whole, forget_whole);
}
