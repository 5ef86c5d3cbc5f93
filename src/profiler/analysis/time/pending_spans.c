// SPDX-License-Identifier: Apache-2.0
// See pending_spans.h. Few are kept, so that they stay in a processor's cache: those that nothing
// can claim any more are forgotten, as the long spans of the index tell.
#include "profiler/analysis/time/pending_spans.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// At the maximum the older half is forgotten: no span of a real program has so many children that
// matter to its parent's own time.
enum { PENDING_FEW = 1 << 13, PENDING_MAX = 1 << 20 };

typedef struct mxp_pending_span {
    int64_t begin_ns;
    uint64_t duration_ns;
} pending_span;

// What claims a span that began at or after this ends at `now_ns` or later. It is short, or one of
// the long spans of the index.
static int64_t earliest_claim(const mxp_range_index *index, uint32_t thread, int64_t now_ns)
{
    int64_t from_ns = now_ns - index->reach_ns;
    for (size_t i = 0; i < index->span_count; i++) {
        const mxp_long_span *span = &index->spans[i];
        if (span->thread == thread && span->end_ns >= now_ns && span->begin_ns < from_ns) {
            from_ns = span->begin_ns;
        }
    }
    return from_ns;
}

static void forget_some(mxp_pending_spans *pending, int64_t from_ns)
{
    size_t first = 0;
    while (first < pending->count && pending->all[first].begin_ns < from_ns) {
        first++;
    }
    if (first < pending->count / 2 && pending->limit < PENDING_MAX) {
        pending->limit *= 2;
    } else if (first < pending->count / 2) {
        first = pending->count - pending->count / 2;
    }
    pending->count -= first;
    memmove(pending->all, pending->all + first, pending->count * sizeof *pending->all);
}

int mxp__pending_spans_add(mxp_pending_spans *pending, const mxp_range_index *index,
                           uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t *own_ns)
{
    const uint64_t duration_ns = (uint64_t)(end_ns - begin_ns);
    uint64_t inside_ns = 0;
    while (pending->count > 0 && pending->all[pending->count - 1].begin_ns >= begin_ns) {
        inside_ns += pending->all[--pending->count].duration_ns;
    }
    *own_ns = inside_ns < duration_ns ? duration_ns - inside_ns : 0;
    if (pending->limit == 0) {
        pending->limit = PENDING_FEW;
    }
    if (pending->count == pending->limit) {
        forget_some(pending, earliest_claim(index, thread, end_ns));
    }
    if (pending->count == pending->capacity &&
        mxp__grow(&pending->all, &pending->capacity, pending->count + 1, sizeof *pending->all) !=
            MXP_OK) {
        return mxp__fail_memory("the own time of spans");
    }
    pending->all[pending->count++] = (pending_span){begin_ns, duration_ns};
    return MXP_OK;
}

void mxp__pending_spans_fini(mxp_pending_spans *pending)
{
    mxp__free(pending->all, pending->capacity * sizeof *pending->all);
    *pending = (mxp_pending_spans){0};
}
