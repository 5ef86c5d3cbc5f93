// SPDX-License-Identifier: Apache-2.0
// A process that has used up all its keys for data of threads: recording and errors work, and what
// others keep under their keys stays theirs.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>

static void take_all_keys(void)
{
    pthread_key_t key;
    while (pthread_key_create(&key, NULL) == 0) {
    }
}

static void *record(void *nothing)
{
    const void *before = pthread_getspecific(0);  // what a key that was not made would be taken for
    mxp_name name = mxp_span_name("test", "span");
    mxp_span_end(name, mxp_span_begin(name));
    assert_int_equal(mxp_set_last_error(MXP_EINVAL, "some text"), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), mxp_strerror(MXP_EINVAL));
    assert_ptr_equal(pthread_getspecific(0), before);
    return nothing;
}

static void no_key_is_left(void **state)
{
    (void)state;
    take_all_keys();
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "/dev/null";
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    mxp_report before = {.size_bytes = sizeof before}, after = before;
    mxp_session_report(session, &before);
    record(NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record, NULL), 0);
    pthread_join(thread, NULL);
    mxp_session_report(session, &after);
    assert_int_equal(after.records - before.records, 2);
    assert_int_equal(after.lost, 0);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_key_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
