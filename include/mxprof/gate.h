// SPDX-License-Identifier: Apache-2.0
// The gate and the clock: what every recording site reads, inline. See record.h for the calls.
#ifndef MXPROF_GATE_H
#define MXPROF_GATE_H

#include <mxprof/atomic.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The id of a (category, name) entry of the name table.
typedef uint32_t mxp_name;

// ---- layout -----------------------------------------------------------------------------------
// Of mxp_control_block, mxp_recorder and what inline code does with them. It is in the names of
// the symbols that inline code refers to: a program that was compiled with another layout than the
// library's finds none of that name, and neither links nor starts.
#define MXP_LAYOUT 2
#define MXP_LAYOUT_TEXT_(number) #number
#define MXP_LAYOUT_TEXT(number) MXP_LAYOUT_TEXT_(number)
#define MXP_LAYOUT_NAME(name) name "_" MXP_LAYOUT_TEXT(MXP_LAYOUT)

// ---- gate -------------------------------------------------------------------------------------
// Classes of records; the first four are MXNET_PROFILER_MODE's bits.
enum {
    MXP_CLASS_SYMBOLIC = 1,
    MXP_CLASS_IMPERATIVE = 2,
    MXP_CLASS_API = 4,
    MXP_CLASS_MEMORY = 8,
    MXP_CLASS_USER = 16,
    MXP_CLASS_ALL = 31,
    // A begin goes the long way: the clock is not the CPU's counter, or a tap asks for begins.
    MXP_GATE_LONG_BEGIN = 1 << 16,
    MXP_GATE_TAP = 1 << 17,  // taps are registered
    MXP_GATE_HOLD = 1 << 18  // wait: the session changes something under the recording threads
};

// Shared by every recording site of the process. Written by the session under its lock; read by
// recording threads with relaxed loads (see record_inline.h for what orders them).
typedef struct mxp_control_block {
    mxp_atomic_u32 gate;  // classes that record now, and MXP_GATE_* bits
    uint32_t layout;  // MXP_LAYOUT of the library
    mxp_atomic_u64 closed_ticks;  // spans begun up to here are none of now: a stop has closed them
    uint64_t reserved[6];
} mxp_control_block;

extern mxp_control_block mxp_control __asm__(MXP_LAYOUT_NAME("mxp_control"));

// Whether records of any of `classes` are taken now.
static inline int mxp_enabled(uint32_t classes)
{
    return (mxp_atomic_load(&mxp_control.gate) & classes) != 0;
}

// ---- clock ------------------------------------------------------------------------------------
// Now, in ticks of the trace's clock. Unserialised.
uint64_t mxp_clock_read(void);

#if defined(__x86_64__) || defined(__aarch64__)
#define MXP_CPU_COUNTER 1
// The CPU's own counter: the trace's clock where the gate is without
// MXP_GATE_LONG_BEGIN.
static inline uint64_t mxp_cpu_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}
#endif

static inline uint64_t mxp_ticks_from(uint32_t gate)
{
#ifdef MXP_CPU_COUNTER
    if (__builtin_expect((gate & MXP_GATE_LONG_BEGIN) == 0, 1)) {
        return mxp_cpu_counter();
    }
#endif
    (void)gate;
    return mxp_clock_read();
}

static inline uint64_t mxp_ticks(void)
{
    return mxp_ticks_from(mxp_atomic_load(&mxp_control.gate));
}

#ifdef __cplusplus
}
#endif
#endif
