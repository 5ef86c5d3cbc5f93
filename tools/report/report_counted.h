// SPDX-License-Identifier: Apache-2.0
// The table of what a distributed store counted in place of records, for programs.
#ifndef MXP_TOOLS_REPORT_COUNTED_H
#define MXP_TOOLS_REPORT_COUNTED_H

#include "profiler/trace/source.h"
#include "text/json_writer.h"

// Member "communication" of all processes of the source; none where nothing was counted.
// MXP_ENOMEM.
int mxp__report_counted_json(mxp_source *source, mxp_json *json);

#endif
