// SPDX-License-Identifier: Apache-2.0
// See cut_hull.h.
#include "profiler/analysis/clocks/cut_hull.h"

#include <stdbool.h>
#include <stdlib.h>

static bool has_low(const mxp_cut *cut)
{
    return cut->low_ns != MXP__CUT_NO_LOW;
}

static int compare_time(const void *a, const void *b)
{
    const mxp_cut *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

// Those with a least first.
static int compare_side(const void *a, const void *b)
{
    const mxp_cut *x = a, *y = b;
    return has_low(x) != has_low(y) ? (has_low(x) ? -1 : 1) : compare_time(a, b);
}

// How far up a bound lies: of a most, which lines stay below, the other way round.
static long double height(const mxp_cut *cut)
{
    return has_low(cut) ? (long double)cut->low_ns : -(long double)cut->high_ns;
}

// Whether `middle` lies above the line from one to the other.
static bool is_above(const mxp_cut *from, const mxp_cut *middle, const mxp_cut *to)
{
    const long double part = (long double)middle->at_ns - (long double)from->at_ns;
    const long double whole = (long double)to->at_ns - (long double)from->at_ns;
    return (height(middle) - height(from)) * whole > (height(to) - height(from)) * part;
}

static size_t hull_of_side(mxp_cut *cuts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && cuts[kept - 1].at_ns == cuts[i].at_ns) {
            if (height(&cuts[i]) <= height(&cuts[kept - 1])) {
                continue;
            }
            kept--;
        }
        while (kept >= 2 && !is_above(&cuts[kept - 2], &cuts[kept - 1], &cuts[i])) {
            kept--;
        }
        cuts[kept++] = cuts[i];
    }
    return kept;
}

size_t mxp__cuts_on_hull(mxp_cut *cuts, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(cuts, count, sizeof *cuts, compare_side);
    size_t lows = 0;
    while (lows < count && has_low(&cuts[lows])) {
        lows++;
    }
    size_t kept = hull_of_side(cuts, lows);
    const size_t highs = hull_of_side(cuts + lows, count - lows);
    for (size_t i = 0; i < highs; i++) {
        cuts[kept++] = cuts[lows + i];
    }
    qsort(cuts, kept, sizeof *cuts, compare_time);
    return kept;
}
