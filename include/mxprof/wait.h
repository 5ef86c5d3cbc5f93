// SPDX-License-Identifier: Apache-2.0
// Waits: how long a thread waited, for what, and which operator ended it. Part of record.h.
#ifndef MXPROF_WAIT_H
#define MXPROF_WAIT_H

#include <mxprof/format_operator.h>
#include <mxprof/gate.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One wait of the calling thread, which goes on now.
typedef struct mxp_wait {
    mxp_name name;  // of the call or operator
    uint32_t what;  // MXP_WAIT_WRITTEN ... MXP_WAIT_PROGRAM
    uint32_t flags;  // MXP_WAIT_BLOCKED, ..._SLEPT, ..._IN_CUSTOM
    uint32_t ended_by;  // id of the operator that ended it, 0: unknown
    uint32_t variable;  // that was waited for, 0: none
    uint32_t reserved;  // 0
    uint64_t begin_ticks;  // mxp_ticks() before it
    // 0: now. Of a wait that did not block: begin_ticks, which is what it must be if nobody has
    // read the clock again. Below begin_ticks counts as begin_ticks.
    uint64_t end_ticks;
} mxp_wait;

// Records it if one of `classes` is on. A wait that began before recording did begins with it.
// Tables do not show waits: with statistics_only nothing is kept. Any thread, when its wait is
// over and with no lock held that a dump may want; signal handlers too.
void mxp_wait_emit(uint32_t classes, const mxp_wait *wait);

#ifdef __cplusplus
}
#endif
#endif
