// SPDX-License-Identifier: Apache-2.0
// What a thread is at moments of a record that only a test point shows.
#include "cmocka_all.h"

#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/protocol.h"
#include "profiler/recorder/thread/thread.h"

#ifndef MXP_TEST_POINTS
int main(void)
{
    return 77;  // compiled without
}
#else

static const char path[] = "emit.mxp";
static bool empties, was_busy;
static uint32_t began_anew;

static void at_point(mxp_test_point point)
{
    if (point == MXP_POINT_BUSY && empties) {
        empties = false;
        assert_int_equal(truncate(path, 0), 0);
    }
    if (point == MXP_POINT_WORDS) {
        was_busy = mxp__busy_at(mxp_self) != 0;
        began_anew = ((const mxp_thread *)mxp_self)->sequence;
    }
}

// The mark goes with the page that it is in: whoever freezes threads then would not wait for it.
static void a_thread_whose_page_goes_inside_of_a_record_is_in_it_all_the_same(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.filename = "emit.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    mxp_name name = mxp_span_name("test", "instant");
    mxp_instant(MXP_CLASS_USER, name, MXP_INSTANT_THREAD);
    uint32_t before = ((const mxp_thread *)mxp_self)->sequence;
    empties = true;
    mxp_atomic_store_release(&mxp__test_point_hook, at_point);
    mxp_instant(MXP_CLASS_USER, name, MXP_INSTANT_THREAD);
    mxp_atomic_store_release(&mxp__test_point_hook, NULL);
    assert_false(empties);
    assert_int_equal(before, 0);
    assert_int_not_equal(began_anew, before);  // its page has gone
    assert_true(was_busy);
    assert_int_equal(mxp__busy_at(mxp_self), 0);
    (void)mxp_session_stop(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_whose_page_goes_inside_of_a_record_is_in_it_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
