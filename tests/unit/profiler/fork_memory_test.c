// SPDX-License-Identifier: Apache-2.0
// While a fork is carried out the child takes no memory and gives none back: another thread of the
// parent may have held the allocator's lock, which nobody gives up in the child. What the session
// needs there it takes when it is asked for something. Each store, recording or not, with and
// without statistics.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

static bool is_forked;  // in a child whose fork is being carried out
static int calls;  // of the allocator meanwhile

static void *reallocate(void *context, void *pointer, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    calls += is_forked;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static void begin(void)
{
    is_forked = true;
}

// Before the library's own, as children's handlers run in the order in which they were asked for.
__attribute__((constructor(101))) static void begin_first(void)
{
    pthread_atfork(NULL, NULL, begin);
}

static void end(void)
{
    is_forked = false;
}

static void configure(int store, bool statistics, bool ring)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "forked.json";
    config.native_filename = store == MXP_STORE_FILE ? NULL : "forked.mxp";
    config.store = store;
    config.aggregate_stats = statistics;
    config.continuous_dump = 0;
    config.full_policy = ring ? MXP_FULL_RING : config.full_policy;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
}

static void record(mxp_name name)
{
    mxp_span_end(name, mxp_span_begin(name));
    mxp_counter_i64(MXP_CLASS_USER, mxp_intern("test", "counter", MXP_STYLE_COUNTER, 0), 5);
}

// The child's table has what the child has recorded.
static int print_in_child(mxp_name name, bool statistics)
{
    const char *text = "";
    mxp_session *session = mxp_session_get();
    if (mxp_session_run(session) != 0) {
        return 2;
    }
    for (int i = 0; i < 7; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    if (mxp_session_dumps(session, MXP_FORMAT_CSV, 0, 0, 0, &text) != 0) {
        return 3;
    }
    const char *row = strstr(text, "\"spans\",duration,ms,7,");
    return (row != NULL) == statistics ? 0 : 4;
}

static void fork_once(mxp_name name, bool statistics)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(calls != 0 ? 1 : print_in_child(name, statistics));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void fork_of(int store, bool statistics, bool ring)
{
    mxp_session *session = mxp_session_get();
    configure(store, statistics, ring);
    assert_int_equal(mxp_session_run(session), 0);
    mxp_name name = mxp_span_name("test", "spans");
    record(name);
    fork_once(name, statistics);
    const char *text;
    assert_int_equal(mxp_session_dumps(session, MXP_FORMAT_CSV, 0, 0, 0, &text), 0);
    record(name);
    fork_once(name, statistics);
    assert_int_equal(mxp_session_pause(session, 1), 0);
    fork_once(name, statistics);
    assert_int_equal(mxp_session_pause(session, 0), 0);
    assert_int_equal(mxp_session_stop(session), 0);
    fork_once(name, statistics);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    fork_once(name, statistics);
}

static void child_takes_and_gives_no_memory_in_the_fork(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {  // a ring keeps no table
        fork_of(i % 2 != 0 ? MXP_STORE_FILE : MXP_STORE_MEMORY, i / 2 == 1, i / 2 == 2);
    }
}

int main(void)
{
    mxp_allocator hook = {.size_bytes = sizeof hook, .reallocate = reallocate};
    mxp_set_allocator(&hook);
    mxp_session_get();
    pthread_atfork(NULL, NULL, end);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_takes_and_gives_no_memory_in_the_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
