// SPDX-License-Identifier: Apache-2.0
// The signal that asks for a snapshot: where its handler runs, and that the last one is told.
#include "cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/record/trigger.h"
#include "profiler/session/output/snapshot.h"

enum { MOST = 100 };
static mxp_session *session;

static int begin(void **state)
{
    (void)state;
    mxp_config config;
    session = mxp_session_get();
    mxp_config_init(&config);
    config.filename = "none";
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = 1 << 20;
    config.snapshot_filename = "shot.mxp";
    config.snapshot_signal = 1;
    return mxp_session_configure(session, &config) != MXP_OK || mxp_session_run(session) != MXP_OK;
}

// A thread's own stack may be too small for a handler: those of Go are, and it ends the process.
static void the_handler_runs_on_the_alternate_stack(void **state)
{
    (void)state;
    struct sigaction action;
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_true(action.sa_handler != SIG_DFL);
    assert_int_equal(action.sa_flags & (SA_ONSTACK | SA_RESTART), SA_ONSTACK | SA_RESTART);
}

static void ask_and_take(void)
{
    mxp__lock(&session->lock);
    mxp__trigger_ask(MXP__TRIGGER_SIGNAL);
    mxp__snapshot_serve_locked(session);
    mxp__unlock(&session->lock);
}

static int count_files(void)
{
    int count = 0;
    char name[64];
    for (int i = 1; i <= MOST + 1; i++) {
        snprintf(name, sizeof name, "shot.%d.%d.mxp", (int)getpid(), i);
        count += unlink(name) == 0;
    }
    return count;
}

static void the_last_one_is_told(void **state)
{
    (void)state;
    char text[4096] = "";
    int before = dup(STDERR_FILENO);
    int said = open("said.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(before >= 0 && said >= 0);
    dup2(said, STDERR_FILENO);
    for (int i = 0; i < MOST - 1; i++) {
        ask_and_take();
    }
    ssize_t length = pread(said, text, sizeof text - 1, 0);
    ask_and_take();
    ask_and_take();
    dup2(before, STDERR_FILENO);
    assert_int_equal(length, 0);
    length = pread(said, text, sizeof text - 1, 0);
    assert_true(length > 0);
    text[length] = '\0';
    assert_non_null(strstr(text, "the last of 100 snapshots"));
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);  // once
    close(said);
    close(before);
    assert_int_equal(count_files(), MOST);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_handler_runs_on_the_alternate_stack),
        cmocka_unit_test(the_last_one_is_told),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
