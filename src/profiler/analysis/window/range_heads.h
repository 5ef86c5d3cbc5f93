// SPDX-License-Identifier: Apache-2.0
// One look at the heads of a range, for the index (range_index.c alone): counts, marks, long spans,
// and what the place of the range tells.
#ifndef MXP_ANALYSIS_RANGE_HEADS_H
#define MXP_ANALYSIS_RANGE_HEADS_H

#include "profiler/analysis/window/range_index.h"

// Adds what the range has to the index and to its place. A damaged one is read up to the damage.
// MXP_ENOMEM.
int mxp__range_heads_read(mxp_range_index *index, mxp_range_place *place,
                          const mxp_record_range *range);

// The time of the index begins and ends no later and no earlier than this.
void mxp__range_index_extend(mxp_range_index *index, int64_t first_ns, int64_t last_ns);
// Keeps those longer than `reach_ns`, and makes that longer while there are too many.
void mxp__long_spans_bound(mxp_range_index *index);

#endif
