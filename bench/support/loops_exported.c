// SPDX-License-Identifier: Apache-2.0
// The loops over what is recorded through exported functions, and the references.
#include <stdlib.h>
#include <time.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "empty/empty_functions.h"
#include "support/loops.h"

void bench_loop_nothing(uint64_t count, mxp_name name)
{
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        BENCH_OPAQUE();
        BENCH_OPAQUE();
    }
}

void bench_loop_two_ticks(uint64_t count, mxp_name name)
{
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = mxp_cpu_counter();
        BENCH_OPAQUE();
        uint64_t end = mxp_cpu_counter();
        __asm__ volatile("" ::"r"(begin), "r"(end) : "memory");
    }
}

void bench_loop_two_system_clocks(uint64_t count, mxp_name name)
{
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
        BENCH_OPAQUE();
        clock_gettime(CLOCK_MONOTONIC_RAW, &end);
        __asm__ volatile("" ::"r"(begin.tv_nsec), "r"(end.tv_nsec) : "memory");
    }
}

void bench_loop_two_empty_calls(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t token = bench_empty_begin(MXP_CLASS_USER, name);
        BENCH_OPAQUE();
        bench_empty_end(name, token);
        BENCH_OPAQUE();
    }
}

void bench_loop_span_exported(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t token = mxp_span_begin(name);
        BENCH_OPAQUE();
        mxp_span_end(name, token);
        BENCH_OPAQUE();
    }
}

void bench_loop_span_functions(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t token = mxp_begin(MXP_CLASS_USER, name);
        BENCH_OPAQUE();
        mxp_end(name, token);
        BENCH_OPAQUE();
    }
}

void bench_loop_task(uint64_t count, mxp_name name)
{
    static mxp_handle domain, task;
    (void)name;
    if (task == NULL &&
        (mxp_domain_create("bench", &domain) != 0 || mxp_task_create(domain, "task", &task) != 0)) {
        abort();
    }
    for (uint64_t i = 0; i < count; i++) {
        mxp_duration_start(task);
        BENCH_OPAQUE();
        mxp_duration_stop(task);
        BENCH_OPAQUE();
    }
}

void bench_loop_operator(uint64_t count, mxp_name name)
{
    mxp_operator op = {.name = name, .flags = MXP_PHASE_FORWARD, .push_thread = 0, .device = 1};
    op.flops = 1e6f;
    op.bytes = 1e3f;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t before = op.end_ticks;
        op.start_ticks = mxp_ticks();
        BENCH_OPAQUE();
        op.push_ticks = op.ready_ticks = before != 0 ? before : op.start_ticks;
        op.released_by = op.id;
        op.id = (uint32_t)i + 1;
        op.end_ticks = mxp_ticks();
        mxp_operator_emit(MXP_CLASS_USER, &op);
    }
}
