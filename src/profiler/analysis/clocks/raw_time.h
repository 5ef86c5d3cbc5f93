// SPDX-License-Identifier: Apache-2.0
// CLOCK_MONOTONIC_RAW of a process's machine and the ticks of its trace, by the points at which
// both were read: as exact as those, wherever between them. Behind the last one the rate goes on;
// of a process that died in its first second that is known from its first ms alone.
#ifndef MXP_CLOCKS_RAW_TIME_H
#define MXP_CLOCKS_RAW_TIME_H

#include "profiler/clock/timebase.h"

// Both need a point.
uint64_t mxp__raw_to_ticks(const mxp_timebase *timebase, uint64_t raw_ns);
uint64_t mxp__raw_of_ticks(const mxp_timebase *timebase, uint64_t ticks);
// By how much mxp__raw_of_ticks may be wrong beyond the points, as each took its time; between them
// 0.
int64_t mxp__raw_doubt_ns(const mxp_timebase *timebase, uint64_t ticks);

#endif
