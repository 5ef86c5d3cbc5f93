// SPDX-License-Identifier: Apache-2.0
// Every allocation of the session fails once: each call then says so and nothing breaks; with
// memory back, the same calls work.
#include "cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "fake_alloc.h"

static mxp_config config;

// A whole profile; the first error, or MXP_OK.
static int profile_once(int number)
{
    mxp_session *session = mxp_session_get();
    char name[32];
    snprintf(name, sizeof name, "domain %d", number);
    mxp_handle domain = NULL, task = NULL;
    const char *text;
    int error = mxp_session_configure(session, &config);
    error = error != MXP_OK ? error : mxp_domain_create(name, &domain);
    error = error != MXP_OK ? error : mxp_task_create(domain, "task", &task);
    error = error != MXP_OK ? error : mxp_session_run(session);
    for (int i = 0; i < 8 && error == MXP_OK; i++) {
        error = mxp_duration_start(task);  // more than fit inline
    }
    for (int i = 0; i < 8 && error == MXP_OK; i++) {
        error = mxp_duration_stop(task);
    }
    error = error != MXP_OK ? error : mxp_session_dumps(session, 0, 0, 0, 1, &text);
    mxp_session_stop(session);
    error = error != MXP_OK ? error : mxp_session_dump(session, 1);
    if (task != NULL) {
        mxp_object_destroy(task);
    }
    return error;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t refused;
    int rounds = 0;
    do {
        fake_alloc_fail_after((size_t)rounds);
        int error = profile_once(rounds);
        refused = fake_alloc_failed();
        fake_alloc_fail_never();
        if (error != MXP_OK) {
            assert_true(refused > 0);
            assert_true(mxp_last_error()[0] != '\0');
        }
        assert_int_equal(profile_once(rounds), MXP_OK);
        rounds++;
    } while (refused > 0 && rounds < 2000);
    assert_int_equal(refused, 0);
    assert_true(rounds > 10);
    unlink("session_memory.json");
}

int main(void)
{
    fake_alloc_install();
    mxp_config_init(&config);
    config.filename = "session_memory.json";
    config.continuous_dump = 0;
    config.aggregate_stats = 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
