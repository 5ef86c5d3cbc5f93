// SPDX-License-Identifier: Apache-2.0
// Store "file" as the session sees it: the native file into which the recorder records, from its
// first section to END. All under the session's lock.
#ifndef MXP_SESSION_RECORD_FILE_H
#define MXP_SESSION_RECORD_FILE_H

#include <stdint.h>

#include "base/lock.h"

// Begins a file for all records from now on, and for those that are not dumped yet. MXP_ENOMEM or
// MXP_EIO.
int mxp__record_file_begin(const char *path, uint64_t limit_bytes);
// Plans the file of a forked child: the child's first record makes it.
int mxp__record_file_plan(const char *path, uint64_t limit_bytes);
// Writes the newest clock point, so that the times of a process that dies later stay precise.
void mxp__record_file_sync(void);
// Stops recording into the file, with a line on stderr, if another program has emptied it. Tells
// once that records are lost because the file cannot grow.
void mxp__record_file_look(void);
// Completes the file if there is one, and drops a plan. Gives up `lock`, the session's, while it
// writes. MXP_EIO: the file has all records, but not its tables.
int mxp__record_file_end(mxp_lock *lock);

#endif
