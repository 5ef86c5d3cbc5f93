// SPDX-License-Identifier: Apache-2.0
// A mark that tells `mxprof snapshot` at which signal this process takes a snapshot, and under
// which name: mxprof-snapshot[.SIGNAL][:NAME], without a number for SIGUSR2. The command sends the
// signal to no process without the mark.
#ifndef MXP_SESSION_SNAPSHOT_MARK_H
#define MXP_SESSION_SNAPSHOT_MARK_H

// Sets the mark, with the signal and the pattern of the snapshots' names; null removes it. Cheap if
// nothing changed. Under the session's lock.
void mxp__snapshot_mark(const char *pattern, int signal);

#endif
