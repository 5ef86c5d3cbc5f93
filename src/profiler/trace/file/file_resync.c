// SPDX-License-Identifier: Apache-2.0
// See file_resync.h. Sections begin at multiples of 16, so a search is a comparison of 4 bytes in
// 16. Checksums of what only looks like a section are taken up to a bound, or a file made for it
// would cost the square of its size.
//
// If the header of a later process is damaged, its sections must not be taken for those of the
// process before. They begin with name 0, which each process has only once.
#include "profiler/trace/file/file_resync.h"

#include <string.h>

#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_check.h"

enum {
    SEARCHED_TIMES_SIZE = 4,
    TOUCH_BYTES = 1 << 16,
    PROBE_BYTES = 64,  // what a look at a page costs, in bytes of checksums
    LOOK_AHEAD_SECTIONS = 16  // names come before chunks, after a few tables
};

static bool is_section(const mxp_file_index *index, uint64_t offset)
{
    uint64_t left = index->bytes.size_bytes - offset;
    const mxp_section *section = mxp__file_section(index, offset);
    return left >= sizeof *section && mxp__section_fault(section, left) == NULL &&
           mxp__content_fault(section) == NULL;
}

static bool is_header(const mxp_file_index *index, uint64_t offset)
{
    return mxp__is_file_header(index->bytes.data + offset, index->bytes.size_bytes - offset);
}

static bool may_search(const mxp_file_index *index)
{
    return index->searched_bytes / SEARCHED_TIMES_SIZE <= index->bytes.size_bytes;
}

bool mxp__file_goes_on(const mxp_file_index *index, uint64_t offset)
{
    uint64_t left = index->bytes.size_bytes - offset;
    bool is_reserved = index->mapped && left >= sizeof(mxp_section) &&
                       mxp__file_section(index, offset)->magic == 0;
    return left == 0 || is_reserved || is_section(index, offset) || is_header(index, offset);
}

bool mxp__file_proves_itself(mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    if (mxp__file_goes_on(index, offset + section->length_bytes)) {
        return true;
    }
    index->searched_bytes += section->length_bytes;
    return (section->flags & MXP_SECTION_HAS_CHECKSUM) != 0 && may_search(index) &&
           mxp__section_checksum_is_right(section, section + 1);
}

// Of what a recorder writes into its file: its sections, which have no checksum, or the first of
// the tables that end it.
static bool is_recorders(const mxp_section *section)
{
    return (section->flags & MXP_SECTION_HAS_CHECKSUM) != 0 ? section->type == MXP_SECTION_CLOCK
                                                            : section->type <= MXP_SECTION_LAST;
}

uint64_t mxp__file_hidden(mxp_file_index *index, uint64_t from, uint64_t to)
{
    const uint64_t step = index->mapped ? MXP__MAPPED_ALIGN : MXP__SECTION_ALIGN;
    uint64_t offset = index->begin + mxp__align_up(from - index->begin, step);
    for (; offset < to && may_search(index); offset += step) {
        if (is_section(index, offset) && is_recorders(mxp__file_section(index, offset)) &&
            mxp__file_proves_itself(index, offset)) {
            return offset;
        }
        index->searched_bytes += index->mapped ? PROBE_BYTES : MXP__SECTION_ALIGN;
        if (offset % TOUCH_BYTES == 0) {
            mxp__file_bytes_touch(&index->bytes, TOUCH_BYTES);
        }
    }
    return to;
}

// Whether the sections from `offset` on are of a process whose header is damaged.
static bool is_of_other_process(const mxp_file_index *index, uint64_t offset)
{
    bool has_names = index->lists[MXP_SECTION_NAMES].count > 0 || index->last[MXP_SECTION_END] != 0;
    for (int i = 0; i < LOOK_AHEAD_SECTIONS && has_names && is_section(index, offset); i++) {
        const mxp_section *section = mxp__file_section(index, offset);
        if (section->type == MXP_SECTION_CHUNK || section->type == MXP_SECTION_END) {
            return false;
        }
        uint32_t first = 1;
        if (section->type == MXP_SECTION_NAMES && section->payload_bytes >= sizeof first) {
            memcpy(&first, section + 1, sizeof first);
            return first == 0;
        }
        offset += section->length_bytes;
    }
    return false;
}

uint64_t mxp__file_resync(mxp_file_index *index, uint64_t from)
{
    const uint64_t size = index->bytes.size_bytes;
    bool other_process = false;  // then only a header is of use
    for (uint64_t offset = mxp__align_up(from, MXP__SECTION_ALIGN);
         offset < size && may_search(index); offset += MXP__SECTION_ALIGN) {
        if (is_header(index, offset)) {
            return offset;
        }
        if (!other_process && is_section(index, offset) && mxp__file_proves_itself(index, offset)) {
            other_process = is_of_other_process(index, offset);
            if (!other_process) {
                return offset;
            }
        }
        if (offset % TOUCH_BYTES == 0) {
            mxp__file_bytes_touch(&index->bytes, TOUCH_BYTES);
        }
    }
    return size;
}
