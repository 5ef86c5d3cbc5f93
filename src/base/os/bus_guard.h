// SPDX-License-Identifier: Apache-2.0
// SIGBUS is raised by an access to a page of a mapped file after the file was truncated. While the
// guard is on, our handler asks `rescue` whether the page is ours. For any other page the handler
// acts as if it were not installed: it calls the program's earlier handler under that handler's own
// mask, or takes the default action, with the same signal in the exit status.
//
// A handler that the program installs later replaces ours; ours then runs only if that handler
// calls it. The system ends a thread that blocks SIGBUS, whatever handlers there are.
#ifndef MXP_BASE_OS_BUS_GUARD_H
#define MXP_BASE_OS_BUS_GUARD_H

#include <stdbool.h>

// Called in the handler, with all signals blocked: true if `address` is ours and can be used again.
typedef bool mxp_bus_rescue(void *address);

// Begin and end calls are counted. All callers pass the same function. Callers must serialise them.
void mxp__bus_guard_begin(mxp_bus_rescue *rescue);
// The last end installs the earlier handler again, if the current handler is still ours.
void mxp__bus_guard_end(void);
void mxp__bus_guard_end_all(void);

#endif
