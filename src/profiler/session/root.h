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
// Leaves the mark if there is none. For the library's constructor alone.
void mxp__root_leave(void);

#endif
