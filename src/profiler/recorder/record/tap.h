// SPDX-License-Identifier: Apache-2.0
// Calling the taps. Nobody who calls them is inside a record: the gate is asked before.
//
// A sender (profiler/emit) is a tap of the library's own: it is told more than others may ask for,
// and of objects when they start and stop.
#ifndef MXP_PROF_TAP_H
#define MXP_PROF_TAP_H

#include <mxprof/gate.h>
#include <mxprof/record.h>
#include <stdbool.h>

enum {
    MXP__TAP_COUNTER = 1 << 8,  // a sample: `scope` is its MXP_ARG_* type, `value` its bits
    MXP__TAP_THREAD = 1 << 9,  // `name` is this thread's
    MXP__TAP_STEP = 1 << 10,  // step `value` begins
    MXP__TAP_START = 1 << 11,  // of an object: `scope` is MXP__TOLD_*, `sent` what its stop gets
    MXP__TAP_STOP = 1 << 12,
    MXP__TAP_OPERATOR = 1 << 13,  // an operator's function begins on this thread
    MXP__TAP_OPERATOR_END = 1 << 14,
    // What means different things to different taps. The two ways in which a lexical span is told
    // that a stop has closed: who asks for begins is told by its thread when the program ends it,
    // the others by the stop.
    MXP__TAP_STOPPED = 1 << 27,
    MXP__TAP_LATE = 1 << 28,
    MXP__TAP_OBJECT = 1 << 29,  // the record of an object: a sender knows it by now
    // What a sender asks for.
    MXP__TAP_SENDER = MXP_TAP_ALL | 0x7f << 8 | 1 << 30
};

enum { MXP__SENDERS = 2 };
enum { MXP__TOLD_TASK = 0, MXP__TOLD_FRAME = 1, MXP__TOLD_EVENT = 2 };

typedef struct mxp_told {
    mxp_tap_event event;  // must stay first: taps get its address
    uint64_t value;
    uint64_t *sent;  // of an object's start: a number for each sender, 0: none
    uint32_t lane;  // of a whole span; 0: this thread
} mxp_told;

static inline bool mxp__tap_is_there(void)
{
    return (mxp_atomic_load(&mxp_control.gate) & MXP_GATE_TAP) != 0;
}

// mxp_tap_add_for with phases that are not public.
int mxp__tap_add(mxp_tap tap, void *context, uint32_t phases);

// Calls those that ask for `told->event.phase`, or for what the phases above mean.
void mxp__tap_call(mxp_told *told);

// A lexical span of this thread; `phase` is MXP_TAP_BEGIN, MXP_TAP_END, MXP_TAP_WHOLE or one of the
// above.
void mxp__tap_span(uint32_t phase, const mxp_span *span);

#endif
