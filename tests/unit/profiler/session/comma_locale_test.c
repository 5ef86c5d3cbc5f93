// SPDX-License-Identifier: Apache-2.0
// A program whose locale has a decimal comma: what it asks for is understood, and what files tell
// of the run is the same.
#include "cmocka_all.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "comma_locale.h"
#include "whole_file.h"

static mxp_session *session;

static void configure(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "none";
    config.native_filename = "comma.mxp";
    config.dump_period_s = 0.25;
    config.continuous_dump = 0;
    config.snapshot_step_factor = 2.5;
    config.snapshot_counter = "memory:in use>1.5e9";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
}

static void a_counters_value_has_a_point(void **state)
{
    (void)state;
    const char *const keys[] = {"snapshot_counter", "dump_period"};
    const char *const points[] = {"memory:in use>0.5", "0.5"}, *const commas[] = {"a:b>0,5", "0.5"};
    assert_int_equal(mxp_session_configure_pairs(session, 2, keys, points), MXP_OK);
    assert_int_equal(mxp_session_configure_pairs(session, 2, keys, commas), MXP_EVALUE);
}

static void files_tell_numbers_with_a_point(void **state)
{
    (void)state;
    static const char *const keys[] = {"ns_per_tick", "clock_residual_ns", "record_cost_ns",
                                       "estimated_overhead_ns"};
    configure();
    assert_int_equal(mxp_session_run(session), MXP_OK);
    mxp_name name = mxp_span_name("test", "span");
    mxp_span_end(name, mxp_span_begin(name));
    assert_int_equal(mxp_session_stop(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    mxp_source *source = open_whole("comma.mxp");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_null(strchr(mxp__source_info(source, keys[i]), ','));
    }
    const char *config = mxp__source_info(source, "config");
    assert_non_null(strstr(config, " dump_period=0.25 "));
    assert_non_null(strstr(config, " snapshot_step_factor=2.5 "));
    mxp__source_close(source);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counters_value_has_a_point),
        cmocka_unit_test(files_tell_numbers_with_a_point),
    };
    if (!comma_locale_set()) {
        printf("there is no locale with a comma, and no means to make one\n");
        return 0;
    }
    session = mxp_session_get();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
