// SPDX-License-Identifier: Apache-2.0
// Exact percentiles. A first pass over the records has given each row its histogram, which tells
// the bucket that a percentile lies in and its rank there. Further passes look at that bucket
// alone: a narrow bucket's values are collected and sorted, a full one is divided into bins, one of
// which the next pass looks at. The memory of a pass is bounded; a target for which there is none
// left waits for the next pass.
#ifndef MXP_EXPORT_SELECTION_H
#define MXP_EXPORT_SELECTION_H

#include "profiler/export/table/aggregate.h"

typedef struct mxp_selection mxp_selection;
typedef struct mxp_selected mxp_selected;  // what is looked for in one row

// `rows` are those to be found, which stay where they are. Null without memory, with the detail
// line.
mxp_selection *mxp__selection_create(mxp_row *rows, size_t count);
void mxp__selection_destroy(mxp_selection *selection);  // null is fine

// Prepares a pass. 1: there is one to be made; 0: all is known; MXP_ENOMEM.
int mxp__selection_begin(mxp_selection *selection);
void mxp__selection_end(mxp_selection *selection);

// The row of these texts; null: nothing is looked for in it.
mxp_selected *mxp__selection_find(mxp_selection *selection, const mxp_row *labels);
void mxp__selected_add(mxp_selected *selected, uint64_t value);

// The percentiles of row i, MXP__PERCENTILES of them; null: not all of its values were in the
// passes.
const uint64_t *mxp__selection_result(const mxp_selection *selection, size_t i);

#endif
