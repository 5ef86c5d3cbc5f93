// SPDX-License-Identifier: Apache-2.0
// Taps: functions of the program's that are called with each record. Part of record.h.
#ifndef MXPROF_TAP_H
#define MXPROF_TAP_H

#include <mxprof/gate.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A tap is called on the recording thread, with the same restrictions as the recording itself (no
// mxprof calls, no blocking). There is room for 4 at a time. When mxp_tap_remove returns, another
// thread may still be in a last call of it.
//
// mxp_tap_add asks for all that is over: MXP_TAP_END | MXP_TAP_WHOLE | MXP_TAP_INSTANT. With
// MXP_TAP_BEGIN a tap sees each lexical span twice, at its begin and at its end, both on its
// thread: also the end of one that a stop has closed, whose record ends at the stop. What began
// before the tap was added may end without a begin; a span that another thread ends is told whole
// there, and has no end. `depth` lets a tap close what is left over by that.
//
// The event is valid during the call; members are added at its end.
enum {
    MXP_TAP_BEGIN = 1,  // a lexical span begins; end_ticks is 0
    MXP_TAP_END = 2,  // it has ended and was stored
    MXP_TAP_WHOLE = 4,  // a span was stored whose begin was not told: of mxp_span_emit, an object
    MXP_TAP_INSTANT = 8,
    MXP_TAP_ALL = 15
};
typedef struct mxp_tap_event {
    uint32_t size_bytes;  // of the library's structure: what a tap may read
    uint32_t kind;  // MXP_KIND_SPAN or MXP_KIND_INSTANT
    mxp_name name;
    uint32_t phase;  // one of MXP_TAP_*
    uint64_t begin_ticks, end_ticks;
    uint32_t depth;  // lexical spans that are open around this one on its thread
    uint32_t scope;  // of an instant: MXP_INSTANT_*
} mxp_tap_event;
typedef void (*mxp_tap)(void *context, const mxp_tap_event *event);
int mxp_tap_add(mxp_tap tap, void *context);
int mxp_tap_add_for(mxp_tap tap, void *context, uint32_t phases);
int mxp_tap_remove(mxp_tap tap, void *context);

#ifdef __cplusplus
}
#endif
#endif
