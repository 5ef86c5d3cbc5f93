// SPDX-License-Identifier: Apache-2.0
// The first part of making a plan: the nodes that the heads are made from. Private to diff/.
#ifndef MXN_DIFF_COLLECT_H
#define MXN_DIFF_COLLECT_H

#include "runtime/diff/diff.h"

static inline uint32_t mxn__diff_input_count(const mxn_diff_visit *visit)
{
    return visit->params == NULL ? 0 : visit->params->input_count;
}

static inline uint32_t mxn__diff_output_count(const mxn_diff_visit *visit)
{
    return visit->params == NULL ? 1 : visit->params->output_count;
}

// Visits, the inputs they come from, their order, and a place for the gradient of each output. What
// is there on failure, fini frees.
int mxn__diff_collect(mxn_diff_plan *plan, const mxn_diff_entry *heads, uint32_t head_count);
void mxn__diff_free_places(mxn_diff_plan *plan);

#endif
