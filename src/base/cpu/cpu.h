// SPDX-License-Identifier: Apache-2.0
// Folder base/cpu: every difference between processors.
//
// What differs between processors: the cycle counter and whether it can be a clock, vectors. One
// file per processor beside this one (x86_64.c, aarch64.c, generic.c); all compile everywhere.
#ifndef MXP_BASE_CPU_H
#define MXP_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

// Whether the CPU has a counter that runs at one rate in every power state and on every core.
bool mxp__cpu_counter_invariant(void);
// MXP_CLOCK_SOURCE_TSC or _ARM; 0 where there is none.
uint32_t mxp__cpu_counter_source(void);
uint64_t mxp__cpu_counter(void);
// The rate the CPU claims, 0 if it does not say. Only a plausibility check: calibration decides.
uint64_t mxp__cpu_counter_hz(void);
// Later reads of the counter wait for all earlier instructions of the thread. Without the fence a
// stamp taken under a lock may be older than the lock's last release.
void mxp__cpu_counter_fence(void);
void mxp__cpu_relax(void);  // in a spin loop
// The longest vectors worth using, in bytes: 64 (AVX-512 F, BW, DQ, VL), 32 (AVX2 and FMA), 16.
uint32_t mxp__cpu_vector_bytes(void);

#endif
