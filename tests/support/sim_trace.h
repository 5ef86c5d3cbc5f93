// SPDX-License-Identifier: Apache-2.0
// What the recorder would have written of a simulated run.
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "profiler/trace/source.h"
#include "sim_engine.h"

// One tick is one ns. Names are SIM_NAME_* with their ids in `names` (SIM_NAME_END of them),
// threads have the numbers of the run. Freed by mxp__source_close.
mxp_source *sim_trace(const sim_run *run, uint32_t *names);

// Scope ids of the trace, by scope of the program; 0 is none.
uint32_t sim_trace_scope(mxp_source *source, uint32_t scope);

#endif
