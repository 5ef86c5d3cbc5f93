// SPDX-License-Identifier: Apache-2.0
// SIGTERM while processes watch each other. mpirun sends it to all a second after one has died, and
// after an MPI_Abort within some five milliseconds, and SIGKILL a second later: on a busy machine
// that is before the death is known here. So the signal's default does not end the process at once:
// it has TERMINATED_NS to learn of a death, and then the grace. Without a death it ends by the
// signal.
//
// One process does this, by its newest liveness. A program that handles SIGTERM itself, before or
// after, is left alone. A second SIGTERM ends the process at once. Private to liveness*.c.
#ifndef MXN_KVSTORE_LIVENESS_TERMINATED_H
#define MXN_KVSTORE_LIVENESS_TERMINATED_H

#include "runtime/kvstore/liveness_core.h"

// Before the thread starts, and after it has ended.
void mxn__live_terminated_begin(mxn_liveness *liveness);
void mxn__live_terminated_end(void);
// By the liveness thread, in each turn.
void mxn__live_terminated_turn(mxn_liveness *liveness, uint64_t now_ns);

#endif
