// SPDX-License-Identifier: Apache-2.0
#include "killed_recording.h"

#include <mxprof/profiler.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

// In the child an assert of cmocka would go on with the parent's tests.
static bool begin_recording(const char *native)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "none";
    config.native_filename = native;
    config.store = MXP_STORE_FILE;
    config.keep_crashed = 0;
    mxp_session *session = mxp_session_get();
    return mxp_session_configure(session, &config) == MXP_OK && mxp_session_run(session) == MXP_OK;
}

static void record(const char *native, int report, void (*name_things)(void), void (*work)(void))
{
    if (!begin_recording(native)) {
        _exit(1);
    }
    name_things();
    // How long a start takes depends on the machine; the time to live begins after it.
    if (write(report, "", 1) != 1) {
        _exit(2);
    }
    work();
    raise(SIGKILL);
}

void record_and_kill(const char *native, void (*name_things)(void), void (*work)(void),
                     int after_us)
{
    int reports[2];
    assert_int_equal(pipe(reports), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(reports[0]);
        record(native, reports[1], name_things, work);
    }
    close(reports[1]);
    char started;
    assert_int_equal(read(reports[0], &started, 1), 1);
    if (after_us > 0) {
        usleep((useconds_t)after_us);
        kill(child, SIGKILL);
    }
    close(reports[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
