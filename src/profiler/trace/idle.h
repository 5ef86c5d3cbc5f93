// SPDX-License-Identifier: Apache-2.0
// Whether a source has anything to tell.
#ifndef MXP_TRACE_IDLE_H
#define MXP_TRACE_IDLE_H

#include "profiler/trace/source.h"

// Its records say no more than when recording began and ended, and in which scope a thread was.
bool mxp__source_is_idle(mxp_source *source);

#endif
