// SPDX-License-Identifier: Apache-2.0
// Errors travel along dependencies and surface once, at the next synchronisation point.
#include <pthread.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/fail.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "runtime/engine/engine_state.h"

static void fails_with(int code, const char *text)
{
    assert_int_equal(code, MXP_EVALUE);
    assert_string_equal(mxp_last_error(), text);
}

static void waiting_for_the_variable_fails_once(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_push(engine_fail, "dot: shapes (2,3) and (4,5)", NULL, var);
    fails_with(mxn_var_wait(var), "dot: shapes (2,3) and (4,5)");
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(mxn_wait_all(), 0);
    uint32_t ran = 0;
    engine_push(engine_add_one, &ran, NULL, var);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ran, 1);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static void dependents_are_skipped_and_others_are_not(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new(), *c = mxn_var_new(), *other = mxn_var_new();
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    uint32_t skipped = 0, ran = 0;
    engine_push(engine_fail, "first", NULL, a);
    engine_push(engine_add_one, &skipped, a, b);
    engine_push(engine_add_one, &skipped, b, c);
    engine_push(engine_add_one, &skipped, NULL, a);
    engine_push(engine_add_one, &ran, NULL, other);
    fails_with(mxn_var_wait(c), "first");
    assert_int_equal(mxn_var_wait(b), 0);  // delivered once for all
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(skipped, 0);
    assert_int_equal(ran, 1);
    mxn_engine_counts_get(&after);
    assert_int_equal(after.skipped - before.skipped, 3);
    assert_int_equal(after.failed - before.failed, 4);
    assert_int_equal(after.completed, after.pushed);
    engine_push(engine_add_one, &ran, b, c);
    assert_int_equal(mxn_var_wait(c), 0);
    assert_int_equal(ran, 2);
    mxn_var *const vars[] = {a, b, c, other};
    for (int i = 0; i < 4; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    mxn_wait_all();
}

static void errors_do_not_travel_by_resources(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new(), *resource = mxn_var_new_resource();
    uint32_t ran = 0;
    mxn_var *writes[] = {a, resource};
    const mxn_work fails = {.function.sync = engine_fail,
                            .argument = (void *)(uintptr_t) "of a",
                            .writes = writes,
                            .write_count = 2};
    assert_int_equal(mxn_push(&fails), 0);
    writes[0] = b;
    const mxn_work runs = {
        .function.sync = engine_add_one, .argument = &ran, .writes = writes, .write_count = 2};
    assert_int_equal(mxn_push(&runs), 0);
    assert_int_equal(mxn_var_wait(b), 0);
    assert_int_equal(mxn_var_wait(resource), 0);
    assert_int_equal(ran, 1);
    fails_with(mxn_var_wait(a), "of a");  // it is still who has failed
    mxn_var *const vars[] = {a, b, resource};
    for (int i = 0; i < 3; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

// `value` is written wholly by each of two rounds of operations, and read by the round's last.
static void an_error_ends_where_its_variable_is_overwritten(void **state)
{
    const bool in_template = *state != NULL;
    mxn_var *value = mxn_var_new(), *first = mxn_var_new(), *second = mxn_var_new();
    uint32_t ran = 0;
    const mxn_work fails = {.function.sync = engine_fail,
                            .argument = (void *)(uintptr_t) "of value",
                            .writes = &value,
                            .write_count = 1,
                            .overwrites = 1};
    assert_int_equal(mxn_push(&fails), 0);
    engine_push(engine_add_one, &ran, value, first);
    const mxn_work round[] = {{.function.sync = engine_add_one,
                               .argument = &ran,
                               .writes = &value,
                               .write_count = 1,
                               .overwrites = 1},
                              {.function.sync = engine_add_one,
                               .argument = &ran,
                               .reads = &value,
                               .read_count = 1,
                               .writes = &second,
                               .write_count = 1}};
    mxn_bulk_template *bulk = NULL;
    if (in_template) {
        assert_int_equal(mxn_bulk_template_make(round, 2, &bulk), 0);
        assert_int_equal(mxn_bulk_template_push(bulk, NULL, NULL, NULL), 0);
    } else {
        assert_int_equal(mxn_push(&round[0]), 0);
        assert_int_equal(mxn_push(&round[1]), 0);
    }
    assert_int_equal(mxn_var_wait(second), 0);
    assert_int_equal(mxn_var_wait(value), 0);
    assert_int_equal(ran, 2);
    fails_with(mxn_var_wait(first), "of value");
    mxn_bulk_template_free(bulk);
    mxn_var *const vars[] = {value, first, second};
    for (int i = 0; i < 3; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

static void what_overwrites_is_skipped_by_its_other_variables(void **state)
{
    (void)state;
    mxn_var *value = mxn_var_new(), *read = mxn_var_new();
    uint32_t ran = 0;
    engine_push(engine_fail, (void *)(uintptr_t) "of read", NULL, read);
    const mxn_work overwrites = {.function.sync = engine_add_one,
                                 .argument = &ran,
                                 .reads = &read,
                                 .read_count = 1,
                                 .writes = &value,
                                 .write_count = 1,
                                 .overwrites = 1};
    assert_int_equal(mxn_push(&overwrites), 0);
    fails_with(mxn_var_wait(value), "of read");
    assert_int_equal(ran, 0);
    mxn_var_delete(value, NULL, NULL, 0);
    mxn_var_delete(read, NULL, NULL, 0);
    mxn_wait_all();
}

// `state` moves on with each run, whose result is `value`.
static void a_state_has_no_error_of_a_run_that_was_skipped(void **unused)
{
    (void)unused;
    mxn_var *read = mxn_var_new(), *state = mxn_var_new(), *value = mxn_var_new();
    mxn_var *const writes[] = {state, value};
    uint32_t ran = 0;
    engine_push(engine_fail, (void *)(uintptr_t) "of read", NULL, read);
    mxn_work run = {.function.sync = engine_add_one,
                    .argument = &ran,
                    .reads = &read,
                    .read_count = 1,
                    .writes = writes,
                    .write_count = 2,
                    .keeps = 1};
    assert_int_equal(mxn_push(&run), 0);
    assert_int_equal(mxn_var_wait(state), 0);
    fails_with(mxn_var_wait(value), "of read");
    assert_int_equal(ran, 0);
    run.function.sync = engine_fail;
    run.argument = (void *)(uintptr_t) "of the run";
    assert_int_equal(mxn_push(&run), 0);
    fails_with(mxn_var_wait(state), "of the run");
    mxn_var *const vars[] = {read, state, value};
    for (int i = 0; i < 3; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

static void what_was_pushed_before_the_wait_is_skipped_whenever_its_turn_comes(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new(), *held = mxn_var_new();
    engine_gate gate = {0};
    uint32_t skipped = 0, ran = 0;
    const mxn_work holds = {.function.sync = engine_gate_function,
                            .argument = &gate,
                            .property = MXN_CPU_PRIORITIZED};  // beside the compute thread
    assert_int_equal(engine_push_work(holds, NULL, held), 0);
    engine_push(engine_fail, "first", NULL, a);
    engine_push(engine_add_one, &skipped, a, b);
    engine_push(engine_add_one, &skipped, held, a);  // its turn comes when the gate is open
    fails_with(mxn_var_wait(b), "first");
    engine_push(engine_add_one, &ran, held, b);  // pushed behind the wait, also held
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(skipped, 0);
    assert_int_equal(ran, 1);
    engine_push(engine_add_one, &ran, a, b);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
    assert_int_equal(mxp_atomic_load(&mxn__engine.error_flags), 0);  // nobody looks for it any more
    mxn_var *const vars[] = {a, b, held};
    for (int i = 0; i < 3; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    mxn_wait_all();
}

static void wait_all_reports_the_first_and_clears_all(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new();
    engine_push(engine_fail, "one", NULL, a);
    engine_push(engine_fail, "two", NULL, b);
    engine_push(engine_fail, "three, of no variable", NULL, NULL);
    fails_with(mxn_wait_all(), "one");
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(mxn_var_wait(a), 0);
    assert_int_equal(mxn_var_wait(b), 0);
    engine_push(engine_fail, "four", NULL, NULL);
    fails_with(mxn_wait_all(), "four");
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
    mxn_wait_all();
}

static void an_error_outlives_its_variables(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_push(engine_fail, "gone", NULL, var);
    mxn_var_delete(var, NULL, NULL, 0);
    fails_with(mxn_wait_all(), "gone");
}

static void no_skip_runs_and_passes_the_error_on(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new();
    uint32_t ran = 0;
    engine_push(engine_fail, "upstream", NULL, a);
    mxn_work work = {.function.sync = engine_add_one, .argument = &ran, .property = MXN_NO_SKIP};
    assert_int_equal(engine_push_work(work, a, b), 0);
    fails_with(mxn_var_wait(b), "upstream");
    assert_int_equal(ran, 1);
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static uint32_t released;
static void release(void *argument)
{
    (void)argument;
    __atomic_fetch_add(&released, 1, __ATOMIC_RELAXED);
}

static void deletions_run_in_spite_of_errors(void **state)
{
    (void)state;
    released = 0;
    mxn_var *var = mxn_var_new();
    engine_push(engine_fail, "x", NULL, var);
    mxn_var_delete(var, release, NULL, 0);
    fails_with(mxn_wait_all(), "x");
    assert_int_equal(released, 1);
}

static void *complete_failing(void *completion)
{
    mxn_complete(completion, mxp__fail(MXP_EVALUE, "%s", "callback raised"));
    return NULL;
}

static void fail_elsewhere(const mxn_run *run, void *thread, mxn_completion *completion)
{
    (void)run;
    assert_int_equal(pthread_create(thread, NULL, complete_failing, completion), 0);
}

static void asynchronous_operations_fail_by_their_completion(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    pthread_t thread;
    mxn_work work = {
        .function.async = fail_elsewhere, .form = MXN_ASYNC_FUNCTION, .argument = &thread};
    assert_int_equal(engine_push_work(work, NULL, var), 0);
    fails_with(mxn_var_wait(var), "callback raised");
    pthread_join(thread, NULL);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void thousands_of_errors_are_bounded_and_cleared(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    for (int i = 0; i < 10000; i++) {
        engine_push(engine_fail, i == 0 ? "the first" : "a later one", NULL, NULL);
    }
    engine_push(engine_fail, "the last", NULL, var);
    fails_with(mxn_var_wait(var), "the last");
    fails_with(mxn_wait_all(), "the first");
    assert_int_equal(mxn_wait_all(), 0);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static int wait_inside(const mxn_run *run, void *var)
{
    (void)run;
    int code = mxn_var_wait(var);
    assert_int_equal(code, MXP_ESTATE);
    assert_int_equal(mxn_wait_all(), MXP_ESTATE);
    assert_int_equal(mxn_engine_stop(), MXP_ESTATE);
    return code;
}

static void waiting_inside_an_operation_is_an_error(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_push(wait_inside, var, NULL, var);
    assert_int_equal(mxn_var_wait(var), MXP_ESTATE);
    assert_non_null(strstr(mxp_last_error(), "inside an operation"));
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_the_variable_fails_once),
        cmocka_unit_test(dependents_are_skipped_and_others_are_not),
        cmocka_unit_test(errors_do_not_travel_by_resources),
        cmocka_unit_test(an_error_ends_where_its_variable_is_overwritten),
        {"an_error_ends_where_its_variable_is_overwritten_in_a_template",
         an_error_ends_where_its_variable_is_overwritten, NULL, NULL, (void *)(uintptr_t)1},
        cmocka_unit_test(what_overwrites_is_skipped_by_its_other_variables),
        cmocka_unit_test(a_state_has_no_error_of_a_run_that_was_skipped),
        cmocka_unit_test(what_was_pushed_before_the_wait_is_skipped_whenever_its_turn_comes),
        cmocka_unit_test(wait_all_reports_the_first_and_clears_all),
        cmocka_unit_test(an_error_outlives_its_variables),
        cmocka_unit_test(no_skip_runs_and_passes_the_error_on),
        cmocka_unit_test(deletions_run_in_spite_of_errors),
        cmocka_unit_test(asynchronous_operations_fail_by_their_completion),
        cmocka_unit_test(thousands_of_errors_are_bounded_and_cleared),
        cmocka_unit_test(waiting_inside_an_operation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
