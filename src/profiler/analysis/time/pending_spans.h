// SPDX-License-Identifier: Apache-2.0
// Own times of one thread's spans and operators, as they come: in the order of their ends, so each
// comes after all inside it. Kept are the finished ones that nothing around them has claimed yet,
// in the order of their begins.
#ifndef MXP_ANALYSIS_PENDING_SPANS_H
#define MXP_ANALYSIS_PENDING_SPANS_H

#include "profiler/analysis/window/range_index.h"

struct mxp_pending_span;

// Begins as zeros.
typedef struct mxp_pending_spans {
    struct mxp_pending_span *all;
    size_t count, capacity, limit;
} mxp_pending_spans;

// Adds what ran from begin_ns to end_ns on `thread`, and sets its duration without that of what is
// directly inside. `index` is of the same source. MXP_ENOMEM.
int mxp__pending_spans_add(mxp_pending_spans *pending, const mxp_range_index *index,
                           uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t *own_ns);
void mxp__pending_spans_fini(mxp_pending_spans *pending);

#endif
