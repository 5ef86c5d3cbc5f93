// SPDX-License-Identifier: Apache-2.0
// Recording in steady state: spans go to memory that was written before. A bench records a batch,
// drains it outside the measurement, and records the next into the same chunks.
#ifndef BENCH_RECORDING_H
#define BENCH_RECORDING_H

#include "support/harness.h"
#include "support/loops.h"

#include <mxprof/profiler.h>

// Configures for `filename` and `native_filename` (null: none), nothing in the background. All of
// these end the program on an error.
void bench_session_configure(const char *filename, const char *native_filename, int aggregate);
void bench_session_run(void);
void bench_session_stop(void);
void bench_session_dump(void);

// Configures for a trace that nobody keeps, runs, and names what is recorded.
mxp_name bench_session_begin(void);

// Stops, gives up what was recorded, and runs again.
void bench_drain(void);

// One loop against another on one thread. Both take `batches` of `batch` operations a round;
// between batches of a loop that records, its records are drained.
typedef struct bench_loop_pair {
    bench_loop subject, reference;
    mxp_name name;
    uint64_t batch, batches;
    bool records;  // whether the subject does
} bench_loop_pair;

enum { BENCH_BATCH = 1 << 17 };  // spans between two drains: 2 MiB of records

// The pinned, single-threaded comparison of the two.
void bench_compare_loops(const bench_claim *claim, bench_loop_pair *pair, int rounds);

#endif
