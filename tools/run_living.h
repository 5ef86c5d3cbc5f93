// SPDX-License-Identifier: Apache-2.0
// Processes of a run that its program has left behind.
#ifndef MXP_TOOLS_RUN_LIVING_H
#define MXP_TOOLS_RUN_LIVING_H

// The number of a process that has been started with MXPROF_RUN=`folder`, a whole path, and still
// runs; 0: there is none that this process may look at.
long mxp__run_living(const char *folder);

#endif
