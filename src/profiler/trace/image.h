// SPDX-License-Identifier: Apache-2.0
// What a recorder leaves in its process's memory so that `mxprof` finds its records there: in a
// core file, or in a process that runs. Written by the recorder when recording begins
// (recorder/control/image.c), read by the command (tools/image).
#ifndef MXP_TRACE_IMAGE_H
#define MXP_TRACE_IMAGE_H

#include <mxprof/format.h>

// The bytes are never together in a program's file or code: the recorder writes them one by one.
enum { MXP__IMAGE_MAGIC_BYTES = 16 };
#define MXP__IMAGE_MAGIC "\x89MXP-image\r\n\x1a\n"  // 14 bytes and two zeros

// Raised whenever the members below, or what they lead to, mean something else.
enum { MXP__IMAGE_LAYOUT = 1 };

// Addresses and sizes are those of the process. A thread's page is laid out as its RECORDER section
// is in a file; its chunks, from `thread_first` on, are linked by their headers.
typedef struct mxp_image_anchor {
    unsigned char magic[MXP__IMAGE_MAGIC_BYTES];
    uint64_t self;  // where this structure is: a copy of it says so
    uint32_t layout, pid;
    uint32_t full_policy;  // MXP_FULL_*
    uint32_t clock_source;
    uint64_t memory_limit_bytes;
    uint64_t state;  // of a u32: 0 stopped, 1 on, 2 paused
    uint64_t names_count;  // of a u32
    uint64_t names;  // of a pointer to pointers to segments
    uint32_t names_in_segment, name_bytes;  // of an entry, which begins as mxp_image_name
    uint64_t threads;  // of a pointer to the first one
    uint32_t thread_next, thread_first;  // where in a thread these pointers are
    uint32_t thread_tid, thread_index, thread_start;
    uint32_t thread_page;  // how far a thread lies behind its page's begin
    uint64_t timebase;  // of its mxp_timebase
    uint64_t async;  // MXP_ASYNC_SLOTS slots
    uint64_t modules, module_count;  // the second: of a u32
    char version[16];  // of the library
    uint64_t notes;  // mxp_image_note entries up to one without a key
    uint32_t notes_most, reserved;
} mxp_image_anchor;

// A line of information: addresses of two texts that end in a zero.
typedef struct mxp_image_note {
    uint64_t key, value;
} mxp_image_note;

// An entry of the table of names.
typedef struct mxp_image_name {
    uint64_t text;
    uint32_t length, category, hash;
    uint8_t style, unit;
} mxp_image_name;

#endif
