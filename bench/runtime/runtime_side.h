// SPDX-License-Identifier: Apache-2.0
// One side of a comparison of runtimes: a process that does batches of one workload when it is told
// to and says how long each took. bench/runtime_claims.py starts the sides and lets them take
// turns.
//
//   runtime_side WORKLOAD [LIBRARY]      without a library: the workloads that are floors
//
// It reads a line and answers with a line of JSON:
//   off      a batch with the profiler stopped
//   on       a batch with the profiler running, everything recorded
//   drain    stops the profiler and writes what was recorded to a file; answers {"records": number
//            of records so far}, 0 if the library does not count them
// A batch's answer has the workload's figures, most often {"ns": time of one operation}.
#ifndef BENCH_RUNTIME_SIDE_H
#define BENCH_RUNTIME_SIDE_H

#include <stdnoreturn.h>
#include <time.h>

typedef struct side_workload {
    const char *name;
    void (*prepare)(void);  // once, before the first batch; may be null
    void (*batch)(void);  // prints its figures with side_answer
} side_workload;

// Lists that end with an empty name; those of the floors need no library.
extern const side_workload side_empty_operations[], side_held_worker[], side_scalar_operator[],
    side_lenet_step[], side_bare_hand_off[], side_multiply_add[], side_matrix_product[],
    side_library_product[];

// {"NAME": VALUE}, or {"NAME": VALUE, "OTHER": VALUE} if `other` is not null.
void side_answer(const char *name, double value, const char *other, double other_value);

noreturn void side_fail(const char *what);

static inline double side_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#endif
