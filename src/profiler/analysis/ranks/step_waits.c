// SPDX-License-Identifier: Apache-2.0
// See step_waits.h. A round's gap is by how much its last group came behind the last of the others.
#include "profiler/analysis/ranks/step_waits.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

#define NOWHERE SIZE_MAX

static const char memory_for[] = "what workers waited for one another";

// By how much the last one came behind the others: the least that anybody waited for it.
typedef struct round_gap {
    uint64_t key;
    uint64_t gap_ns;
    uint32_t waiters;
} round_gap;

typedef struct rank_place {
    uint64_t key;  // rank, plus 1
    size_t place;
} rank_place;

// What one worker waited in a step for another one.
typedef struct step_wait {
    size_t by;
    mxp_rank_time time;
    uint64_t gap_ns;
} step_wait;

typedef struct search {
    mxp_step_waits *all;
    size_t *members;  // of each group
    mxp_id_map gaps;
    mxp_id_map ranks_places;
    step_wait *waits;  // room for those of a step
    mxp_rank_time *times;  // the same
    size_t room;
} search;

// The group of the worker with that rank; NOWHERE: it is not here.
static size_t group_of(const search *self, uint32_t rank)
{
    const rank_place *found = mxp__id_map_find(&self->ranks_places, (uint64_t)rank + 1);
    return found != NULL ? self->all->groups[found->place] : NOWHERE;
}

// ---- rounds ------------------------------------------------------------------------------------
uint64_t mxp__round_number(uint64_t key, uint64_t round)
{
    const uint64_t mixed =
        (key ^ round * UINT64_C(0xd1b54a32d192ed03)) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed == 0 ? 1 : mixed;
}

static uint64_t key_of_round(const mxp_rank_wait *wait)
{
    return mxp__round_number(wait->key, wait->round);
}

static int find_gaps(search *self)
{
    for (size_t i = 0; i < self->all->count; i++) {
        const mxp_rank_waits *waits = self->all->ranks[i].waits;
        for (size_t j = 0; j < waits->wait_count; j++) {
            const mxp_rank_wait *wait = &waits->waits[j];
            const size_t by = group_of(self, wait->last);
            if (by == NOWHERE || by == self->all->groups[i]) {
                continue;
            }
            round_gap *gap = mxp__id_map_add(&self->gaps, key_of_round(wait));
            if (gap == NULL) {
                return mxp__fail_memory(memory_for);
            }
            if (gap->waiters++ == 0 || wait->waited_ns < gap->gap_ns) {
                gap->gap_ns = wait->waited_ns;
            }
        }
    }
    return MXP_OK;
}

static uint64_t gap_of(const search *self, const mxp_rank_wait *wait)
{
    const round_gap *gap = mxp__id_map_find(&self->gaps, key_of_round(wait));
    return gap == NULL ? wait->waited_ns : gap->gap_ns;
}

// ---- steps -------------------------------------------------------------------------------------
// Numbers mostly ascend: then one is found by halving.
static bool ascends(const mxp_rank *rank)
{
    for (size_t i = 1; i < rank->step_count; i++) {
        if (rank->steps[i].number <= rank->steps[i - 1].number) {
            return false;
        }
    }
    return true;
}

static size_t find_ascending(const mxp_rank *rank, uint64_t number)
{
    size_t low = 0, high = rank->step_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rank->steps[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rank->step_count && rank->steps[low].number == number ? low : SIZE_MAX;
}

static size_t find_number(const mxp_rank *rank, bool is_ascending, uint64_t number, size_t hint)
{
    if (hint < rank->step_count && rank->steps[hint].number == number) {
        return hint;
    }
    if (is_ascending) {
        return find_ascending(rank, number);
    }
    for (size_t i = 0; i < rank->step_count; i++) {
        if (rank->steps[i].number == number) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void pair_each(mxp_step_waits *all, const bool *ascending)
{
    const mxp_rank *first = &all->ranks[0];
    for (size_t i = 0; i < first->step_count; i++) {
        size_t *row = &all->places[all->steps * all->count];
        bool has_all = true;
        for (size_t r = 0; r < all->count && has_all; r++) {
            const size_t before =
                all->steps > 0 ? all->places[(all->steps - 1) * all->count + r] + 1 : 0;
            row[r] = find_number(&all->ranks[r], ascending[r], first->steps[i].number, before);
            has_all = row[r] != SIZE_MAX;
        }
        all->steps += has_all;
    }
}

// Steps that all workers have, by their numbers.
static int pair_steps(search *self)
{
    mxp_step_waits *all = self->all;
    const size_t cells = all->ranks[0].step_count * all->count;
    bool *ascending = mxp__alloc(all->count * sizeof *ascending);
    all->places = mxp__alloc(cells * sizeof *all->places);
    const bool has_memory = ascending != NULL && (all->places != NULL || cells == 0);
    for (size_t r = 0; has_memory && r < all->count; r++) {
        ascending[r] = ascends(&all->ranks[r]);
    }
    if (has_memory) {
        pair_each(all, ascending);
    }
    mxp__free(ascending, all->count * sizeof *ascending);
    return has_memory ? MXP_OK : mxp__fail_memory(memory_for);
}

// ---- waits -------------------------------------------------------------------------------------
size_t mxp__first_wait(const mxp_rank_waits *waits, int64_t begin_ns)
{
    size_t low = 0, high = waits->wait_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (waits->waits[middle].begin_ns < begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int compare_waits(const void *a, const void *b)
{
    const step_wait *x = a, *y = b;
    const int64_t x_ns = x->time.from_ns, y_ns = y->time.from_ns;
    return x->by != y->by ? (x->by < y->by ? -1 : 1) : (x_ns > y_ns) - (x_ns < y_ns);
}

// The waits of a step by whom they were for.
static size_t gather_waits(const search *self, size_t worker, const mxp_rank_step *of)
{
    const mxp_rank_waits *waits = self->all->ranks[worker].waits;
    const size_t first = mxp__first_wait(waits, of->begin_ns),
                 end = mxp__first_wait(waits, of->end_ns);
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        const size_t by = group_of(self, wait->last);
        if (by != NOWHERE && by != self->all->groups[worker] && wait->waited_ns > 0) {
            self->waits[count++] = (step_wait){
                by, {wait->end_ns - (int64_t)wait->waited_ns, wait->end_ns}, gap_of(self, wait)};
        }
    }
    if (count > 0) {
        qsort(self->waits, count, sizeof *self->waits, compare_waits);
    }
    return count;
}

// Of one other: all that was waited for it, or what is left if it comes as the second last.
static double blocked_for(const search *self, size_t worker, size_t first, size_t end, bool is_left)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const step_wait *wait = &self->waits[i];
        const int64_t to_ns = wait->time.to_ns - (is_left ? (int64_t)wait->gap_ns : 0);
        if (to_ns > wait->time.from_ns) {
            self->times[count++] = (mxp_rank_time){wait->time.from_ns, to_ns};
        }
    }
    return mxp__blocked_by(&self->all->ranks[worker], self->times, count);
}

static void weigh_step(const search *self, size_t step, size_t worker)
{
    const mxp_rank *rank = &self->all->ranks[worker];
    const mxp_rank_step *of = &rank->steps[self->all->places[step * self->all->count + worker]];
    const size_t count = gather_waits(self, worker, of);
    for (size_t first = 0, end; first < count; first = end) {
        const size_t by = self->waits[first].by;
        const double others = (double)(self->all->count - self->members[by]);
        for (end = first; end < count && self->waits[end].by == by;) {
            end++;
        }
        const double all_ns = blocked_for(self, worker, first, end, false);
        const double left_ns = blocked_for(self, worker, first, end, true);
        self->all->caused[step * self->all->count + by] += all_ns / others;
        self->all->gained[step * self->all->count + by] += (all_ns - left_ns) / others;
        self->all->waited[step * self->all->count + worker] += all_ns;
    }
}

static void weigh_all(search *self)
{
    for (size_t step = 0; step < self->all->steps; step++) {
        for (size_t worker = 0; worker < self->all->count; worker++) {
            weigh_step(self, step, worker);
        }
    }
}

// ---- all ---------------------------------------------------------------------------------------
const mxp_rank_step *mxp__step_of(const mxp_step_waits *waits, size_t step, size_t worker)
{
    return &waits->ranks[worker].steps[waits->places[step * waits->count + worker]];
}

double mxp__step_length(const mxp_step_waits *waits, size_t step, size_t worker)
{
    const mxp_rank_step *of = mxp__step_of(waits, step, worker);
    return (double)(of->end_ns - of->begin_ns);
}

double mxp__step_blocked(const mxp_step_waits *waits, size_t step, size_t worker)
{
    const mxp_rank_step *of = mxp__step_of(waits, step, worker);
    mxp_rank_time whole = {of->begin_ns, of->end_ns};
    return waits->ranks[worker].has_path ? mxp__blocked_by(&waits->ranks[worker], &whole, 1)
                                         : waits->waited[step * waits->count + worker];
}

size_t mxp__step_last(const mxp_step_waits *waits, size_t step)
{
    size_t last = SIZE_MAX;
    double most_ns = 0;
    for (size_t by = 0; by < waits->count; by++) {
        const double caused_ns = waits->caused[step * waits->count + by];
        if (caused_ns > most_ns) {
            most_ns = caused_ns;
            last = by;
        }
    }
    return last;
}

static int place_ranks(search *self)
{
    for (size_t i = 0; i < self->all->count; i++) {
        rank_place *place =
            mxp__id_map_add(&self->ranks_places, (uint64_t)self->all->ranks[i].rank + 1);
        if (place == NULL) {
            return mxp__fail_memory(memory_for);
        }
        place->place = i;
    }
    self->members = mxp__alloc(self->all->count * sizeof *self->members);
    if (self->members == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < self->all->count; i++) {
        self->members[self->all->groups[i]]++;
    }
    return MXP_OK;
}

static int take_room(search *self)
{
    mxp_step_waits *all = self->all;
    const size_t cells = all->steps * all->count;
    self->room = 1;
    for (size_t i = 0; i < all->count; i++) {
        const size_t count = all->ranks[i].waits->wait_count;
        self->room = count > self->room ? count : self->room;
    }
    all->caused = mxp__alloc(cells * sizeof *all->caused);
    all->gained = mxp__alloc(cells * sizeof *all->gained);
    all->waited = mxp__alloc(cells * sizeof *all->waited);
    self->waits = mxp__alloc(self->room * sizeof *self->waits);
    self->times = mxp__alloc(self->room * sizeof *self->times);
    const bool has_cells = all->caused != NULL && all->gained != NULL && all->waited != NULL;
    return self->waits == NULL || self->times == NULL || (cells > 0 && !has_cells)
               ? mxp__fail_memory(memory_for)
               : MXP_OK;
}

int mxp__step_waits_make(const mxp_rank *ranks, size_t count, const size_t *groups,
                         mxp_step_waits *waits)
{
    *waits = (mxp_step_waits){.ranks = ranks, .count = count, .groups = groups};
    search self = {.all = waits,
                   .gaps = {.entry_bytes = sizeof(round_gap)},
                   .ranks_places = {.entry_bytes = sizeof(rank_place)}};
    int error = place_ranks(&self);
    if (error == MXP_OK) {
        error = find_gaps(&self);
    }
    if (error == MXP_OK) {
        error = pair_steps(&self);
    }
    if (error == MXP_OK) {
        error = take_room(&self);
    }
    if (error == MXP_OK) {
        weigh_all(&self);
    }
    mxp__free(self.times, self.times != NULL ? self.room * sizeof *self.times : 0);
    mxp__free(self.waits, self.waits != NULL ? self.room * sizeof *self.waits : 0);
    mxp__free(self.members, count * sizeof *self.members);
    mxp__id_map_fini(&self.ranks_places);
    mxp__id_map_fini(&self.gaps);
    return error;
}

void mxp__step_waits_fini(mxp_step_waits *waits)
{
    const size_t cells = waits->steps * waits->count;
    mxp__free(waits->waited, cells * sizeof *waits->waited);
    mxp__free(waits->gained, cells * sizeof *waits->gained);
    mxp__free(waits->caused, cells * sizeof *waits->caused);
    mxp__free(waits->places, waits->count > 0
                                 ? waits->ranks[0].step_count * waits->count * sizeof *waits->places
                                 : 0);
    *waits = (mxp_step_waits){.ranks = NULL};
}
