// SPDX-License-Identifier: Apache-2.0
// How far two processes may be apart by the messages between them. Both are on the reference's
// clock already, each with its own doubt; what they sent one another bounds their difference
// itself, often much closer than the sum of the two. Private to the folder.
#ifndef MXP_CLOCKS_PAIR_CUTS_H
#define MXP_CLOCKS_PAIR_CUTS_H

#include "base/id_map.h"
#include "profiler/analysis/clocks/messages.h"
#include "profiler/clock/timebase.h"

// Begins as zeros, but for the map's entry_bytes: mxp__pair_cuts_init.
typedef struct mxp_pair_cuts {
    mxp_id_map pairs;
} mxp_pair_cuts;

void mxp__pair_cuts_init(mxp_pair_cuts *all);
void mxp__pair_cuts_fini(mxp_pair_cuts *all);

// A message between two processes; each of their clocks has a point. Beyond some pairs it is left
// out. MXP_ENOMEM.
int mxp__pair_cuts_add(mxp_pair_cuts *all, const mxp_message *message, const mxp_timebase *from,
                       const mxp_timebase *to);
// How far the two may be apart where both are drawn by these conversions; INT64_MAX: messages do
// not tell.
int64_t mxp__pair_cuts_doubt(const mxp_pair_cuts *all, size_t a, const mxp_timebase *base_a,
                             size_t b, const mxp_timebase *base_b);

#endif
