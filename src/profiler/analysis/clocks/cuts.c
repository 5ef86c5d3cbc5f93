// SPDX-License-Identifier: Apache-2.0
// See cuts.h. A line is a point (u, v): u is its value at the time that is asked for, v how much it
// rises from there to the cut that is furthest away. In these coordinates both are ns of a like
// size, so doubles hold them to far below a ns. The lines that are left are a convex polygon, which
// each bound clips.
#include "profiler/analysis/clocks/cuts.h"

const mxp_cut_model mxp__cut_model = {.skew_max = 1e-3, .wander = 1e-7};

// With more corners a bound is left out: the polygon is then too large, never too small.
enum { CORNERS_MAX = 64 };

typedef struct corner {
    double u, v;
} corner;

typedef struct polygon {
    corner corners[CORNERS_MAX];
    size_t count;
} polygon;

// u + v x part <= most, times sign.
typedef struct half_plane {
    double part, most, sign;
} half_plane;

static double excess(const half_plane *half, const corner *at)
{
    return half->sign * (at->u + at->v * half->part - half->most);
}

static void clip(polygon *lines, const half_plane *half)
{
    polygon left = {.count = 0};
    for (size_t i = 0; i < lines->count; i++) {
        const corner *from = &lines->corners[i], *to = &lines->corners[(i + 1) % lines->count];
        const double out_from = excess(half, from), out_to = excess(half, to);
        if (left.count + 2 > CORNERS_MAX) {
            return;
        }
        if (out_from <= 0) {
            left.corners[left.count++] = *from;
        }
        if ((out_from < 0 && out_to > 0) || (out_from > 0 && out_to < 0)) {
            const double share = out_from / (out_from - out_to);
            left.corners[left.count++] =
                (corner){from->u + (to->u - from->u) * share, from->v + (to->v - from->v) * share};
        }
    }
    *lines = left;
}

static double distance(int64_t a, int64_t b)
{
    return a > b ? (double)((uint64_t)a - (uint64_t)b) : (double)((uint64_t)b - (uint64_t)a);
}

// a - b, exactly as far as a double goes: both may be years.
static double away(int64_t a, int64_t b)
{
    return a >= b ? distance(a, b) : -distance(a, b);
}

// From what the polygon begins: any bound of a cut is one at the time asked for, if the slope's
// part is added.
static polygon all_lines(const mxp_cut *cuts, size_t count, double rise, int64_t *zero_ns)
{
    int64_t low_ns = -MXP__CUT_FAR_NS, high_ns = MXP__CUT_FAR_NS;
    for (size_t i = 0; i < count; i++) {
        low_ns = cuts[i].low_ns > low_ns ? cuts[i].low_ns : low_ns;
        high_ns = cuts[i].high_ns < high_ns ? cuts[i].high_ns : high_ns;
    }
    *zero_ns = low_ns > -MXP__CUT_FAR_NS ? low_ns : high_ns < MXP__CUT_FAR_NS ? high_ns : 0;
    const double low = away(low_ns, *zero_ns) - 2 * rise, high = away(high_ns, *zero_ns) + 2 * rise;
    return (polygon){.corners = {{low, -rise}, {high, -rise}, {high, rise}, {low, rise}},
                     .count = low <= high ? 4 : 0};
}

static void cut_lines(polygon *lines, const mxp_cut *cut, const mxp_cut_model *model,
                      int64_t when_ns, int64_t zero_ns, double furthest)
{
    const double apart = distance(cut->at_ns, when_ns);
    const double part = furthest > 0 ? (cut->at_ns < when_ns ? -apart : apart) / furthest : 0;
    if (cut->high_ns != MXP__CUT_NO_HIGH) {
        const double most = away(cut->high_ns, zero_ns) + model->wander * apart;
        clip(lines, &(half_plane){part, most, 1});
    }
    if (cut->low_ns != MXP__CUT_NO_LOW) {
        const double least = away(cut->low_ns, zero_ns) - model->wander * apart;
        clip(lines, &(half_plane){part, least, -1});
    }
}

static int64_t rounded(double ns, int64_t zero_ns, bool up)
{
    const double far_ns = (double)MXP__CUT_FAR_NS;
    if (ns + (double)zero_ns <= -far_ns || ns + (double)zero_ns >= far_ns) {
        return ns + (double)zero_ns < 0 ? -MXP__CUT_FAR_NS : MXP__CUT_FAR_NS;
    }
    const int64_t whole = (int64_t)ns;
    const bool is_short = up ? (double)whole < ns : (double)whole > ns;
    return zero_ns + whole + (is_short ? (up ? 1 : -1) : 0);
}

bool mxp__cuts_bounds(const mxp_cut *cuts, size_t count, const mxp_cut_model *model,
                      int64_t when_ns, mxp_bounds *bounds)
{
    double furthest = 0;
    for (size_t i = 0; i < count; i++) {
        const double apart = distance(cuts[i].at_ns, when_ns);
        furthest = apart > furthest ? apart : furthest;
    }
    int64_t zero_ns;
    polygon lines = all_lines(cuts, count, furthest * model->skew_max, &zero_ns);
    for (size_t i = 0; i < count && lines.count > 0; i++) {
        cut_lines(&lines, &cuts[i], model, when_ns, zero_ns, furthest);
    }
    if (lines.count == 0) {
        return false;
    }
    double low = lines.corners[0].u, high = low;
    for (size_t i = 1; i < lines.count; i++) {
        low = lines.corners[i].u < low ? lines.corners[i].u : low;
        high = lines.corners[i].u > high ? lines.corners[i].u : high;
    }
    *bounds = (mxp_bounds){rounded(low, zero_ns, false), rounded(high, zero_ns, true)};
    return true;
}
