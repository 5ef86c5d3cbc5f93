// SPDX-License-Identifier: Apache-2.0
// Store "file" as the session sees it: the native file into which the recorder records, from its
// first section to END. All under the session's lock.
#ifndef MXP_SESSION_RECORD_FILE_H
#define MXP_SESSION_RECORD_FILE_H

#include <stdint.h>

#include "base/lock.h"

// Begins a file for everything that is recorded from now on, and for what is not dumped yet.
int mxp__record_file_begin(const char *path, uint64_t limit_bytes);
// Plans it for the first record of a forked child, which has recorded nothing yet.
int mxp__record_file_plan(const char *path, uint64_t limit_bytes);
// Brings its clock up to date, so that a death after it loses no more precision.
void mxp__record_file_sync(void);
// Leaves it, and says so, if another program has emptied it.
void mxp__record_file_look(void);
// Completes it, if there is one, and drops a plan, with `lock`, the session's, given up while it
// writes. MXP_EIO: all records are in it, but not the tables.
int mxp__record_file_end(mxp_lock *lock);

#endif
