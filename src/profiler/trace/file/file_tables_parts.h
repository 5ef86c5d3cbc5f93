// SPDX-License-Identifier: Apache-2.0
// What the readers of a native file's tables share: the content of a section, taken from its front.
#ifndef MXP_TRACE_FILE_TABLES_PARTS_H
#define MXP_TRACE_FILE_TABLES_PARTS_H

#include <string.h>

#include "profiler/trace/file/file_tables.h"
#include "profiler/trace/file/section.h"

// The content of a section, taken from its front.
typedef struct content {
    const uint8_t *at;
    uint64_t left, offset;  // offset of `at` in the file
} content;

static inline content content_of(const mxp_file_index *index, uint64_t offset)
{
    const mxp_section *section = mxp__file_section(index, offset);
    return (content){(const uint8_t *)(section + 1), section->payload_bytes,
                     offset + sizeof *section};
}

static inline bool take(content *from, void *to, uint64_t size_bytes)
{
    if (from->left < size_bytes) {
        return false;
    }
    memcpy(to, from->at, (size_t)size_bytes);
    from->at += size_bytes;
    from->left -= size_bytes;
    from->offset += size_bytes;
    return true;
}

// `length` bytes and the zero after them, in place; null if they are not there.
static inline const char *take_text(content *from, uint64_t length)
{
    if (from->left <= length || from->at[length] != 0) {
        return NULL;
    }
    const char *text = (const char *)from->at;
    from->at += length + 1;
    from->left -= length + 1;
    from->offset += length + 1;
    return text;
}

static inline bool skip_padding(content *from, uint64_t align)
{
    uint64_t padding = mxp__align_up(from->offset, align) - from->offset;
    uint8_t bytes[MXP__SECTION_ALIGN];
    return take(from, bytes, padding);
}

// Reads the sections of a type one by one, in the file's order. MXP_ENOMEM, or what `read` returns.
int mxp__file_tables_each(mxp_file_tables *tables, mxp_file_index *index, unsigned type,
                          int (*read)(mxp_file_tables *, mxp_file_index *, uint64_t offset));
// CLOCK. One that cannot be is damage. MXP_ENOMEM.
int mxp__file_tables_clock(mxp_file_tables *tables, mxp_file_index *index);

#endif
