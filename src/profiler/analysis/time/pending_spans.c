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

// Place of the first one that began at `ns` or later.
static size_t first_from(const mxp_pending_spans *pending, int64_t ns)
{
    size_t low = 0, high = pending->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pending->all[middle].begin_ns < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int grow(mxp_pending_spans *pending)
{
    const size_t wanted = pending->capacity == 0 ? (size_t)PENDING_FEW : 2 * pending->capacity;
    return mxp__grow(&pending->all, &pending->capacity, wanted, sizeof *pending->all) == MXP_OK
               ? MXP_OK
               : mxp__fail_memory("the own time of spans");
}

int mxp__pending_spans_make_room(mxp_pending_spans *pending, const mxp_range_index *index,
                                 uint32_t thread, int64_t now_ns)
{
    const size_t half = pending->count / 2;
    size_t first = first_from(pending, earliest_claim(index, thread, now_ns));
    if (first <= half && pending->capacity < PENDING_MAX) {
        return grow(pending);
    }
    first = first < half ? half : first;
    pending->count -= first;
    memmove(pending->all, pending->all + first, pending->count * sizeof *pending->all);
    return MXP_OK;
}

void mxp__pending_spans_fini(mxp_pending_spans *pending)
{
    mxp__free(pending->all, pending->capacity * sizeof *pending->all);
    *pending = (mxp_pending_spans){0};
}
