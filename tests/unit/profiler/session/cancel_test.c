// SPDX-License-Identifier: Apache-2.0
// Threads that are cancelled (pthread_cancel) while they record or call the session. They would
// keep locks for ever; so they are cancelled once the call is over. A hang fails by the time limit.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/module.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>

static mxp_session *session;
static int result;  // of the call

// ---- calls -------------------------------------------------------------------------------------
static void configure_and_run(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "cancelled.json";
    config.native_filename = "cancelled.mxp";
    config.store = MXP_STORE_FILE;
    config.memory_limit_bytes = 64 << 20;
    config.aggregate_stats = 1;
    result = mxp_session_configure(session, &config);
    if (result == MXP_OK) {
        result = mxp_session_run(session);
    }
}

// The file grows by some megabytes.
static void record(void)
{
    mxp_name name = mxp_span_name("test", "span");
    for (int i = 0; i < 300000; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

static void give_names(void)
{
    char text[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "a name that takes some room in the file, number %d", i);
        mxp_span_name("test", text);
    }
}

static void mark_steps(void)
{
    for (uint64_t i = 0; i < 3; i++) {
        mxp_step(i);
    }
}

static void begin_requests(void)
{
    mxp_name name = mxp_intern("test", "request", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    mxp_async open = mxp_async_begin(MXP_CLASS_USER, name, 1, mxp_no_context());
    mxp_async_end(&open, NULL, 0);
}

static void pause_and_resume(void)
{
    result = mxp_session_pause(session, 1);
    if (result == MXP_OK) {
        result = mxp_session_pause(session, 0);
    }
}

static void print(void)
{
    const char *text;
    result = mxp_session_dumps(session, MXP_FORMAT_TABLE, 0, 0, 0, &text);
}

static void report(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    result = mxp_session_report(session, &report);
}

static void take_snapshot(void)
{
    result = mxp_session_snapshot(session, "snapshot.mxp", 0);
}

static void dump(void)
{
    result = mxp_session_dump(session, 0);
}

static void stop_and_finish(void)
{
    result = mxp_session_stop(session);
    if (result == MXP_OK) {
        result = mxp_session_dump(session, 1);
    }
}

// ---- cancelled ---------------------------------------------------------------------------------
typedef struct victim {
    void (*call)(void);
    bool has_returned;
} victim;

static void *be_cancelled(void *context)
{
    victim *self = context;
    pthread_cancel(pthread_self());  // at the first system call that lets it
    self->call();
    self->has_returned = true;
    pthread_testcancel();
    return NULL;
}

static void assert_comes_back(void (*call)(void))
{
    victim self = {.call = call};
    pthread_t thread;
    void *end;
    result = MXP_OK;
    assert_int_equal(pthread_create(&thread, NULL, be_cancelled, &self), 0);
    assert_int_equal(pthread_join(thread, &end), 0);
    assert_true(self.has_returned);
    assert_ptr_equal(end, PTHREAD_CANCELED);
    assert_int_equal(result, MXP_OK);
}

static void no_call_is_cut_short(void **state)
{
    (void)state;
    static void (*const calls[])(void) = {
        configure_and_run, record,         give_names, mark_steps, begin_requests,
        pause_and_resume,  print,          report,     dump,       record,
        take_snapshot,     stop_and_finish};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_comes_back(calls[i]);
        report();  // no lock is held
        assert_int_equal(result, MXP_OK);
    }
}

// In a forked child the first record of all makes the file.
static void nor_is_the_first_record_of_a_child(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();  // it bears no thread of a forked child
#endif
    configure_and_run();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char file[64];
        struct stat status;
        snprintf(file, sizeof file, "cancelled.%d.mxp", (int)getpid());
        assert_comes_back(record);
        _exit(stat(file, &status) != 0 || unlink(file) != 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    stop_and_finish();
    assert_int_equal(result, MXP_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_is_cut_short),
        cmocka_unit_test(nor_is_the_first_record_of_a_child),
    };
    session = mxp_session_get();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
