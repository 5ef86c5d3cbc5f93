// SPDX-License-Identifier: Apache-2.0
// See wait.h. A thread that has waited was in no hurry: this is compiled for size.
#include <mxprof/wait.h>

#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/state.h"

static void write_wait(uint64_t *words, const mxp_wait *wait, uint64_t end)
{
    uint64_t closed = mxp_atomic_load(&mxp_control.closed_ticks);
    uint64_t begin = wait->begin_ticks > closed ? wait->begin_ticks : closed;
    begin = begin < end ? begin : end;
    words[0] = mxp__word0(MXP_KIND_WAIT, 2, begin);
    words[1] = wait->name | (uint64_t)wait->ended_by << 32;
    words[2] = ((end - begin) & MXP_STAMP_MASK) |
               (uint64_t)(wait->what & 0xf) << MXP_WAIT_WHAT_SHIFT |
               (uint64_t)wait->flags << MXP_WAIT_FLAGS_SHIFT;
    words[3] = wait->variable;
}

void mxp_wait_emit(uint32_t classes, const mxp_wait *wait)
{
    mxp_emit emit;
    if (!mxp_enabled(classes) || !mxp__emit_enter(&emit, classes, wait->end_ticks)) {
        return;
    }
    if (mxp__rec.limits.statistics_only) {
        mxp__emit_leave(emit.self);
    } else if (mxp__emit_take_space(&emit, 2)) {
        write_wait(emit.words, wait, emit.now);
        mxp__emit_close(&emit, 2);
    }
}
