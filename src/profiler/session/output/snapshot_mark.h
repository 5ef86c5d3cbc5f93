// SPDX-License-Identifier: Apache-2.0
// A mark that tells `mxprof snapshot` that this process takes a snapshot at SIGUSR2, and under
// which name. The command sends the signal to no process without the mark.
#ifndef MXP_SESSION_SNAPSHOT_MARK_H
#define MXP_SESSION_SNAPSHOT_MARK_H

// Sets the mark, with the pattern of the snapshots' names; null removes it. Cheap if nothing
// changed. Under the session's lock.
void mxp__snapshot_mark(const char *pattern);

#endif
