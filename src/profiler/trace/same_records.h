// SPDX-License-Identifier: Apache-2.0
// Whether two sources are of the same process and hold the same records, so that one is a copy.
#ifndef MXP_TRACE_SAME_RECORDS_H
#define MXP_TRACE_SAME_RECORDS_H

#include "profiler/trace/source.h"

// Whether both have the same process id and the same first clock point.
bool mxp__same_process(const mxp_source *a, const mxp_source *b);
// Whether all records and losses are the same. For two sources of one process, each of a single
// process (process_count 0).
bool mxp__same_records(mxp_source *a, mxp_source *b);

#endif
