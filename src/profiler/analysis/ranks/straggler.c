// SPDX-License-Identifier: Apache-2.0
// See straggler.h. What a worker waited for another is a union of times, not a sum: sixty keys that
// wait side by side are one wait.
#include "profiler/analysis/ranks/straggler.h"

#include <assert.h>
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/sample.h"

static const double chance = 0.999;
static const double cost_least = 0.02;  // of a step

static const char memory_for[] = "what workers waited for one another";

// By how much the last one came behind the second last: the least that anybody waited for it.
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
    const mxp_rank *ranks;
    size_t count;
    mxp_id_map gaps;
    mxp_id_map ranks_places;
    size_t steps;
    size_t *places;  // [step * count + worker]: place among the worker's steps
    // [step * count + worker]: what it made the others wait, their mean; how much of that goes if
    // it comes as the second last; what it waited itself. All cut with what blocked who waited.
    double *caused, *gained, *waited;
    double *series;  // room for the values of all steps
    step_wait *waits;  // room for those of a step
    mxp_rank_time *times;  // the same
    size_t room;
} search;

// ---- rounds ------------------------------------------------------------------------------------
static uint64_t key_of_round(const mxp_rank_wait *wait)
{
    const uint64_t mixed =
        (wait->key ^ wait->round * UINT64_C(0xd1b54a32d192ed03)) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed == 0 ? 1 : mixed;
}

static int find_gaps(search *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const mxp_rank_waits *waits = self->ranks[i].waits;
        for (size_t j = 0; j < waits->wait_count; j++) {
            const mxp_rank_wait *wait = &waits->waits[j];
            if (wait->last == self->ranks[i].rank || wait->last == MXP__RANK_UNKNOWN) {
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
static size_t find_number(const mxp_rank *rank, uint64_t number, size_t hint)
{
    if (hint < rank->step_count && rank->steps[hint].number == number) {
        return hint;
    }
    for (size_t i = 0; i < rank->step_count; i++) {
        if (rank->steps[i].number == number) {
            return i;
        }
    }
    return SIZE_MAX;
}

// Steps that all workers have, by their numbers.
static int pair_steps(search *self)
{
    const mxp_rank *first = &self->ranks[0];
    self->places = mxp__alloc(first->step_count * self->count * sizeof *self->places);
    if (self->places == NULL && first->step_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < first->step_count; i++) {
        size_t *row = &self->places[self->steps * self->count];
        bool all = true;
        for (size_t r = 0; r < self->count && all; r++) {
            const size_t before =
                self->steps > 0 ? self->places[(self->steps - 1) * self->count + r] + 1 : 0;
            row[r] = find_number(&self->ranks[r], first->steps[i].number, before);
            all = row[r] != SIZE_MAX;
        }
        self->steps += all;
    }
    return MXP_OK;
}

// ---- unions ------------------------------------------------------------------------------------
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

// The part of the union of times that blocked the worker.
static double blocked_by(const mxp_rank *rank, mxp_rank_time *times, size_t count)
{
    size_t at = 0;
    double ns = 0;
    int64_t covered_ns = INT64_MIN;
    if (count > 0) {
        qsort(times, count, sizeof *times, compare_times);
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t from_ns = times[i].from_ns > covered_ns ? times[i].from_ns : covered_ns;
        ns += blocked_within(rank, from_ns, times[i].to_ns, &at);
        covered_ns = times[i].to_ns > covered_ns ? times[i].to_ns : covered_ns;
    }
    return ns;
}

// The waits of a worker that begin in a step.
static size_t first_wait(const mxp_rank_waits *waits, int64_t begin_ns)
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
    return x->by != y->by ? (x->by < y->by ? -1 : 1) : compare_times(&x->time, &y->time);
}

static size_t place_of(const search *self, uint32_t rank)
{
    const rank_place *found = mxp__id_map_find(&self->ranks_places, (uint64_t)rank + 1);
    return found != NULL ? found->place : SIZE_MAX;
}

// The waits of a step by whom they were for.
static size_t gather_waits(const search *self, size_t worker, const mxp_rank_step *of)
{
    const mxp_rank_waits *waits = self->ranks[worker].waits;
    const size_t first = first_wait(waits, of->begin_ns), end = first_wait(waits, of->end_ns);
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        const size_t by = place_of(self, wait->last);
        if (by != SIZE_MAX && by != worker && wait->waited_ns > 0) {
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
    return blocked_by(&self->ranks[worker], self->times, count);
}

static void weigh_step(const search *self, size_t step, size_t worker)
{
    const mxp_rank *rank = &self->ranks[worker];
    const mxp_rank_step *of = &rank->steps[self->places[step * self->count + worker]];
    const size_t count = gather_waits(self, worker, of);
    const double others = (double)(self->count - 1);
    for (size_t first = 0, end; first < count; first = end) {
        const size_t by = self->waits[first].by;
        for (end = first; end < count && self->waits[end].by == by;) {
            end++;
        }
        const double all_ns = blocked_for(self, worker, first, end, false);
        const double left_ns = blocked_for(self, worker, first, end, true);
        self->caused[step * self->count + by] += all_ns / others;
        self->gained[step * self->count + by] += (all_ns - left_ns) / others;
        self->waited[step * self->count + worker] += all_ns;
    }
}

static void weigh_all(search *self)
{
    for (size_t step = 0; step < self->steps; step++) {
        for (size_t worker = 0; worker < self->count; worker++) {
            weigh_step(self, step, worker);
        }
    }
}

// ---- figures -----------------------------------------------------------------------------------
static double median_of_series(const search *self)
{
    mxp__sample_sort(self->series, self->steps);
    return mxp__sample_median(self->series, self->steps);
}

static const mxp_rank_step *step_of(const search *self, size_t step, size_t worker)
{
    return &self->ranks[worker].steps[self->places[step * self->count + worker]];
}

static double blocked_in_step(const search *self, size_t step, size_t worker)
{
    const mxp_rank_step *of = step_of(self, step, worker);
    mxp_rank_time whole = {of->begin_ns, of->end_ns};
    return self->ranks[worker].has_path ? blocked_by(&self->ranks[worker], &whole, 1)
                                        : self->waited[step * self->count + worker];
}

static double length_of(const search *self, size_t step, size_t worker)
{
    const mxp_rank_step *of = step_of(self, step, worker);
    return (double)(of->end_ns - of->begin_ns);
}

static void fill_row(const search *self, size_t worker, mxp_rank_row *row)
{
    row->rank = self->ranks[worker].rank;
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = length_of(self, step, worker);
    }
    row->step_ns = median_of_series(self);
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = blocked_in_step(self, step, worker);
    }
    row->blocked_ns = median_of_series(self);
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = length_of(self, step, worker) - blocked_in_step(self, step, worker);
    }
    row->own_ns = median_of_series(self);
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = self->waited[step * self->count + worker];
    }
    row->waited_ns = median_of_series(self);
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = self->caused[step * self->count + worker];
    }
    row->caused_ns = median_of_series(self);
    for (size_t i = 0; i < self->ranks[worker].waits->wait_count; i++) {
        row->bytes += self->ranks[worker].waits->waits[i].bytes;
    }
}

// In each step the one that cost the others most was the last.
static void count_last(const search *self, mxp_stragglers *found)
{
    for (size_t step = 0; step < self->steps; step++) {
        size_t last = SIZE_MAX;
        double most = 0;
        for (size_t by = 0; by < self->count; by++) {
            const double caused_ns = self->caused[step * self->count + by];
            if (caused_ns > most) {
                most = caused_ns;
                last = by;
            }
        }
        if (last != SIZE_MAX) {
            found->rows[last].last_steps++;
        }
    }
}

static void find_imbalance(const search *self, mxp_stragglers *found)
{
    double *own = self->series;  // W values fit where those of all steps do, or are not looked at
    if (self->count > self->steps) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        own[i] = found->rows[i].own_ns;
    }
    mxp__sample_sort(own, self->count);
    const double median = mxp__sample_median(own, self->count);
    found->imbalance = median > 0 ? (own[self->count - 1] - median) / median : 0;
}

// The longest of W equal workers is longer than their mean by about sigma sqrt(2 ln W).
static void find_noise(const search *self, mxp_stragglers *found)
{
    double variance = 0;
    for (size_t worker = 0; worker < self->count; worker++) {
        for (size_t step = 0; step < self->steps; step++) {
            self->series[step] =
                length_of(self, step, worker) - blocked_in_step(self, step, worker);
        }
        const double deviation = mxp__sample_deviation(self->series, self->steps);
        variance += deviation * deviation / (double)self->count;
    }
    found->noise_ns = sqrt(variance) * sqrt(2 * log((double)self->count));
}

static void find_gain(const search *self, size_t by, mxp_stragglers *found)
{
    for (size_t step = 0; step < self->steps; step++) {
        self->series[step] = self->gained[step * self->count + by];
    }
    found->gain_ns = median_of_series(self);
    // Order statistics of the median, 95 %.
    const double n = (double)self->steps, room = 0.98 * sqrt(n);
    const double low = floor(n / 2 - room), high = ceil(n / 2 + room);
    found->gain_low_ns = self->series[low < 0 ? 0 : (size_t)low];
    found->gain_high_ns = self->series[high > n - 1 ? self->steps - 1 : (size_t)high];
}

static void name_one(const search *self, mxp_stragglers *found)
{
    found->named = MXP__STRAGGLERS_NONE;
    found->costliest = MXP__STRAGGLERS_NONE;
    found->chance_most = mxp__binomial_quantile(self->steps, 1 / (double)self->count, chance);
    for (size_t by = 0; by < self->count; by++) {
        const mxp_rank_row *row = &found->rows[by];
        if (row->caused_ns > found->cost_ns) {
            found->cost_ns = row->caused_ns;
            found->costliest = (int)by;
        }
    }
    if (found->costliest == MXP__STRAGGLERS_NONE) {
        return;
    }
    const mxp_rank_row *row = &found->rows[found->costliest];
    find_gain(self, (size_t)found->costliest, found);
    if (row->last_steps > found->chance_most && found->cost_ns >= cost_least * found->step_ns) {
        found->named = found->costliest;
    }
}

static int take_room(search *self, mxp_stragglers *found)
{
    const size_t cells = self->steps * self->count;
    size_t most = 1;
    for (size_t i = 0; i < self->count; i++) {
        most = self->ranks[i].waits->wait_count > most ? self->ranks[i].waits->wait_count : most;
    }
    self->caused = mxp__alloc(cells * sizeof *self->caused);
    self->gained = mxp__alloc(cells * sizeof *self->gained);
    self->waited = mxp__alloc(cells * sizeof *self->waited);
    self->series = mxp__alloc(self->steps * sizeof *self->series);
    self->waits = mxp__alloc(most * sizeof *self->waits);
    self->times = mxp__alloc(most * sizeof *self->times);
    self->room = most;
    found->rows = mxp__alloc(self->count * sizeof *found->rows);
    const bool has_cells = self->caused != NULL && self->gained != NULL && self->waited != NULL &&
                           self->series != NULL;
    return found->rows == NULL || self->waits == NULL || self->times == NULL ||
                   (cells > 0 && !has_cells)
               ? mxp__fail_memory(memory_for)
               : MXP_OK;
}

static void give_room(search *self)
{
    const size_t cells = self->steps * self->count;
    mxp__free(self->times, self->room * sizeof *self->times);
    mxp__free(self->waits, self->room * sizeof *self->waits);
    mxp__free(self->series, self->steps * sizeof *self->series);
    mxp__free(self->waited, cells * sizeof *self->waited);
    mxp__free(self->gained, cells * sizeof *self->gained);
    mxp__free(self->caused, cells * sizeof *self->caused);
    mxp__free(self->places, self->ranks[0].step_count * self->count * sizeof *self->places);
    mxp__id_map_fini(&self->ranks_places);
    mxp__id_map_fini(&self->gaps);
}

static void fill(search *self, mxp_stragglers *found)
{
    weigh_all(self);
    for (size_t step = 0; step < self->steps; step++) {
        double sum = 0;
        for (size_t worker = 0; worker < self->count; worker++) {
            sum += length_of(self, step, worker);
        }
        self->series[step] = sum / (double)self->count;
    }
    found->step_ns = median_of_series(self);
    for (size_t worker = 0; worker < self->count; worker++) {
        fill_row(self, worker, &found->rows[worker]);
    }
    count_last(self, found);
    find_imbalance(self, found);
    find_noise(self, found);
    name_one(self, found);
}

static int place_ranks(search *self)
{
    for (size_t i = 0; i < self->count; i++) {
        rank_place *place = mxp__id_map_add(&self->ranks_places, (uint64_t)self->ranks[i].rank + 1);
        if (place == NULL) {
            return mxp__fail_memory(memory_for);
        }
        place->place = i;
    }
    return MXP_OK;
}

int mxp__stragglers_find(const mxp_rank *ranks, size_t count, mxp_stragglers *found)
{
    assert(count >= 2 && "one worker alone waits for nobody");
    search self = {.ranks = ranks,
                   .count = count,
                   .gaps = {.entry_bytes = sizeof(round_gap)},
                   .ranks_places = {.entry_bytes = sizeof(rank_place)}};
    *found = (mxp_stragglers){
        .workers = count, .named = MXP__STRAGGLERS_NONE, .costliest = MXP__STRAGGLERS_NONE};
    int error = place_ranks(&self);
    if (error == MXP_OK) {
        error = find_gaps(&self);
    }
    if (error == MXP_OK) {
        error = pair_steps(&self);
    }
    if (error == MXP_OK) {
        error = take_room(&self, found);
    }
    if (error == MXP_OK) {
        found->steps = self.steps;
        if (self.steps > 0) {
            fill(&self, found);
        }
    } else {
        mxp__stragglers_fini(found);
    }
    give_room(&self);
    return error;
}

void mxp__stragglers_fini(mxp_stragglers *found)
{
    mxp__free(found->rows, found->workers * sizeof *found->rows);
    *found = (mxp_stragglers){0};
}

// ---- chance ------------------------------------------------------------------------------------
size_t mxp__binomial_quantile(size_t trials, double share, double probability)
{
    const double n = (double)trials;
    double sum = 0;
    for (size_t k = 0; k < trials; k++) {
        const double x = (double)k;
        sum += exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(share) +
                   (n - x) * log1p(-share));
        if (sum >= probability) {
            return k;
        }
    }
    return trials;
}
