// SPDX-License-Identifier: Apache-2.0
// Fork. The forking thread blocks signals and takes the locks, so that the child begins with
// everything in one piece. The child then forgets all threads and records: their memory is a copy
// it never touches again, and recording is off until it is started.
#include "base/os/os.h"
#include "base/os/run_delay.h"
#include "profiler/recorder/drain/ended.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/readers.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_due.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/early_names.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/silent.h"

static uint64_t saved_signals[16];

void mxp__recorder_fork_prepare(void)
{
    mxp__drain_lock();
    mxp__os_block_signals(saved_signals);
    mxp__store_due_fork_prepare();
    mxp__names_lock();
    mxp__spin_lock(&mxp__pool_lock);
}

void mxp__recorder_fork_parent(void)
{
    mxp__spin_unlock(&mxp__pool_lock);
    mxp__names_unlock();
    mxp__store_due_fork_parent();
    mxp__os_restore_signals(saved_signals);
    mxp__drain_unlock();
}

void mxp__recorder_fork_child(void)
{
    mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)(MXP_CLASS_ALL | MXP_GATE_HOLD));
    // Spans that were open here belong to the parent.
    mxp__rec.forked_ticks = mxp_ticks();
    mxp_atomic_set(&mxp_control.closed_ticks, mxp__rec.forked_ticks);
    mxp__store_due_fork_child();
    mxp__store_fork_child();
    mxp__threads_fork_child();
    mxp__pool_fork_child();
    mxp__ring_fork_child();
    mxp__readers_fork_child();
    mxp__counter_stats_forget();
    mxp__early_names_fork_child();
    mxp__silent_fork_child();
    mxp__os_run_delay_close(true);
    mxp__names_unlock();
    mxp_atomic_set(&mxp__rec.state, MXP__STATE_STOPPED);
    mxp_atomic_set(&mxp__rec.drain_waiters, 0);
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        mxp__rec.statistics[i] = NULL;
    }
    mxp__ended_fork_child();
    mxp__drain_unlock();
    mxp__os_restore_signals(saved_signals);
}
