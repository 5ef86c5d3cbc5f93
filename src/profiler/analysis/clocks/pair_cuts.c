// SPDX-License-Identifier: Apache-2.0
// See pair_cuts.h. Of the two the one with the lower place is the own one. A message between them
// bounds how far their clocks are apart on one side, whatever its delay was; one that would be
// drawn backwards does so, too. The bounds are compared with how they are drawn.
#include "profiler/analysis/clocks/pair_cuts.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/clocks/cut_hull.h"
#include "profiler/analysis/clocks/raw_time.h"

enum { PAIRS_MAX = 1024, CUTS_MAX = 512 };  // CUTS_MAX: before those on the hull are looked for

typedef struct pair {
    uint64_t key;
    mxp_cut *cuts;
    size_t count;
} pair;

static uint64_t key_of(size_t a, size_t b)
{
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return (low << 32 | high) + 1;
}

void mxp__pair_cuts_init(mxp_pair_cuts *all)
{
    *all = (mxp_pair_cuts){.pairs = {.entry_bytes = sizeof(pair)}};
}

void mxp__pair_cuts_fini(mxp_pair_cuts *all)
{
    for (pair *of = mxp__id_map_next(&all->pairs, NULL); of != NULL;
         of = mxp__id_map_next(&all->pairs, of)) {
        mxp__free(of->cuts, of->cuts != NULL ? CUTS_MAX * sizeof *of->cuts : 0);
    }
    mxp__id_map_fini(&all->pairs);
}

static void put(pair *of, const mxp_cut *cut)
{
    if (of->count == CUTS_MAX) {
        of->count = mxp__cuts_on_hull(of->cuts, CUTS_MAX);
    }
    if (of->count < CUTS_MAX) {  // else all are on the hull: this one more is not worth it
        of->cuts[of->count++] = *cut;
    }
}

// What CLOCK_MONOTONIC_RAW has counted since the process's first point. Raw clocks are lines of one
// another; drawn times have bends where their curves have.
static int64_t counted(const mxp_timebase *base, uint64_t ticks)
{
    return (int64_t)(mxp__raw_of_ticks(base, ticks) - base->points[0].raw_ns);
}

static bool is_near(int64_t ns)
{
    return ns > -MXP__CUT_FAR_NS / 4 && ns < MXP__CUT_FAR_NS / 4;
}

int mxp__pair_cuts_add(mxp_pair_cuts *all, const mxp_message *message, const mxp_timebase *from,
                       const mxp_timebase *to)
{
    const uint64_t key = key_of(message->from, message->to);
    const int64_t sent_ns = counted(from, message->sent_ticks);
    const int64_t received_ns = counted(to, message->received_ticks);
    pair *of = mxp__id_map_find(&all->pairs, key);
    if ((of == NULL && all->pairs.count >= PAIRS_MAX) || !is_near(sent_ns) ||
        !is_near(received_ns)) {
        return MXP_OK;
    }
    of = of == NULL ? mxp__id_map_add(&all->pairs, key) : of;
    if (of != NULL && of->cuts == NULL) {
        of->cuts = mxp__alloc(CUTS_MAX * sizeof *of->cuts);
    }
    if (of == NULL || of->cuts == NULL) {
        return mxp__fail_memory("messages between two processes");
    }
    // By how much the other's clock was ahead when the own one read at_ns.
    const mxp_cut cut = message->from < message->to
                            ? (mxp_cut){sent_ns, MXP__CUT_NO_LOW, received_ns - sent_ns}
                            : (mxp_cut){received_ns, sent_ns - received_ns, MXP__CUT_NO_HIGH};
    put(of, &cut);
    return MXP_OK;
}

// By how much the other's clock is ahead as both are drawn, when the own one reads at_ns.
static int64_t drawn_ahead(const mxp_timebase *own, const mxp_timebase *other, int64_t at_ns)
{
    const uint64_t raw_ns = own->points[0].raw_ns + (uint64_t)at_ns;
    const int64_t drawn_ns = mxp__timebase_ns(own, mxp__raw_to_ticks(own, raw_ns));
    const int64_t other_ns = counted(other, mxp__timebase_ticks(other, drawn_ns));
    return is_near(other_ns) ? other_ns - at_ns : MXP__CUT_FAR_NS;
}

int64_t mxp__pair_cuts_doubt(const mxp_pair_cuts *all, size_t a, const mxp_timebase *base_a,
                             size_t b, const mxp_timebase *base_b)
{
    enum { MOMENTS = 33 };
    const pair *of = mxp__id_map_find(&all->pairs, key_of(a, b));
    const mxp_timebase *own = a < b ? base_a : base_b, *other = a < b ? base_b : base_a;
    int64_t most_ns = 0;
    if (of == NULL) {
        return INT64_MAX;
    }
    const int64_t end_ns = counted(own, own->points[own->point_count - 1].ticks);
    for (int i = 0; is_near(end_ns) && i < MOMENTS; i++) {
        const int64_t at_ns = (int64_t)((double)end_ns * i / (MOMENTS - 1));
        const int64_t drawn_ns = drawn_ahead(own, other, at_ns);
        mxp_bounds bounds;
        if (!mxp__cuts_bounds(of->cuts, of->count, &mxp__cut_model, at_ns, &bounds) ||
            !is_near(bounds.low_ns) || !is_near(bounds.high_ns) || !is_near(drawn_ns)) {
            return INT64_MAX;
        }
        const int64_t low_ns = llabs(bounds.low_ns - drawn_ns);
        const int64_t high_ns = llabs(bounds.high_ns - drawn_ns);
        most_ns = low_ns > most_ns ? low_ns : most_ns;
        most_ns = high_ns > most_ns ? high_ns : most_ns;
    }
    return is_near(end_ns) ? most_ns : INT64_MAX;
}
