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
    const char *slash = strrchr(config->memory_csv_prefix, '/');
    assert_non_null(
        slash);  // names reach observers as files are called: absolute, without patterns
    strncpy(prefix, slash + 1, sizeof prefix - 1);
    mxp_session_pause(mxp_session_get(), 0);  // takes the session's lock
}

static const char *const names[] = {"first.mxp", "the second, which is longer.mxp"};
static int configured;
static char seen[2][2][64];  // before and after: snapshot_filename, snapshot_counter

static void configure_with(const char *name)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "observed.json";
    config.continuous_dump = 0;
    config.snapshot_filename = name;
    config.snapshot_counter = "a:b>1";
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), MXP_OK);
}

static void configure_once(void *context, const mxp_config *config)
{
    (void)context;
    for (int i = 0; i < 2 && configured < 2; i++, configured++) {
        strncpy(seen[i][0], strrchr(config->snapshot_filename, '/') + 1, sizeof seen[i][0] - 1);
        strncpy(seen[i][1], config->snapshot_counter, sizeof seen[i][1] - 1);
        configure_with(names[1]);
    }
}

static void an_observer_keeps_its_configuration_when_it_is_replaced(void **state)
{
    (void)state;
    mxp_session *session = mxp_session_get();
    configure_with(names[0]);
    assert_int_equal(mxp_session_observe(session, configure_once, NULL), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    mxp_session_stop(session);
    assert_int_equal(configured, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(seen[i][0], names[0]);
        assert_string_equal(seen[i][1], "a:b>1");
    }
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
    config.memory_csv_prefix = "min%%e";
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 0), MXP_ESTATE);
    assert_int_equal(calls[0], 0);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_string_equal(order, "10");
    assert_string_equal(prefix, "min%e");
    mxp_session_stop(session);
    mxp_session_run(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(calls[0], 2);
    assert_int_equal(calls[1], 2);
    mxp_session_stop(session);
    unlink("observed.json");
    for (int i = 2; i < 7; i++) {  // configure_once is there as well
        assert_int_equal(mxp_session_observe(session, observe, &calls[i]), MXP_OK);
    }
    assert_int_equal(mxp_session_observe(session, observe, &calls[8]), MXP_ESTATE);
    assert_non_null(strstr(mxp_last_error(), "8 observers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_observer_keeps_its_configuration_when_it_is_replaced),
        cmocka_unit_test(observers_see_each_dump_that_worked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
