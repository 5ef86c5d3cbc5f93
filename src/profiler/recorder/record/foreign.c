// SPDX-License-Identifier: Apache-2.0
// See foreign.h. Names of other threads are in thread_names.c.
#include <mxprof/foreign.h>

#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/counter_stats.h"

void mxp_flow_emit(uint32_t classes, const mxp_flow_point *point)
{
    mxp_emit emit;
    if (!mxp_enabled(classes) || !mxp__emit_enter(&emit, classes, point->ticks)) {
        return;
    }
    if (mxp__rec.limits.statistics_only) {
        mxp__statistics_leave_out(1);
        mxp__emit_leave(emit.self);
    } else if (mxp__emit_take_space(&emit, 2)) {
        emit.words[0] = mxp__word0(MXP_KIND_FLOW, 2, emit.now);
        emit.words[1] = point->name | (uint64_t)(point->phase & 0xff) << 32;
        emit.words[2] = point->id;
        emit.words[3] = point->lane;
        mxp__emit_close(&emit, 2);
    }
}

void mxp_lose_foreign(uint64_t count)
{
    mxp_emit emit;
    if (count != 0 && mxp_enabled(MXP_CLASS_ALL) && mxp__emit_enter(&emit, MXP_CLASS_ALL, 0)) {
        mxp__thread_lose(emit.self, MXP_LOSS_FOREIGN, count, emit.now);
        mxp__emit_leave(emit.self);
    }
}
