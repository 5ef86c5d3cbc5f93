// SPDX-License-Identifier: Apache-2.0
// A program's own functions, called by the library, see who called it: its allocator hook in a dump
// by frame pointers (there are no tables for unwinding what only dumps), its taps by these tables.
#include "cmocka_all.h"

#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

enum { MOST_FRAMES = 100, SPANS = 1000 };

// Of this thread: the library has one of its own, which starts elsewhere.
static _Thread_local struct {
    void **wanted;  // the frame that each walk must come to; null: none is walked
    int arrived, lost;
} walks;

// A frame begins with the caller's frame pointer, on x86-64 and aarch64. A chain goes up.
static bool chain_has(void **frame, void **wanted)
{
    for (int i = 0; i < MOST_FRAMES && frame < wanted; i++) {
        void **next = *frame;
        if (next <= frame) {
            return false;
        }
        frame = next;
    }
    return frame == wanted;
}

static void *reallocate(void *context, void *pointer, size_t old_size, size_t size)
{
    (void)context, (void)old_size;
    if (walks.wanted != NULL) {
        *(chain_has(__builtin_frame_address(0), walks.wanted) ? &walks.arrived : &walks.lost) += 1;
    }
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static void a_hook_in_a_dump_can_be_walked_out_of_by_frame_pointers(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "walk.json";
    config.native_filename = "walk.mxp";
    config.aggregate_stats = 1;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    for (int i = 0; i < SPANS; i++) {
        MXP_SPAN_SCOPE("test", "walk");
    }
    walks.wanted = __builtin_frame_address(0);
    mxp_session_stop(session);
    const char *table;
    assert_int_equal(mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &table),
                     MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    walks.wanted = NULL;
    assert_true(walks.arrived > 10);
    assert_int_equal(walks.lost, 0);
}

typedef struct unwinding {
    const void *wanted;  // the beginning of a function
    bool found;
} unwinding;

static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *context)
{
    unwinding *all = context;
    all->found = all->found || (const void *)_Unwind_GetRegionStart(frame) == all->wanted;
    return _URC_NO_REASON;
}

static void tap(void *context, const mxp_tap_event *event)
{
    (void)event;
    _Unwind_Backtrace(look, context);
}

static void a_tap_can_be_unwound_by_tables(void **state)
{
    (void)state;
    void (*self)(void **) = a_tap_can_be_unwound_by_tables;
    unwinding all = {0};
    memcpy(&all.wanted, &self, sizeof self);
    mxp_session *session = mxp_session_get();
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_tap_add(tap, &all), MXP_OK);
    {
        MXP_SPAN_SCOPE("test", "tapped");
    }
    assert_int_equal(mxp_tap_remove(tap, &all), MXP_OK);
    mxp_session_stop(session);
    assert_true(all.found);
}

int main(void)
{
    const mxp_allocator hook = {.size_bytes = sizeof hook, .reallocate = reallocate};
    if (mxp_set_allocator(&hook) != MXP_OK) {
        return 1;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_in_a_dump_can_be_walked_out_of_by_frame_pointers),
        cmocka_unit_test(a_tap_can_be_unwound_by_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
