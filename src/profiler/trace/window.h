// SPDX-License-Identifier: Apache-2.0
// The last seconds of another source: its records without those that ended before a given time.
#ifndef MXP_TRACE_WINDOW_H
#define MXP_TRACE_WINDOW_H

#include "profiler/trace/source.h"

// `from_ns`: trace time. Takes `inner` over, also if it fails, and closes it with itself.
// MXP_ENOMEM, or the error of a range that cannot be read.
int mxp__window_open(mxp_source *inner, int64_t from_ns, mxp_source **source);

#endif
