// SPDX-License-Identifier: Apache-2.0
// What a report by step says of processes whose steps several threads have marked: it has no rows
// of them.
#ifndef MXP_TOOLS_MIXED_STEPS_H
#define MXP_TOOLS_MIXED_STEPS_H

#include "profiler/export/table/aggregate.h"

// Nothing where there are none: a line, a member of JSON, lines of CSV.
void mxp__mixed_steps_line(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out);
void mxp__mixed_steps_json(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out);
void mxp__mixed_steps_csv(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out);

#endif
