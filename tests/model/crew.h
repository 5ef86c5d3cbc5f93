// SPDX-License-Identifier: Apache-2.0
// The threads of a random program. They stand still but for bursts, so that between two bursts it
// is known exactly what was recorded.
#ifndef CREW_H
#define CREW_H

#include <mxprof/profiler.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "truth.h"

enum { CREW_MAX = 8 };

typedef struct crew_member {
    pthread_t thread;
    uint64_t random;
    int number;
    mxp_handle task, frame, event;
    uint32_t span;  // of this burst
    char span_text[TRUTH_NAME_BYTES];
    uint64_t sequence;  // of its counter
    uint64_t token;  // of the span it left open, 0: none
    uint32_t open_name;
    char open_text[TRUTH_NAME_BYTES];
    bool open_written;  // by a stop, in its place
    truth burst;  // what this burst has recorded
    struct crew *crew;
} crew_member;

typedef struct crew {
    int size;
    int round;
    int most;  // operations a thread and burst
    bool on;  // recording, during this burst
    bool ends;
    bool leaves_open;  // whether spans may stay open at the end of the burst
    mxp_handle domain, shared;
    uint64_t shared_value;  // atomic: what the shared counter is at
    truth recorded;  // all bursts so far, since it was emptied
    pthread_barrier_t begin, end;
    crew_member member[CREW_MAX];
} crew;

void crew_start(crew *all, uint64_t seed);
// One burst: returns when all threads have begun; crew_rest waits until they are through and adds
// what they recorded to `recorded`.
void crew_burst(crew *all, bool on);
void crew_rest(crew *all);
// A stop has closed the spans that are open and written them.
void crew_stopped(crew *all);
void crew_end(crew *all);

#endif
