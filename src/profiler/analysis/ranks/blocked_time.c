// SPDX-License-Identifier: Apache-2.0
// Unions of times, cut with what blocked a worker. That is looked at from where the first time
// begins, which is found by halving: a step's union costs what the step has, and not the run.
#include <stdlib.h>

#include "profiler/analysis/ranks/step_waits.h"

// How much of [from, to) blocked the worker. `at` goes on with the calls, whose begins ascend.
static double blocked_within(const mxp_rank *rank, int64_t from_ns, int64_t to_ns, size_t *at)
{
    double ns = 0;
    if (to_ns <= from_ns) {
        return 0;
    }
    if (!rank->has_path) {
        return (double)(to_ns - from_ns);
    }
    while (*at < rank->blocked_count && rank->blocked[*at].to_ns <= from_ns) {
        ++*at;
    }
    for (size_t i = *at; i < rank->blocked_count && rank->blocked[i].from_ns < to_ns; i++) {
        const int64_t begin =
            rank->blocked[i].from_ns > from_ns ? rank->blocked[i].from_ns : from_ns;
        const int64_t end = rank->blocked[i].to_ns < to_ns ? rank->blocked[i].to_ns : to_ns;
        ns += end > begin ? (double)(end - begin) : 0;
    }
    return ns;
}

static int compare_times(const void *a, const void *b)
{
    const mxp_rank_time *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

// The first of the times that blocked the worker which ends behind `ns`.
static size_t first_blocked(const mxp_rank *rank, int64_t ns)
{
    size_t low = 0, high = rank->blocked_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rank->blocked[middle].to_ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The part of the union of times that blocked the worker.
double mxp__blocked_by(const mxp_rank *rank, mxp_rank_time *times, size_t count)
{
    double ns = 0;
    int64_t covered_ns = INT64_MIN;
    if (count == 0) {
        return 0;
    }
    qsort(times, count, sizeof *times, compare_times);
    size_t at = first_blocked(rank, times[0].from_ns);
    for (size_t i = 0; i < count; i++) {
        const int64_t from_ns = times[i].from_ns > covered_ns ? times[i].from_ns : covered_ns;
        ns += blocked_within(rank, from_ns, times[i].to_ns, &at);
        covered_ns = times[i].to_ns > covered_ns ? times[i].to_ns : covered_ns;
    }
    return ns;
}
