// SPDX-License-Identifier: Apache-2.0
// A child of fork begins with nothing: no threads, no records, recording off; it can run its own.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>
#include <mxprof/foreign.h>
#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

static mxp_name name_a;
static int stop_recording;

static void *record_on(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop_recording, __ATOMIC_RELAXED)) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
        mxp_string("x");
    }
    return NULL;
}

static int child_checks(uint64_t open_in_parent)
{
    int wrong = mxp_enabled(MXP_CLASS_ALL) != 0;
    mxp_span_end(name_a, open_in_parent);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name_a, open_in_parent);
    mxp_span_end(name_a, mxp_span_begin(name_a));
    mxp__recorder_stop(1);
    mxp_source *source;
    wrong |= (mxp__live_open(MXP__CONSUMER_FILE, &source) != 0) << 1;
    uint64_t records = source->threads[0].records;
    wrong |= (source->thread_count != 1) << 2;
    wrong |= (records != 3) << 3;  // run, the span, stop
    wrong |= (mxp_intern("test", "a", MXP_STYLE_SPAN, 0) != name_a) << 4;
    mxp__source_close(source);
    return wrong;
}

static void fork_once(uint64_t open)
{
    mxp__recorder_fork_prepare();
    pid_t pid = fork();
    if (pid == 0) {
        mxp__recorder_fork_child();
        _exit(child_checks(open));
    }
    mxp__recorder_fork_parent();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void child_begins_clean_while_others_record(void **state)
{
    (void)state;
    name_a = mxp_span_name("test", "a");
    // A small store: what the other thread records at full speed is not the point.
    assert_int_equal(
        mxp__recorder_limits_set(&(mxp_recorder_limits){.memory_limit_bytes = 4 << 20}), 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, record_on, NULL);
    uint64_t open = mxp_span_begin(name_a);
    for (int i = 0; i < 50; i++) {
        fork_once(open);
        live_events live = live_events_take(MXP__CONSUMER_FILE);
        live_events_free(&live);
    }
    mxp_span_end(name_a, open);
    __atomic_store_n(&stop_recording, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    mxp__recorder_stop(1);
}

// They are those of the parent's threads.
static void child_forgets_names_of_threads_that_have_not_recorded(void **state)
{
    (void)state;
    enum { FIRST_TID = 0x40000000 };  // beyond those of the system
    uint32_t tid = FIRST_TID;
    while (mxp_thread_name_of(tid, "of the parent") == MXP_OK) {
        tid++;
    }
    assert_int_equal(tid, FIRST_TID + 256);
    mxp__recorder_fork_prepare();
    pid_t pid = fork();
    if (pid == 0) {
        mxp__recorder_fork_child();
        _exit(mxp_thread_name_of(tid, "of the child") == MXP_OK ? 0 : 1);
    }
    mxp__recorder_fork_parent();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_begins_clean_while_others_record),
        cmocka_unit_test(child_forgets_names_of_threads_that_have_not_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
