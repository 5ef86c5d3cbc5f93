// SPDX-License-Identifier: Apache-2.0
// See absent.h.
#include "profiler/analysis/ranks/absent.h"

static bool is_there(const mxp_rank *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i].rank == rank) {
            return true;
        }
    }
    return rank == MXP__RANK_UNKNOWN;
}

// Within the steps of the worker.
static double waited_for(const mxp_rank *worker, uint32_t rank)
{
    int64_t until_ns = worker->step_count > 0 ? worker->steps[0].begin_ns : INT64_MIN;
    double sum = 0;
    for (size_t i = 0; i < worker->waits->wait_count; i++) {
        const mxp_rank_wait *wait = &worker->waits->waits[i];
        const int64_t from_ns = wait->end_ns - (int64_t)wait->waited_ns;
        if (wait->last == rank && wait->end_ns > until_ns) {
            sum += (double)(wait->end_ns - (from_ns > until_ns ? from_ns : until_ns));
            until_ns = wait->end_ns;
        }
    }
    return sum;
}

static uint32_t next_absent(const mxp_rank *ranks, size_t count, uint32_t above)
{
    uint32_t next = MXP__RANK_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < ranks[i].waits->wait_count; j++) {
            const uint32_t last = ranks[i].waits->waits[j].last;
            if (last >= above && last < next && !is_there(ranks, count, last)) {
                next = last;
            }
        }
    }
    return next;
}

mxp_absent_rank mxp__absent_rank_find(const mxp_rank *ranks, size_t count, size_t steps)
{
    enum { LOOKED_AT = 64 };  // of a large job not all
    mxp_absent_rank found = {MXP__RANK_UNKNOWN, 0};
    uint32_t rank = next_absent(ranks, count, 0);
    for (int i = 0; i < LOOKED_AT && rank != MXP__RANK_UNKNOWN && steps > 0; i++) {
        double sum = 0;
        for (size_t worker = 0; worker < count; worker++) {
            sum += waited_for(&ranks[worker], rank);
        }
        const double mean_ns = sum / (double)count / (double)steps;
        if (mean_ns > found.waited_ns) {
            found = (mxp_absent_rank){rank, mean_ns};
        }
        rank = next_absent(ranks, count, rank + 1);
    }
    return found;
}
