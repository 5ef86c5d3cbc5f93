// SPDX-License-Identifier: Apache-2.0
// Operations that only hand over: inside the push where they are ready, else inside the completion
// that releases them, and never on a worker. Order, errors, shutdown and stack are those of others.
#include <pthread.h>

#include <mxprof/error.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"

// What was handed over, and by which thread.
typedef struct handed {
    mxn_completion *completion;  // stored last
    uint32_t thread;
    const uint32_t *watched;  // null, or what `seen` was when it ran
    uint32_t seen;
} handed;

static void take(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    handed *at = argument;
    at->thread = mxp__os_thread_id();
    at->seen = at->watched == NULL ? 0 : __atomic_load_n(at->watched, __ATOMIC_RELAXED);
    __atomic_store_n(&at->completion, completion, __ATOMIC_RELEASE);
}

static void push_handing(void (*function)(const mxn_run *, void *, mxn_completion *),
                         void *argument, mxn_var *read, mxn_var *write)
{
    const mxn_work work = {.function.async = function,
                           .form = MXN_ASYNC_FUNCTION,
                           .argument = argument,
                           .flags = MXN_WORK_HANDS_OVER};
    assert_int_equal(engine_push_work(work, read, write), 0);
}

static mxn_completion *completion_of(handed *at)
{
    return __atomic_load_n(&at->completion, __ATOMIC_ACQUIRE);
}

static void await(handed *at)
{
    while (completion_of(at) == NULL) {
        mxp__os_yield();
    }
}

// A thread that is no worker, as that of a store's communication.
static void *complete_it(void *completion)
{
    mxn_complete(completion, 0);
    return (void *)(uintptr_t)mxp__os_thread_id();
}

static uint32_t complete_elsewhere(handed *at)
{
    pthread_t thread;
    void *id;
    assert_int_equal(pthread_create(&thread, NULL, complete_it, at->completion), 0);
    pthread_join(thread, &id);
    return (uint32_t)(uintptr_t)id;
}

// ---- where it runs ------------------------------------------------------------------------------

static void what_is_ready_runs_inside_its_push(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    handed first = {0};
    push_handing(take, &first, NULL, var);
    assert_non_null(first.completion);
    assert_int_equal(first.thread, mxp__os_thread_id());
    mxn_complete(first.completion, 0);
    assert_int_equal(mxn_var_wait(var), 0);
    mxn_var_delete(var, NULL, NULL, 0);
}

static void what_waits_runs_inside_the_completion_that_releases_it(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    handed push = {0}, pulls[2] = {{0}}, next = {0};
    push_handing(take, &push, NULL, var);
    push_handing(take, &pulls[0], var, NULL);
    push_handing(take, &pulls[1], var, NULL);
    push_handing(take, &next, NULL, var);
    assert_null(completion_of(&pulls[0]));
    const uint32_t thread = complete_elsewhere(&push);
    for (int i = 0; i < 2; i++) {  // reads together, on the thread that completed
        assert_non_null(pulls[i].completion);
        assert_int_equal(pulls[i].thread, thread);
    }
    assert_null(next.completion);
    complete_elsewhere(&pulls[1]);
    assert_null(next.completion);
    const uint32_t last = complete_elsewhere(&pulls[0]);
    assert_non_null(next.completion);
    assert_int_equal(next.thread, last);
    mxn_complete(next.completion, 0);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// Two variables: the second one is what it still waits for when the first is free.
static void it_waits_for_all_of_its_variables(void **state)
{
    (void)state;
    mxn_var *read = mxn_var_new(), *written = mxn_var_new();
    engine_gate gate = {0};
    uint32_t ran = 0;
    engine_gate_push(&gate, read);
    engine_push(engine_add_one, &ran, NULL, read);
    handed own = {0}, both = {.watched = &ran};
    push_handing(take, &own, NULL, written);
    push_handing(take, &both, read, written);
    engine_gate_open(&gate);
    assert_int_equal(mxn_var_wait(read), 0);
    assert_null(completion_of(&both));
    mxn_complete(own.completion, 0);
    await(&both);
    assert_int_equal(both.seen, 1);
    mxn_complete(both.completion, 0);
    mxn_var_delete(read, NULL, NULL, 0);
    mxn_var_delete(written, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// What a worker computes is handed over by the worker.
static void a_worker_hands_over_what_it_has_computed(void **state)
{
    (void)state;
    mxn_var *value = mxn_var_new();
    engine_gate gate = {0};
    engine_gate_push(&gate, value);
    handed sent = {0};
    push_handing(take, &sent, value, NULL);
    assert_null(completion_of(&sent));
    engine_gate_open(&gate);
    await(&sent);
    assert_int_not_equal(sent.thread, mxp__os_thread_id());
    mxn_complete(sent.completion, 0);
    mxn_var_delete(value, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// ---- how it ends --------------------------------------------------------------------------------

static void refuse(const mxn_run *run, void *text, mxn_completion *completion)
{
    (void)run;
    mxn_complete(completion, mxp__fail(MXP_EIO, "%s", (const char *)text));
}

static void succeed(const mxn_run *run, void *count, mxn_completion *completion)
{
    (void)run;
    ++*(uint32_t *)count;  // one after another
    mxn_complete(completion, 0);
}

static void an_error_is_that_of_what_it_writes(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new(), *other = mxn_var_new();
    uint32_t ran = 0;
    handed push = {0};
    push_handing(take, &push, NULL, var);
    push_handing(succeed, &ran, var, other);  // skipped
    (void)mxp__fail(MXP_EIO, "the peer is gone");
    mxn_complete(push.completion, MXP_EIO);
    assert_int_equal(mxn_var_wait(other), MXP_EIO);
    assert_string_equal(mxp_last_error(), "the peer is gone");
    assert_int_equal(ran, 0);
    push_handing(refuse, "refused", NULL, var);
    assert_int_equal(mxn_var_wait(var), MXP_EIO);
    assert_string_equal(mxp_last_error(), "refused");
    push_handing(succeed, &ran, NULL, var);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 1);
    mxn_var_delete(var, NULL, NULL, 0);
    mxn_var_delete(other, NULL, NULL, 0);
}

// Each completes at once and releases the next: as deep as they are long they would end the stack.
static void a_long_chain_needs_no_stack(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    mxn_var *var = mxn_var_new();
    handed first = {0};
    uint32_t ran = 0;
    push_handing(take, &first, NULL, var);
    for (int i = 0; i < LONG; i++) {
        push_handing(succeed, &ran, NULL, var);
    }
    assert_int_equal(ran, 0);
    complete_elsewhere(&first);
    assert_int_equal(ran, LONG);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void without_an_engine_they_complete_without_running(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    handed first = {0};
    uint32_t ran = 0;
    push_handing(take, &first, NULL, var);
    push_handing(succeed, &ran, NULL, var);
    mxn_engine_drop_pending();
    mxn_complete(first.completion, 0);
    push_handing(succeed, &ran, NULL, var);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 0);
    engine_use(NULL);
    push_handing(succeed, &ran, NULL, var);
    assert_int_equal(ran, 1);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

// Ends when everything that was handed over is complete; and where processes crowd the cores.
static void stopping_waits_for_them(void **state)
{
    (void)state;
    mxn_var *var = mxn_var_new();
    handed first = {0}, second = {0};
    push_handing(take, &first, NULL, var);
    push_handing(take, &second, NULL, var);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, complete_it, first.completion), 0);
    await(&second);
    pthread_join(thread, NULL);
    mxn_engine_share_cores();
    assert_int_equal(pthread_create(&thread, NULL, complete_it, second.completion), 0);
    assert_int_equal(mxn_engine_stop(), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

static void naive_engine_waits_for_each(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    push_handing(succeed, &ran, NULL, var);
    push_handing(succeed, &ran, var, NULL);
    assert_int_equal(ran, 2);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
    engine_use(NULL);
}

// ---- many of them -------------------------------------------------------------------------------

enum { THREADS = 3, PUSHES = 20000 };

typedef struct load {
    mxn_var *vars[2];
    uint32_t counts[2];  // of writes, each under its variable
} load;

static void *push_many(void *argument)
{
    load *of = argument;
    for (uint32_t i = 0; i < PUSHES; i++) {
        const uint32_t at = i % 2;
        push_handing(succeed, &of->counts[at], i % 3 == 0 ? of->vars[1 - at] : NULL, of->vars[at]);
        engine_push(engine_add_one, &of->counts[at], NULL, of->vars[at]);
    }
    return NULL;
}

static void beside_workers_each_runs_once_and_alone(void **state)
{
    (void)state;
    load of = {.vars = {mxn_var_new(), mxn_var_new()}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, push_many, &of), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(mxn_wait_all(), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(of.counts[i], THREADS * PUSHES);
        mxn_var_delete(of.vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_ready_runs_inside_its_push),
        cmocka_unit_test(what_waits_runs_inside_the_completion_that_releases_it),
        cmocka_unit_test(it_waits_for_all_of_its_variables),
        cmocka_unit_test(a_worker_hands_over_what_it_has_computed),
        cmocka_unit_test(an_error_is_that_of_what_it_writes),
        cmocka_unit_test(a_long_chain_needs_no_stack),
        cmocka_unit_test(without_an_engine_they_complete_without_running),
        cmocka_unit_test(stopping_waits_for_them),
        cmocka_unit_test(naive_engine_waits_for_each),
        cmocka_unit_test(beside_workers_each_runs_once_and_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
