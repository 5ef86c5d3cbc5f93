// SPDX-License-Identifier: Apache-2.0
// Taps that are added and removed while another thread records: each is called with its context.
#include "cmocka_all.h"

#include <pthread.h>

#include <mxprof/error.h>
#include <mxprof/record.h>

#include "profiler/recorder/recorder.h"

enum { CHANGES = 100000 };
static int contexts[2];
static uint32_t calls, wrong;
static int done;

static void note(const void *context, const int *own)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&wrong, context != own, __ATOMIC_RELAXED);
}

static void first(void *context, const mxp_tap_event *event)
{
    (void)event;
    note(context, &contexts[0]);
}

static void second(void *context, const mxp_tap_event *event)
{
    (void)event;
    note(context, &contexts[1]);
}

static void *change_taps(void *nothing)
{
    // On a busy machine the other thread may come late.
    for (int i = 0; i < CHANGES || __atomic_load_n(&calls, __ATOMIC_RELAXED) == 0; i++) {
        mxp_tap tap = i % 2 == 0 ? first : second;
        mxp_tap_add(tap, &contexts[i % 2]);
        mxp_tap_remove(tap, &contexts[i % 2]);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return nothing;
}

static void no_tap_is_called_with_the_context_of_another(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("test", "span");
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change_taps, NULL), 0);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    pthread_join(thread, NULL);
    mxp__recorder_stop(1);
    assert_int_equal(wrong, 0);
}

static void none(void *context, const mxp_tap_event *event)
{
    (void)context, (void)event;
}

static void the_error_line_stays_when_a_tap_is_added_and_removed(void **state)
{
    (void)state;
    mxp_set_last_error(MXP_EINVAL, "before");
    assert_int_equal(mxp_tap_add(none, NULL), MXP_OK);
    assert_int_equal(mxp_tap_remove(none, NULL), MXP_OK);
    assert_string_equal(mxp_last_error(), "before");
    assert_int_equal(mxp_tap_remove(none, NULL), MXP_EINVAL);
    assert_string_not_equal(mxp_last_error(), "before");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_line_stays_when_a_tap_is_added_and_removed),
        cmocka_unit_test(no_tap_is_called_with_the_context_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
