// SPDX-License-Identifier: Apache-2.0
// The loops that claims and instruction counts are about, each a call away so that none is inlined
// into its measurement. All have an empty body that the compiler can neither see into nor drop.
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <mxprof/gate.h>

#define BENCH_OPAQUE() __asm__ volatile("" ::: "memory")

typedef void (*bench_loop)(uint64_t count, mxp_name name);

// References.
void bench_loop_nothing(uint64_t count, mxp_name name);
void bench_loop_two_ticks(uint64_t count, mxp_name name);  // two bare reads of the counter
void bench_loop_two_system_clocks(uint64_t count, mxp_name name);  // two clock_gettime
void bench_loop_two_empty_calls(uint64_t count, mxp_name name);  // into another shared library

// Spans: as compiled under MXP_INLINE, as compiled without, and by functions alone.
void bench_loop_span_inline(uint64_t count, mxp_name name);
void bench_loop_span_exported(uint64_t count, mxp_name name);
void bench_loop_span_functions(uint64_t count, mxp_name name);

// A task's start and stop, under the task's own name.
void bench_loop_task(uint64_t count, mxp_name name);

// Two clock reads and an operator with all its ids.
void bench_loop_operator(uint64_t count, mxp_name name);

#endif
