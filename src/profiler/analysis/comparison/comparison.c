// SPDX-License-Identifier: Apache-2.0
// A run is disturbed if its threads waited for a core in a larger share of its time than three
// times what the quieter quarter of all runs shows: not the median, because nearly half of the runs
// of a busy machine may be disturbed, and not a fixed share, because helpers of kernels that spin
// wait for cores in undisturbed runs too.
#include "profiler/analysis/comparison/comparison.h"

#include <assert.h>
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/sample.h"

static const double level = 0.05;  // of the test and of the interval
static const double least_delay = 0.05;  // below this share no run is disturbed

static int no_memory(void)
{
    return mxp__fail_memory("a comparison of runs");
}

mxp_compared_run *mxp__side_next(mxp_side *side)
{
    if (mxp__grow(&side->runs, &side->capacity, side->count + 1, sizeof *side->runs) != MXP_OK) {
        no_memory();
        return NULL;
    }
    side->runs[side->count] = (mxp_compared_run){0};
    return &side->runs[side->count];
}

// ---- disturbed runs ----------------------------------------------------------------------------
static bool put_delays(const mxp_comparison *comparison, double *delays, size_t *count)
{
    *count = 0;
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            const double delay = mxp__compared_run_delay(&comparison->sides[side].runs[i]);
            if (delay < 0) {
                return false;
            }
            delays[(*count)++] = delay;
        }
    }
    return true;
}

static void mark_disturbed(mxp_comparison *comparison)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            const double delay = mxp__compared_run_delay(&comparison->sides[side].runs[i]);
            const bool is_disturbed = delay > comparison->delay_bound;
            comparison->sides[side].is_disturbed[i] = is_disturbed;
            comparison->disturbed += is_disturbed;
        }
    }
}

int mxp__comparison_find_disturbed(mxp_comparison *comparison)
{
    const size_t all = comparison->sides[MXP__BEFORE].count + comparison->sides[MXP__AFTER].count;
    double *delays = mxp__alloc(all * sizeof *delays);
    for (int side = 0; side < MXP__SIDES; side++) {
        const size_t runs = comparison->sides[side].count;
        comparison->sides[side].is_disturbed = mxp__alloc(runs);
        if ((comparison->sides[side].is_disturbed == NULL && runs > 0) || delays == NULL) {
            mxp__free(delays, all * sizeof *delays);
            return no_memory();
        }
    }
    size_t count;
    comparison->knows_delay = put_delays(comparison, delays, &count);
    if (comparison->knows_delay) {
        mxp__sample_sort(delays, count);
        const double bound = 3 * mxp__sample_percentile(delays, count, 0.25);
        comparison->delay_bound = bound > least_delay ? bound : least_delay;
        mark_disturbed(comparison);
    }
    mxp__free(delays, all * sizeof *delays);
    return MXP_OK;
}

// ---- runs in turn ------------------------------------------------------------------------------
typedef struct timed_run {
    uint64_t began_ns;
    int side;
    size_t place;
} timed_run;

static int by_time(const void *a, const void *b)
{
    const timed_run *x = a, *y = b;
    return (x->began_ns > y->began_ns) - (x->began_ns < y->began_ns);
}

static size_t put_runs(const mxp_comparison *comparison, timed_run *runs)
{
    size_t count = 0;
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            const mxp_compared_run *run = &comparison->sides[side].runs[i];
            runs[count++] = (timed_run){run->began_ns, side, i};
        }
    }
    qsort(runs, count, sizeof *runs, by_time);
    return count;
}

// Whether each two that follow one another are of both sides, one of each.
static bool is_in_turn(const timed_run *runs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2) {
        if (runs[i].side == runs[i + 1].side || runs[i].began_ns == runs[i + 1].began_ns) {
            return false;
        }
    }
    return count % 2 == 0;
}

// Keeps the pairs of which both runs count.
static int keep_pairs(mxp_comparison *comparison, const timed_run *runs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2) {
        const timed_run *first = &runs[i], *second = &runs[i + 1];
        if (!mxp__run_counts(comparison, first->side, first->place) ||
            !mxp__run_counts(comparison, second->side, second->place)) {
            continue;
        }
        if (mxp__grow(&comparison->pairs, &comparison->pair_capacity, comparison->pair_count + 1,
                      sizeof *comparison->pairs) != MXP_OK) {
            return no_memory();
        }
        mxp_run_pair *pair = &comparison->pairs[comparison->pair_count++];
        pair->places[first->side] = first->place;
        pair->places[second->side] = second->place;
    }
    return MXP_OK;
}

static int find_pairs(mxp_comparison *comparison)
{
    const size_t all = comparison->sides[MXP__BEFORE].count + comparison->sides[MXP__AFTER].count;
    timed_run *runs = mxp__alloc(all * sizeof *runs);
    if (runs == NULL) {
        return no_memory();
    }
    const size_t count = put_runs(comparison, runs);
    int error = MXP_OK;
    if (is_in_turn(runs, count)) {
        error = keep_pairs(comparison, runs, count);
    }
    mxp__free(runs, all * sizeof *runs);
    // Fewer pairs than a test needs are no pairs.
    comparison->pair_count =
        comparison->pair_count < MXP__PAIRS_FOR_TEST ? 0 : comparison->pair_count;
    return error;
}

// ---- one figure --------------------------------------------------------------------------------
// Place of a run among those of its side that count.
static size_t place_among(const mxp_comparison *comparison, int side, size_t run)
{
    size_t place = 0;
    for (size_t i = 0; i < run; i++) {
        place += mxp__run_counts(comparison, side, i);
    }
    return place;
}

static size_t count_runs(const mxp_comparison *comparison, int side)
{
    return place_among(comparison, side, comparison->sides[side].count);
}

static int test_pairs(const mxp_comparison *comparison, double *const values[MXP__SIDES],
                      mxp_permutation *result)
{
    const size_t count = comparison->pair_count;
    double *paired = mxp__alloc(2 * count * sizeof *paired);
    if (paired == NULL) {
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        for (int side = 0; side < MXP__SIDES; side++) {
            const size_t run = comparison->pairs[i].places[side];
            paired[(size_t)side * count + i] = values[side][place_among(comparison, side, run)];
        }
    }
    int error = mxp__permutation_pairs(paired, paired + count, count, level, result);
    mxp__free(paired, 2 * count * sizeof *paired);
    return error;
}

int mxp__comparison_test(const mxp_comparison *comparison, double *const values[MXP__SIDES],
                         mxp_permutation *result)
{
    if (comparison->pair_count > 0) {
        return test_pairs(comparison, values, result);
    }
    return mxp__permutation_groups(values[MXP__BEFORE], count_runs(comparison, MXP__BEFORE),
                                   values[MXP__AFTER], count_runs(comparison, MXP__AFTER), level,
                                   result);
}

static double spread_of_pairs(const mxp_comparison *comparison, double *const logs[MXP__SIDES])
{
    double sum = 0, squares = 0;
    const double count = (double)comparison->pair_count;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const size_t *runs = comparison->pairs[i].places;
        const double apart =
            logs[MXP__AFTER][place_among(comparison, MXP__AFTER, runs[MXP__AFTER])] -
            logs[MXP__BEFORE][place_among(comparison, MXP__BEFORE, runs[MXP__BEFORE])];
        sum += apart;
        squares += apart * apart;
    }
    return sqrt(fmax(0, squares - sum * sum / count) / (count - 1));
}

// From the spread of both groups around their own means.
static double smallest_change(const mxp_comparison *comparison, const mxp_judged *judged,
                              double *const logs[MXP__SIDES])
{
    const size_t n = judged->counts[MXP__BEFORE], m = judged->counts[MXP__AFTER];
    if (comparison->pair_count > 0) {
        return expm1(mxp__smallest_difference_of_pairs(spread_of_pairs(comparison, logs),
                                                       comparison->pair_count));
    }
    if (n + m < 3) {
        return NAN;
    }
    const double a = mxp__sample_deviation(logs[MXP__BEFORE], n);
    const double b = mxp__sample_deviation(logs[MXP__AFTER], m);
    const double squares = a * a * (double)(n - 1) + b * b * (double)(m - 1);
    return expm1(mxp__smallest_difference(sqrt(squares / (double)(n + m - 2)), n, m));
}

static mxp_verdict verdict_of(const mxp_permutation *test, double at_least)
{
    const double up = log1p(at_least), down = at_least < 1 ? log1p(-at_least) : -INFINITY;
    if (test->p <= level && test->low > up) {
        return MXP_VERDICT_SLOWER;
    }
    if (test->p <= level && test->high < down) {
        return MXP_VERDICT_FASTER;
    }
    return test->low >= down && test->high <= up ? MXP_VERDICT_SAME : MXP_VERDICT_CANNOT_TELL;
}

static int judge_logs(const mxp_comparison *comparison, double *const logs[MXP__SIDES],
                      mxp_judged *judged)
{
    judged->smallest = smallest_change(comparison, judged, logs);
    if (judged->counts[MXP__BEFORE] < MXP__RUNS_FOR_TEST ||
        judged->counts[MXP__AFTER] < MXP__RUNS_FOR_TEST) {
        judged->verdict = MXP_VERDICT_NONE;
        return MXP_OK;
    }
    judged->pairs = comparison->pair_count;
    int error = mxp__comparison_test(comparison, logs, &judged->test);
    judged->verdict = verdict_of(&judged->test, comparison->at_least);
    return error;
}

static double wall_of(const mxp_compared_run *run)
{
    return run->mean_ns;
}

static double cpu_of(const mxp_compared_run *run)
{
    return run->cpu_ns;
}

// Logs of a side's runs that count; false if one has no such figure.
static bool put_logs(const mxp_comparison *comparison, int side,
                     double (*figure)(const mxp_compared_run *), double *logs, mxp_judged *judged)
{
    const mxp_side *runs = &comparison->sides[side];
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const double value = figure(&runs->runs[i]);
        if (!mxp__run_counts(comparison, side, i)) {
            continue;
        }
        if (!(value > 0)) {
            return false;
        }
        logs[count++] = log(value);
        sum += value;
    }
    judged->counts[side] = count;
    judged->means_ns[side] = count == 0 ? 0 : sum / (double)count;
    return count > 0;
}

static int judge(const mxp_comparison *comparison, double (*figure)(const mxp_compared_run *),
                 mxp_judged *judged)
{
    const size_t before = comparison->sides[MXP__BEFORE].count;
    const size_t after = comparison->sides[MXP__AFTER].count;
    double *all = mxp__alloc((before + after) * sizeof *all);
    if (all == NULL) {
        return no_memory();
    }
    double *const logs[MXP__SIDES] = {all, all + before};
    *judged = (mxp_judged){.smallest = NAN};
    judged->is_known = put_logs(comparison, MXP__BEFORE, figure, logs[MXP__BEFORE], judged) &&
                       put_logs(comparison, MXP__AFTER, figure, logs[MXP__AFTER], judged);
    int error = judged->is_known ? judge_logs(comparison, logs, judged) : MXP_OK;
    mxp__free(all, (before + after) * sizeof *all);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
// Whether so many runs are disturbed that those left would be a choice of their own, or none of a
// side.
static bool is_too_disturbed(const mxp_comparison *comparison)
{
    const size_t all = comparison->sides[MXP__BEFORE].count + comparison->sides[MXP__AFTER].count;
    return !comparison->keeps_disturbed &&
           (3 * comparison->disturbed > all || count_runs(comparison, MXP__BEFORE) == 0 ||
            count_runs(comparison, MXP__AFTER) == 0);
}

int mxp__comparison_judge(mxp_comparison *comparison)
{
    assert(comparison->sides[MXP__BEFORE].count > 0 && comparison->sides[MXP__AFTER].count > 0);
    int error = mxp__comparison_find_disturbed(comparison);
    if (error != MXP_OK) {
        return error;
    }
    const bool too_disturbed = is_too_disturbed(comparison);
    if (too_disturbed) {
        comparison->wall.verdict = MXP_VERDICT_DISTURBED;  // all runs count, for their CPU time
    }
    error = find_pairs(comparison);
    mxp_judged wall = {0};
    if (error == MXP_OK) {
        error = judge(comparison, wall_of, &wall);
    }
    if (error == MXP_OK) {
        error = judge(comparison, cpu_of, &comparison->cpu);
    }
    if (too_disturbed) {
        wall.verdict = MXP_VERDICT_DISTURBED;
    }
    comparison->wall = wall;
    return error;
}

void mxp__comparison_fini(mxp_comparison *comparison)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp_side *runs = &comparison->sides[side];
        mxp__free(runs->is_disturbed, runs->count);
        while (runs->count > 0) {
            mxp__compared_run_fini(&runs->runs[--runs->count]);
        }
        mxp__free(runs->runs, runs->capacity * sizeof *runs->runs);
    }
    mxp__free(comparison->pairs, comparison->pair_capacity * sizeof *comparison->pairs);
    mxp__compared_rows_fini(&comparison->rows);
    *comparison = (mxp_comparison){0};
}
