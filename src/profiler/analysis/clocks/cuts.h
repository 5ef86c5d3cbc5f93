// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/clocks: how the clocks of several processes lie to one another.
//
// Cuts, not estimates. An exchange with another clock proves two bounds of the distance between the
// clocks, whatever its messages' delays were. The distance is a line in the own time, but for a
// wander of its slope; each cut takes a half of the plane of all lines away, and what is left is
// convex. Nothing is averaged, and a bad exchange needs no filter: it cuts nothing.
#ifndef MXP_CLOCKS_CUTS_H
#define MXP_CLOCKS_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// At the own time at_ns the other clock was ahead by at least low_ns and at most high_ns. Either
// may be missing; a cut of a message has one of them.
typedef struct mxp_cut {
    int64_t at_ns, low_ns, high_ns;
} mxp_cut;

#define MXP__CUT_NO_LOW INT64_MIN
#define MXP__CUT_NO_HIGH INT64_MAX
// Of bounds that are given out: so far away that nothing is known. Cuts lie within it.
#define MXP__CUT_FAR_NS (INT64_C(1) << 60)

typedef struct mxp_cut_model {
    double skew_max;  // of the slope, on either side
    double wander;  // by how much the slope may change
} mxp_cut_model;

// Crystals differ by some 1e-4 and wander by 1e-8 to 1e-7 with the temperature, over minutes.
extern const mxp_cut_model mxp__cut_model;

typedef struct mxp_bounds {
    int64_t low_ns, high_ns;
} mxp_bounds;

// Bounds of the distance at the own time when_ns. A cut that is d away counts with d x wander more
// room on both sides. False: no line keeps to all cuts, so the clock jumped. Of no cuts all is
// possible. Time: the count of cuts times that of the corners left, some dozen.
bool mxp__cuts_bounds(const mxp_cut *cuts, size_t count, const mxp_cut_model *model,
                      int64_t when_ns, mxp_bounds *bounds);

#endif
