// SPDX-License-Identifier: Apache-2.0
// Who owns what of a bulk template, what it refuses, and how it lives through the rest of the
// engine's life.
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "fake_alloc.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

static uint32_t ended;  // how many deleters were called
static void end_one(void *counter)
{
    __atomic_fetch_add((uint32_t *)counter, 1, __ATOMIC_RELEASE);
}

static uint32_t ended_now(void)
{
    return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

static int begin(void **state)
{
    (void)state;
    ended = 0;
    return 0;
}

static mxn_bulk_template *make_one(mxn_work work, mxn_var *read, mxn_var *write)
{
    mxn_bulk_template *made;
    work.reads = &read;
    work.read_count = read != NULL;
    work.writes = &write;
    work.write_count = write != NULL;
    assert_int_equal(mxn_bulk_template_make(&work, 1, &made), 0);
    return made;
}

// ---- ownership --------------------------------------------------------------------------------

static void freed_while_a_push_runs_it_ends_after_it(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    engine_gate gate = {0};
    const mxn_work works[] = {
        {.function.sync = engine_gate_function,
         .argument = &gate,
         .writes = &var,
         .write_count = 1},
        {.function.sync = engine_add_one, .argument = &ran, .reads = &var, .read_count = 1},
        {.function.sync = engine_do_nothing, .argument = &ended, .deleter = end_one}};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(works, 3, &made), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);  // they overlap
    engine_gate_wait_entered(&gate);
    mxn_bulk_template_free(made);
    mxn_var_delete(var, end_one, &ended, 0);
    assert_int_equal(ended_now(), 0);
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
    assert_int_equal(ended_now(), 2);
}

static void freed_at_rest_it_ends_at_once(void **state)
{
    (void)state;
    const mxn_work work = {
        .function.sync = engine_do_nothing, .argument = &ended, .deleter = end_one};
    mxn_bulk_template *made = make_one(work, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ended_now(), 0);
    mxn_bulk_template_free(made);
    assert_int_equal(ended_now(), 1);
}

static void the_context_of_a_push_ends_with_it(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    engine_gate gate = {0};
    mxn_bulk_template *made =
        make_one((mxn_work){.function.sync = engine_gate_function, .argument = &gate}, NULL, var);
    assert_int_equal(mxn_bulk_template_push(made, NULL, &ended, end_one), 0);
    engine_gate_wait_entered(&gate);
    assert_int_equal(ended_now(), 0);
    engine_gate_open(&gate);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ended_now(), 1);  // before what waits for the push is released
    mxn_bulk_template_free(made);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void a_deletion_waits_for_the_template_and_pushes_are_refused(void **state)
{
    (void)state;
    uint32_t ran = 0, contexts = 0;
    mxn_var *var = mxn_var_new();
    mxn_bulk_template *made =
        make_one((mxn_work){.function.sync = engine_add_one, .argument = &ran}, NULL, var);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    mxn_var_delete(var, end_one, &ended, 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ended_now(), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, &contexts, end_one), MXP_EINVAL);
    assert_int_equal(contexts, 1);
    mxn_engine_counts now;
    mxn_engine_counts_get(&now);
    assert_true(now.pushed == now.completed);
    mxn_bulk_template_free(made);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ended_now(), 1);
    assert_int_equal(ran, 1);
}

typedef struct pusher {
    mxn_bulk_template *made;
    uint32_t index;  // what records call the thread
} pusher;

static void *push_and_end(void *argument)
{
    pusher *self = argument;
    self->index = mxp_thread_index();
    return mxn_bulk_template_push(self->made, NULL, NULL, NULL) == 0 ? NULL : self;
}

static void *touch_engine(void *unused)
{
    (void)unused;
    mxn_var_delete(mxn_var_new(), NULL, NULL, 0);  // now the thread has a state of its own
    mxp_thread_index();
    return NULL;
}

static void in_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
}

// The next thread must not be taken for it.
static void a_thread_may_end_before_its_push(void **state)
{
    (void)state;
    engine_gate gate;
    mxn_work work = {.function.sync = engine_do_nothing, .name = mxp_span_name("operator", "one")};
    pusher self = {.made = make_one(work, NULL, NULL)};
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    engine_gate_push(&gate, NULL);
    in_thread(push_and_end, &self);
    in_thread(touch_engine, NULL);
    in_thread(touch_engine, NULL);
    in_thread(touch_engine, NULL);
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_OPERATOR, "one", 0);
    assert_non_null(event);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    assert_int_equal(view.push_thread, self.index);
    live_events_free(&live);
    mxn_bulk_template_free(self.made);
}

// ---- what is refused --------------------------------------------------------------------------

static void refused(const mxn_work *works, uint32_t count)
{
    mxn_bulk_template *made = (mxn_bulk_template *)&ended;
    assert_int_equal(mxn_bulk_template_make(works, count, &made), MXP_EINVAL);
    assert_null(made);
}

static void what_no_bulk_takes_is_refused(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new(), *none = NULL;
    mxn_var *twice[] = {var, var};
    const mxn_work right = {
        .function.sync = engine_do_nothing, .argument = &ended, .deleter = end_one};
    mxn_work works[] = {right, right};
    refused(works, 0);
    assert_int_equal(ended_now(), 0);
    works[1].priority = 1;
    refused(works, 2);
    assert_int_equal(ended_now(), 2);
    works[1] = right;
    works[1].property = MXN_NO_SKIP;
    refused(works, 2);
    works[1] = right;
    works[1].form = MXN_ASYNC_FUNCTION;
    refused(works, 2);
    works[1] = right;
    works[1].device = 1;
    refused(works, 2);
    works[1] = right;
    works[1].function.sync = NULL;
    refused(works, 2);
    works[1] = right;
    works[1].reads = &none;
    works[1].read_count = 1;
    refused(works, 2);
    works[1].reads = twice;
    works[1].read_count = 2;
    refused(works, 2);
    assert_int_equal(ended_now(), 14);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// `count` variables in each of the works that name them, `shift` further on from one to the next.
static int make_wide(mxn_var **vars, uint32_t count, uint32_t shift, mxn_bulk_template **made)
{
    const mxn_work works[] = {
        {.function.sync = engine_do_nothing, .reads = vars, .read_count = count},
        {.function.sync = engine_do_nothing, .writes = vars + shift, .write_count = count}};
    return mxn_bulk_template_make(works, 2, made);
}

static void variables_are_limited_all_together(void **state)
{
    enum { COUNT = 40000, SHIFT = 30000 };
    (void)state;
    static mxn_var *vars[COUNT + SHIFT];
    for (int i = 0; i < COUNT + SHIFT; i++) {
        vars[i] = mxn_var_new();
    }
    mxn_bulk_template *made;
    assert_int_equal(make_wide(vars, COUNT, SHIFT, &made), MXP_EINVAL);
    assert_int_equal(make_wide(vars, COUNT, 10, &made), 0);  // the lists together are longer
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    for (int i = 0; i < COUNT + SHIFT; i++) {
        assert_int_equal(mxn_var_version(vars[i]), i >= 10 && i < COUNT + 10);
    }
    mxn_bulk_template_free(made);
    for (int i = 0; i < COUNT + SHIFT; i++) {
        mxn_var_delete(vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

static void without_memory_nothing_is_queued(void **state)
{
    (void)state;
    mxn_bulk_template *made = NULL;
    const mxn_work work = {.function.sync = engine_add_one, .argument = &ended, .deleter = end_one};
    for (size_t i = 0; i < 2; i++) {
        fake_alloc_fail_after(i);
        const int code = mxn_bulk_template_make(&work, 1, &made);
        fake_alloc_fail_never();
        assert_int_equal(code, MXP_ENOMEM);
        assert_null(made);
        assert_int_equal(ended_now(), i + 1);
    }
    uint32_t contexts = 0;
    made = make_one(work, NULL, NULL);
    fake_alloc_fail_after(0);
    const int code = mxn_bulk_template_push(made, NULL, &contexts, end_one);
    fake_alloc_fail_never();
    assert_int_equal(code, MXP_ENOMEM);
    assert_int_equal(contexts, 1);
    mxn_bulk_template_free(made);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ended_now(), 3);  // it did not run
}

// ---- the engine's life ------------------------------------------------------------------------

static void naive_engine_runs_members_inside_the_push(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    const mxn_work add = {
        .function.sync = engine_add_one, .argument = &ran, .writes = &var, .write_count = 1};
    mxn_work works[] = {add, add, add};
    mxn_bulk_template *made, *failing;
    assert_int_equal(mxn_bulk_template_make(works, 3, &made), 0);
    works[1].function.sync = engine_fail;
    works[1].argument = "inside";
    assert_int_equal(mxn_bulk_template_make(works, 3, &failing), 0);
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    assert_int_equal(mxn_bulk_template_push(made, NULL, &ended, end_one), 0);
    assert_int_equal(ran, 3);
    assert_int_equal(ended_now(), 1);
    assert_int_equal(mxn_bulk_template_push(failing, NULL, &ended, end_one), MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "inside");
    assert_int_equal(ran, 4);
    assert_int_equal(ended_now(), 2);
    mxn_engine_counts_get(&after);
    assert_true(after.bulks == before.bulks);
    assert_int_equal(after.executed - before.executed, 5);
    engine_use(NULL);  // what one kind of engine made the other one takes
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ran, 7);
    mxn_bulk_template_free(made);
    mxn_bulk_template_free(failing);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void after_a_shutdown_members_complete_without_running(void **state)
{
    (void)state;
    uint32_t ran = 0;
    mxn_work work = {.function.sync = engine_add_one, .argument = &ran};
    mxn_bulk_template *made = make_one(work, NULL, NULL);
    assert_int_equal(mxn_bulk_template_push(made, NULL, &ended, end_one), 0);
    assert_int_equal(mxn_engine_shutdown(), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, &ended, end_one), 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 1);
    assert_int_equal(ended_now(), 2);
    assert_int_equal(mxn_engine_stop(), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 2);
    mxn_bulk_template_free(made);
}

// In the child cmocka must not speak: it answers by its exit code.
static int child_pushes(mxn_bulk_template *made, const uint32_t *ran)
{
    const uint32_t before = *ran;
    bool pushed = true;
    for (int i = 0; i < 100; i++) {
        pushed = pushed && mxn_bulk_template_push(made, NULL, NULL, NULL) == 0;
    }
    const bool waited = mxn_wait_all() == 0;
    mxn_bulk_template_free(made);
    return pushed && waited && *ran == before + 100 ? 0 : 1;
}

static void parent_and_child_push_after_a_fork(void **state)
{
    (void)state;
    uint32_t ran = 0;
    mxn_var *var = mxn_var_new();
    mxn_bulk_template *made =
        make_one((mxn_work){.function.sync = engine_add_one, .argument = &ran}, NULL, var);
    for (uint32_t round = 1; round <= 3; round++) {
        assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
        const pid_t child = fork();
        if (child == 0) {
            _exit(ENGINE_THREADS_IN_CHILD ? child_pushes(made, &ran) : 0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(ran, round);  // the fork waited
    }
    mxn_bulk_template_free(made);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

#define LIFE_TEST(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        LIFE_TEST(freed_while_a_push_runs_it_ends_after_it),
        LIFE_TEST(freed_at_rest_it_ends_at_once),
        LIFE_TEST(the_context_of_a_push_ends_with_it),
        LIFE_TEST(a_deletion_waits_for_the_template_and_pushes_are_refused),
        LIFE_TEST(a_thread_may_end_before_its_push),
        LIFE_TEST(what_no_bulk_takes_is_refused),
        LIFE_TEST(variables_are_limited_all_together),
        LIFE_TEST(without_memory_nothing_is_queued),
        LIFE_TEST(naive_engine_runs_members_inside_the_push),
        LIFE_TEST(after_a_shutdown_members_complete_without_running),
        LIFE_TEST(parent_and_child_push_after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
