// SPDX-License-Identifier: Apache-2.0
// A trace as dumps meet it: spans of 256 names in 4 categories on 8 threads, of mixed durations,
// recorded for real. What was recorded is kept beside it as a plain array, for references that do
// the same work by hand.
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_THREADS = 8, BENCH_NAMES = 256, BENCH_CATEGORIES = 4 };

typedef struct bench_event {
    uint64_t begin_ns, end_ns;
    uint32_t name, thread;  // thread from 0; name from 0, its category is name % BENCH_CATEGORIES
} bench_event;

// Starts the threads, which wait, if that was not done before. `spans`: how many a fill records, a
// multiple of BENCH_THREADS. Threads inherit the caller's pinning: call it unpinned.
void bench_workload_start(uint64_t spans);
// Records one trace: the session must be running. Leaves bench_workload_events filled.
void bench_workload_fill(void);
const bench_event *bench_workload_events(void);
uint64_t bench_workload_spans(void);

// Texts of at most 15 bytes.
const char *bench_name_text(uint32_t name);
const char *bench_category_text(uint32_t category);

#endif
