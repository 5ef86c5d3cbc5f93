// SPDX-License-Identifier: Apache-2.0
// Operators that wrote to memory that had just come from the system, and what they took beyond the
// same operators on blocks of the pool: the system gives pages when they are first written, which
// is inside of the operator and takes longer than the call that asked for them.
#ifndef MXP_CAUSES_FRESH_RUNS_H
#define MXP_CAUSES_FRESH_RUNS_H

#include "base/id_map.h"
#include "profiler/trace/event.h"

typedef struct mxp_fresh_thread {
    uint64_t fresh_bytes, reused_bytes;  // of blocks since its last operator
    int64_t first_ns;  // of the first of them
} mxp_fresh_thread;

// Begins as zeros.
typedef struct mxp_fresh_runs {
    mxp_fresh_thread *threads;  // by index
    size_t thread_count;
    mxp_id_map rates;  // by name: time and bytes of operators on blocks of the pool
    mxp_id_map runs;  // by operator and its start: bytes that were fresh
} mxp_fresh_runs;

// All records of a process, those of a thread in their order. MXP_ENOMEM.
int mxp__fresh_runs_add(mxp_fresh_runs *runs, const mxp_event *event, size_t thread_count);
void mxp__fresh_runs_fini(mxp_fresh_runs *runs);

// What the operator with this id and start took beyond what it takes on blocks of the pool; 0 where
// it wrote to none that was fresh, or never ran on others.
int64_t mxp__fresh_excess_ns(const mxp_fresh_runs *runs, uint32_t id, uint32_t name,
                             int64_t start_ns, int64_t took_ns);

#endif
