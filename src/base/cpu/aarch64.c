// SPDX-License-Identifier: Apache-2.0
// 64-bit ARM: the generic timer's virtual counter, of one constant rate on all cores by
// architecture.
#include "base/cpu/cpu.h"

#include <mxprof/format.h>

#if defined(__aarch64__)

bool mxp__cpu_counter_invariant(void)
{
    return true;
}

uint32_t mxp__cpu_counter_source(void)
{
    return MXP_CLOCK_SOURCE_ARM;
}

uint64_t mxp__cpu_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

uint64_t mxp__cpu_counter_hz(void)
{
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz & 0xffffffffu;  // the upper half is reserved
}

void mxp__cpu_counter_fence(void)
{
    __asm__ volatile("isb" ::: "memory");
}

uint32_t mxp__cpu_vector_bytes(void)
{
    return 16;
}

void mxp__cpu_relax(void)
{
    __asm__ volatile("yield" ::: "memory");
}

#endif
