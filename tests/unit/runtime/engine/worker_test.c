// SPDX-License-Identifier: Apache-2.0
// Who runs what: the compute worker, light workers, priorities, NaiveEngine; and what only workers
// meet: parking, long queues, counters that begin anew.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "runtime/engine/variable.h"

typedef struct witness {
    uint32_t thread;
    bool parallel;
} witness;

static int testify(const mxn_run *run, void *argument)
{
    witness *seen = argument;
    seen->thread = mxp__os_thread_id();
    seen->parallel = run->parallel;
    return 0;
}

static void testify_for(witness *seen, uint32_t device, uint32_t flags, int property)
{
    mxn_work work = {.function.sync = testify,
                     .argument = seen,
                     .device = device,
                     .flags = flags,
                     .property = property};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void one_thread_runs_the_work_of_all_cpu_devices(void **state)
{
    (void)state;
    witness first, second, prioritized;
    testify_for(&first, 0, MXN_WORK_PARALLEL, MXN_NORMAL);
    testify_for(&second, 5, 0, MXN_NORMAL);
    testify_for(&prioritized, 0, 0, MXN_CPU_PRIORITIZED);
    assert_int_equal(first.thread, second.thread);
    assert_int_not_equal(first.thread, mxp__os_thread_id());
    assert_int_not_equal(first.thread, prioritized.thread);
    assert_true(first.parallel && second.parallel);
    assert_false(prioritized.parallel);
}

static void light_workers_take_what_is_not_parallel(void **state)
{
    (void)state;
    setenv("MXNET_CPU_WORKER_NTHREADS", "3", 1);
    engine_use(NULL);
    witness heavy, light;
    testify_for(&heavy, 0, MXN_WORK_PARALLEL, MXN_NORMAL);
    testify_for(&light, 0, 0, MXN_NORMAL);
    assert_true(heavy.parallel);
    assert_false(light.parallel);
    assert_int_not_equal(heavy.thread, light.thread);
    // Two can be inside at once, and order by variable holds across the queues.
    engine_gate gates[2];
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    engine_gate_push(&gates[0], var);
    engine_gate_push(&gates[1], NULL);
    mxn_work work = {.function.sync = engine_add_one, .argument = &ran, .flags = MXN_WORK_PARALLEL};
    assert_int_equal(engine_push_work(work, var, NULL), 0);
    engine_gate_wait_entered(&gates[0]);
    engine_gate_wait_entered(&gates[1]);
    assert_int_equal(__atomic_load_n(&ran, __ATOMIC_ACQUIRE), 0);
    engine_gate_open(&gates[0]);
    engine_gate_open(&gates[1]);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 1);
    // Bulks form here too.
    mxn_bulk_size_set(4);
    for (int i = 0; i < 10; i++) {
        engine_push(engine_add_one, &ran, NULL, var);
    }
    mxn_bulk_size_set(0);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 11);
    unsetenv("MXNET_CPU_WORKER_NTHREADS");
    engine_use(NULL);
}

static int order[8];
static uint32_t order_count;
static int note(const mxn_run *run, void *number)
{
    (void)run;
    order[order_count++] = *(int *)number;  // one priority worker: no race
    return 0;
}

static void larger_priorities_go_first(void **state)
{
    (void)state;
    setenv("MXNET_CPU_PRIORITY_NTHREADS", "1", 1);
    engine_use(NULL);
    engine_gate gate = {0};
    mxn_work work = {
        .function.sync = engine_gate_function, .argument = &gate, .property = MXN_CPU_PRIORITIZED};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    engine_gate_wait_entered(&gate);
    static int numbers[] = {0, 5, -3, 5, 100, 0};
    order_count = 0;
    work.function.sync = note;
    for (int i = 0; i < 6; i++) {
        work.argument = &numbers[i];
        work.priority = numbers[i];
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    }
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    const int expected[] = {100, 5, 5, 0, 0, -3};
    assert_int_equal(order_count, 6);
    assert_memory_equal(order, expected, sizeof expected);
    unsetenv("MXNET_CPU_PRIORITY_NTHREADS");
    engine_use(NULL);
}

static uint32_t steps[300];
static uint32_t step_count;
static int take_step(const mxn_run *run, void *step)
{
    (void)run;
    steps[step_count++] = (uint32_t)(uintptr_t)step;  // all of them write one variable
    return 0;
}

static void parked_operations_are_released_in_order(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_gate gate;
    engine_gate_push(&gate, var);
    step_count = 0;
    for (uint32_t i = 0; i < 300; i++) {
        mxn_work work = {.function.sync = take_step,
                         .argument = (void *)(uintptr_t)i,
                         .property = MXN_CPU_PRIORITIZED,
                         .priority = (int)(i * 7919 % 301)};
        assert_int_equal(engine_push_work(work, NULL, var), 0);
    }
    mxp__os_sleep_us(20000);  // the pool finds them all too early
    engine_gate_open(&gate);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(step_count, 300);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(steps[i], i);
    }
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static void a_long_queue_grows_and_shrinks(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        engine_gate gate;
        uint32_t ran = 0;
        engine_gate_push(&gate, NULL);
        mxn_var *var = mxn_var_new();
        for (int i = 0; i < 50000; i++) {
            engine_push(engine_add_one, &ran, NULL, var);
        }
        engine_gate_open(&gate);
        assert_int_equal(mxn_wait_all(), 0);
        assert_int_equal(ran, 50000);
        mxn_var_delete(var, NULL, NULL, 0);
    }
}

static void reads_without_end_begin_a_new_count(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    engine_push(engine_do_nothing, NULL, NULL, var);
    assert_int_equal(mxn_wait_all(), 0);
    // As after a billion reads.
    mxp_atomic_set(&var->issued, mxp_atomic_own(&var->issued) + (MXN__READS_MAX - 2));
    mxp_atomic_set(&var->done, mxp_atomic_own(&var->done) + (MXN__READS_MAX - 2));
    for (int i = 0; i < 5; i++) {
        engine_push(engine_add_one, &ran, var, NULL);
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 5);
    assert_true((mxp_atomic_own(&var->issued) & ~MXN__WRITES_MASK) < MXN__READS_MAX);
    assert_true(mxn_var_version(var) == 1);  // counting anew is no write of the program's
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void a_new_count_begins_inside_a_bulk_whose_variable_goes(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new(), *other = mxn_var_new();
    uint32_t ran = 0;
    engine_push(engine_do_nothing, NULL, NULL, var);
    assert_int_equal(mxn_wait_all(), 0);
    mxp_atomic_set(&var->issued, mxp_atomic_own(&var->issued) + MXN__READS_MAX);
    mxp_atomic_set(&var->done, mxp_atomic_own(&var->done) + MXN__READS_MAX);
    int before = mxn_bulk_size_set(8);
    engine_push(engine_add_one, &ran, NULL, other);
    // The member must not be refused: it begins to count anew itself.
    mxp_atomic_set(&var->issued, mxp_atomic_own(&var->issued) - 1);
    mxp_atomic_set(&var->done, mxp_atomic_own(&var->done) - 1);
    engine_push(engine_add_one, &ran, var, NULL);
    mxp_atomic_set(&var->issued, mxp_atomic_own(&var->issued) + 1);
    mxp_atomic_set(&var->done, mxp_atomic_own(&var->done) + 1);
    mxn_var_delete(var, NULL, NULL, 0);  // waits for the bulk
    assert_int_equal(mxn_bulk_flush(), 0);
    mxn_bulk_size_set(before);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
    mxn_var_delete(other, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void *wait_for(void *var)
{
    return (void *)(uintptr_t)(uint32_t)mxn_var_wait(var);
}

static void many_threads_wait_for_one_variable(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_gate gate;
    engine_gate_push(&gate, var);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for, var), 0);
    }
    mxp__os_sleep_us(5000);
    engine_gate_open(&gate);
    for (int i = 0; i < 8; i++) {
        void *code;
        pthread_join(threads[i], &code);
        assert_null(code);
    }
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// ---- NaiveEngine ------------------------------------------------------------------------------

static void naive_runs_inside_the_push_and_fails_there(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    witness seen;
    testify_for(&seen, 0, 0, MXN_CPU_PRIORITIZED);
    assert_int_equal(seen.thread, mxp__os_thread_id());
    mxn_work work = {.function.sync = engine_fail, .argument = "at once"};
    assert_int_equal(engine_push_work(work, NULL, var), MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "at once");
    uint32_t ran = 0;
    engine_push(engine_add_one, &ran, NULL, var);  // nothing sticks to the variable
    assert_int_equal(ran, 1);
    assert_int_equal(mxn_wait_all(), 0);
    mxn_var_delete(var, NULL, NULL, 0);
    engine_use(NULL);
}

static uint32_t naive_released;
static void count_release(void *argument)
{
    (void)argument;
    naive_released++;
}

static int push_conflicting(const mxn_run *run, void *var)
{
    (void)run;
    mxn_work work = {.function.sync = engine_do_nothing};
    assert_int_equal(engine_push_work(work, var, NULL), MXP_ESTATE);
    mxn_var_delete(var, count_release, NULL, 0);
    assert_int_equal(naive_released, 0);  // when this operation is over
    assert_int_equal(mxn_wait_all(), 0);  // nothing else is pending
    return 0;
}

static void naive_never_waits_for_itself(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    naive_released = 0;
    engine_push(push_conflicting, var, NULL, var);
    assert_int_equal(naive_released, 1);
    engine_use(NULL);
}

// Its operation is over, and its memory is the next one's, but the function continues.
static void complete_and_push(const mxn_run *run, void *var, mxn_completion *completion)
{
    (void)run;
    mxn_complete(completion, 0);
    uint32_t ran = 0;
    engine_push(engine_add_one, &ran, NULL, var);
    assert_int_equal(ran, 1);
    mxn_var_delete(var, count_release, NULL, 0);
    assert_int_equal(naive_released, 1);
    assert_int_equal(mxn_wait_all(), 0);
}

static void naive_knows_when_an_operation_is_over(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    naive_released = 0;
    mxn_work work = {
        .function.async = complete_and_push, .form = MXN_ASYNC_FUNCTION, .argument = var};
    assert_int_equal(engine_push_work(work, NULL, var), 0);
    engine_use(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_runs_the_work_of_all_cpu_devices),
        cmocka_unit_test(light_workers_take_what_is_not_parallel),
        cmocka_unit_test(larger_priorities_go_first),
        cmocka_unit_test(parked_operations_are_released_in_order),
        cmocka_unit_test(a_long_queue_grows_and_shrinks),
        cmocka_unit_test(reads_without_end_begin_a_new_count),
        cmocka_unit_test(a_new_count_begins_inside_a_bulk_whose_variable_goes),
        cmocka_unit_test(many_threads_wait_for_one_variable),
        cmocka_unit_test(naive_runs_inside_the_push_and_fails_there),
        cmocka_unit_test(naive_never_waits_for_itself),
        cmocka_unit_test(naive_knows_when_an_operation_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
