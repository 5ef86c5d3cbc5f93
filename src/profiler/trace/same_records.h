// SPDX-License-Identifier: Apache-2.0
// Whether two sources are the same process, and hold the same: then one of them is a copy.
#ifndef MXP_TRACE_SAME_RECORDS_H
#define MXP_TRACE_SAME_RECORDS_H

#include "profiler/trace/source.h"

// The same number and first point of the clock.
bool mxp__same_process(const mxp_source *a, const mxp_source *b);
// Of two of one process: whether all records and losses are the same. Both alone.
bool mxp__same_records(mxp_source *a, mxp_source *b);

#endif
