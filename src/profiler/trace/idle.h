// SPDX-License-Identifier: Apache-2.0
// Whether a source holds anything worth a file.
#ifndef MXP_TRACE_IDLE_H
#define MXP_TRACE_IDLE_H

#include "profiler/trace/source.h"

// True: the only records are when recording began and ended, in which scope each thread was, and
// what was live when it began.
bool mxp__source_is_idle(mxp_source *source);

#endif
