// SPDX-License-Identifier: Apache-2.0
// How recording threads and who reads or changes their records keep out of each other's way,
// without a lock or a read-modify-write in a record. MXP_GATE_HOLD is set as long as threads are
// frozen.
//
//   recording thread                        freezing thread (has the drain lock)
//   busy = where on the stack (plain)       gate |= HOLD
//   compiler barrier                        membarrier: every thread passes a full barrier
//   read gate                               wait until none settles and none is busy;
//     open:   write words, publish cursor     who does not come is silent (silent.h)
//             busy = 0 (release)              -> frozen: pages, chunks, positions and limits of
//     HOLD:   busy = 0, wait, retry              every thread may change
//     closed: busy = 0, nothing             gate &= ~HOLD, wake
//
//   field           written by               read by          order
//   busy            owner                    freezer          release when it leaves / acquire
//   cursor          owner; frozen            drain            release / acquire
//   chunk.next      owner                    drain            release / acquire: behind it the
//                                                             payload of the chunk is final
//   open[], depth   owner, at any time       stop, crash      begin is stored last and read twice
//   limit           owner; freezer           owner            relaxed; null sends it the slow path
//   closed_tokens   stop                     owner            the pool lock
#ifndef MXP_PROF_PROTOCOL_H
#define MXP_PROF_PROTOCOL_H

#include <stdbool.h>

// Between the two no record is taken, and none is lost: recording threads wait. Everything recorded
// before is readable. But for threads that are silent (silent.h).
void mxp__freeze(void);
void mxp__thaw(void);
void mxp__freeze_patience(unsigned tries);  // with a thread; some 2000, a second or more; for tests
void mxp__wait_for_thaw(void);  // by threads that are not busy
bool mxp__freeze_is_ours(void);  // a handler that interrupts the freezer must not wait for it

#endif
