// SPDX-License-Identifier: Apache-2.0
// Scans a native file section by section. Each length is compared with the bytes that are left
// before it is used, so nothing overflows. Bytes that are no section and sections with a wrong
// checksum are left out: the scan continues at the next section that proves itself (file_resync.h).
#include "profiler/trace/file/file_index.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/trace/file/file_resync.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_check.h"

// In files up to this size the checksums of all chunks are verified at opening (about 10 ms).
static const size_t eager_bytes = (size_t)64 << 20;
static const char wrong_checksum[] = "a section's checksum is wrong";

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
    // This check comes before that of the checksum, which a later version may have moved.
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
static int add_offset(mxp_file_offsets *list, uint64_t offset)
{
    if (mxp__grow(&list->at, &list->capacity, list->count + 1, sizeof *list->at) != MXP_OK) {
        return mxp__fail_memory("the index of a native trace");
    }
    list->at[list->count++] = offset;
    return MXP_OK;
}

static int add_chunk(mxp_file_index *index, uint64_t offset)
{
    if (mxp__grow(&index->chunks, &index->chunk_capacity, index->chunk_count + 1,
                  sizeof *index->chunks) != MXP_OK) {
        return mxp__fail_memory("the index of a native trace");
    }
    mxp_chunk_header header;
    memcpy(&header, mxp__file_section(index, offset), sizeof header);
    index->chunks[index->chunk_count++] = (mxp_file_chunk){
        .offset = offset,
        .payload_bytes = header.section.payload_bytes,
        .base_ticks = header.base_ticks,
        .lost_before = header.lost_before,
        .thread = header.thread,
        .sequence = header.sequence,
        .checked = {!index->lazy},
    };
    return MXP_OK;
}

// Compares the totals in END with what was read. They differ if whole sections are missing.
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
    uint64_t most = (section->payload_bytes - sizeof header) / sizeof *points;
    return header.points > 0 && header.points <= most ? points[header.points - 1].ticks : 0;
}

// A mapped file has two CLOCK sections that are written alternately. If the writer died in the
// middle of one, that one has a wrong checksum and the other one is used.
static bool is_older_clock(const mxp_file_index *index, uint64_t offset)
{
    uint64_t before = index->last[MXP_SECTION_CLOCK];
    return index->mapped && before != 0 &&
           newest_point(index, offset) < newest_point(index, before);
}

// Of a clock that begins anew those before it do not count.
static bool continues_clock(const mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    mxp_clock_header header = {0};
    if (section->payload_bytes >= sizeof header) {
        memcpy(&header, section + 1, sizeof header);
    }
    return header.segments_before != 0;
}

static bool is_listed(unsigned type)
{
    const unsigned listed = 1u << MXP_SECTION_NAMES | 1u << MXP_SECTION_THREADS |
                            1u << MXP_SECTION_CLOCK | 1u << MXP_SECTION_INFO |
                            1u << MXP_SECTION_RECORDER;
    return (listed >> type & 1) != 0;
}

static int keep_section(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    const unsigned type = section->type;
    const bool is_clock = type == MXP_SECTION_CLOCK;
    int error = MXP_OK;
    if (type == MXP_SECTION_CHUNK) {
        error = add_chunk(index, offset);
        index->record_bytes += section->payload_bytes;
    } else if (type == MXP_SECTION_END) {
        check_end(index, offset);
    }
    if (error != MXP_OK || type > MXP_SECTION_LAST || (is_clock && is_older_clock(index, offset))) {
        return error;
    }
    mxp_file_offsets *list = &index->lists[type];
    if (is_clock && !continues_clock(index, offset)) {
        list->count = 0;
    }
    index->last[type] = offset;
    return is_listed(type) ? add_offset(list, offset) : MXP_OK;
}

// The reason why a section cannot be read, or null.
static const char *fault_of(const mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    const char *fault = mxp__section_fault(section, index->bytes.size_bytes - offset);
    fault = fault == NULL ? mxp__content_fault(section) : fault;
    fault = fault == NULL && index->mapped ? mxp__mapped_fault(section) : fault;
    bool later = index->lazy && section->type == MXP_SECTION_CHUNK;
    return fault == NULL && !later && !mxp__section_checksum_is_right(section, section + 1)
               ? wrong_checksum
               : fault;
}

// Whether a section with a wrong checksum is one of the two clocks: its writer died in the middle
// of writing it, and the file is not damaged.
static bool may_be_torn(const mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    uint64_t left = index->bytes.size_bytes - offset;
    return index->mapped && section->type == MXP_SECTION_CLOCK &&
           mxp__section_fault(section, left) == NULL &&
           section->length_bytes % MXP__MAPPED_ALIGN == 0 &&
           mxp__file_goes_on(index, offset + section->length_bytes);
}

// Where a section without a checksum ends: at its length, or at the next section if its length
// reaches over one. Chunks of large files are not searched, because that reads the whole file.
static uint64_t end_without_checksum(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    uint64_t next = offset + section->length_bytes;
    if ((section->flags & MXP_SECTION_HAS_CHECKSUM) != 0 ||
        (index->lazy && section->type == MXP_SECTION_CHUNK)) {
        return next;
    }
    uint64_t step = index->mapped ? MXP__MAPPED_ALIGN : sizeof *section;
    uint64_t hidden = mxp__file_hidden(index, offset + step, next);
    // A RECORDER covers the thread's first chunk until that has a header of its own.
    if (hidden < next && section->type != MXP_SECTION_RECORDER) {
        mxp__file_index_damage(index, offset, "a section that reaches over the next one");
    }
    return hidden;
}

// Where the scan continues after a section that is kept. The length may be the damaged field, so it
// is used only if the section proves itself or nothing else is found before it.
static uint64_t after_section(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    uint64_t next = offset + section->length_bytes;
    uint64_t end = end_without_checksum(index, offset);
    if (end < next) {
        return end;
    }
    if (mxp__file_proves_itself(index, offset)) {
        return next;
    }
    uint64_t found = mxp__file_resync(index, offset + sizeof *section);
    return found < next ? found : next;
}

static bool has_no_magic(const mxp_file_index *index, uint64_t offset)
{
    static const uint32_t none;
    const uint64_t left = index->bytes.size_bytes - offset;
    return memcmp(index->bytes.data + offset, &none, left < sizeof none ? left : sizeof none) == 0;
}

// Whether a mapped file that was not finished ends here: only reserved space follows, or the begin
// of the tables that were to finish it, however short.
static bool ends_open(mxp_file_index *index, uint64_t offset)
{
    const uint64_t size = index->bytes.size_bytes;
    return index->mapped && index->last[MXP_SECTION_END] == 0 && has_no_magic(index, offset) &&
           mxp__file_hidden(index, offset, size) == size;
}

static void leave_out(mxp_file_index *index, uint64_t from, uint64_t to)
{
    uint64_t count = index->gap_count;
    mxp_file_gap *before = count > 0 && count <= MXP__GAPS_LISTED ? &index->gaps[count - 1] : NULL;
    index->gap_bytes += to - from;
    if (before != NULL && before->offset + before->bytes == from) {
        before->bytes += to - from;
        return;
    }
    if (count < MXP__GAPS_LISTED) {
        index->gaps[count] = (mxp_file_gap){from, to - from};
    }
    index->gap_count++;
}

// Scans one section, or the bytes in its place. Returns an error, or 0 with *offset after it.
static int scan_section(mxp_file_index *index, uint64_t *offset)
{
    const char *fault = fault_of(index, *offset);
    uint64_t next = *offset;
    int error = MXP_OK;
    if (fault == NULL) {
        error = keep_section(index, *offset);
        next = after_section(index, *offset);
        index->sections++;
    } else if (may_be_torn(index, *offset)) {
        next += mxp__file_section(index, *offset)->length_bytes;
        next = mxp__file_hidden(index, *offset + MXP__MAPPED_ALIGN, next);
        index->sections++;
    } else {
        mxp__file_index_damage(index, *offset, "%s", fault);
        if (fault == wrong_checksum) {
            index->searched_bytes += mxp__file_section(index, *offset)->length_bytes;
        }
        next = mxp__file_resync(index, *offset + MXP__SECTION_ALIGN);
        leave_out(index, *offset, next);
    }
    // Chunks that are not checked count too, because the system maps pages around those it reads.
    mxp__file_bytes_touch(&index->bytes, next - *offset);
    *offset = next;
    return error;
}

// Another process's header ends this one's sections.
static bool ends_process(const mxp_file_index *index, uint64_t offset)
{
    return mxp__is_file_header(index->bytes.data + offset, index->bytes.size_bytes - offset);
}

int mxp__file_index_scan(mxp_file_index *index)
{
    const uint64_t size = index->bytes.size_bytes;
    const mxp_file_header *header = (const void *)(index->bytes.data + index->begin);
    index->lazy = size > eager_bytes;
    index->mapped = (header->flags & MXP_FILE_MAPPED) != 0;
    uint64_t offset = index->begin + header->header_bytes;
    uint64_t last = 0;  // offset of the section before
    bool is_open = false;
    while (offset < size && !ends_process(index, offset)) {
        is_open = ends_open(index, offset);
        if (is_open || size - offset < sizeof(mxp_section)) {
            break;
        }
        last = offset;
        int error = scan_section(index, &offset);
        if (error != MXP_OK) {
            return error;
        }
    }
    bool ended = last != 0 && last == index->last[MXP_SECTION_END];
    bool whole = is_open || offset == size || ends_process(index, offset);
    index->end = whole && !is_open ? offset : size;
    index->open =
        index->mapped && index->last[MXP_SECTION_END] == 0 && index->last[MXP_SECTION_THREADS] == 0;
    if (!whole) {
        leave_out(index, offset, size);
    }
    if (!whole || !(ended || index->open)) {
        mxp__file_index_damage(index, offset,
                               "the file ends without an END section: its writer did not finish");
    }
    return MXP_OK;
}

bool mxp__file_chunk_check(mxp_file_index *index, size_t number)
{
    mxp_file_chunk *chunk = &index->chunks[number];
    if (mxp_atomic_load(&chunk->checked) != 0) {
        return true;
    }
    const mxp_section *section = mxp__file_section(index, chunk->offset);
    if (!mxp__section_checksum_is_right(section, section + 1)) {
        return false;
    }
    // Relaxed is enough. The bytes do not change; a thread that does not see the mark checks again.
    mxp_atomic_store(&chunk->checked, 1u);
    return true;
}

void mxp__file_index_fini(mxp_file_index *index)
{
    for (unsigned type = 0; type <= MXP_SECTION_LAST; type++) {
        mxp__free(index->lists[type].at,
                  index->lists[type].capacity * sizeof *index->lists[type].at);
    }
    mxp__free(index->chunks, index->chunk_capacity * sizeof *index->chunks);
    mxp__file_bytes_close(&index->bytes);
    *index = (mxp_file_index){0};
}
