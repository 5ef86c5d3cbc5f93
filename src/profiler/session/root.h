// SPDX-License-Identifier: Apache-2.0
// The first process of a profile by autostart leaves a mark in its environment. Programs that it
// starts find the mark there: their files have names of their own, and tell whose profile they
// belong to.
#ifndef MXP_SESSION_ROOT_H
#define MXP_SESSION_ROOT_H

#include <stdbool.h>

// Looks for the mark; once, before the others. Afterwards mxp__root_is_other tells whether another
// process has left one: this one was started by it, or by one of those it started.
void mxp__root_init(void);
bool mxp__root_is_other(void);
// The mark of the profile to which this process belongs, its own if there is no other.
const char *mxp__root_mark(void);
// Whether another copy of the library has begun to record in this very process: each copy writes
// the files of the configuration as if it were alone. Before mxp__root_leave.
bool mxp__root_has_copy(void);
// Leaves the mark if there is none, and where this copy is. For the library's constructor alone.
void mxp__root_leave(void);

#endif
