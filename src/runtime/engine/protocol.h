// SPDX-License-Identifier: Apache-2.0
// The two protocols of the engine that hold without a common lock: the tickets of variables, and
// how a thread goes to sleep while others hand it work.
//
// Tickets. A variable counts in two words, `issued` and `done`, what has been pushed and what has
// completed:
//
//      63        32   31   30                  0
//     |   writes   | WAIT | reads since the last write |      WAIT in `done` only
//
//     push, under the push lock            completion, by the thread that ran the operation
//     use.ticket = issued                  read:   done += 1 read
//     read:  issued += 1 read              write:  done += 1 write, its reads become 0
//     write: issued += 1 write, 0 reads
//
// An operation may run when `done` equals what its ticket says; for a read only the writes must
// match. From then on `done` cannot change in a conflicting way until the operation completes:
// later tickets wait for it.
//
// Who may touch what.
//     issued, visited, held, deferred under the push lock
//     done                           compare-and-swap, by who completes a use; WAIT under park_lock
//     parked                         under park_lock
//     written, read, error           by the operation that uses the variable
// Do not touch a variable after completing your use of it: the next operation may be its deletion.
// Hence a completion is one compare-and-swap. If operations are parked (WAIT is set), it takes
// park_lock instead, which is safe because a parked operation keeps the variable; those that it
// releases are queued after the lock is free.
//
// To park, a thread takes park_lock, sets WAIT, and looks at `done` once more. A completion either
// sees WAIT, and waits for the lock, or came before, and is seen.
//
// Sleeping. A thread publishes work and looks whether the other one sleeps; that one says that it
// sleeps and looks for work (Dekker's pattern). Without an order between the store and the load on
// each side both could miss the other.
//
//     pusher (often)                       worker (rarely)
//     store: the work                      store: ASLEEP
//     mxn__engine_fence()                  mxn__engine_barrier()
//     load: ASLEEP? then wake              load: work? then stay awake
//
// The barrier makes all threads of the process execute a fence (membarrier), so that the pusher's
// side needs only keep the compiler from moving its load. Without membarrier both sides do a
// read-modify-write on one word: whoever comes second sees what the first stored.
#ifndef MXN_ENGINE_PROTOCOL_H
#define MXN_ENGINE_PROTOCOL_H

#include "base/atomic.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/operation.h"

// ---- tickets ----------------------------------------------------------------------------------

#define MXN__DONE_WAIT (UINT64_C(1) << 31)
#define MXN__DONE_WRITE (UINT64_C(1) << 32)
#define MXN__WRITES_MASK (~UINT64_C(0) << 32)
#define MXN__READS_MAX (UINT64_C(1) << 30)  // then an empty write starts counting again

// Whether the ticket's turn has come.
static inline bool mxn__use_ready(const mxn_use *use, uint64_t done)
{
    uint64_t now = done & ~MXN__DONE_WAIT;
    return mxn__use_writes(use) ? now == use->ticket
                                : ((now ^ use->ticket) & MXN__WRITES_MASK) == 0;
}

static inline uint64_t mxn__ticket_after(uint64_t issued, bool writes)
{
    return writes ? (issued & MXN__WRITES_MASK) + MXN__DONE_WRITE : issued + 1;
}

// What its completion adds to `done`.
static inline uint64_t mxn__use_delta(const mxn_use *use)
{
    return mxn__use_writes(use) ? MXN__DONE_WRITE - (uint32_t)use->ticket : 1;
}

// ---- sleeping ---------------------------------------------------------------------------------

// The side that must be fast: between its store and its load.
static inline void mxn__engine_fence(void)
{
    mxp_compiler_barrier();
    if (__builtin_expect(mxn__engine.needs_fence != 0, 0)) {
        mxp_atomic_add_acq_rel(&mxn__engine.meeting_word, 1);
    }
}

// The side that is about to sleep: between its store and its load.
static inline void mxn__engine_barrier(void)
{
    if (mxn__engine.needs_fence != 0 || !mxp__os_barrier_all_threads()) {
        mxp_atomic_add_acq_rel(&mxn__engine.meeting_word, 1);
    }
}

#endif
