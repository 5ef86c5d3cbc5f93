// SPDX-License-Identifier: Apache-2.0
// Own times of one thread's spans and operators, as they come: in the order of their ends, so each
// comes after all inside it. Kept are the finished ones that nothing around them has claimed yet,
// in the order of their begins.
#ifndef MXP_ANALYSIS_PENDING_SPANS_H
#define MXP_ANALYSIS_PENDING_SPANS_H

#include "base/sum.h"
#include "profiler/analysis/window/range_index.h"

typedef struct mxp_pending_span {
    int64_t begin_ns;
    uint64_t duration_ns;
} mxp_pending_span;

// Begins as zeros.
typedef struct mxp_pending_spans {
    mxp_pending_span *all;
    size_t count, capacity;
} mxp_pending_spans;

// Room for one more behind what ended up to `now_ns` on `thread`; not for direct use.
int mxp__pending_spans_make_room(mxp_pending_spans *pending, const mxp_range_index *index,
                                 uint32_t thread, int64_t now_ns);

// Adds what ran from begin_ns to end_ns on `thread`, and sets its duration without that of what is
// directly inside. `index` is of the same source. MXP_ENOMEM.
static inline int mxp__pending_spans_add(mxp_pending_spans *pending, const mxp_range_index *index,
                                         uint32_t thread, int64_t begin_ns, int64_t end_ns,
                                         uint64_t *own_ns)
{
    const uint64_t duration_ns = (uint64_t)(end_ns - begin_ns);
    uint64_t inside_ns = 0;
    size_t count = pending->count;
    while (count > 0 && pending->all[count - 1].begin_ns >= begin_ns) {
        mxp__sum_add(&inside_ns, pending->all[--count].duration_ns);
    }
    *own_ns = inside_ns < duration_ns ? duration_ns - inside_ns : 0;
    pending->count = count;
    if (count == pending->capacity) {
        int error = mxp__pending_spans_make_room(pending, index, thread, end_ns);
        if (error != 0) {
            return error;
        }
    }
    pending->all[pending->count++] = (mxp_pending_span){begin_ns, duration_ns};
    return 0;
}

void mxp__pending_spans_fini(mxp_pending_spans *pending);

#endif
