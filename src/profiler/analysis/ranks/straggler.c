// SPDX-License-Identifier: Apache-2.0
// See straggler.h. Figures of all steps are medians; what there is of each step is step_waits.h's.
#include "profiler/analysis/ranks/straggler.h"

#include <assert.h>
#include <math.h>
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/ranks/step_waits.h"
#include "profiler/analysis/ranks/straggler_kind.h"
#include "profiler/analysis/statistics/sample.h"

static const double chance = 0.999;
static const double cost_least = 0.02;  // of a step

static const char memory_for[] = "what workers waited for one another";

typedef struct search {
    mxp_step_waits all;
    double *series;  // room for the values of all steps
} search;

// ---- figures -----------------------------------------------------------------------------------
static double median_of_series(const search *self)
{
    mxp__sample_sort(self->series, self->all.steps);
    return mxp__sample_median(self->series, self->all.steps);
}

static void count_bytes(const mxp_rank_waits *waits, mxp_rank_row *row)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < waits->wait_count; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        row->bytes += wait->bytes;
        row->bytes_out += wait->goes_out ? wait->bytes : 0;
        row->bytes_in += wait->comes_in ? wait->bytes : 0;
        end_ns = wait->end_ns > end_ns ? wait->end_ns : end_ns;
    }
    if (waits->wait_count > 0 && end_ns > waits->waits[0].begin_ns) {
        const double length_ns = (double)end_ns - (double)waits->waits[0].begin_ns;
        row->bytes_per_s = (double)(row->bytes_out + row->bytes_in) / length_ns * 1e9;
    }
}

static void fill_row(const search *self, size_t worker, mxp_rank_row *row)
{
    row->rank = self->all.ranks[worker].rank;
    for (size_t step = 0; step < self->all.steps; step++) {
        self->series[step] = mxp__step_length(&self->all, step, worker);
    }
    row->step_ns = median_of_series(self);
    for (size_t step = 0; step < self->all.steps; step++) {
        self->series[step] = mxp__step_blocked(&self->all, step, worker);
    }
    row->blocked_ns = median_of_series(self);
    for (size_t step = 0; step < self->all.steps; step++) {
        self->series[step] = mxp__step_length(&self->all, step, worker) -
                             mxp__step_blocked(&self->all, step, worker);
    }
    row->own_ns = median_of_series(self);
    for (size_t step = 0; step < self->all.steps; step++) {
        self->series[step] = self->all.waited[step * self->all.count + worker];
    }
    row->waited_ns = median_of_series(self);
    for (size_t step = 0; step < self->all.steps; step++) {
        self->series[step] = self->all.caused[step * self->all.count + worker];
    }
    row->caused_ns = median_of_series(self);
    count_bytes(self->all.ranks[worker].waits, row);
}

// In each step the one that cost the others most was the last.
static void count_last(const search *self, mxp_stragglers *found)
{
    for (size_t step = 0; step < self->all.steps; step++) {
        const size_t last = mxp__step_last(&self->all, step);
        if (last != SIZE_MAX) {
            found->rows[last].last_steps++;
        }
    }
}

static void find_imbalance(const search *self, mxp_stragglers *found)
{
    double *own = self->series;  // W values fit where those of all steps do, or are not looked at
    if (self->all.count > self->all.steps) {
        return;
    }
    for (size_t i = 0; i < self->all.count; i++) {
        own[i] = found->rows[i].own_ns;
    }
    mxp__sample_sort(own, self->all.count);
    const double median = mxp__sample_median(own, self->all.count);
    found->imbalance = median > 0 ? (own[self->all.count - 1] - median) / median : 0;
}

// The longest of W equal workers is longer than their mean by about sigma sqrt(2 ln W).
static void find_noise(const search *self, mxp_stragglers *found)
{
    double variance = 0;
    for (size_t worker = 0; worker < self->all.count; worker++) {
        for (size_t step = 0; step < self->all.steps; step++) {
            self->series[step] = mxp__step_length(&self->all, step, worker) -
                                 mxp__step_blocked(&self->all, step, worker);
        }
        const double deviation = mxp__sample_deviation(self->series, self->all.steps);
        variance += deviation * deviation / (double)self->all.count;
    }
    found->noise_ns = sqrt(variance) * sqrt(2 * log((double)self->all.count));
}

// Of a group: how much of a step goes if it comes as the last of the others.
static void find_gain(const search *self, const mxp_step_waits *waits, size_t by,
                      mxp_stragglers *found)
{
    for (size_t step = 0; step < waits->steps; step++) {
        self->series[step] = waits->gained[step * waits->count + by];
    }
    found->gain_ns = median_of_series(self);
    // Order statistics of the median, 95 %.
    const double n = (double)waits->steps, room = 0.98 * sqrt(n);
    const double low = floor(n / 2 - room), high = ceil(n / 2 + room);
    found->gain_low_ns = self->series[low < 0 ? 0 : (size_t)low];
    found->gain_high_ns = self->series[high > n - 1 ? waits->steps - 1 : (size_t)high];
}

static void name_one(const search *self, mxp_stragglers *found)
{
    found->chance_most =
        mxp__binomial_quantile(self->all.steps, 1 / (double)self->all.count, chance);
    for (size_t by = 0; by < self->all.count; by++) {
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
    find_gain(self, &self->all, (size_t)found->costliest, found);
    found->last_steps = row->last_steps;
    if (row->last_steps > found->chance_most && found->cost_ns >= cost_least * found->step_ns) {
        found->named = found->costliest;
    }
}

// ---- hosts -------------------------------------------------------------------------------------
// Of a host's workers each is the last in some of the steps, and none may stand out.
static bool is_host_late(const search *self, const mxp_step_waits *hosts, size_t host,
                         mxp_stragglers *found)
{
    size_t members = 0, last_steps = 0;
    for (size_t worker = 0; worker < hosts->count; worker++) {
        members += hosts->groups[worker] == host;
    }
    if (members < 2 || members == hosts->count) {
        return false;
    }
    for (size_t step = 0; step < hosts->steps; step++) {
        self->series[step] = hosts->caused[step * hosts->count + host];
        last_steps += mxp__step_last(hosts, step) == host;
    }
    const double cost_ns = median_of_series(self);
    const double share = (double)members / (double)hosts->count;
    const size_t most = mxp__binomial_quantile(hosts->steps, share, chance);
    if (last_steps <= most || cost_ns < cost_least * found->step_ns ||
        !mxp__all_are_longer(hosts, host, found->rows, cost_ns / 2)) {
        return false;
    }
    found->cost_ns = cost_ns;
    found->chance_most = most;
    found->last_steps = last_steps;
    find_gain(self, hosts, host, found);
    return true;
}

static void name_host(const search *self, const mxp_step_waits *hosts, mxp_stragglers *found)
{
    for (size_t host = 0; host < hosts->count && !found->is_whole_host; host++) {
        if (hosts->groups[host] != host || !is_host_late(self, hosts, host, found)) {
            continue;
        }
        found->is_whole_host = true;
        found->named = (int)host;
        for (size_t worker = host; worker < hosts->count; worker++) {
            const bool is_its = hosts->groups[worker] == host;
            const double named_ns = found->rows[found->named].caused_ns;
            found->named =
                is_its && found->rows[worker].caused_ns > named_ns ? (int)worker : found->named;
        }
        found->costliest = found->named;
    }
}

static int look_at_hosts(const search *self, const mxp_rank *ranks, mxp_stragglers *found)
{
    const size_t count = self->all.count;
    size_t *groups = mxp__alloc(count * sizeof *groups);
    mxp_step_waits hosts;
    if (groups == NULL) {
        return mxp__fail_memory(memory_for);
    }
    mxp__group_by_host(ranks, count, groups);
    const int error = mxp__step_waits_make(ranks, count, groups, &hosts);
    if (error == MXP_OK) {
        name_host(self, &hosts, found);
    }
    mxp__step_waits_fini(&hosts);
    mxp__free(groups, count * sizeof *groups);
    return error;
}

static void fill(search *self, mxp_stragglers *found)
{
    for (size_t step = 0; step < self->all.steps; step++) {
        double sum = 0;
        for (size_t worker = 0; worker < self->all.count; worker++) {
            sum += mxp__step_length(&self->all, step, worker);
        }
        self->series[step] = sum / (double)self->all.count;
    }
    found->step_ns = median_of_series(self);
    for (size_t worker = 0; worker < self->all.count; worker++) {
        fill_row(self, worker, &found->rows[worker]);
    }
    count_last(self, found);
    find_imbalance(self, found);
    find_noise(self, found);
    name_one(self, found);
}

int mxp__stragglers_find(const mxp_rank *ranks, size_t count, mxp_stragglers *found)
{
    assert(count >= 2 && "one worker alone waits for nobody");
    search self = {.series = NULL};
    *found = (mxp_stragglers){.workers = count,
                              .named = MXP__STRAGGLERS_NONE,
                              .costliest = MXP__STRAGGLERS_NONE,
                              .late_start_ns = NAN,
                              .run_delay_ns = NAN};
    size_t *alone = mxp__alloc(count * sizeof *alone);
    for (size_t i = 0; alone != NULL && i < count; i++) {
        alone[i] = i;
    }
    int error = alone == NULL ? mxp__fail_memory(memory_for)
                              : mxp__step_waits_make(ranks, count, alone, &self.all);
    const size_t steps = self.all.steps;
    if (error == MXP_OK) {
        found->rows = mxp__alloc(count * sizeof *found->rows);
        self.series = mxp__alloc(steps * sizeof *self.series);
        error = found->rows == NULL || (steps > 0 && self.series == NULL)
                    ? mxp__fail_memory(memory_for)
                    : MXP_OK;
    }
    if (error == MXP_OK) {
        found->steps = steps;
        if (steps > 0) {
            fill(&self, found);
            error = look_at_hosts(&self, ranks, found);
        }
    }
    if (error == MXP_OK && steps > 0) {
        mxp__straggler_explain(&self.all, self.series, found);
    } else if (error != MXP_OK) {
        mxp__stragglers_fini(found);
    }
    mxp__free(self.series, self.series != NULL ? steps * sizeof *self.series : 0);
    mxp__step_waits_fini(&self.all);
    mxp__free(alone, count * sizeof *alone);
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
