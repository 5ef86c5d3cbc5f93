// SPDX-License-Identifier: Apache-2.0
// For tests that kill a process while it records. Each of its threads numbers its records and
// publishes the last number that a call returned for, in a page that the parent maps. What is found
// in its file afterwards can be compared with that.
#ifndef NUMBERED_H
#define NUMBERED_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/trace/source.h"

enum { NUMBERED_THREADS = 3 };

// Written by the process that dies, read by the parent after its death.
typedef struct numbered_page {
    uint64_t started;  // mxp_session_run has returned
    uint64_t quota;  // threads wait when they have come to this number
    uint64_t returned[NUMBERED_THREADS];  // the last number whose call has returned
} numbered_page;

// What a file holds of it.
typedef struct numbered_file {
    uint32_t pid;
    char damage[160];  // empty: none
    uint64_t last[NUMBERED_THREADS];  // 0: none
    uint64_t standing[NUMBERED_THREADS];  // of a ring: the last number that has made room
    uint64_t open_spans;
} numbered_file;

// A page of at least `size_bytes`, zeros, that forked children share; null if there is none.
void *shared_page(size_t size_bytes);

// Records numbers for ever: counters, with spans around them, and new names from time to time, so
// that everything that a file holds is in motion. All of it is inside of a span `outer`.
void numbered_record(numbered_page *page, uint64_t thread);

// Opens a file, and fails the test if it cannot be read, if the numbers of a thread are not without
// a gap (those of a ring may begin anywhere), or if something was not recorded as it is here.
mxp_source *numbered_open(const char *path, bool ring, numbered_file *found);

#endif
