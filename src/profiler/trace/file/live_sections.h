// SPDX-License-Identifier: Apache-2.0
// The sections of a file that is being recorded, and where its threads are. Private to live_copy.c
// and live_sections.c.
#ifndef MXP_TRACE_LIVE_SECTIONS_H
#define MXP_TRACE_LIVE_SECTIONS_H

#include <mxprof/format.h>
#include <mxprof/record_inline.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mxp_live_chunk {
    uint64_t offset, length_bytes;
    mxp_chunk_header found;  // its header when it was found
    mxp_chunk_header before;  // before the file was copied
    uint64_t payload_bytes;  // that count; 0: none
} mxp_live_chunk;

// What is read of a RECORDER section.
typedef struct mxp_live_recorder {
    mxp_recorder_section head;
    mxp_recorder hot;
    uint64_t lost, name;
} mxp_live_recorder;

typedef enum mxp_live_state {
    MXP__LIVE_NEW = 0,  // started after the cursors were read, or there is no such thread
    MXP__LIVE_KNOWN,
    MXP__LIVE_ELSEWHERE,  // its chunk is not in the file: those that are there are closed
    MXP__LIVE_UNSTEADY  // it recorded so fast that its place could not be read
} mxp_live_state;

typedef struct mxp_live_thread {
    uint64_t offset;  // of its RECORDER
    mxp_live_state state;
    mxp_live_recorder recorder;
    uint64_t chunk_offset, payload_bytes;  // of the chunk that its cursor was in
    uint32_t sequence;  // of that chunk
    bool is_there;  // that chunk, when headers were read
    bool overwritten;  // something of it was, up to ...
    uint32_t overwritten_to;  // ... this chunk
} mxp_live_thread;

typedef struct mxp_live_names {
    uint64_t offset;
    uint32_t counts[2];  // first id, count
} mxp_live_names;

typedef struct mxp_live_sections {
    int fd;
    uint64_t size_bytes;  // of the file
    uint64_t end;  // of the sections that were found
    bool is_finished;  // the tables of the end are there
    bool has_garbage;  // the bytes at `end` are neither a section nor reserved space
    mxp_live_chunk *chunks;  // in the order of the file
    size_t chunk_count, chunk_capacity;
    mxp_live_thread *threads;  // in the order of the file, after mxp__live_sort in that of threads
    size_t thread_count, thread_capacity;
    mxp_live_names *names;
    size_t names_count, names_capacity;
} mxp_live_sections;

// Finds the sections that were added since the last call. MXP_ENOMEM.
int mxp__live_walk(mxp_live_sections *sections);
// Reads where each thread is. MXP_ENOMEM.
int mxp__live_cursors(mxp_live_sections *sections);
void mxp__live_sort(mxp_live_sections *sections);
mxp_live_thread *mxp__live_thread(const mxp_live_sections *sections, uint32_t thread);  // or null
void mxp__live_sections_fini(mxp_live_sections *sections);

#endif
