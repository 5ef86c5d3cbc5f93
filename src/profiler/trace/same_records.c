// SPDX-License-Identifier: Apache-2.0
// See same_records.h. Copies may be divided into ranges in another way (a compressed file's are),
// so that words are compared thread by thread. A copy may have further names behind the program's:
// a job's file of one clock has some of its own.
#include "profiler/trace/same_records.h"

#include <string.h>

#include "base/alloc.h"

bool mxp__same_process(const mxp_source *a, const mxp_source *b)
{
    const mxp_timebase *x = a->timebase, *y = b->timebase;
    return a->pid == b->pid && x->point_count > 0 && y->point_count > 0 &&
           x->points[0].ticks == y->points[0].ticks &&
           x->points[0].realtime_ns == y->points[0].realtime_ns;
}

// Of a thread: how many words, and their sum over both contents and places.
typedef struct digest {
    uint64_t words, sum, lost_before;
} digest;

static void add_range(digest *of, const mxp_record_range *range)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    for (const uint64_t *at = range->words; at < range->end; at++) {
        of->sum = (of->sum ^ *at) * odd;
        of->sum ^= of->sum >> 29;
    }
    of->words += (uint64_t)(range->end - range->words);
    of->lost_before += range->lost_before;
}

static bool add_all(mxp_source *source, digest *threads)
{
    mxp_record_range range;
    int found;
    for (size_t i = 0; (found = source->range(source, i, &range)) == 1; i++) {
        if (range.thread >= source->thread_count) {
            return false;
        }
        add_range(&threads[range.thread], &range);
    }
    return found == 0;
}

static bool same_tables(const mxp_source *a, const mxp_source *b)
{
    return a->thread_count == b->thread_count && a->stats_count == b->stats_count &&
           a->loss_count == b->loss_count &&
           (a->loss_count == 0 ||
            memcmp(a->losses, b->losses, a->loss_count * sizeof *a->losses) == 0);
}

bool mxp__same_records(mxp_source *a, mxp_source *b)
{
    if (!same_tables(a, b) || a->thread_count == 0) {
        return false;
    }
    size_t bytes = a->thread_count * sizeof(digest);
    digest *first = mxp__alloc(bytes), *second = mxp__alloc(bytes);
    bool same = first != NULL && second != NULL && add_all(a, first) && add_all(b, second) &&
                memcmp(first, second, bytes) == 0;
    mxp__free(first, bytes);
    mxp__free(second, bytes);
    return same;
}
