// SPDX-License-Identifier: Apache-2.0
// A handler of SIGTERM that calls exit() while its thread is inside of a call of the session: many
// servers have one. The process ends; it does not wait for locks that it holds itself.
#include "cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/foreign.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>

enum { BY_HANDLER = 7, CALL_IS_OVER = 8, HANGS_AFTER_S = 20 };
static const char said[] = "said.txt";
static mxp_session *session;
static int allocations_left = -1;  // until the signal comes; below 0: it does not

static void end_process(int number)
{
    (void)number;
    exit(BY_HANDLER);
}

// The signal comes in the middle of a call, with whatever is held there.
static void *reallocate(void *context, void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    (void)context;
    (void)old_size_bytes;
    if (allocations_left >= 0 && allocations_left-- == 0) {
        raise(SIGTERM);
    }
    if (size_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size_bytes);
}

// ---- calls -------------------------------------------------------------------------------------
static void dump(void)
{
    mxp_session_dump(session, 0);
}

static void print(void)
{
    const char *text;
    mxp_session_dumps(session, MXP_FORMAT_TABLE, 0, 0, 0, &text);
}

static void take_snapshot(void)
{
    mxp_session_snapshot(session, "exit_snapshot.mxp", 0);
}

static void configure(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "exit_other.json";
    mxp_session_configure(session, &config);
}

static void note(void)
{
    mxp_info("test.key", "value");
}

// ---- processes ---------------------------------------------------------------------------------
static void begin(void)
{
    const mxp_allocator hook = {.size_bytes = sizeof hook, .reallocate = reallocate};
    mxp_config config;
    if (mxp_set_allocator(&hook) != MXP_OK) {
        _exit(1);
    }
    session = mxp_session_get();
    mxp_config_init(&config);
    config.filename = "exit.json";
    config.native_filename = "exit.mxp";
    config.dump_period_s = 1e10;  // never
    config.aggregate_stats = 1;
    if (mxp_session_configure(session, &config) != MXP_OK || mxp_session_run(session) != MXP_OK) {
        _exit(1);
    }
    mxp_name name = mxp_span_name("test", "span");
    for (int i = 0; i < 1000; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

static int run(void (*call)(void), int allocation)
{
    pid_t child = fork();
    if (child == 0) {
        int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDERR_FILENO);
        alarm(HANGS_AFTER_S);
        signal(SIGTERM, end_process);
        begin();
        allocations_left = allocation;
        call();
        _exit(CALL_IS_OVER);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) {
        fail_msg("allocation %d: signal %d", allocation, WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static bool is_said(const char *words)
{
    char text[1024] = "";
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return strstr(text, words) != NULL;
}

// At each allocation of a call at which memory is taken, the later ones further apart.
static void the_process_ends(void (*call)(void))
{
    int code = BY_HANDLER, times = 0;
    for (int at = 0; code == BY_HANDLER && at < 2000; at += 1 + at / 4, times++) {
        code = run(call, at);
        assert_true(code != BY_HANDLER || is_said("exit() in the middle of a call"));
    }
    assert_int_equal(code, CALL_IS_OVER);
    assert_true(times > 1);
}

static void in_a_dump(void **state)
{
    (void)state;
    the_process_ends(dump);
}

static void in_a_table(void **state)
{
    (void)state;
    the_process_ends(print);
}

static void in_a_snapshot(void **state)
{
    (void)state;
    the_process_ends(take_snapshot);
}

static void in_a_change_of_the_configuration(void **state)
{
    (void)state;
    the_process_ends(configure);
}

// Between calls the handler finds the session as always: the profile is written.
static void outside_of_calls_the_profile_is_written(void **state)
{
    (void)state;
    unlink("exit.mxp");
    pid_t child = fork();
    if (child == 0) {
        alarm(HANGS_AFTER_S);
        signal(SIGTERM, end_process);
        begin();
        note();
        raise(SIGTERM);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == BY_HANDLER);
    assert_int_equal(access("exit.mxp", R_OK), 0);
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    return 77;  // skipped: that handlers should not call exit() is what it tells of each
#endif
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_dump),
        cmocka_unit_test(in_a_table),
        cmocka_unit_test(in_a_snapshot),
        cmocka_unit_test(in_a_change_of_the_configuration),
        cmocka_unit_test(outside_of_calls_the_profile_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
