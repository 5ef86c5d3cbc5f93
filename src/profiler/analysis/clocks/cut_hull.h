// SPDX-License-Identifier: Apache-2.0
// Of many messages between two machines only those count through which a line may just go.
#ifndef MXP_CLOCKS_CUT_HULL_H
#define MXP_CLOCKS_CUT_HULL_H

#include "profiler/analysis/clocks/cuts.h"

// Leaves of cuts with one bound each those on the hull of their side, ascending; how many are left.
size_t mxp__cuts_on_hull(mxp_cut *cuts, size_t count);

#endif
