// SPDX-License-Identifier: Apache-2.0
// Calling the taps. Nobody who calls them is inside a record: the gate is asked before.
#ifndef MXP_PROF_TAP_H
#define MXP_PROF_TAP_H

#include <mxprof/gate.h>
#include <mxprof/record.h>
#include <stdbool.h>

// Beside MXP_TAP_*: the two ways in which a lexical span is told that a stop has closed. Who asks
// for begins is told by its thread when the program ends it; the others by the stop.
enum { MXP__TAP_STOPPED = 1 << 30, MXP__TAP_LATE = 1 << 29 };

static inline bool mxp__tap_is_there(void)
{
    return (mxp_atomic_load(&mxp_control.gate) & MXP_GATE_TAP) != 0;
}

// Calls those that ask for `event->phase`, or for what the phases above mean.
void mxp__tap_call(mxp_tap_event *event);

// A lexical span of this thread; `phase` is MXP_TAP_BEGIN, MXP_TAP_END, MXP_TAP_WHOLE or one of the
// above.
void mxp__tap_span(uint32_t phase, mxp_name name, uint64_t begin_ticks, uint64_t end_ticks);

#endif
