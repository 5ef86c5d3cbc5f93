// SPDX-License-Identifier: Apache-2.0
// See cover.h. A thread's spans come in the order of their ends, so one that holds others takes
// them in from the end of the list, and only the outermost remain.
#include "profiler/export/table/cover.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { JOIN_AT = 65536 };

static int compare_begins(const void *a, const void *b)
{
    const mxp_interval *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

// Takes in what it touches at the end of the list.
static void put_last(mxp_cover *cover, mxp_interval added)
{
    while (cover->count > 0) {
        const mxp_interval *last = &cover->intervals[cover->count - 1];
        if (last->end_ns < added.begin_ns || last->begin_ns > added.end_ns) {
            break;
        }
        added.begin_ns = last->begin_ns < added.begin_ns ? last->begin_ns : added.begin_ns;
        added.end_ns = last->end_ns > added.end_ns ? last->end_ns : added.end_ns;
        cover->count--;
    }
    cover->intervals[cover->count++] = added;
}

void mxp__cover_join(mxp_cover *cover)
{
    size_t count = cover->count;
    if (count == 0) {
        return;
    }
    qsort(cover->intervals, count, sizeof *cover->intervals, compare_begins);
    cover->count = 0;
    for (size_t i = 0; i < count; i++) {
        put_last(cover, cover->intervals[i]);
    }
}

int mxp__cover_add(mxp_cover *cover, int64_t begin_ns, int64_t end_ns)
{
    if (begin_ns >= end_ns) {
        return MXP_OK;
    }
    if (cover->count >= (cover->join_at > 0 ? cover->join_at : JOIN_AT)) {
        mxp__cover_join(cover);
        cover->join_at = 2 * cover->count > JOIN_AT ? 2 * cover->count : JOIN_AT;
    }
    if (mxp__grow(&cover->intervals, &cover->capacity, cover->count + 1,
                  sizeof *cover->intervals) != MXP_OK) {
        return mxp__fail_memory("the time that records cover");
    }
    put_last(cover, (mxp_interval){begin_ns, end_ns});
    return MXP_OK;
}

uint64_t mxp__cover_within(const mxp_cover *cover, size_t *from, int64_t begin_ns, int64_t end_ns)
{
    uint64_t covered = 0;
    while (*from < cover->count && cover->intervals[*from].end_ns <= begin_ns) {
        ++*from;
    }
    for (size_t i = *from; i < cover->count && cover->intervals[i].begin_ns < end_ns; i++) {
        const mxp_interval *part = &cover->intervals[i];
        int64_t begin = part->begin_ns > begin_ns ? part->begin_ns : begin_ns;
        int64_t end = part->end_ns < end_ns ? part->end_ns : end_ns;
        covered += end > begin ? (uint64_t)(end - begin) : 0;
    }
    return covered;
}

void mxp__cover_fini(mxp_cover *cover)
{
    mxp__free(cover->intervals, cover->capacity * sizeof *cover->intervals);
    *cover = (mxp_cover){0};
}
