// SPDX-License-Identifier: Apache-2.0
// Environment, stop, shutdown, fork and exit.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "runtime/engine/engine_thread.h"

static void refuses_to_start(const char *variable, const char *value, const char *word)
{
    assert_int_equal(mxn_engine_stop(), 0);
    setenv(variable, value, 1);
    assert_int_equal(mxn_engine_start(), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), variable));
    assert_non_null(strstr(mxp_last_error(), word));
    mxn_work work = {.function.sync = engine_do_nothing};
    assert_int_equal(mxn_push(&work), MXP_EVALUE);
    assert_int_equal(mxn_wait_all(), MXP_EVALUE);
    mxn_var *var = mxn_var_new();
    mxn_var_delete(var, NULL, NULL, 0);  // works all the same
    unsetenv(variable);
    assert_int_equal(mxn_push(&work), 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void an_ill_formed_environment_is_an_error_until_corrected(void **state)
{
    (void)state;
    refuses_to_start("MXNET_ENGINE_TYPE", "NaiveEngin", "perhaps NaiveEngine");
    refuses_to_start("MXNET_ENGINE_TYPE", "x", "ThreadedEnginePerDevice");
    refuses_to_start("MXNET_CPU_WORKER_NTHREADS", "0", "1 to 256");
    refuses_to_start("MXNET_CPU_PRIORITY_NTHREADS", "four", "1 to 256");
    refuses_to_start("MXNET_CPU_PRIORITY_NTHREADS", "4x", "1 to 256");
}

static void the_type_is_read_at_each_start(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    assert_true(mxn_engine_is_naive());
    engine_use("ThreadedEnginePerDeviceAsync");
    assert_false(mxn_engine_is_naive());
    engine_use(NULL);
    assert_false(mxn_engine_is_naive());
}

// Starts the engine; what it says on stderr meanwhile is left in `text`.
static void start_and_listen(const char *type, char *text, size_t size)
{
    FILE *heard = tmpfile();
    assert_non_null(heard);
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    dup2(fileno(heard), STDERR_FILENO);
    engine_use(type);
    bool started = mxn_engine_start() == MXP_OK;
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(heard);
    text[fread(text, 1, size - 1, heard)] = '\0';
    fclose(heard);
    assert_true(started);
}

static void it_says_what_it_starts_if_asked(void **state)
{
    (void)state;
    char text[256];
    start_and_listen(NULL, text, sizeof(text));
    assert_string_equal(text, "");
    setenv("MXNET_ENGINE_INFO", "1", 1);
    start_and_listen("NaiveEngine", text, sizeof(text));
    assert_non_null(strstr(text, "engine: NaiveEngine"));
    start_and_listen(NULL, text, sizeof(text));
    assert_non_null(strstr(text, "ThreadedEnginePerDevice, 1 compute thread, 0 light"));
    unsetenv("MXNET_ENGINE_INFO");
    refuses_to_start("MXNET_ENGINE_INFO", "2", "MXNET_ENGINE_INFO");
}

static void stop_waits_and_the_next_push_starts_again(void **state)
{
    (void)state;
    uint32_t ran = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 50; i++) {
            mxn_work work = {.function.sync = engine_add_one,
                             .argument = &ran,
                             .property = i % 2 == 0 ? MXN_CPU_PRIORITIZED : MXN_NORMAL};
            assert_int_equal(engine_push_work(work, NULL, NULL), 0);
        }
        assert_int_equal(mxn_engine_stop(), 0);
        assert_int_equal(ran, 50 * (round + 1));
    }
    assert_int_equal(mxn_engine_stop(), 0);
}

static uint32_t released;
static void release(void *argument)
{
    (void)argument;
    __atomic_fetch_add(&released, 1, __ATOMIC_RELAXED);
}

static void after_shutdown_only_deletions_run(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_engine_counts before, after;
    for (int i = 0; i < 1000; i++) {
        engine_push(engine_add_one, &ran, NULL, var);
    }
    assert_int_equal(mxn_engine_shutdown(), 0);  // what is pending runs
    mxn_engine_counts_get(&before);
    engine_push(engine_add_one, &ran, NULL, var);
    released = 0;
    mxn_var_delete(var, release, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
    mxn_engine_counts_get(&after);
    assert_int_equal(ran, 1000);
    assert_int_equal(released, 1);
    assert_int_equal(after.skipped - before.skipped, 1);
    assert_int_equal(after.failed, before.failed);
    assert_int_equal(mxn_engine_stop(), 0);  // a new start is a new life
    engine_push(engine_add_one, &ran, NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 1001);
}

// ---- fork -------------------------------------------------------------------------------------

static int child_status(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// In the child cmocka must not speak: it answers by its exit code.
static int child_uses_engine(mxn_var *inherited)
{
    uint32_t ran = 0;
    mxn_var *var = mxn_var_new();
    mxn_engine_counts counts;
    mxn_engine_counts_get(&counts);
    bool clean = counts.pushed == 0 && counts.completed == 0;
    mxn_work work = {.function.sync = engine_add_one,
                     .argument = &ran,
                     .reads = &inherited,
                     .read_count = 1,
                     .writes = &var,
                     .write_count = 1};
    bool pushed = true;
    for (int i = 0; i < 100; i++) {
        work.property = i % 10 == 0 ? MXN_CPU_PRIORITIZED : MXN_NORMAL;
        pushed = pushed && mxn_push(&work) == 0;
    }
    bool waited = mxn_var_wait(var) == 0 && mxn_wait_all() == 0;
    mxn_var_delete(var, NULL, NULL, 0);
    bool stopped = mxn_engine_stop() == 0;
    return clean && pushed && waited && stopped && ran == 100 ? 0 : 1;
}

static void parent_and_child_go_on_after_a_fork(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_bulk_size_set(8);
    for (int i = 0; i < 1003; i++) {
        engine_push(engine_add_one, &ran, NULL, var);
    }
    for (int round = 0; round < 5; round++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(child_uses_engine(var));
        }
        assert_int_equal(__atomic_load_n(&ran, __ATOMIC_ACQUIRE), 1003 + round);  // prepare waited
        assert_int_equal(child_status(child), 0);
        engine_push(engine_add_one, &ran, NULL, var);
    }
    mxn_bulk_size_set(0);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ran, 1008);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static bool pushing;
static void *push_until_told(void *counter)
{
    mxn_var *var = mxn_var_new();
    uint32_t pushed = 0;
    while (__atomic_load_n(&pushing, __ATOMIC_ACQUIRE)) {
        engine_push(engine_add_one, counter, NULL, var);
        if (++pushed % 1000 == 0) {
            mxn_var_wait(var);
        }
    }
    mxn_var_delete(var, NULL, NULL, 0);
    return (void *)(uintptr_t)pushed;
}

static void a_fork_while_others_push_loses_nothing(void **state)
{
    (void)state;
    uint32_t ran = 0;
    __atomic_store_n(&pushing, true, __ATOMIC_RELEASE);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, push_until_told, &ran), 0);
    mxn_var *var = mxn_var_new();
    for (int round = 0; round < 10; round++) {
        mxp__os_sleep_us(1000);
        pid_t child = fork();
        if (child == 0) {
            _exit(ENGINE_THREADS_IN_CHILD ? child_uses_engine(var) : 0);
        }
        assert_int_equal(child_status(child), 0);
    }
    __atomic_store_n(&pushing, false, __ATOMIC_RELEASE);
    void *pushed;
    pthread_join(thread, &pushed);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, (uint32_t)(uintptr_t)pushed);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static mxn_completion *handed_over;
static void hand_over(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    (void)argument;
    __atomic_store_n(&handed_over, completion, __ATOMIC_RELEASE);
}

static void *push_before_completing(void *ran)
{
    const mxn_work work = {.function.async = hand_over, .form = MXN_ASYNC_FUNCTION};
    while (__atomic_load_n(&pushing, __ATOMIC_ACQUIRE)) {
        mxn_completion *completion;
        __atomic_store_n(&handed_over, NULL, __ATOMIC_RELAXED);
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
        while ((completion = __atomic_load_n(&handed_over, __ATOMIC_ACQUIRE)) == NULL) {
            mxp__os_yield();
        }
        engine_push(engine_add_one, ran, NULL, NULL);
        mxn_complete(completion, 0);
        mxp__os_sleep_us(20);  // or the fork hardly ever finds the engine without one
    }
    return NULL;
}

// The fork waits for the operation, so the push must not wait for the fork.
static void a_fork_waits_for_what_needs_another_push(void **state)
{
    (void)state;
    uint32_t ran = 0;
    __atomic_store_n(&pushing, true, __ATOMIC_RELEASE);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, push_before_completing, &ran), 0);
    for (int round = 0; round < 100; round++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        assert_int_equal(child_status(child), 0);
    }
    __atomic_store_n(&pushing, false, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(mxn_wait_all(), 0);
}

static int fork_inside(const mxn_run *run, void *status)
{
    (void)run;
    pid_t child = fork();
    if (child == 0) {
        mxn_work work = {.function.sync = engine_do_nothing};
        _exit(mxn_push(&work) == MXP_ESTATE && mxn_wait_all() == MXP_ESTATE ? 0 : 1);
    }
    *(int *)status = child_status(child);
    return 0;
}

static void a_fork_inside_an_operation_leaves_the_child_without_engine(void **state)
{
    (void)state;
    int status = -1;
    engine_push(fork_inside, &status, NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(status, 0);
}

// The child has no engine, and this thread's bulk with a member that reads the variable.
typedef struct delete_case {
    mxn_var *bulked;
    int status;
} delete_case;

static void delete_in_child(void *argument)
{
    delete_case *at = argument;
    pid_t child = fork();
    if (child == 0) {
        mxn_var_delete(at->bulked, NULL, NULL, 0);
        _exit(mxn_var_new() == at->bulked ? 1 : 0);
    }
    at->status = child_status(child);
}

static void without_an_engine_a_variable_of_a_bulk_is_kept(void **state)
{
    (void)state;
    delete_case at = {mxn_var_new(), -1};
    mxn_bulk_size_set(8);
    engine_push(engine_do_nothing, NULL, at.bulked, NULL);
    mxn_var_delete(mxn_var_new(), delete_in_child, &at, 0);  // ready: it runs inside the push
    assert_int_equal(at.status, 0);
    mxn_bulk_size_set(0);
    mxn_var_delete(at.bulked, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void a_naive_engine_forks_too(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    pid_t child = fork();
    if (child == 0) {
        _exit(child_uses_engine(var));
    }
    assert_int_equal(child_status(child), 0);
    mxn_var_delete(var, NULL, NULL, 0);
    engine_use(NULL);
}

// ---- a worker with data of its own ------------------------------------------------------------

static pthread_key_t workers_own;
static void delete_own(void *var)
{
    mxn_var_delete(var, release, NULL, 0);
}

static int keep_own(const mxn_run *run, void *var)
{
    (void)run;
    return pthread_setspecific(workers_own, var) == 0 ? 0 : MXP_ENOMEM;
}

static void a_worker_that_ends_may_push_what_its_destructors_do(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&workers_own, delete_own), 0);
    released = 0;
    engine_push(keep_own, mxn_var_new(), NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    pid_t child = fork();
    if (child == 0) {
        _exit(ENGINE_THREADS_IN_CHILD ? child_uses_engine(mxn_var_new()) : 0);
    }
    assert_int_equal(child_status(child), 0);
    assert_int_equal(mxn_engine_stop(), 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(released, 1);
    pthread_key_delete(workers_own);
}

// ---- two forks at once ------------------------------------------------------------------------

// The first fork is between the engine's handlers and the rest; the second comes from inside a
// callback, so it takes no locks, and has none to give back.
static uint32_t second_is_inside, first_stands, second_is_over;
static __thread bool is_first;
static int second_child;

static void stand_still(void)
{
    if (is_first) {
        __atomic_store_n(&first_stands, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&second_is_over, __ATOMIC_ACQUIRE) == 0) {
            mxp__os_sleep_us(20);
        }
    }
}

static void *fork_second(void *unused)
{
    mxn_callback callback = {0};
    assert_int_equal(mxn_callback_begin(&callback), 0);
    __atomic_store_n(&second_is_inside, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&first_stands, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(20);
    }
    pid_t child = fork();
    if (child == 0) {
        mxn_work work = {.function.sync = engine_do_nothing};
        mxn_engine_counts counts;
        mxn_engine_counts_get(&counts);
        _exit(mxn_push(&work) == MXP_ESTATE ? 0 : 1);
    }
    second_child = child_status(child);
    __atomic_store_n(&second_is_over, 1, __ATOMIC_RELEASE);
    assert_int_equal(mxn_callback_end(&callback), 0);
    return unused;
}

static void two_forks_at_once_know_their_own_locks(void **state)
{
    (void)state;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 36)  // before, one fork waits for the other
    mxn_var *var = mxn_var_new();
    assert_int_equal(mxn_engine_start(), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fork_second, NULL), 0);
    while (__atomic_load_n(&second_is_inside, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(20);
    }
    is_first = true;
    pid_t child = fork();
    if (child == 0) {
        _exit(ENGINE_THREADS_IN_CHILD ? child_uses_engine(var) : 0);
    }
    is_first = false;
    pthread_join(thread, NULL);
    assert_int_equal(child_status(child), 0);
    assert_int_equal(second_child, 0);
    uint32_t ran = 0;
    engine_push(engine_add_one, &ran, NULL, var);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 1);
    mxn_var_delete(var, NULL, NULL, 0);
#else
    skip();
#endif
}

// ---- threads ----------------------------------------------------------------------------------

static void *make_variable(void *unused)
{
    (void)unused;
    return mxn_var_new();
}

// Each thread leaves something that lives for as long as a few more threads do.
static void threads_that_come_and_go_need_no_more_and_more_memory(void **state)
{
    enum { THREADS = 400, LIVING = 20 };
    (void)state;
    mxn_var *living[LIVING] = {NULL};
    uint32_t before = mxn__thread_count();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *made = NULL;
        mxn_var_delete(living[i % LIVING], NULL, NULL, 0);
        assert_int_equal(pthread_create(&thread, NULL, make_variable, NULL), 0);
        pthread_join(thread, &made);
        assert_non_null(made);
        living[i % LIVING] = made;
    }
    assert_in_range(mxn__thread_count() - before, 1, 3 * LIVING);
    for (int i = 0; i < LIVING; i++) {
        mxn_var_delete(living[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

// ---- exit -------------------------------------------------------------------------------------

static int sleep_a_little(const mxn_run *run, void *argument)
{
    (void)run;
    (void)argument;
    mxp__os_sleep_us(1000);
    return 0;
}

static int exit_inside(const mxn_run *run, void *argument)
{
    (void)run;
    (void)argument;
    exit(7);
}

static void exit_does_not_wait_for_what_is_queued(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100000; i++) {
            engine_push(sleep_a_little, NULL, NULL, NULL);
        }
        exit(3);
    }
    assert_int_equal(child_status(child), 3);
}

static void exit_inside_an_operation_ends_the_process(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        engine_push(exit_inside, NULL, NULL, NULL);
        mxn_wait_all();
        _exit(1);
    }
    assert_int_equal(child_status(child), 7);
}

static mxn_var *left_behind;
static void never_complete(const mxn_run *run, void *gate, mxn_completion *completion)
{
    (void)completion;
    engine_gate_function(run, gate);
}

// After the engine's own end.
__attribute__((destructor(101))) static void delete_what_is_left(void)
{
    if (left_behind != NULL) {
        mxn_var_delete(left_behind, release, NULL, 0);
        _exit(released == 0 ? 9 : 8);
    }
}

static void what_still_runs_after_the_end_keeps_its_memory(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        released = 0;
        mxn_var *var = mxn_var_new();
        engine_gate gate = {.open = 1};
        mxn_work work = {
            .function.async = never_complete, .form = MXN_ASYNC_FUNCTION, .argument = &gate};
        engine_push_work(work, NULL, var);
        engine_gate_wait_entered(&gate);
        left_behind = var;
        exit(3);
    }
    assert_int_equal(child_status(child), 9);
}

int main(void)
{
    pthread_atfork(stand_still, NULL, NULL);  // before the engine's, so it runs after them
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ill_formed_environment_is_an_error_until_corrected),
        cmocka_unit_test(the_type_is_read_at_each_start),
        cmocka_unit_test(it_says_what_it_starts_if_asked),
        cmocka_unit_test(stop_waits_and_the_next_push_starts_again),
        cmocka_unit_test(after_shutdown_only_deletions_run),
        cmocka_unit_test(parent_and_child_go_on_after_a_fork),
        cmocka_unit_test(a_fork_while_others_push_loses_nothing),
        cmocka_unit_test(a_fork_waits_for_what_needs_another_push),
        cmocka_unit_test(a_fork_inside_an_operation_leaves_the_child_without_engine),
        cmocka_unit_test(without_an_engine_a_variable_of_a_bulk_is_kept),
        cmocka_unit_test(a_naive_engine_forks_too),
        cmocka_unit_test(a_worker_that_ends_may_push_what_its_destructors_do),
        cmocka_unit_test(two_forks_at_once_know_their_own_locks),
        cmocka_unit_test(threads_that_come_and_go_need_no_more_and_more_memory),
        cmocka_unit_test(exit_does_not_wait_for_what_is_queued),
        cmocka_unit_test(exit_inside_an_operation_ends_the_process),
        cmocka_unit_test(what_still_runs_after_the_end_keeps_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
