// SPDX-License-Identifier: Apache-2.0
// A sign to `mxprof snapshot` that SIGUSR2 asks this process for a snapshot, and under which name:
// a program that does something else at that signal must not get it.
#ifndef MXP_SESSION_SNAPSHOT_MARK_H
#define MXP_SESSION_SNAPSHOT_MARK_H

// Shows the sign, with the name that snapshots are made from; null takes it away. Cheap if it is as
// it was. Under the session's lock.
void mxp__snapshot_mark(const char *pattern);

#endif
