// SPDX-License-Identifier: Apache-2.0
// The distance of a clock from another over a whole trace, with bounds at every time: from the cuts
// of exchanges and of messages (cuts.h). Where no line keeps to all of them, the clock jumped, and
// each part between the jumps has lines of its own.
#ifndef MXP_CLOCKS_CLOCK_CURVE_H
#define MXP_CLOCKS_CLOCK_CURVE_H

#include "profiler/analysis/clocks/cuts.h"

// Cuts that a line keeps to. Messages between two parts belong to none.
typedef struct mxp_curve_part {
    size_t first, end;  // of its cuts: the exchanges, and from messages_from on messages
    size_t messages_from;
    int64_t from_ns, until_ns;  // its first and last exchange
} mxp_curve_part;

typedef struct mxp_curve_node {
    int64_t at_ns, ahead_ns;  // the distance there: the middle of its bounds
} mxp_curve_node;

typedef struct mxp_clock_curve {
    const mxp_cut_model *model;
    mxp_cut *cuts;  // of one part after the other
    size_t cut_count, cut_capacity;
    mxp_curve_part *parts;
    size_t part_count, part_capacity;
    mxp_curve_node *nodes;  // ascending; between them the distance is a straight line
    size_t node_count, node_capacity;
} mxp_clock_curve;

// `exchanges` have both bounds and ascend in time; there is at least one. `messages` ascend, too.
// The trace lies between from_ns and until_ns. Copies all; fini is due also after MXP_ENOMEM.
int mxp__clock_curve_make(const mxp_cut *exchanges, size_t exchange_count, const mxp_cut *messages,
                          size_t message_count, int64_t from_ns, int64_t until_ns,
                          const mxp_cut_model *model, mxp_clock_curve *curve);
void mxp__clock_curve_fini(mxp_clock_curve *curve);

// The distance at an own time. own time + distance never falls.
int64_t mxp__clock_curve_ahead(const mxp_clock_curve *curve, int64_t when_ns);
// Where the distance surely lies then; between two parts what both allow.
mxp_bounds mxp__clock_curve_bounds(const mxp_clock_curve *curve, int64_t when_ns);
// How far the distance may be from the truth.
int64_t mxp__clock_curve_doubt(const mxp_clock_curve *curve, int64_t when_ns);
// The jump before part `i` of 1 .. part_count - 1: how much further ahead the other clock is.
int64_t mxp__clock_curve_jump(const mxp_clock_curve *curve, size_t i);

#endif
