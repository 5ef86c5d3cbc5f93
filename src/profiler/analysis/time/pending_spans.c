// SPDX-License-Identifier: Apache-2.0
// See pending_spans.h. Few are kept, so that they stay in a processor's cache: those that nothing
// can claim any more are forgotten, as the long spans of the index tell.
#include "profiler/analysis/time/pending_spans.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"

// At the maximum those are added up that only the same long spans can claim: a program's first
// function has all of its calls inside.
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

static int compare_times(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

// Begins of the long spans that may claim something at `now_ns`, the earliest first; room for all.
static size_t find_claims(const mxp_range_index *index, uint32_t thread, int64_t now_ns,
                          int64_t *begins_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < index->span_count; i++) {
        const mxp_long_span *span = &index->spans[i];
        if (span->thread == thread && span->end_ns >= now_ns) {
            begins_ns[count++] = span->begin_ns;
        }
    }
    if (count > 1) {
        qsort(begins_ns, count, sizeof *begins_ns, compare_times);
    }
    return count;
}

// Adds up what no short span can claim any more, between the same two begins of long ones.
static int add_up(mxp_pending_spans *pending, const mxp_range_index *index, uint32_t thread,
                  int64_t now_ns)
{
    const size_t bytes = index->span_count * sizeof(int64_t);
    const size_t end = first_from(pending, now_ns - index->reach_ns);
    int64_t *begins_ns = mxp__alloc(bytes);
    if (begins_ns == NULL && bytes > 0) {
        return mxp__fail_memory("the own time of spans");
    }
    const size_t claims = find_claims(index, thread, now_ns, begins_ns);
    size_t kept = 0, claim = 0, last_claim = SIZE_MAX;
    for (size_t i = 0; i < end; i++) {
        while (claim < claims && begins_ns[claim] <= pending->all[i].begin_ns) {
            claim++;
        }
        if (kept > 0 && claim == last_claim) {
            mxp__sum_add(&pending->all[kept - 1].duration_ns, pending->all[i].duration_ns);
        } else {
            pending->all[kept++] = pending->all[i];
        }
        last_claim = claim;
    }
    memmove(pending->all + kept, pending->all + end, (pending->count - end) * sizeof *pending->all);
    pending->count -= end - kept;
    mxp__free(begins_ns, bytes);
    return MXP_OK;
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
    if (first <= half) {
        int error = add_up(pending, index, thread, now_ns);
        first = pending->count > half ? pending->count / 2 : 0;  // the older ones are forgotten
        if (error != MXP_OK) {
            return error;
        }
    }
    pending->count -= first;
    memmove(pending->all, pending->all + first, pending->count * sizeof *pending->all);
    return MXP_OK;
}

void mxp__pending_spans_fini(mxp_pending_spans *pending)
{
    mxp__free(pending->all, pending->capacity * sizeof *pending->all);
    *pending = (mxp_pending_spans){0};
}
