// SPDX-License-Identifier: Apache-2.0
// Any other processor: no counter that we could use, so the clock is the system's.
#include "base/cpu/cpu.h"

#if !defined(__x86_64__) && !defined(__aarch64__)

bool mxp__cpu_counter_invariant(void)
{
    return false;
}

uint32_t mxp__cpu_counter_source(void)
{
    return 0;
}

uint64_t mxp__cpu_counter(void)
{
    return 0;
}

uint64_t mxp__cpu_counter_hz(void)
{
    return 0;
}

void mxp__cpu_counter_fence(void)
{
    __asm__ volatile("" ::: "memory");
}

uint32_t mxp__cpu_vector_bytes(void)
{
    return 16;
}

void mxp__cpu_relax(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif
