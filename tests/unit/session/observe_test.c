// SPDX-License-Identifier: Apache-2.0
// Observers of dumps: called after each dump that worked, with the configuration, in order, once.
#include "cmocka_all.h"

#include <mxprof/profiler.h>
#include <string.h>
#include <unistd.h>

static int calls[9];
static char order[16], prefix[32];

static void observe(void *context, const mxp_config *config)
{
    int *count = context;
    ++*count;
    size_t length = strlen(order);
    if (length < sizeof order - 1) {
        order[length] = (char)('0' + (count - calls));
    }
    strncpy(prefix, config->memory_csv_prefix, sizeof prefix - 1);
    mxp_session_pause(mxp_session_get(), 0);  // takes the session's lock
}

static void observers_see_each_dump_that_worked(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    assert_int_equal(mxp_session_observe(NULL, observe, &calls[0]), MXP_EHANDLE);
    assert_int_equal(mxp_session_observe(session, NULL, &calls[0]), MXP_EINVAL);
    assert_int_equal(mxp_session_observe(session, observe, &calls[1]), MXP_OK);
    assert_int_equal(mxp_session_observe(session, observe, &calls[0]), MXP_OK);
    assert_int_equal(mxp_session_observe(session, observe, &calls[1]), MXP_OK);
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "observed.json";
    config.memory_csv_prefix = "mine";
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 0), MXP_ESTATE);
    assert_int_equal(calls[0], 0);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_string_equal(order, "10");
    assert_string_equal(prefix, "mine");
    mxp_session_stop(session);
    mxp_session_run(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(calls[0], 2);
    assert_int_equal(calls[1], 2);
    mxp_session_stop(session);
    unlink("observed.json");
    for (int i = 2; i < 8; i++) {
        assert_int_equal(mxp_session_observe(session, observe, &calls[i]), MXP_OK);
    }
    assert_int_equal(mxp_session_observe(session, observe, &calls[8]), MXP_ESTATE);
    assert_non_null(strstr(mxp_last_error(), "8 observers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(observers_see_each_dump_that_worked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
