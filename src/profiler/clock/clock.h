// SPDX-License-Identifier: Apache-2.0
// Folder profiler/clock: which clock, and ticks to nanoseconds.
//
// Choosing and reading the trace's clock. There is no state here: src/profiler/process.c makes the
// process's choice once, and mxp_ticks() reads that clock.
#ifndef MXP_CLOCK_CLOCK_H
#define MXP_CLOCK_CLOCK_H

#include <mxprof/format.h>
#include <stdint.h>

// The best clock of this machine: the CPU's counter if it is invariant and the system trusts it,
// else CLOCK_MONOTONIC_RAW. `forced` is MXPROF_CLOCK's value ("tsc", "raw", "monotonic") or null;
// an unknown word, or a counter that is not there, falls back to the best with *warning set to a
// static line (else null). A counter that is there but not trusted is used, with a warning.
uint32_t mxp__clock_choose(const char *forced, const char **warning);

// "tsc", "raw" ...: a clock source as MXPROF_CLOCK names it; "cntvct" on arm64.
const char *mxp__clock_source_name(uint32_t source);

uint64_t mxp__clock_read_source(uint32_t source);

// Reads all clocks at nearly one time: the closest of several tries, which take microseconds. A
// clock that is itself the source equals the ticks exactly.
void mxp__clock_take_point(uint32_t source, mxp_clock_point *point);

#endif
