// SPDX-License-Identifier: Apache-2.0
// A slow step on its way: from the profiler, which has noticed it (snapshot_step_factor), to the
// liveness, which asks every process, and there to a file. The file is written on a thread of its
// own: the liveness's may not wait for a disk, or the process would be taken for dead.
#ifndef MXN_KVSTORE_DIST_SLOW_STEP_H
#define MXN_KVSTORE_DIST_SLOW_STEP_H

#include "runtime/kvstore/liveness.h"

// The profiler's slow steps go to the liveness, until the end, which comes before its close.
void mxn__slow_steps_begin(mxn_liveness *liveness);
void mxn__slow_steps_end(void);

// Writes this process's snapshot, as mxp_session_snapshot does; that it cannot be written is said.
void mxn__snapshot_write(const char *path, double last_ms);

// By the liveness's thread: takes a snapshot to `path`, whose folder is made if it is not there,
// and does not wait for it. Where nothing is recorded nothing happens; while the one before is
// still being written a line says so.
void mxn__slow_step_keep(const char *path, double last_ms);
// Returns when what is being written is whole. After the liveness's thread has ended.
void mxn__slow_steps_wait(void);

#endif
