// SPDX-License-Identifier: Apache-2.0
// What a push promises: order, properties, refusals, deleters, asynchronous completion.
#include <pthread.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"

static void write_then_read_in_order(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    static uint32_t steps[200];
    // A chain of writers, each adding to what the one before left.
    uint32_t value = 0;
    for (uint32_t i = 0; i < 200; i++) {
        engine_push(engine_add_one, &value, NULL, var);
        steps[i] = 0;
        engine_push(engine_add_one, &steps[i], var, NULL);
    }
    assert_int_equal(mxn_var_wait_write(var), 0);
    assert_int_equal(value, 200);
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(steps[i], 1);
    }
    assert_true(mxn_var_version(var) >= 200);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void a_version_counts_completed_writes(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    assert_true(mxn_var_version(var) == 0);
    for (int i = 0; i < 3; i++) {
        engine_push(engine_do_nothing, NULL, NULL, var);
        engine_push(engine_do_nothing, NULL, var, NULL);
    }
    mxn_wait_all();
    assert_true(mxn_var_version(var) == 3);
    mxn_var_delete(var, NULL, NULL, 0);
}

static void a_pushed_version_counts_writes_and_not_waits(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_gate gate = {.open = mxn_engine_is_naive()};
    engine_push(engine_gate_function, &gate, NULL, var);
    engine_push(engine_do_nothing, NULL, var, NULL);
    assert_int_equal(mxn_var_pushed_version(var), 1);
    engine_gate_open(&gate);
    assert_int_equal(mxn_var_wait_write(var), 0);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(mxn_var_pushed_version(var), 1);
    mxn_var_delete(var, NULL, NULL, 0);
}

static int pool_gate(const mxn_run *run, void *argument)
{
    return engine_gate_function(run, argument);
}

static void reads_run_together_and_a_write_waits_for_all(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_gate gates[3] = {{0}};
    uint32_t written = 0;
    for (int i = 0; i < 3; i++) {
        mxn_work work = {
            .function.sync = pool_gate, .argument = &gates[i], .property = MXN_CPU_PRIORITIZED};
        assert_int_equal(engine_push_work(work, var, NULL), 0);
    }
    for (int i = 0; i < 3; i++) {
        engine_gate_wait_entered(&gates[i]);  // all three are inside at once
    }
    engine_push(engine_add_one, &written, NULL, var);
    for (int i = 0; i < 3; i++) {
        mxp__os_sleep_us(2000);
        assert_int_equal(__atomic_load_n(&written, __ATOMIC_ACQUIRE), 0);
        engine_gate_open(&gates[2 - i]);
    }
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(written, 1);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static int count_deleter_calls;
static void count_deleter(void *argument)
{
    assert_ptr_equal(argument, &count_deleter_calls);
    __atomic_fetch_add(&count_deleter_calls, 1, __ATOMIC_RELAXED);
}

static mxn_work with_deleter(void)
{
    return (mxn_work){.function.sync = engine_do_nothing,
                      .argument = &count_deleter_calls,
                      .deleter = count_deleter};
}

static void the_deleter_runs_once_in_every_case(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    count_deleter_calls = 0;
    mxn_work work = with_deleter();
    assert_int_equal(engine_push_work(work, var, NULL), 0);
    mxn_wait_all();
    assert_int_equal(count_deleter_calls, 1);
    assert_int_equal(engine_push_work(work, var, var), MXP_EINVAL);
    assert_int_equal(count_deleter_calls, 2);
    work.property = 99;
    assert_int_equal(engine_push_work(work, var, NULL), MXP_EINVAL);
    assert_int_equal(count_deleter_calls, 3);
    mxn_var_delete(var, NULL, NULL, 0);
}

static void refused(int code, int expected, const char *word)
{
    assert_int_equal(code, expected);
    if (strstr(mxp_last_error(), word) == NULL) {
        fail_msg("'%s' does not say '%s'", mxp_last_error(), word);
    }
}

static void bad_work_is_refused_with_words(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new(), *other = mxn_var_new();
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    mxn_work work = {.function.sync = engine_do_nothing};
    refused(engine_push_work(work, var, var), MXP_EINVAL, "duplicate items found");
    mxn_var *twice[2] = {var, var};
    work.writes = twice;
    work.write_count = 2;
    refused(mxn_push(&work), MXP_EINVAL, "duplicate items found");
    mxn_var *with_null[2] = {other, NULL};
    work.writes = with_null;
    refused(mxn_push(&work), MXP_EINVAL, "null");
    work.write_count = 0;
    work.read_count = 70000;
    refused(mxn_push(&work), MXP_EINVAL, "65535");
    refused(engine_push_work((mxn_work){0}, var, NULL), MXP_EINVAL, "function");
    work = (mxn_work){.function.sync = engine_do_nothing, .form = 3};
    refused(engine_push_work(work, var, NULL), MXP_EINVAL, "form");
    work.form = MXN_SYNC;
    work.property = -1;
    refused(engine_push_work(work, var, NULL), MXP_EINVAL, "property");
    work.property = MXN_GPU_PRIORITIZED;
    refused(engine_push_work(work, var, NULL), MXP_ENOTSUP, "GPU");
    work.property = MXN_NORMAL;
    work.device = 256;
    refused(engine_push_work(work, var, NULL), MXP_EINVAL, "cpu(256)");
    mxn_engine_counts_get(&after);
    assert_true(after.pushed == before.pushed);
    // And nothing of it is left behind.
    engine_push(engine_do_nothing, NULL, var, other);
    assert_int_equal(mxn_var_wait(other), 0);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_var_delete(other, NULL, NULL, 0);
    mxn_wait_all();
}

static void a_deleted_variable_is_refused(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new(), *gate_var = mxn_var_new();
    engine_gate gate = {0};
    if (mxn_engine_is_naive()) {
        mxn_var_delete(gate_var, NULL, NULL, 0);
    } else {
        engine_gate_push(&gate, gate_var);
        engine_push(engine_do_nothing, NULL, gate_var, var);
    }
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_work work = {.function.sync = engine_do_nothing};
    refused(engine_push_work(work, var, NULL), MXP_EINVAL, "deleted");
    mxn_var_delete(var, NULL, NULL, 0);  // twice does nothing
    mxn_var_delete(NULL, NULL, NULL, 0);
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
}

static void dedupe_of_many_keeps_their_order(void **state)
{
    (void)state;
    enum { VARS = 3000 };
    static mxn_var *vars[VARS], *reads[2 * VARS], *writes[VARS];
    uint32_t read_count = 2 * VARS, write_count = VARS;
    for (int i = 0; i < VARS; i++) {
        vars[i] = mxn_var_new();
    }
    for (int i = 0; i < VARS; i++) {  // each is read twice, those of even places are written twice
        reads[2 * i] = reads[2 * i + 1] = vars[i];
        writes[i] = vars[i / 2 * 2];
    }
    mxn_vars_dedupe(reads, &read_count, writes, &write_count);
    assert_int_equal(read_count, VARS / 2);
    assert_int_equal(write_count, VARS / 2);
    for (int i = 0; i < VARS / 2; i++) {
        assert_ptr_equal(writes[i], vars[2 * i]);
        assert_ptr_equal(reads[i], vars[2 * i + 1]);
    }
    for (int i = 0; i < VARS; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
}

static void dedupe_makes_lists_legal(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new(), *c = mxn_var_new();
    mxn_var *reads[] = {a, b, a, c, b}, *writes[] = {c, c};
    uint32_t read_count = 5, write_count = 2;
    mxn_vars_dedupe(reads, &read_count, writes, &write_count);
    assert_int_equal(read_count, 2);
    assert_int_equal(write_count, 1);
    assert_ptr_equal(reads[0], a);
    assert_ptr_equal(reads[1], b);
    assert_ptr_equal(writes[0], c);
    mxn_work work = {.function.sync = engine_do_nothing,
                     .reads = reads,
                     .read_count = read_count,
                     .writes = writes,
                     .write_count = write_count};
    assert_int_equal(mxn_push(&work), 0);
    mxn_wait_all();
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
    mxn_var_delete(c, NULL, NULL, 0);
}

// ---- asynchronous -----------------------------------------------------------------------------

static pthread_t completer;

static void *complete_later(void *completion)
{
    mxp__os_sleep_us(5000);
    mxn_complete(completion, 0);
    return NULL;
}

static void complete_elsewhere(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    (void)argument;
    assert_int_equal(pthread_create(&completer, NULL, complete_later, completion), 0);
}

static void complete_here(const mxn_run *run, void *argument, mxn_completion *completion)
{
    engine_add_one(run, argument);
    mxn_complete(completion, 0);
}

static void an_asynchronous_operation_holds_its_variables(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_work work = {.function.async = complete_elsewhere, .form = MXN_ASYNC_FUNCTION};
    uint64_t begin_ns = mxp__os_monotonic_ns();
    assert_int_equal(engine_push_work(work, NULL, var), 0);
    engine_push(engine_add_one, &ran, var, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_true(mxp__os_monotonic_ns() - begin_ns >= 5000000);
    assert_int_equal(ran, 1);
    pthread_join(completer, NULL);
    mxn_var_delete(var, NULL, NULL, 0);
}

static void async_property_runs_inside_the_push_when_ready(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_work work = {.function.async = complete_here,
                     .form = MXN_ASYNC_FUNCTION,
                     .argument = &ran,
                     .property = MXN_ASYNC};
    assert_int_equal(engine_push_work(work, NULL, var), 0);
    assert_int_equal(ran, 1);
    if (!mxn_engine_is_naive()) {
        engine_gate gate;
        engine_gate_push(&gate, var);
        assert_int_equal(engine_push_work(work, var, NULL), 0);
        assert_int_equal(__atomic_load_n(&ran, __ATOMIC_ACQUIRE), 1);  // not ready: queued
        engine_gate_open(&gate);
        assert_int_equal(mxn_wait_all(), 0);
        assert_int_equal(ran, 2);
    }
    mxn_var_delete(var, NULL, NULL, 0);
}

static void remember_run(void *run, void *argument)
{
    *(mxn_run *)argument = *(const mxn_run *)run;
}

static void void_functions_learn_their_device(void **state)
{
    (void)state;
    mxn_run seen = {0};
    mxn_work work = {
        .function.plain = remember_run, .form = MXN_VOID, .argument = &seen, .device = 7};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    mxn_wait_all();
    assert_int_equal(seen.device, 7);
    assert_true(seen.parallel);
}

// ---- many variables, and operations that push -------------------------------------------------

static void an_operation_on_thousands_of_variables(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static mxn_var *vars[COUNT];
    uint32_t ran = 0;
    for (int i = 0; i < COUNT; i++) {
        vars[i] = mxn_var_new();
        engine_push(engine_do_nothing, NULL, NULL, vars[i]);
    }
    mxn_work work = {.function.sync = engine_add_one,
                     .argument = &ran,
                     .reads = vars,
                     .read_count = COUNT / 2,
                     .writes = vars + COUNT / 2,
                     .write_count = COUNT / 2,
                     .property = MXN_CPU_PRIORITIZED};
    assert_int_equal(mxn_push(&work), 0);
    assert_int_equal(mxn_var_wait(vars[COUNT - 1]), 0);
    assert_int_equal(ran, 1);
    for (int i = 0; i < COUNT; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

static uint32_t inner_ran;
static int push_more(const mxn_run *run, void *var)
{
    (void)run;
    assert_true(mxn_inside_operation());
    engine_push(engine_add_one, &inner_ran, NULL, var);
    return 0;
}

static void an_operation_may_push_others(void **state)
{
    (void)state;
    mxn_var *outer = mxn_var_new(), *inner = mxn_var_new();
    inner_ran = 0;
    for (int i = 0; i < 100; i++) {
        engine_push(push_more, inner, NULL, outer);
    }
    assert_false(mxn_inside_operation());
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(inner_ran, 100);
    mxn_var_delete(outer, NULL, NULL, 0);
    mxn_var_delete(inner, NULL, NULL, 0);
}

static int use_default(void **state)
{
    (void)state;
    engine_use(NULL);
    return 0;
}

static int use_naive(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    return 0;
}

#define PUSH_TESTS(setup)                                                              \
    cmocka_unit_test_setup(write_then_read_in_order, setup),                           \
        cmocka_unit_test_setup(a_version_counts_completed_writes, setup),              \
        cmocka_unit_test_setup(a_pushed_version_counts_writes_and_not_waits, setup),   \
        cmocka_unit_test_setup(the_deleter_runs_once_in_every_case, setup),            \
        cmocka_unit_test_setup(bad_work_is_refused_with_words, setup),                 \
        cmocka_unit_test_setup(a_deleted_variable_is_refused, setup),                  \
        cmocka_unit_test_setup(dedupe_makes_lists_legal, setup),                       \
        cmocka_unit_test_setup(dedupe_of_many_keeps_their_order, setup),               \
        cmocka_unit_test_setup(an_asynchronous_operation_holds_its_variables, setup),  \
        cmocka_unit_test_setup(async_property_runs_inside_the_push_when_ready, setup), \
        cmocka_unit_test_setup(void_functions_learn_their_device, setup),              \
        cmocka_unit_test_setup(an_operation_on_thousands_of_variables, setup),         \
        cmocka_unit_test_setup(an_operation_may_push_others, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_run_together_and_a_write_waits_for_all, use_default),
        PUSH_TESTS(use_default), PUSH_TESTS(use_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
