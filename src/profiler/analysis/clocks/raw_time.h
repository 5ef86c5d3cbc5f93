// SPDX-License-Identifier: Apache-2.0
// CLOCK_MONOTONIC_RAW of a process's machine and the ticks of its trace, by the points at which
// both were read: as exact as those, wherever between them.
#ifndef MXP_CLOCKS_RAW_TIME_H
#define MXP_CLOCKS_RAW_TIME_H

#include "profiler/clock/timebase.h"

// Both need a point.
uint64_t mxp__raw_to_ticks(const mxp_timebase *timebase, uint64_t raw_ns);
uint64_t mxp__raw_of_ticks(const mxp_timebase *timebase, uint64_t ticks);

#endif
