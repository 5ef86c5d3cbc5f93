// SPDX-License-Identifier: Apache-2.0
// What the session says about itself to whoever would begin a profile of their own.
#include "cmocka_all.h"

#include <mxprof/profiler.h>
#include <string.h>
#include <unistd.h>

static void it_runs_from_run_to_stop_paused_or_not(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "self_report_test.json";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_is_running(session, NULL, 0), 0);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_is_running(session, NULL, 0), 1);
    mxp_session_pause(session, 1);
    assert_int_equal(mxp_session_is_running(session, NULL, 0), 1);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_is_running(session, NULL, 0), 0);
    assert_int_equal(mxp_session_is_running(NULL, NULL, 0), MXP_EHANDLE);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(unlink("self_report_test.json"), 0);
}

static void it_names_the_trace_as_far_as_there_is_room(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "/nowhere/self_report_test.json";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    char whole[64], part[8] = "1234567";
    mxp_session_is_running(session, whole, sizeof whole);
    assert_string_equal(whole, config.filename);
    mxp_session_is_running(session, part, 5);
    assert_memory_equal(part,
                        "/now\0"
                        "67",
                        8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_names_the_trace_as_far_as_there_is_room),
        cmocka_unit_test(it_runs_from_run_to_stop_paused_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
