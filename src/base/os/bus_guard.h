// SPDX-License-Identifier: Apache-2.0
// SIGBUS: what the system answers when a page of a mapped file is touched that somebody has cut
// off. While a guard is there, a handler of ours asks whose the page is. For what is not ours it
// does exactly what would have happened without it: the program's earlier handler under its own
// mask, or the default action, with the same signal in the exit status.
//
// A handler that the program installs later stays, and ours is not called any more unless that one
// calls it. A thread that blocks SIGBUS is ended by the system, whatever handlers there are.
#ifndef MXP_BASE_OS_BUS_GUARD_H
#define MXP_BASE_OS_BUS_GUARD_H

#include <stdbool.h>

// Called in the handler, with all signals blocked: true if `address` is ours and can be used again.
typedef bool mxp_bus_rescue(void *address);

// Begin and end count; all callers give the same function. Not from several threads at once.
void mxp__bus_guard_begin(mxp_bus_rescue *rescue);
// After the last one, what was there before is installed again, if the handler is still ours.
void mxp__bus_guard_end(void);
void mxp__bus_guard_end_all(void);

#endif
