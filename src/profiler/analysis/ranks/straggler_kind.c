// SPDX-License-Identifier: Apache-2.0
// See straggler_kind.h. Each figure is compared with the median of the others; half of what the
// straggler costs is what makes it the reason. What no step tells is not known, and no reason.
#include "profiler/analysis/ranks/straggler_kind.h"

#include <math.h>
#include <string.h>

#include "profiler/analysis/statistics/sample.h"

enum { OTHERS_MOST = 64 };  // workers with which one is compared

// ---- hosts -------------------------------------------------------------------------------------
void mxp__group_by_host(const mxp_rank *ranks, size_t count, size_t *groups)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (first < i &&
               (ranks[i].host[0] == '\0' || strcmp(ranks[first].host, ranks[i].host) != 0)) {
            first++;
        }
        groups[i] = first;
    }
}

bool mxp__all_are_longer(const mxp_step_waits *waits, size_t group, const mxp_rank_row *rows,
                         double least_ns)
{
    double others_ns[OTHERS_MOST];
    size_t others = 0;
    for (size_t i = 0; i < waits->count && others < OTHERS_MOST; i++) {
        if (waits->groups[i] != group) {
            others_ns[others++] = rows[i].own_ns;
        }
    }
    mxp__sample_sort(others_ns, others);
    const double usual_ns = mxp__sample_median(others_ns, others);
    bool all = others > 0;
    for (size_t i = 0; i < waits->count; i++) {
        all = all && (waits->groups[i] != group || rows[i].own_ns - usual_ns >= least_ns);
    }
    return all;
}

// ---- figures of a step -------------------------------------------------------------------------
// NAN: this step does not tell.
typedef double step_figure(const mxp_step_waits *waits, size_t step, size_t worker);

// What is left of a step when its last exchange is over: it makes the next one begin late.
static double tail_of(const mxp_step_waits *waits, size_t step, size_t worker)
{
    const mxp_rank_step *of = mxp__step_of(waits, step, worker);
    const mxp_rank_waits *all = waits->ranks[worker].waits;
    int64_t last_ns = INT64_MIN;
    for (size_t i = mxp__first_wait(all, of->begin_ns);
         i < all->wait_count && all->waits[i].begin_ns < of->end_ns; i++) {
        last_ns = all->waits[i].end_ns > last_ns ? all->waits[i].end_ns : last_ns;
    }
    return last_ns == INT64_MIN ? NAN : last_ns > of->end_ns ? 0 : (double)(of->end_ns - last_ns);
}

static double delay_of(const mxp_step_waits *waits, size_t step, size_t worker)
{
    const uint64_t ns = mxp__step_of(waits, step, worker)->run_delay_ns;
    return ns == MXP__RUN_DELAY_UNKNOWN ? NAN : (double)ns;
}

// The median of the steps that tell; NAN: fewer than half of them do.
static double usual_of(const mxp_step_waits *waits, step_figure *figure, size_t worker,
                       double *series)
{
    size_t count = 0;
    for (size_t step = 0; step < waits->steps; step++) {
        const double value = figure(waits, step, worker);
        if (!isnan(value)) {
            series[count++] = value;
        }
    }
    mxp__sample_sort(series, count);
    return 2 * count >= waits->steps && count > 0 ? mxp__sample_median(series, count) : NAN;
}

// By how much it is more than in the median of the others; NAN: one of them does not tell.
static double more_than_others(const mxp_step_waits *waits, step_figure *figure, size_t worker,
                               double *series)
{
    double others[OTHERS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < waits->count && count < OTHERS_MOST; i++) {
        if (i != worker) {
            others[count] = usual_of(waits, figure, i, series);
            if (isnan(others[count++])) {
                return NAN;
            }
        }
    }
    mxp__sample_sort(others, count);
    return usual_of(waits, figure, worker, series) - mxp__sample_median(others, count);
}

void mxp__straggler_explain(const mxp_step_waits *waits, double *series, mxp_stragglers *found)
{
    if (found->named == MXP__STRAGGLERS_NONE) {
        found->kind = MXP__STRAGGLER_NOISE;
        return;
    }
    const size_t named = (size_t)found->named;
    const double least_ns = found->cost_ns / 2;
    found->late_start_ns = more_than_others(waits, tail_of, named, series);
    found->run_delay_ns = more_than_others(waits, delay_of, named, series);
    // Comparisons with what is not known are false.
    if (found->is_whole_host) {
        found->kind = MXP__STRAGGLER_HOST;
    } else if (found->late_start_ns >= least_ns) {
        found->kind = MXP__STRAGGLER_LATE_START;
    } else if (found->run_delay_ns >= least_ns) {
        found->kind = MXP__STRAGGLER_HOST;
    }
}
