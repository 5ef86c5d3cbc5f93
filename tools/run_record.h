// SPDX-License-Identifier: Apache-2.0
// run.json in a run's folder: what was run, when and where, how it ended, and by which variables
// its processes were told.
#ifndef MXP_TOOLS_RUN_RECORD_H
#define MXP_TOOLS_RUN_RECORD_H

#include "run_summary.h"

// Writes it, as run.2.json and so on where there is one. Only where a trace is: a folder without
// one does not stay. `begin_ns`: of the realtime clock. A failure is told on stderr.
void mxp__run_record(const mxp_run_result *result, uint64_t begin_ns);

#endif
