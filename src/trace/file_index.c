// SPDX-License-Identifier: Apache-2.0
// Scans a native file section by section. Every length is compared with what is left before it is
// used, so nothing overflows. A section whose checksum is wrong is left out; the scan goes on where
// it should end if another section begins there, since what makes the rest readable (clock, names)
// may stand behind it.
#include "trace/file_index.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "trace/section.h"

// Up to this size the checksums of all chunks are taken when the file is opened (about 10 ms).
static const size_t eager_bytes = (size_t)64 << 20;

void mxp__file_index_damage(mxp_file_index *index, uint64_t offset, const char *format, ...)
{
    if (index->damaged && index->damage_offset <= offset) {
        return;
    }
    index->damaged = true;
    index->damage_offset = offset;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(index->damage_text, sizeof index->damage_text, format, arguments);
    va_end(arguments);
}

// ---- header ------------------------------------------------------------------------------------
static int check_header(const mxp_file_header *header, size_t size_bytes)
{
    if (header->byte_order == __builtin_bswap32(MXP_BYTE_ORDER_MARK)) {
        return mxp__fail(MXP_EFORMAT, "written on a machine of the other byte order; convert it "
                                      "on such a machine");
    }
    // Before the checksum: a later version may have moved that.
    if (header->byte_order == MXP_BYTE_ORDER_MARK && header->min_reader > MXP_FORMAT_VERSION) {
        return mxp__fail(MXP_EVERSION,
                         "the file needs a reader of format %u, this one knows "
                         "format %u; use a newer mxprof",
                         header->min_reader, MXP_FORMAT_VERSION);
    }
    if (header->checksum != mxp__file_header_checksum(header)) {
        return mxp__fail(MXP_EFORMAT, "damaged at offset 0: the file header's checksum is wrong");
    }
    if (header->byte_order != MXP_BYTE_ORDER_MARK || header->header_bytes < sizeof *header ||
        header->header_bytes % MXP__SECTION_ALIGN != 0 || header->header_bytes > size_bytes) {
        return mxp__fail(MXP_EFORMAT, "damaged at offset 0: the file header makes no sense");
    }
    return MXP_OK;
}

int mxp__file_header_check(const void *data, size_t size_bytes)
{
    size_t magic_bytes = strlen(MXP_FILE_MAGIC);
    size_t there = size_bytes < magic_bytes ? size_bytes : magic_bytes;
    if (size_bytes == 0) {
        return mxp__fail(MXP_EFORMAT, "the file is empty");
    }
    if (memcmp(data, MXP_FILE_MAGIC, there) != 0) {
        return mxp__fail(MXP_EFORMAT, "no mxprof native trace (these end in .mxp and are written "
                                      "at dump)");
    }
    mxp_file_header header;
    if (size_bytes < sizeof header) {
        return mxp__fail(MXP_EFORMAT, "cut off at offset %zu, within the file header", size_bytes);
    }
    memcpy(&header, data, sizeof header);
    return check_header(&header, size_bytes);
}

// ---- sections ----------------------------------------------------------------------------------
static bool checksum_is_right(const mxp_section *section)
{
    if ((section->flags & MXP_SECTION_HAS_CHECKSUM) == 0) {
        return true;
    }
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, section);
    mxp__checksum_add(&checksum, section + 1, (size_t)section->length_bytes - sizeof *section);
    return mxp__checksum_end(&checksum) == section->checksum;
}

// What is wrong with the header of a section that has `left` bytes, or null. What every section
// must keep to: the scan could not go on otherwise.
static const char *section_fault(const mxp_section *section, uint64_t left)
{
    if (section->magic != MXP_SECTION_MAGIC) {
        return "no section begins here";
    }
    if (section->length_bytes < sizeof *section ||
        section->length_bytes % MXP__SECTION_ALIGN != 0) {
        return "a section of an impossible length";
    }
    return section->length_bytes > left ? "the file ends within a section" : NULL;
}

// The same for what a section of a known type must keep to.
static const char *content_fault(const mxp_section *section)
{
    bool is_chunk = section->type == MXP_SECTION_CHUNK;
    uint64_t header_bytes = is_chunk ? sizeof(mxp_chunk_header) : sizeof *section;
    if (section->length_bytes < header_bytes ||
        section->payload_bytes > section->length_bytes - header_bytes) {
        return "the content is longer than its section";
    }
    return is_chunk && section->payload_bytes % MXP_RECORD_UNIT != 0
               ? "a chunk whose length is no multiple of 16"
               : NULL;
}

static int add_offset(uint64_t **offsets, size_t *count, size_t *capacity, uint64_t offset)
{
    if (mxp__grow(offsets, capacity, *count + 1, sizeof **offsets) != MXP_OK) {
        return mxp__fail_memory("the index of a native trace");
    }
    (*offsets)[(*count)++] = offset;
    return MXP_OK;
}

static int add_chunk(mxp_file_index *index, uint64_t offset)
{
    if (mxp__grow(&index->chunks, &index->chunk_capacity, index->chunk_count + 1,
                  sizeof *index->chunks) != MXP_OK) {
        return mxp__fail_memory("the index of a native trace");
    }
    const mxp_section *section = mxp__file_section(index, offset);
    index->chunks[index->chunk_count++] = (mxp_file_chunk){
        .offset = offset,
        .payload_bytes = section->payload_bytes,
        .thread = ((const mxp_chunk_header *)(const void *)section)->thread,
        .checked = !index->lazy,
    };
    return MXP_OK;
}

// Something missing shows here although every section that is there is whole.
static void check_end(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    uint64_t totals[2];
    if (section->payload_bytes < sizeof totals) {
        mxp__file_index_damage(index, offset, "an END section without its content");
        return;
    }
    memcpy(totals, section + 1, sizeof totals);
    if (totals[0] != index->sections || totals[1] != index->record_bytes) {
        mxp__file_index_damage(index, offset,
                               "%" PRIu64 " sections with %" PRIu64 " bytes of records should come "
                               "before END, but there are %" PRIu64 " with %" PRIu64,
                               totals[0], totals[1], index->sections, index->record_bytes);
    }
}

// Ticks of the newest point of a CLOCK section, 0 if it has none.
static uint64_t newest_point(const mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    mxp_clock_header header;
    if (section->payload_bytes < sizeof header) {
        return 0;
    }
    memcpy(&header, section + 1, sizeof header);
    const mxp_clock_point *points =
        (const mxp_clock_point *)(const void *)((const char *)(section + 1) + sizeof header);
    uint64_t room = (section->payload_bytes - sizeof header) / sizeof *points;
    return header.points > 0 && header.points <= room ? points[header.points - 1].ticks : 0;
}

// A mapped file has two clocks that were written in turn; the one that its writer's death has cut
// short has a wrong checksum.
static bool is_older_clock(const mxp_file_index *index, uint64_t offset)
{
    uint64_t before = index->last[MXP_SECTION_CLOCK];
    return index->mapped && before != 0 &&
           newest_point(index, offset) < newest_point(index, before);
}

static int add_section(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    const char *fault = content_fault(section);
    if (fault == NULL && !(index->lazy && section->type == MXP_SECTION_CHUNK) &&
        !checksum_is_right(section)) {
        fault = "a section's checksum is wrong";
    }
    int error = MXP_OK;
    if (fault != NULL && index->mapped && section->type == MXP_SECTION_CLOCK) {
        index->sections++;
        return MXP_OK;
    }
    if (fault != NULL) {
        mxp__file_index_damage(index, offset, "%s", fault);
    } else if (section->type == MXP_SECTION_CHUNK) {
        error = add_chunk(index, offset);
        index->record_bytes += section->payload_bytes;
    } else if (section->type == MXP_SECTION_NAMES) {
        error = add_offset(&index->names, &index->names_count, &index->names_capacity, offset);
    } else if (section->type == MXP_SECTION_RECORDER) {
        error = add_offset(&index->recorders, &index->recorder_count, &index->recorder_capacity,
                           offset);
    } else if (section->type == MXP_SECTION_END) {
        check_end(index, offset);
    }
    bool older = section->type == MXP_SECTION_CLOCK && is_older_clock(index, offset);
    if (fault == NULL && section->type <= MXP_SECTION_END && !older) {
        index->last[section->type] = offset;
    }
    index->sections++;
    return error;
}

// Where a mapped file that was not finished ends: there is room behind it.
static bool ends_open(const mxp_file_index *index, uint64_t offset)
{
    return index->mapped && index->last[MXP_SECTION_END] == 0 &&
           mxp__file_section(index, offset)->magic == 0;
}

// Whether another process's header stands here, behind a finished one.
static bool ends_process(const mxp_file_index *index, uint64_t offset, uint64_t last)
{
    return last != 0 && last == index->last[MXP_SECTION_END] &&
           memcmp(index->bytes.data + offset, MXP_FILE_MAGIC, strlen(MXP_FILE_MAGIC)) == 0;
}

int mxp__file_index_scan(mxp_file_index *index)
{
    const uint64_t size = index->bytes.size_bytes;
    const mxp_file_header *header = (const void *)(index->bytes.data + index->begin);
    index->lazy = size > eager_bytes;
    index->mapped = (header->flags & MXP_FILE_MAPPED) != 0;
    index->end = size;
    uint64_t offset = index->begin + header->header_bytes;
    uint64_t last = 0;
    while (size - offset >= sizeof(mxp_section)) {
        const mxp_section *section = mxp__file_section(index, offset);
        if (ends_process(index, offset, last)) {
            index->end = offset;
            return MXP_OK;
        }
        if (ends_open(index, offset)) {
            index->open = true;
            return MXP_OK;
        }
        const char *fault = section_fault(section, size - offset);
        if (fault != NULL) {
            mxp__file_index_damage(index, offset, "%s", fault);
            return MXP_OK;
        }
        int error = add_section(index, offset);
        if (error != MXP_OK) {
            return error;
        }
        last = offset;
        offset += section->length_bytes;
        // Also for chunks that are not checked: the system maps pages around those that are read.
        mxp__file_bytes_touch(&index->bytes, section->length_bytes);
    }
    index->open = index->mapped && offset == size && index->last[MXP_SECTION_END] == 0;
    bool ended = last != 0 && last == index->last[MXP_SECTION_END];
    if (!index->open && (offset != size || !ended)) {
        mxp__file_index_damage(index, offset,
                               "the file ends without an END section: its writer did not finish");
    }
    return MXP_OK;
}

bool mxp__file_chunk_check(mxp_file_index *index, size_t number)
{
    mxp_file_chunk *chunk = &index->chunks[number];
    if (__atomic_load_n(&chunk->checked, __ATOMIC_RELAXED) != 0) {
        return true;
    }
    if (!checksum_is_right(mxp__file_section(index, chunk->offset))) {
        return false;
    }
    // Relaxed: the bytes do not change, who does not see the mark only checks again.
    __atomic_store_n(&chunk->checked, 1u, __ATOMIC_RELAXED);
    return true;
}

void mxp__file_index_fini(mxp_file_index *index)
{
    mxp__free(index->recorders, index->recorder_capacity * sizeof *index->recorders);
    mxp__free(index->names, index->names_capacity * sizeof *index->names);
    mxp__free(index->chunks, index->chunk_capacity * sizeof *index->chunks);
    mxp__file_bytes_close(&index->bytes);
    *index = (mxp_file_index){0};
}
