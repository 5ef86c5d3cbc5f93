// SPDX-License-Identifier: Apache-2.0
// Named points of the record path, at which a test stops a thread and lets others act. They are
// compiled where MXP_TEST_POINTS is defined (cmake/Flags.cmake: debug and sanitizers), and only
// into the library and its tests; elsewhere nothing is left of them. Those of the inline path are
// in the files that include this one before record_inline.h, which happens here.
#ifndef MXP_PROF_TEST_POINT_H
#define MXP_PROF_TEST_POINT_H

#include <mxprof/atomic.h>
#include <stddef.h>

typedef enum mxp_test_point {
    MXP_POINT_NONE,
    // On a recording thread, which is busy.
    MXP_POINT_BUSY,  // has said so, and not yet read the gate
    MXP_POINT_GATE,  // has read the gate
    MXP_POINT_WORDS,  // has written the words, and not yet moved the cursor past them
    MXP_POINT_ENTERED,  // has another chunk, and not yet left the one before
    MXP_POINT_NEXT,  // its chunk says which one is next, the cursor is not yet there
    MXP_POINT_BEGIN,  // not busy: a span's begin, later than the last stop, is read and not yet
                      // stored
    // On a thread that acts on others.
    MXP_POINT_PAGES,  // a thread's page is copied, and not yet exchanged for the copy
    MXP_POINT_WAIT,  // a freeze is about to look again whether a thread is still busy
    MXP_POINT_LOOK,  // a freeze has looked whether a thread is busy, and not yet acted on it
    MXP_POINT_OFF,  // the time of a stop is read, and spans still begin
    MXP_POINT_GROW,  // a recording file is about to be made longer
    MXP_POINTS
} mxp_test_point;

#ifdef MXP_TEST_POINTS
typedef void (*mxp_test_point_hook)(mxp_test_point point);
typedef MXP_ATOMIC(mxp_test_point_hook) mxp_test_point_slot;
extern mxp_test_point_slot mxp__test_point_hook;  // null: nobody stops anywhere

static inline void mxp__test_point(mxp_test_point point)
{
    mxp_test_point_hook hook = mxp_atomic_load_acquire(&mxp__test_point_hook);
    if (hook != NULL) {
        hook(point);
    }
}

#define MXP_TEST_POINT(name) mxp__test_point(MXP_POINT_##name)
#ifndef MXP_INLINE_POINT
#define MXP_INLINE_POINT(name) MXP_TEST_POINT(name)
#endif
#else
#define MXP_TEST_POINT(name) ((void)0)
#endif

#include <mxprof/record_inline.h>

#endif
