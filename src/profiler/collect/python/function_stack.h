// SPDX-License-Identifier: Apache-2.0
// The open functions of a thread, of which each end names its begin, so that spans nest whatever
// the program does: a generator that is closed elsewhere, a hook that was off for a while.
#ifndef MXP_COLLECT_FUNCTION_STACK_H
#define MXP_COLLECT_FUNCTION_STACK_H

#include <mxprof/record.h>

enum { MXP__FUNCTIONS_OPEN_MAX = 65536 };  // deeper ones are counted and not recorded

// `key`: what its end will name; not null.
void mxp__function_enter(const void *key, mxp_name name);
// Ends the innermost one of `key` and all above it. One that began before there was a hook is none
// of ours: nothing happens.
void mxp__function_leave(const void *key);
// Ends all of this thread's.
void mxp__function_leave_all(void);

#endif
