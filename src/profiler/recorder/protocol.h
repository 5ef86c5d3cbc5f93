// SPDX-License-Identifier: Apache-2.0
// How recording threads and who reads or changes their records keep out of each other's way,
// without a lock or a read-modify-write in a record. MXP_GATE_HOLD is set as long as threads are
// frozen.
//
//   recording thread                        freezing thread (has the drain lock)
//   enter: busy = where on the stack        freeze: gate |= HOLD
//          compiler barrier                         membarrier: every thread passes a full barrier
//   read gate                                       wait until none registers and none is busy;
//     open:   write words, publish cursor           who does not come is silent (silent.h)
//             leave: busy = 0 (release)       -> frozen: pages, chunks, positions and limits of
//     HOLD:   step out, wait, step in,           every thread may change
//             read gate again                 thaw:   gate &= ~HOLD, wake
//     closed: leave
//
//   field           written by               read by          order
//   busy            owner                    freezer          release when it leaves / acquire
//   cursor          owner; frozen            drain            release / acquire
//   chunk.next      owner                    drain            release / acquire: after it the
//                                                             payload of the chunk is final
//   open[], depth   owner, at any time       stop, crash      begin is stored last and read twice
//   limit           owner; freezer           owner            relaxed; null sends it the slow path
//   closed_tokens   stop                     owner            the pool lock
#ifndef MXP_PROF_PROTOCOL_H
#define MXP_PROF_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "profiler/recorder/test_point.h"

// ---- a recording thread -----------------------------------------------------------------------
// It enters and leaves by mxp_inline_enter and mxp_inline_leave (mxprof/record_inline.h). Nobody
// writes or reads `busy` but there and here.

// By the owner: where on the stack it is busy, MXP_BUSY_ANYWHERE, or 0.
static inline uint32_t mxp__busy_at(const mxp_recorder *self)
{
    return mxp_atomic_own(&self->busy);
}

// For other threads. If it returns false, they see everything that the thread has recorded (pairs
// with leave).
static inline bool mxp__is_busy(const mxp_recorder *thread)
{
    return mxp_atomic_load_acquire(&thread->busy) != 0;
}

// A section in which whatever runs on the thread is inside of its record, wherever on the stack: a
// handler, or a function of the program's that the library calls. Gives what `again` takes at the
// section's end.
static inline uint32_t mxp__busy_anywhere(mxp_recorder *self)
{
    uint32_t at = mxp__busy_at(self);
    mxp_atomic_store(&self->busy, MXP_BUSY_ANYWHERE);
    return at;
}

static inline void mxp__busy_again(mxp_recorder *self, uint32_t at)
{
    mxp_atomic_store_release(&self->busy, at);
}

// Out of a record for as long as others are frozen, and in again: then the gate is to be read anew,
// and a freeze that has begun meanwhile is seen there, or it sees that the thread is busy.
static inline uint32_t mxp__step_out(mxp_recorder *self)
{
    uint32_t at = mxp__busy_at(self);
    mxp_inline_leave(self);
    return at;
}

static inline void mxp__step_in(mxp_recorder *self, uint32_t at)
{
    mxp_atomic_store_seq_cst(&self->busy, at);
}

// ---- who freezes them -------------------------------------------------------------------------
// Between the two no record is taken, and none is lost: recording threads wait. Everything recorded
// before is readable. But for threads that are silent (silent.h).
void mxp__freeze(void);
void mxp__thaw(void);
void mxp__freeze_patience(unsigned tries);  // with a thread; some 2000, a second or more; for tests
void mxp__wait_for_thaw(void);  // by threads that are not busy
bool mxp__freeze_is_ours(void);  // a handler that interrupts the freezer must not wait for it

#endif
