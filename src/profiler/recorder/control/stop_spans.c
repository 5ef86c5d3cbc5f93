// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/control/stop_spans.h"

#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/span_write.h"
#include "profiler/recorder/record/stop_log.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"

static bool open_span_read(mxp_thread *thread, uint32_t i, uint64_t *begin, uint32_t *name)
{
    *begin = mxp_atomic_load_acquire(&thread->hot.open[i].begin);
    *name = mxp_atomic_load_acquire(&thread->hot.open[i].name);
    return *begin != 0 && *begin == mxp_atomic_load(&thread->hot.open[i].begin);
}

// Several spans may have begun in one tick: if `n` of them are in the slots up to `i`, `n` tokens
// must be closed.
static bool is_closed(const mxp_thread *thread, uint32_t i, uint64_t token)
{
    uint32_t open = 0, closed = 0;
    for (uint32_t k = 0; k <= i; k++) {
        open += mxp_atomic_load(&thread->hot.open[k].begin) == token;
    }
    for (uint32_t k = 0; k < thread->closed_count; k++) {
        closed += thread->closed_tokens[k] == token;
    }
    return closed >= open;
}

// Takes over the open span in slot `i` if it began before `end`: the caller writes it, its owner
// will not. False: there is no such span, or no space for its token; the owner writes it then. The
// owner pops its stack first and looks for the token afterwards, under the same lock
// (take_closed_token).
static bool claim_open_span(mxp_thread *thread, uint32_t i, uint64_t end, mxp_span *span)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool claimed = open_span_read(thread, i, &span->begin_ticks, &span->name) &&
                   span->begin_ticks <= end && thread->closed_count < MXP_OPEN_MAX &&
                   !is_closed(thread, i, span->begin_ticks);
    if (claimed) {
        thread->closed_tokens[thread->closed_count++] = span->begin_ticks;
        // For whoever reads the file of a process that dies; the next span in this slot has another
        // begin.
        mxp_atomic_store(&thread->hot.open[i].closed, (uint32_t)span->begin_ticks | 1u);
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return claimed;
}

// A span that an earlier stop has missed, because it was just being begun, ends at that stop.
static void close_spans_of(mxp_thread *thread, uint64_t end)
{
    uint32_t depth = mxp_atomic_load(&thread->hot.depth);
    mxp_span span = {.flags = MXP_SPAN_CLOSED_BY_STOP,
                     .lane = &thread->hot == mxp_self ? 0 : MXP_LANE_THREAD | thread->index};
    for (uint32_t i = 0; i < depth && i < MXP_OPEN_MAX; i++) {
        if (claim_open_span(thread, i, end, &span) &&
            mxp__stops_after(span.begin_ticks, &span.end_ticks)) {
            mxp__span_emit_stopped(&span);
        }
    }
}

// Each is counted once, at the first stop, and not written at its end. A thread that does not
// answer writes its own, as closed by the stop.
void mxp__stop_count_deeper(uint64_t now)
{
    assert(mxp__nobody_records());
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (mxp__thread_is_left_out(thread)) {
            continue;
        }
        uint32_t depth = mxp_atomic_load(&thread->hot.depth);
        uint32_t deeper = depth > MXP_OPEN_MAX ? depth - MXP_OPEN_MAX : 0;
        if (deeper > thread->deeper_counted) {
            mxp__thread_lose(thread, MXP_LOSS_DEEPER, deeper - thread->deeper_counted, now);
        }
        thread->deeper_counted = deeper;
    }
}

void mxp__stop_close_spans(uint64_t end_ticks)
{
    assert(mxp__drain_is_held());
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        close_spans_of(thread, end_ticks);
    }
}
