// SPDX-License-Identifier: Apache-2.0
// Were b moved by -x, the difference of the means of another split would be at - slope * x, where
// the slope is the share of b's members that stay in b less the share that a's place got; |slope|
// <= 1. The split counts against the change x as long as |at - slope * x| >= |x - change|. That is
// an interval of x around `change`, whose two ends are where lines cross. So p as a function of x
// falls to both sides, and the interval of the change is a rank among these ends: no search.
#include "profiler/analysis/statistics/permutation.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/analysis/statistics/seeded.h"

enum { SEED = 20262 };

typedef struct split_ends {
    double *lows, *highs;  // MXP__SPLITS_MAX + 1 of each
    size_t count;
    size_t extreme;  // splits that are as far apart as the one that was made
    double change;
    double tolerance;  // sums in another order differ by their rounding
} split_ends;

static int ends_init(split_ends *ends, double change, double scale)
{
    *ends = (split_ends){.change = change, .tolerance = 1e-11 * scale};
    ends->lows = mxp__alloc((MXP__SPLITS_MAX + 1) * sizeof(double));
    ends->highs = mxp__alloc((MXP__SPLITS_MAX + 1) * sizeof(double));
    return ends->lows != NULL && ends->highs != NULL ? MXP_OK
                                                     : mxp__fail_memory("splits of two groups");
}

static void ends_fini(split_ends *ends)
{
    mxp__free(ends->lows, (MXP__SPLITS_MAX + 1) * sizeof(double));
    mxp__free(ends->highs, (MXP__SPLITS_MAX + 1) * sizeof(double));
}

// `over` / (1 + slope), which is infinite for a split that is the mirror image of the one made.
static double crossing(double over, double slope, double beyond)
{
    return 1 + slope > 1e-12 ? over / (1 + slope) : beyond;
}

static void add_split(split_ends *ends, double at, double slope)
{
    const double rising = ends->change + at, falling = ends->change - at;
    const double most =
        fmax(crossing(rising, slope, INFINITY), crossing(falling, -slope, INFINITY));
    const double least =
        fmin(crossing(rising, slope, -INFINITY), crossing(falling, -slope, -INFINITY));
    ends->extreme += fabs(at) >= fabs(ends->change) - ends->tolerance;
    ends->highs[ends->count] = most;
    ends->lows[ends->count++] = least;
}

// A sample leaves out the split that was made, which is one of all.
static void add_the_one_made(split_ends *ends)
{
    add_split(ends, ends->change, 1);
}

static void conclude(split_ends *ends, double level, bool is_exact, mxp_permutation *result)
{
    // The fewest splits that are more than the level's share: so many reach up to the bound.
    size_t rank = (size_t)floor(level * (double)ends->count * (1 + 1e-14)) + 1;
    rank = rank < ends->count ? rank : ends->count;
    *result = (mxp_permutation){
        .change = ends->change,
        .p = (double)ends->extreme / (double)ends->count,
        .low = mxp__sample_select(ends->lows, ends->count, rank - 1),
        .high = mxp__sample_select(ends->highs, ends->count, ends->count - rank),
        .splits = ends->count,
        .is_exact = is_exact,
    };
}

static double largest(const double *values, size_t count, double so_far)
{
    for (size_t i = 0; i < count; i++) {
        so_far = fmax(so_far, fabs(values[i]));
    }
    return so_far;
}

// ---- groups ------------------------------------------------------------------------------------
typedef struct two_groups {
    const double *a, *b;
    size_t n, m;
    double sum;  // of all
    size_t *members;  // indices of a split's first group, ascending, and of all behind it
} two_groups;

// Splits, or more than the most that are tried one by one.
static size_t count_splits(size_t n, size_t m)
{
    double splits = 1;
    for (size_t i = 1; i <= n && splits <= MXP__SPLITS_MAX; i++) {
        splits = splits * (double)(m + i) / (double)i;
    }
    return splits > MXP__SPLITS_MAX ? MXP__SPLITS_MAX + 1 : (size_t)(splits + 0.5);
}

static void add_members(split_ends *ends, const two_groups *groups)
{
    const double n = (double)groups->n, m = (double)groups->m;
    double sum = 0;
    size_t moved = 0;  // members of b in a's place
    for (size_t i = 0; i < groups->n; i++) {
        const size_t member = groups->members[i];
        const bool is_b = member >= groups->n;
        sum += is_b ? groups->b[member - groups->n] : groups->a[member];
        moved += is_b;
    }
    const double at = (groups->sum - sum) / m - sum / n;
    add_split(ends, at, (m - (double)moved) / m - (double)moved / n);
}

// The next ascending choice of n among n + m; false after the last.
static bool next_choice(two_groups *groups)
{
    size_t i = groups->n;
    while (i > 0 && groups->members[i - 1] == groups->m + i - 1) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    size_t next = groups->members[i - 1] + 1;
    for (; i <= groups->n; i++) {
        groups->members[i - 1] = next++;
    }
    return true;
}

static void draw_choice(two_groups *groups, mxp_seeded *seeded)
{
    const size_t all = groups->n + groups->m;
    for (size_t i = 0; i < groups->n; i++) {
        const size_t other = i + (size_t)mxp__seeded_below(seeded, all - i);
        const size_t kept = groups->members[i];
        groups->members[i] = groups->members[other];
        groups->members[other] = kept;
    }
}

static bool add_choices(split_ends *ends, two_groups *groups)
{
    for (size_t i = 0; i < groups->n + groups->m; i++) {
        groups->members[i] = i;
    }
    if (count_splits(groups->n, groups->m) <= MXP__SPLITS_MAX) {
        do {
            add_members(ends, groups);
        } while (next_choice(groups));
        return true;
    }
    mxp_seeded seeded = {SEED};
    add_the_one_made(ends);
    for (size_t i = 0; i < MXP__SPLITS_MAX; i++) {
        draw_choice(groups, &seeded);
        add_members(ends, groups);
    }
    return false;
}

int mxp__permutation_groups(const double *a, size_t n, const double *b, size_t m, double level,
                            mxp_permutation *result)
{
    assert(n > 0 && m > 0 && level > 0 && level < 1);
    const double change = mxp__sample_mean(b, m) - mxp__sample_mean(a, n);
    split_ends ends;
    two_groups groups = {.a = a, .b = b, .n = n, .m = m};
    groups.sum = mxp__sample_mean(a, n) * (double)n + mxp__sample_mean(b, m) * (double)m;
    groups.members = mxp__alloc((n + m) * sizeof(size_t));
    int error = ends_init(&ends, change, largest(a, n, largest(b, m, 0)));
    if (error == MXP_OK && groups.members == NULL) {
        error = mxp__fail_memory("splits of two groups");
    }
    if (error == MXP_OK) {
        const bool is_exact = add_choices(&ends, &groups);
        conclude(&ends, level, is_exact, result);
    }
    mxp__free(groups.members, (n + m) * sizeof(size_t));
    ends_fini(&ends);
    return error;
}

// ---- pairs -------------------------------------------------------------------------------------
// The differences with the signs of `bits`, a set bit turns one around.
static void add_signs(split_ends *ends, const double *a, const double *b, size_t n, uint64_t bits)
{
    double sum = 0, signs = 0;
    for (size_t i = 0; i < n; i++) {
        const double sign = (bits >> i & 1) != 0 ? -1 : 1;
        sum += sign * (b[i] - a[i]);
        signs += sign;
    }
    add_split(ends, sum / (double)n, signs / (double)n);
}

// More pairs than bits of a draw: the sums of one draw each, put together.
static void add_drawn(split_ends *ends, const double *a, const double *b, size_t n,
                      mxp_seeded *seeded)
{
    double sum = 0, signs = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        bits = i % 64 == 0 ? mxp__seeded_next(seeded) : bits >> 1;
        const double sign = (bits & 1) != 0 ? -1 : 1;
        sum += sign * (b[i] - a[i]);
        signs += sign;
    }
    add_split(ends, sum / (double)n, signs / (double)n);
}

int mxp__permutation_pairs(const double *a, const double *b, size_t n, double level,
                           mxp_permutation *result)
{
    assert(n > 0 && level > 0 && level < 1);
    split_ends ends;
    const bool is_exact = n < 15;  // 2^15 is above the most that are tried
    double change = mxp__sample_mean(b, n) - mxp__sample_mean(a, n);
    int error = ends_init(&ends, change, largest(a, n, largest(b, n, 0)));
    if (error == MXP_OK && is_exact) {
        for (uint64_t bits = 0; bits < UINT64_C(1) << n; bits++) {
            add_signs(&ends, a, b, n, bits);
        }
    } else if (error == MXP_OK) {
        mxp_seeded seeded = {SEED};
        add_the_one_made(&ends);
        for (size_t i = 0; i < MXP__SPLITS_MAX; i++) {
            add_drawn(&ends, a, b, n, &seeded);
        }
    }
    if (error == MXP_OK) {
        conclude(&ends, level, is_exact, result);
    }
    ends_fini(&ends);
    return error;
}
