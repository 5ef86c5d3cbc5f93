// SPDX-License-Identifier: Apache-2.0
// What a file says of the machine, against what other programs say of it, and what the program and
// the configuration have noted.
#include "cmocka_all.h"

#include <mxprof/foreign.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profiler/trace/file/native.h"
#include "profiler/trace/source.h"

static const char path[] = "info_machine_test.mxp";

static mxp_source *record(const char *commit, const char *label)
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.native_filename = path;
    config.run_commit = commit;
    config.run_label = label;
    config.step_cpu = label != NULL;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    mxp_step(1);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    mxp_source *source;
    assert_int_equal(mxp__native_open(path, &source, NULL), MXP_OK);
    return source;
}

static uint64_t figure(const mxp_source *source, const char *key)
{
    const char *text = mxp__source_info(source, key);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static void the_machine_is_as_other_programs_see_it(void **state)
{
    (void)state;
    mxp_source *source = record(NULL, NULL);
    struct utsname names;
    cpu_set_t cores;
    assert_int_equal(uname(&names), 0);
    assert_int_equal(sched_getaffinity(0, sizeof cores, &cores), 0);
    assert_string_equal(mxp__source_info(source, "machine.kernel"), names.release);
    assert_string_equal(mxp__source_info(source, "machine.cpu"), mxp__source_info(source, "cpu"));
    assert_int_equal(figure(source, "machine.cores"), CPU_COUNT(&cores));
    mxp__source_close(source);
}

static void commit_and_label_are_the_users_and_gone_when_taken_back(void **state)
{
    (void)state;
    mxp_source *source = record("0123abc", "larger batch");
    assert_string_equal(mxp__source_info(source, "run.commit"), "0123abc");
    assert_string_equal(mxp__source_info(source, "run.label"), "larger batch");
    assert_string_equal(mxp__source_info(source, "step_cpu"), "on");
    mxp__source_close(source);
    source = record(NULL, NULL);
    assert_null(mxp__source_info(source, "run.commit"));
    assert_null(mxp__source_info(source, "run.label"));
    assert_string_equal(mxp__source_info(source, "step_cpu"), "off");
    mxp__source_close(source);
}

static void the_last_value_of_a_key_counts(void **state)
{
    (void)state;
    assert_int_equal(mxp_info("server.version", "1"), MXP_OK);
    assert_int_equal(mxp_info("server.version", "2"), MXP_OK);
    mxp_source *source = record(NULL, NULL);
    assert_string_equal(mxp__source_info(source, "server.version"), "2");
    mxp__source_close(source);
    assert_int_equal(mxp_info("server.version", ""), MXP_OK);
    source = record(NULL, NULL);
    assert_null(mxp__source_info(source, "server.version"));
    mxp__source_close(source);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mxp_info(NULL, "x"), MXP_EINVAL);
    assert_int_equal(mxp_info("", "x"), MXP_EINVAL);
    assert_int_equal(mxp_info("key", NULL), MXP_EINVAL);
    int error = MXP_OK;
    for (int i = 0; i < 40 && error == MXP_OK; i++) {
        char key[16];
        snprintf(key, sizeof key, "key.%d", i);
        error = mxp_info(key, "value");
    }
    assert_int_equal(error, MXP_ESTATE);
    assert_int_equal(mxp_info("key.0", "other"), MXP_OK);  // one that is there
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_as_other_programs_see_it),
        cmocka_unit_test(commit_and_label_are_the_users_and_gone_when_taken_back),
        cmocka_unit_test(the_last_value_of_a_key_counts),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
