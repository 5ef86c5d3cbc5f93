// SPDX-License-Identifier: Apache-2.0
// Bulks change when operations are queued and nothing else.
#include <pthread.h>

#include <mxprof/error.h>
#include <mxprof/profiler.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "fake_alloc.h"

static mxn_engine_counts counts(void)
{
    mxn_engine_counts now;
    mxn_engine_counts_get(&now);
    return now;
}

static int bulk_on(void **state)
{
    (void)state;
    assert_int_equal(mxn_bulk_size_set(4), 0);
    return 0;
}

static int bulk_off(void **state)
{
    (void)state;
    assert_int_equal(mxn_bulk_size_set(0), 4);
    return mxn_wait_all();
}

static void a_full_bulk_is_pushed(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_engine_counts before = counts();
    for (int i = 0; i < 3; i++) {
        engine_push(engine_add_one, &ran, NULL, var);
    }
    mxp__os_sleep_us(3000);
    assert_int_equal(__atomic_load_n(&ran, __ATOMIC_ACQUIRE), 0);
    engine_push(engine_add_one, &ran, NULL, var);
    while (__atomic_load_n(&ran, __ATOMIC_ACQUIRE) != 4) {
        mxp__os_sleep_us(100);
    }
    engine_push(engine_add_one, &ran, NULL, var);
    assert_int_equal(mxn_var_wait(var), 0);  // a wait pushes the rest
    assert_int_equal(ran, 5);
    mxn_engine_counts after = counts();
    assert_int_equal(after.bulks - before.bulks, 2);  // one alone is a bulk as well
    assert_int_equal(after.executed - before.executed - (after.waits - before.waits), 5);
    assert_true(mxn_var_version(var) == 2);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static void a_size_of_one_puts_a_bulk_around_each(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    assert_int_equal(mxn_bulk_size_set(1), 4);
    mxn_engine_counts before = counts();
    engine_push(engine_add_one, &ran, NULL, var);
    engine_push(engine_add_one, &ran, NULL, var);
    assert_int_equal(mxn_bulk_size_set(4), 1);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ran, 2);
    assert_int_equal(counts().bulks - before.bulks, 2);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static void a_pushed_version_counts_the_writes_of_members(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    for (uint32_t i = 1; i <= 6; i++) {  // the fourth pushes a bulk: one write of the variable
        engine_push(engine_do_nothing, NULL, NULL, var);
        engine_push(engine_do_nothing, NULL, var, NULL);
        assert_int_equal(mxn_var_pushed_version(var), i);
    }
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(mxn_var_pushed_version(var), 6);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_wait_all();
}

static void what_does_not_fit_pushes_first(void **state)
{
    (void)state;
    uint32_t ran = 0;
    mxn_engine_counts before = counts();
    mxn_work work = {.function.sync = engine_add_one, .argument = &ran};
    mxn_work other[3] = {work, work, work};
    other[0].device = 1;
    other[1].priority = 1;
    other[2].property = MXN_NO_SKIP;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
        assert_int_equal(engine_push_work(other[i], NULL, NULL), 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 9);
    // Each pair, and the one on the other device.
    assert_int_equal(counts().bulks - before.bulks, 4);
}

static void smaller_size_pushes_what_is_there(void **state)
{
    (void)state;
    uint32_t ran = 0;
    for (int i = 0; i < 3; i++) {
        engine_push(engine_add_one, &ran, NULL, NULL);
    }
    assert_int_equal(mxn_bulk_size_set(3), 4);
    while (__atomic_load_n(&ran, __ATOMIC_ACQUIRE) != 3) {
        mxp__os_sleep_us(100);
    }
    assert_int_equal(mxn_bulk_size_set(4), 3);
}

static void members_depend_on_each_other_only_where_they_do(void **state)
{
    (void)state;
    mxn_var *a = mxn_var_new(), *b = mxn_var_new(), *c = mxn_var_new();
    uint32_t skipped = 0, ran = 0;
    engine_push(engine_fail, "member", NULL, a);
    engine_push(engine_add_one, &skipped, a, b);
    engine_push(engine_add_one, &ran, NULL, c);
    assert_int_equal(mxn_var_wait(c), 0);
    assert_int_equal(mxn_var_wait(b), MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "member");
    assert_int_equal(skipped, 0);
    assert_int_equal(ran, 1);
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
    mxn_var_delete(c, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void deletions_cut_no_bulk_off(void **state)
{
    (void)state;
    uint32_t ran = 0;
    mxn_engine_counts before = counts();
    mxn_var *used = mxn_var_new(), *unused = mxn_var_new();
    for (int i = 0; i < 3; i++) {
        engine_push(engine_add_one, &ran, used, NULL);
    }
    mxn_var_delete(used, NULL, NULL, 0);
    mxn_var_delete(unused, NULL, NULL, 0);
    assert_int_equal(counts().deletions - before.deletions, 1);
    assert_int_equal(counts().bulks, before.bulks);
    engine_push(engine_add_one, &ran, NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 4);
    assert_int_equal(counts().bulks - before.bulks, 1);
    assert_int_equal(counts().deletions - before.deletions, 2);
}

static void *open_later(void *gate)
{
    mxp__os_sleep_us(2000);
    engine_gate_open(gate);
    return NULL;
}

static void waits_are_in_no_bulk(void **state)
{
    (void)state;
    engine_gate gate = {0};
    mxn_var *var = mxn_var_new();
    engine_gate_push(&gate, var);
    mxn_bulk_flush();
    engine_gate_wait_entered(&gate);
    mxn_engine_counts before = counts();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_later, &gate), 0);
    assert_int_equal(mxn_var_wait_write(var), 0);
    pthread_join(thread, NULL);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
    // The bulk of the gate itself.
    assert_int_equal(counts().bulks - before.bulks, 1);
}

static void *delete_it(void *var)
{
    mxn_var_delete(var, NULL, NULL, 0);
    return NULL;
}

static void a_deletion_by_another_thread_waits_for_the_bulk(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    mxn_engine_counts before = counts();
    engine_push(engine_add_one, &ran, NULL, var);
    engine_push(engine_add_one, &ran, var, NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, delete_it, var), 0);
    pthread_join(thread, NULL);
    assert_int_equal(counts().deletions, before.deletions);
    mxn_work work = {.function.sync = engine_add_one, .argument = &ran};
    assert_int_equal(engine_push_work(work, var, NULL), MXP_EINVAL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
    assert_int_equal(counts().deletions - before.deletions, 1);
}

static void *push_two_and_end(void *ran)
{
    mxn_bulk_size_set(100);
    engine_push(engine_add_one, ran, NULL, NULL);
    engine_push(engine_add_one, ran, NULL, NULL);
    return NULL;
}

static void a_thread_that_ends_pushes_its_bulk(void **state)
{
    (void)state;
    uint32_t ran = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, push_two_and_end, &ran), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
}

// A program with everything that bulks look at; returns how many it made.
static uint64_t run_program(uint32_t *ran)
{
    mxn_var *vars[5];
    mxn_engine_counts before = counts();
    for (int i = 0; i < 5; i++) {
        vars[i] = mxn_var_new();
    }
    for (uint32_t i = 0; i < 300; i++) {
        mxn_work work = {.function.sync = engine_add_one,
                         .argument = ran,
                         .name = mxp_span_name("operator", "step"),
                         .device = i % 37 == 0};
        assert_int_equal(engine_push_work(work, vars[i % 5], vars[(i + 1 + i % 3) % 5]), 0);
        if (i % 50 == 49) {
            assert_int_equal(mxn_var_wait(vars[0]), 0);
        }
    }
    assert_int_equal(mxn_wait_all(), 0);
    for (int i = 0; i < 5; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    mxn_wait_all();
    return counts().bulks - before.bulks;
}

static void profiling_does_not_change_bulks(void **state)
{
    (void)state;
    uint32_t ran = 0;
    uint64_t off = run_program(&ran);
    mxp_config config;
    mxp_config_init(&config);
    config.aggregate_stats = 1;
    config.continuous_dump = 0;
    config.filename = "bulk_test.json";
    mxp_session *session = mxp_session_get();
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    uint64_t on = run_program(&ran);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_true(off > 70);
    assert_true(on == off);
    assert_int_equal(ran, 600);
}

// So many uses that the bulk's own operation needs memory, and there is none.
static void without_memory_its_members_are_pushed_alone(void **state)
{
    enum { MEMBERS = 70 };
    (void)state;
    assert_int_equal(mxn_bulk_size_set(MEMBERS + 1), 0);
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    for (int i = 0; i < MEMBERS; i++) {
        engine_push(engine_add_one, &ran, NULL, var);
    }
    mxn_engine_counts before = counts();
    mxn_var_delete(var, NULL, NULL, 0);
    fake_alloc_fail_after(0);
    int error = mxn_bulk_flush();
    fake_alloc_fail_never();
    assert_int_equal(error, 0);
    assert_int_not_equal(fake_alloc_failed(), 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, MEMBERS);
    assert_int_equal(counts().bulks, before.bulks);
    assert_int_equal(counts().deletions - before.deletions, 1);
    assert_int_equal(mxn_bulk_size_set(0), MEMBERS + 1);
}

static void naive_engine_never_collects(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    assert_int_equal(mxn_bulk_size_set(15), 0);
    uint32_t ran = 0;
    engine_push(engine_add_one, &ran, NULL, NULL);
    assert_int_equal(ran, 1);
    assert_int_equal(mxn_bulk_size_set(0), 0);
    engine_use(NULL);
}

#define BULK_TEST(test) cmocka_unit_test_setup_teardown(test, bulk_on, bulk_off)

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        BULK_TEST(a_full_bulk_is_pushed),
        BULK_TEST(a_size_of_one_puts_a_bulk_around_each),
        BULK_TEST(a_pushed_version_counts_the_writes_of_members),
        BULK_TEST(what_does_not_fit_pushes_first),
        BULK_TEST(smaller_size_pushes_what_is_there),
        BULK_TEST(members_depend_on_each_other_only_where_they_do),
        BULK_TEST(deletions_cut_no_bulk_off),
        BULK_TEST(waits_are_in_no_bulk),
        BULK_TEST(a_deletion_by_another_thread_waits_for_the_bulk),
        BULK_TEST(a_thread_that_ends_pushes_its_bulk),
        BULK_TEST(profiling_does_not_change_bulks),
        cmocka_unit_test(without_memory_its_members_are_pushed_alone),
        cmocka_unit_test(naive_engine_never_collects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
