// SPDX-License-Identifier: Apache-2.0
// The one engine of the process. Fields are grouped by who writes them.
#ifndef MXN_ENGINE_ENGINE_STATE_H
#define MXN_ENGINE_ENGINE_STATE_H

#include <mxprof/error.h>

#include "base/atomic.h"
#include "runtime/engine/engine_thread.h"
#include "runtime/engine/spinlock.h"

enum { MXN__HIDDEN_NAMES = 3 };

// Values of mxn_engine.error_flags: what operations must look at before they run.
enum { MXN__ERROR_FLAG_SHUTDOWN = 1, MXN__ERROR_FLAG_LIVING = 2 };

typedef struct mxn_engine {
    // Under push_lock: tickets, visits of variables, publication to the compute queue.
    _Alignas(64) mxn_spinlock push_lock;
    mxp_atomic_u32 next_id;  // of operations; written under the push lock
    uint64_t sequence;  // of visits
    mxp_atomic_u64 queued;  // queue entries ever made; waiters read it
    uint64_t pushed;  // operations ever pushed
    // Written rarely, read at every push and run. Those that are not atomic are set once,
    // before the first start.
    _Alignas(64) mxp_atomic_u32 started;  // 1: a push may go ahead
    mxp_atomic_u32 naive;
    mxp_atomic_u32 has_light;  // there are light workers
    mxp_atomic_u32 error_flags;  // MXN__ERROR_FLAG_*
    mxp_atomic_u32 stamped;  // MXN__STAMPED_*
    uint32_t needs_fence;  // the system has no barrier over all threads
    uint32_t spins;  // how often to look again before sleeping: about 20 us
    mxp_atomic_u32 shares_cores;  // 1: whoever waits does not look again
    mxp_name name_wait, name_delete, name_bulk;
    mxp_name hidden[MXN__HIDDEN_NAMES];
    // How many wait for everything, and what they sleep on.
    _Alignas(64) mxp_atomic_u32 idle_waiters;
    mxp_atomic_u32 idle_word;
    mxp_atomic_u32 meeting_word;
} mxn_engine;

extern mxn_engine mxn__engine;

int mxn__engine_start_slow(void);

static inline int mxn__engine_ensure(void)
{
    if (__builtin_expect(mxp_atomic_load_acquire(&mxn__engine.started) != 0, 1)) {
        return MXP_OK;
    }
    return mxn__engine_start_slow();
}

// How often whoever waits for an operation looks before it sleeps.
static inline uint32_t mxn__wait_spins(void)
{
    return mxp_atomic_load(&mxn__engine.shares_cores) != 0 ? 0 : mxn__engine.spins;
}

// Who runs what has no priority.
static inline uint8_t mxn__queue_for(bool parallel)
{
    return mxp_atomic_load(&mxn__engine.has_light) != 0 && !parallel ? MXN__QUEUE_LIGHT
                                                                     : MXN__QUEUE_COMPUTE;
}

// A start may change it beside a push whose thread has looked at `started` before.
static inline bool mxn__engine_naive(void)
{
    return __builtin_expect(mxp_atomic_load(&mxn__engine.naive) != 0, 0);
}

#endif
