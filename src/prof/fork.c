// SPDX-License-Identifier: Apache-2.0
// Fork. The forking thread blocks signals and takes the locks, so that the child begins with
// everything in one piece. The child then forgets all threads and records: their memory is a copy
// it never touches again, and recording is off until it is started.
#include <string.h>

#include "base/os/os.h"
#include "prof/names.h"
#include "prof/pool.h"
#include "prof/state.h"

static uint64_t saved_signals[16];

void mxp__recorder_fork_prepare(void)
{
    mxp__lock(&mxp__rec.drain);
    mxp__os_block_signals(saved_signals);
    mxp__names_fork_prepare();
    mxp__spin_lock(&mxp__pool_lock);
}

void mxp__recorder_fork_parent(void)
{
    mxp__spin_unlock(&mxp__pool_lock);
    mxp__names_fork_done();
    mxp__os_restore_signals(saved_signals);
    mxp__unlock(&mxp__rec.drain);
}

void mxp__recorder_fork_child(void)
{
    __atomic_fetch_and(&mxp_control.gate, ~(uint32_t)(MXP_CLASS_ALL | MXP_GATE_HOLD),
                       __ATOMIC_SEQ_CST);
    // Spans that were open here belong to the parent.
    mxp_control.closed_ticks = mxp_ticks();
    mxp__threads_fork_child();
    mxp__pool_fork_child();
    mxp__names_fork_done();
    mxp__rec.state = MXP__STATE_STOPPED;
    mxp__rec.merged_stats = NULL;
    mxp__rec.old_loss_count = 0;
    memset(mxp__rec.old_threads, 0, mxp__rec.old_thread_capacity * sizeof(mxp_thread_entry));
    mxp__rec.old_records = mxp__rec.old_bytes = mxp__rec.old_lost = 0;
    mxp__lock_reset(&mxp__rec.drain);
    mxp__os_restore_signals(saved_signals);
}
