// SPDX-License-Identifier: Apache-2.0
// x86-64: the time stamp counter and what CPUID says about it.
#include "base/cpu/cpu.h"

#include <mxprof/format.h>

#if defined(__x86_64__)
#include <cpuid.h>

bool mxp__cpu_counter_invariant(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) && (edx >> 8 & 1) != 0;
}

uint32_t mxp__cpu_counter_source(void)
{
    return MXP_CLOCK_SOURCE_TSC;
}

uint64_t mxp__cpu_counter(void)
{
    return __builtin_ia32_rdtsc();
}

// Leaf 0x15 gives the ratio to a crystal whose rate it may leave out; leaf 0x16 gives the nominal
// rate. Hypervisors hide both and may have a leaf of their own. All of them may read zero.
uint64_t mxp__cpu_counter_hz(void)
{
    unsigned denominator, numerator, crystal_hz, edx;
    if (__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &edx) && denominator != 0 &&
        numerator != 0 && crystal_hz != 0) {
        return (uint64_t)crystal_hz * numerator / denominator;
    }
    unsigned eax, ebx, ecx;
    if (__get_cpuid(0x16, &eax, &ebx, &ecx, &edx) && (eax & 0xffff) != 0) {
        return (uint64_t)(eax & 0xffff) * 1000000;
    }
    __cpuid(1, eax, ebx, ecx, edx);
    if ((ecx >> 31 & 1) != 0) {  // under a hypervisor
        __cpuid(0x40000000u, eax, ebx, ecx, edx);
        if (eax >= 0x40000010u && eax < 0x40010000u) {
            __cpuid(0x40000010u, eax, ebx, ecx, edx);
            return (uint64_t)eax * 1000;
        }
    }
    return 0;
}

void mxp__cpu_counter_fence(void)
{
    __builtin_ia32_lfence();
}

// The states of registers (bits of XCR0) that the system saves: it must, or values would be lost.
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Not by __builtin_cpu_supports: it brings 5 KB of tables of processors, and a start of their own.
uint32_t mxp__cpu_vector_bytes(void)
{
    enum { AVX_SAVED = 0x6, AVX512_SAVED = 0xe6 };
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    unsigned eax, ebx, ecx, edx, has_fma;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & bit_OSXSAVE) == 0) {
        return 16;
    }
    has_fma = ecx & bit_FMA;
    unsigned saved = saved_registers();
    if ((saved & AVX_SAVED) != AVX_SAVED || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        return 16;
    }
    if ((saved & AVX512_SAVED) == AVX512_SAVED && (ebx & avx512) == avx512) {
        return 64;
    }
    return (ebx & bit_AVX2) != 0 && has_fma != 0 ? 32 : 16;
}

void mxp__cpu_relax(void)
{
    __builtin_ia32_pause();
}

#endif
