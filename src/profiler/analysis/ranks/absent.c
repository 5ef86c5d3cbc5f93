// SPDX-License-Identifier: Apache-2.0
// See absent.h. One pass over the steps of each worker, whoever they wait for.
#include "profiler/analysis/ranks/absent.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/ranks/step_waits.h"

static const char memory_for[] = "what workers waited for others";

typedef struct absent_time {
    uint64_t key;  // rank, plus 1
    bool is_here;
    double waited_ns;  // a step: of all workers together
} absent_time;

typedef struct absent_wait {
    uint32_t rank;
    mxp_rank_time time;
} absent_wait;

typedef struct search {
    mxp_id_map ranks;
    absent_wait *waits;  // room for those of a step
    mxp_rank_time *times;  // the same
    size_t room;
} search;

static int compare(const void *a, const void *b)
{
    const absent_wait *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

// Those of a step by whom they were for.
static size_t gather(const search *self, const mxp_rank_waits *waits, const mxp_rank_step *step)
{
    const size_t end = mxp__first_wait(waits, step->end_ns);
    size_t count = 0;
    for (size_t i = mxp__first_wait(waits, step->begin_ns); i < end; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        if (wait->waited_ns == 0 || wait->last == MXP__RANK_UNKNOWN) {
            continue;
        }
        const absent_time *of = mxp__id_map_find(&self->ranks, (uint64_t)wait->last + 1);
        if (of == NULL || !of->is_here) {
            self->waits[count++] =
                (absent_wait){wait->last, {wait->end_ns - (int64_t)wait->waited_ns, wait->end_ns}};
        }
    }
    if (count > 0) {
        qsort(self->waits, count, sizeof *self->waits, compare);
    }
    return count;
}

static int add_step(search *self, const mxp_rank *worker, const mxp_rank_step *step)
{
    const size_t count = gather(self, worker->waits, step);
    for (size_t first = 0, end; first < count; first = end) {
        const uint32_t rank = self->waits[first].rank;
        for (end = first; end < count && self->waits[end].rank == rank; end++) {
            self->times[end - first] = self->waits[end].time;
        }
        absent_time *of = mxp__id_map_add(&self->ranks, (uint64_t)rank + 1);
        if (of == NULL) {
            return mxp__fail_memory(memory_for);
        }
        of->waited_ns +=
            mxp__blocked_by(worker, self->times, end - first) / (double)worker->step_count;
    }
    return MXP_OK;
}

static int prepare(search *self, const mxp_rank *ranks, size_t count)
{
    self->room = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t waits = ranks[i].waits->wait_count;
        self->room = waits > self->room ? waits : self->room;
        absent_time *of = mxp__id_map_add(&self->ranks, (uint64_t)ranks[i].rank + 1);
        if (of == NULL) {
            return mxp__fail_memory(memory_for);
        }
        of->is_here = true;
    }
    self->waits = mxp__alloc(self->room * sizeof *self->waits);
    self->times = mxp__alloc(self->room * sizeof *self->times);
    return self->waits == NULL || self->times == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
}

// Of equals the lowest rank: the map has no order.
static void choose(const search *self, size_t count, mxp_absent_rank *found)
{
    const absent_time *of = NULL;
    while ((of = mxp__id_map_next(&self->ranks, of)) != NULL) {
        const double waited_ns = of->waited_ns / (double)count;
        const uint32_t rank = (uint32_t)(of->key - 1);
        if (waited_ns > found->waited_ns ||
            (waited_ns > 0 && waited_ns >= found->waited_ns && rank < found->rank)) {
            *found = (mxp_absent_rank){rank, waited_ns};
        }
    }
}

int mxp__absent_rank_find(const mxp_rank *ranks, size_t count, mxp_absent_rank *found)
{
    search self = {.ranks = {.entry_bytes = sizeof(absent_time)}};
    *found = (mxp_absent_rank){MXP__RANK_UNKNOWN, 0};
    int error = prepare(&self, ranks, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; error == MXP_OK && j < ranks[i].step_count; j++) {
            error = add_step(&self, &ranks[i], &ranks[i].steps[j]);
        }
    }
    if (error == MXP_OK) {
        choose(&self, count, found);
    }
    mxp__free(self.times, self.room * sizeof *self.times);
    mxp__free(self.waits, self.room * sizeof *self.waits);
    mxp__id_map_fini(&self.ranks);
    return error;
}
