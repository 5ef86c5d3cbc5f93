// SPDX-License-Identifier: Apache-2.0
// What a record costs: spans are timed as a program has them, on a recorder of their own.
#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/state.h"

// As mxp_inline_begin, whose long way would call the taps.
static inline uint64_t begin_untapped(uint32_t gate)
{
    mxp_open_span *slot = mxp_inline_push(mxp_self, MXP_NAME_NONE);
    uint64_t now = mxp_ticks_from(gate);
    mxp_atomic_store_release(&slot->begin, now);
    return now;
}

// The ticks that `count` spans take on `scratch`, whose only chunk is `chunk`.
static uint64_t time_spans(mxp_thread *scratch, mxp_chunk_header *chunk,
                           const mxp_control_block *control, int count)
{
    mxp_atomic_set(&scratch->hot.cursor, mxp__chunk_words(chunk));
    uint64_t begin = mxp_ticks();
    mxp_atomic_set(&scratch->hot.base_ticks, begin);
    for (int i = 0; i < count; i++) {
        uint32_t gate = mxp_atomic_load(&control->gate);
        uint64_t token = begin_untapped(gate);
        mxp_inline_end_under(control, MXP_NAME_NONE, token, mxp_ticks());
    }
    return mxp_ticks() - begin;
}

// On a recorder and under a gate of their own, so that nothing of it is seen, and that it can be
// done while recording is off. Signals are blocked: a handler's records would go the same way.
double mxp__measure_record_cost(void)
{
    enum { ROUNDS = 9, SPANS = 200 };
    mxp_chunk_header *chunk = mxp__pool_take_chunk();
    mxp_recorder_section *slab = mxp__pool_take_slab();
    double cost_ticks = 0;
    if (chunk != NULL && slab != NULL) {
        mxp_thread *scratch = (mxp_thread *)(slab + 1);
        uint32_t clock = mxp__clock_is_counter() ? 0 : MXP_GATE_LONG_BEGIN;
        mxp_control_block control = {.gate = {MXP_CLASS_USER | clock}};
        uint64_t saved[16], best = UINT64_MAX;
        mxp__os_block_signals(saved);
        mxp_recorder *real = mxp_self;
        mxp_self = &scratch->hot;
        mxp_atomic_set(&scratch->hot.limit, (uint64_t *)((char *)chunk + MXP_CHUNK_BYTES));
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t took = time_spans(scratch, chunk, &control, SPANS);
            best = took < best ? took : best;
        }
        mxp_self = real;
        mxp__os_restore_signals(saved);
        cost_ticks = (double)best / SPANS;
    }
    if (slab != NULL) {
        mxp__pool_give_slab(slab);
    }
    if (chunk != NULL) {
        mxp__pool_give_chunk(chunk);
    }
    return cost_ticks;
}
