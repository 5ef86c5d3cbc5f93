// SPDX-License-Identifier: Apache-2.0
// The index of a native file: where its sections are, checked for bounds and checksum, and what is
// damaged. Records are not looked at.
#ifndef MXP_TRACE_FILE_INDEX_H
#define MXP_TRACE_FILE_INDEX_H

#include <mxprof/format.h>
#include <stdbool.h>

#include "base/atomic.h"
#include "profiler/trace/file/file_bytes.h"

typedef struct mxp_file_chunk {
    uint64_t offset;
    uint64_t payload_bytes;
    uint64_t base_ticks, lost_before;
    uint32_t thread, sequence;
    mxp_atomic_u32 checked;  // its checksum was found right
} mxp_file_chunk;

// Bytes that are left out because they cannot be read.
typedef struct mxp_file_gap {
    uint64_t offset, bytes;
} mxp_file_gap;

enum { MXP__GAPS_LISTED = 8 };

// Of sections of one type, in the order of the file.
typedef struct mxp_file_offsets {
    uint64_t *at;
    size_t count, capacity;
} mxp_file_offsets;

typedef struct mxp_file_index {
    mxp_file_bytes bytes;
    uint64_t begin;  // offset of the process's header: a file may hold one process after another
    uint64_t end;  // where its sections end: the size of the file, or the next header
    bool lazy;  // checksums of chunks are left to mxp__file_chunk_check
    mxp_file_chunk *chunks;  // in the order of the file
    size_t chunk_count, chunk_capacity;
    // By type: of RECORDER, and of those that tell a table piece by piece: NAMES, THREADS, CLOCK,
    // INFO.
    mxp_file_offsets lists[MXP_SECTION_LAST + 1];
    bool mapped;  // a recorder writes or wrote the file through memory
    bool open;  // that recorder has not finished it
    uint64_t last[MXP_SECTION_LAST + 1];  // offset of the last whole section of a type, 0: none
    uint64_t sections, record_bytes;  // seen so far
    mxp_file_gap gaps[MXP__GAPS_LISTED];  // the first ones
    uint64_t gap_count, gap_bytes;  // of all
    uint64_t searched_bytes;  // of checksums taken in the search for sections
    bool damaged;
    uint64_t damage_offset;
    char damage_text[160];
} mxp_file_index;

// Whether the bytes begin with the header of a file that this reader understands: MXP_EFORMAT or
// MXP_EVERSION with a line that says why not.
int mxp__file_header_check(const void *data, size_t size_bytes);

// Scans the sections of bytes whose header is fine. MXP_ENOMEM; damage is no error.
int mxp__file_index_scan(mxp_file_index *index);
void mxp__file_index_fini(mxp_file_index *index);  // closes the bytes

// Notes that the file is damaged from `offset` on. The smallest offset stays.
void mxp__file_index_damage(mxp_file_index *index, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether the checksum of a chunk is right, if it has one. Thread-safe.
bool mxp__file_chunk_check(mxp_file_index *index, size_t number);

static inline const mxp_section *mxp__file_section(const mxp_file_index *index, uint64_t offset)
{
    return (const mxp_section *)(const void *)(index->bytes.data + offset);
}

#endif
