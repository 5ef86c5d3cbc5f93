// SPDX-License-Identifier: Apache-2.0
// What the files of the recorder share. The drain lock serialises everything that reads records or
// changes how they are taken; recording threads never take it.
#ifndef MXP_PROF_STATE_H
#define MXP_PROF_STATE_H

#include "base/atomic.h"
#include "base/lock.h"
#include "profiler/clock/timebase.h"
#include "profiler/recorder/protocol.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/stats.h"
#include "profiler/recorder/thread/thread.h"

enum { MXP__TAPS_MAX = 6 };  // four of the program's, two senders

typedef struct mxp_tap_slot {
    mxp_atomic_u32 version;  // odd while the others change; written under the drain lock
    MXP_ATOMIC(mxp_tap) tap;  // null: the slot is free
    mxp_atomic_ptr context;
    mxp_atomic_u32 phases;  // MXP_TAP_* that it asks for
} mxp_tap_slot;

typedef struct mxp_recorder_state {
    mxp_lock drain;
    mxp_atomic_u32 drain_waiters;
    mxp_recorder_limits limits;  // changed only while nobody records
    mxp_atomic_u32 state;  // MXP__STATE_*
    mxp_atomic_u64 on_ticks, off_ticks;  // last begin or resume, last stop or pause
    mxp_atomic_u64 inactive_ticks;  // in which recording was off, up to the last begin or resume
    uint64_t forked_ticks;  // when this process came into being by fork, else 0
    mxp_atomic_u64 ns_mult;  // ns per tick, 32.32, the best known
    mxp_atomic_u64 arguments_left_out;  // of open spans: for want of room, or of the span
    mxp_tap_slot taps[MXP__TAPS_MAX];
    mxp_atomic_u32 taps_end;  // slots from here on are free
    mxp_atomic_u32 step_cpu;  // as the limits say; read while they change
    mxp_timebase timebase;
    int timebase_ready;
    int consumer_active[MXP__CONSUMERS];
    // Statistics of all threads. The consumer STATS takes its table; the one of FILE grows as long
    // as the mode lasts, because in a file the last STATS section stands for all.
    mxp_stats_table *statistics[MXP__CONSUMERS];
    double record_cost_ticks;
} mxp_recorder_state;

enum { MXP__STATE_STOPPED = 0, MXP__STATE_ON = 1, MXP__STATE_PAUSED = 2 };

extern mxp_recorder_state mxp__rec;

// The drain lock. Whoever holds it may walk chunks: a ring is pinned meanwhile.
void mxp__drain_lock(void);
void mxp__drain_unlock(void);
bool mxp__drain_is_wanted(void);  // somebody waits for it

// Picks the clock once and opens the inline counter in the gate.
uint32_t mxp__clock_source(void);
bool mxp__clock_is_counter(void);  // the CPU's, which inline code reads

bool mxp__barrier_is_refused(void);  // since a freeze had to do without

// Returns the time of the record; 0: it was not taken.
uint64_t mxp__meta(unsigned what, uint32_t name, uint64_t value, uint64_t second, uint32_t classes);
double mxp__measure_record_cost(void);  // of a span, in ticks; 0: there was no memory for it

#endif
