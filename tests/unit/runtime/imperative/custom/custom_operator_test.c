// SPDX-License-Identifier: Apache-2.0
// Operators whose functions are the program's: values and gradients, failures, many threads, what
// is recorded; all of it with both engines.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <nnvm/c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "add_one.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/engine/engine.h"

static NDArrayHandle make(float first)
{
    const int64_t shape[] = {2, 2};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 2, 1, 0, 0, 0, &array), 0);
    const float values[] = {first, first + 1, first + 2, first + 3};
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 4), 0);
    return array;
}

static void assert_values(NDArrayHandle array, float first, float step)
{
    float values[4];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 4), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(values[i] == first + (float)i * step);
    }
}

static void assert_error(int status, const char *part)
{
    assert_int_equal(status, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
    }
}

static bool is_naive(void)
{
    return mxn_engine_is_naive();
}

// Invokes and waits; the status of whichever failed.
static int compute(int mode, float first, NDArrayHandle *out)
{
    NDArrayHandle in = make(first);
    *out = NULL;
    int status = add_one_invoke(mode, in, NULL, out);
    if (status == 0) {
        status = MXNDArrayWaitToRead(*out);
    }
    MXNDArrayFree(in);
    return status;
}

static int zero_counts(void **state)
{
    (void)state;
    add_one_properties = add_one_property_deletes = add_one_operators = 0;
    add_one_operator_deletes = add_one_forwards = add_one_backwards = 0;
    return 0;
}

static int read_count(const int *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

// Everything that was made is gone, once.
static int check_deletes(void **state)
{
    (void)state;
    MXNDArrayWaitAll();
    // Deletes may come after the operation has ended.
    for (int i = 0; i < 5000 && read_count(&add_one_property_deletes) < add_one_properties; i++) {
        usleep(1000);
    }
    assert_int_equal(read_count(&add_one_property_deletes), add_one_properties);
    assert_int_equal(read_count(&add_one_operator_deletes), add_one_operators);
    return 0;
}

// ---- values -----------------------------------------------------------------------------------
static void modes_that_compute(void **state)
{
    (void)state;
    const int modes[] = {ADD_ONE_PLAIN, ADD_ONE_WAITS, ADD_ONE_NESTS};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        NDArrayHandle out = NULL;
        assert_int_equal(compute(modes[i], 10, &out), 0);
        assert_values(out, 11, 1);
        MXNDArrayFree(out);
    }
    assert_int_equal(add_one_forwards, 4);  // the nested one too
}

// One property for all runs of a prepared call, one operator for each.
static void prepared_calls_keep_their_property(void **state)
{
    (void)state;
    const char *key = "op_type", *value = "MyAddOne";
    OpHandle op = NULL;
    MXPreparedHandle prepared = NULL;
    NDArrayHandle in = make(5);
    assert_int_equal(NNGetOpHandle("Custom", &op), 0);
    assert_int_equal(MXPreparedCreate(op, 1, 1, &key, &value, &prepared), 0);
    for (int i = 0; i < 3; i++) {
        NDArrayHandle *outputs = NULL;
        int count = 0;
        assert_int_equal(MXPreparedInvoke(prepared, &in, &count, &outputs), 0);
        NDArrayHandle out = outputs[0];
        assert_values(out, 6, 1);
        MXNDArrayFree(out);
    }
    assert_int_equal(MXPreparedFree(prepared), 0);
    MXNDArrayFree(in);
    assert_int_equal(add_one_properties, 1);
    assert_int_equal(add_one_operators, 3);
}

static void states_are_written(void **state)
{
    (void)state;
    const int64_t shape[] = {1};
    const float zero = 0;
    NDArrayHandle in = make(0), forwards = NULL, out = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 1, 1, 0, 0, 0, &forwards), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(forwards, &zero, 1), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(add_one_invoke(ADD_ONE_PLAIN, in, forwards, &out), 0);
    }
    float value = 0;
    assert_int_equal(MXNDArraySyncCopyToCPU(forwards, &value, 1), 0);
    assert_true(value == 3);
    assert_values(out, 1, 1);
    MXNDArrayFree(in);
    MXNDArrayFree(out);
    MXNDArrayFree(forwards);
}

// y = Custom(x) + Custom(x), so that gradients are summed; request `add` on top.
static void gradients_flow(void **state)
{
    (void)state;
    NDArrayHandle x = make(1), gradient = make(100), a = NULL, b = NULL, y = NULL;
    mx_uint add = 3;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &add, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    MXAutogradSetIsTraining(1, &before);
    assert_int_equal(add_one_invoke(ADD_ONE_WAITS, x, NULL, &a), 0);
    assert_int_equal(add_one_invoke(ADD_ONE_PLAIN, a, NULL, &b), 0);
    OpHandle op = NULL;
    assert_int_equal(NNGetOpHandle("elemwise_add", &op), 0);
    NDArrayHandle pair[] = {a, b}, *list = NULL;
    int outputs = 0;
    assert_int_equal(MXImperativeInvoke(op, 2, pair, &outputs, &list, 0, NULL, NULL, NULL), 0);
    y = list[0];
    MXAutogradSetIsRecording(0, &before);
    MXAutogradSetIsTraining(0, &before);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_values(gradient, 102, 1);
    assert_int_equal(MXNDArrayWaitToRead(y), 0);  // a gradient does not wait for forward
    assert_int_equal(add_one_backwards, 2);
    assert_int_equal(add_one_trained, 1);
    NDArrayHandle all[] = {x, gradient, a, b, y};
    for (size_t i = 0; i < 5; i++) {
        MXNDArrayFree(all[i]);
    }
}

// ---- failures ---------------------------------------------------------------------------------
static void failures_reach_the_waiter(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    assert_error(compute(ADD_ONE_FAILS, 1, &out), "Custom operator MyAddOne has failed");
    MXNDArrayFree(out);
    if (!is_naive()) {
        assert_error(compute(ADD_ONE_CALL_FAILS, 1, &out), "'many'");
        MXNDArrayFree(out);
    }
    assert_int_equal(compute(ADD_ONE_PLAIN, 1, &out), 0);  // the engine continues
    assert_values(out, 2, 1);
    MXNDArrayFree(out);
}

static void failing_pushes_are_its_failure(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    assert_error(compute(ADD_ONE_PUSH_FAILS, 1, &out), "Custom operator MyAddOne has failed");
    MXNDArrayFree(out);
    assert_int_equal(MXNDArrayWaitAll(), 0);  // delivered once
}

static void waiting_for_all_is_refused(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    if (is_naive()) {
        return;  // nothing is pending there
    }
    assert_int_equal(compute(ADD_ONE_WAITS_FOR_ALL, 1, &out), 0);
    MXNDArrayFree(out);
}

static void waiting_for_itself_is_refused(void **state)
{
    (void)state;
    NDArrayHandle in = make(1);
    add_one_output = make(0);
    assert_int_equal(add_one_invoke(ADD_ONE_WAITS_FOR_ITSELF, in, NULL, &add_one_output), 0);
    assert_values(add_one_output, 2, 1);
    MXNDArrayFree(in);
    MXNDArrayFree(add_one_output);
}

static void backward_fails(void **state)
{
    (void)state;
    NDArrayHandle x = make(1), gradient = make(0), y = NULL;
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    assert_int_equal(add_one_invoke(ADD_ONE_BACKWARD_FAILS, x, NULL, &y), 0);
    MXAutogradSetIsRecording(0, &before);
    int status = MXAutogradBackward(1, &y, NULL, 0);
    status = status == 0 ? MXNDArrayWaitToRead(gradient) : status;
    assert_error(status, "Custom operator _backward_MyAddOne has failed");
    MXNDArrayFree(x);
    MXNDArrayFree(gradient);
    MXNDArrayFree(y);
}

static void wrong_calls_are_told(void **state)
{
    (void)state;
    OpHandle op = NULL;
    NDArrayHandle in = make(0), two[] = {in, in}, *list = NULL;
    int outputs = 0;
    const char *key = "op_type", *value = "MyAddOn";
    assert_int_equal(NNGetOpHandle("Custom", &op), 0);
    assert_error(MXImperativeInvoke(op, 1, &in, &outputs, &list, 1, &key, &value, NULL),
                 "Cannot find custom operator MyAddOn, did you mean 'MyAddOne'");
    assert_error(MXImperativeInvoke(op, 1, &in, &outputs, &list, 0, NULL, NULL, NULL),
                 "Required argument `op_type` is missing");
    value = "MyAddOne";
    assert_error(MXImperativeInvoke(op, 2, two, &outputs, &list, 1, &key, &value, NULL),
                 "Operator Custom expects 1 inputs, but got 2 instead");
    assert_int_equal(NNGetOpHandle("_backward_Custom", &op), 0);
    assert_error(MXImperativeInvoke(op, 1, &in, &outputs, &list, 0, NULL, NULL, NULL),
                 "_backward_Custom");
    assert_error(MXCustomOpRegister(NULL, NULL), "op_type");
    MXNDArrayFree(in);
}

// ---- many at once -----------------------------------------------------------------------------
enum { THREADS = 8, ROUNDS = 25 };

static void *compute_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        NDArrayHandle in = make((float)i), out = NULL, next = NULL;
        float value = 0;
        if (add_one_invoke(i % 3 == 0 ? ADD_ONE_NESTS : ADD_ONE_WAITS, in, NULL, &out) != 0 ||
            add_one_invoke(ADD_ONE_WAITS, out, NULL, &next) != 0) {
            return "a call failed";
        }
        float values[4];
        if (MXNDArraySyncCopyToCPU(next, values, 4) != 0) {
            return "a wait failed";
        }
        value = values[0];
        MXNDArrayFree(in);
        MXNDArrayFree(out);
        MXNDArrayFree(next);
        if (value != (float)(i + 2)) {
            return "a value is wrong";
        }
    }
    return NULL;
}

static void threads_do_not_wait_for_each_other(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compute_many, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *complaint = NULL;
        pthread_join(threads[i], &complaint);
        if (complaint != NULL) {
            fail_msg("%s: %s", (const char *)complaint, MXGetLastError());
        }
    }
}

static void children_have_threads_of_their_own(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();  // it cannot follow threads started behind a fork
#endif
    NDArrayHandle out = NULL;
    assert_int_equal(compute(ADD_ONE_PLAIN, 1, &out), 0);
    MXNDArrayFree(out);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(compute(ADD_ONE_WAITS, 1, &out) == 0 ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(compute(ADD_ONE_WAITS, 1, &out), 0);
    MXNDArrayFree(out);
}

// ---- records ----------------------------------------------------------------------------------
static const char *category_of(const live_events *live, const mxp_event *event)
{
    uint32_t category = live->source->name(live->source, event->name).category;
    return live->source->name(live->source, category).text;
}

static const mxp_event *get(const live_events *live, int kind, const char *name)
{
    const mxp_event *event = live_events_find(live, kind, name, 0);
    if (event == NULL) {
        fail_msg("nothing of name %s was recorded", name);
    }
    assert_string_equal(category_of(live, event), "Custom Operator");
    return event;
}

static void names_and_nesting_are_recorded(void **state)
{
    live_events_start(state);
    NDArrayHandle x = make(1), gradient = make(0), y = NULL;
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    assert_int_equal(add_one_invoke(ADD_ONE_PLAIN, x, NULL, &y), 0);
    MXAutogradSetIsRecording(0, &before);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_values(gradient, 1, 0);
    MXNDArrayFree(x);
    MXNDArrayFree(gradient);
    MXNDArrayFree(y);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *span = get(&live, MXP_KIND_SPAN, "MyAddOne::pure_python");
    get(&live, MXP_KIND_SPAN, "_backward_MyAddOne::pure_python");
    get(&live, MXP_KIND_OPERATOR, "MyAddOne::_plus_scalar");
    get(&live, MXP_KIND_OPERATOR, "MyAddOne::CopyCPU2CPU");
    get(&live, MXP_KIND_OPERATOR, "_backward_MyAddOne::CopyCPU2CPU");
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "Custom"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "_backward_Custom"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "CustomOperatorWait"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "MyAddOne::CustomOperatorWait"),
                     0);
    // The calls it makes lie within it, on its thread.
    size_t inside = 0;
    for (size_t i = 0; i < live.count; i++) {
        const mxp_event *event = &live.events[i];
        inside += event->kind == MXP_KIND_SPAN && event->thread == span->thread &&
                  event->begin_ticks > span->begin_ticks && event->end_ticks < span->end_ticks;
    }
    assert_int_equal(inside, 5);  // two operators, three handles freed
    live_events_free(&live);
    live_events_stop(state);
}

// The end of a span and of the names, also when the function fails.
static void failures_close_what_they_opened(void **state)
{
    live_events_start(state);
    NDArrayHandle out = NULL, other = make(1);
    assert_int_equal(compute(ADD_ONE_FAILS, 1, &out), -1);
    MXNDArrayFree(out);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(compute(ADD_ONE_PLAIN, 1, &out), 0);
        MXNDArrayFree(out);
    }
    MXNDArrayFree(other);
    MXNDArrayWaitAll();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "MyAddOne::pure_python"), 5);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "MyAddOne::_plus_scalar"), 4);
    live_events_free(&live);
    live_events_stop(state);
}

// ---- what released whom -----------------------------------------------------------------------
static void run_custom_program(void)
{
    NDArrayHandle x = make(1), gradient = make(0), y = NULL, out = NULL;
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    assert_int_equal(add_one_invoke(ADD_ONE_PLAIN, x, NULL, &y), 0);
    MXAutogradSetIsRecording(0, &before);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_int_equal(compute(ADD_ONE_WAITS, 2, &out), 0);
    MXNDArrayFree(out);
    assert_int_equal(compute(ADD_ONE_NESTS, 3, &out), 0);
    MXNDArrayFree(out);
    assert_values(gradient, 1, 0);
    MXNDArrayFree(x);
    MXNDArrayFree(gradient);
    MXNDArrayFree(y);
}

static bool has_operator(const live_events *live, uint32_t id)
{
    for (size_t i = 0; i < live->count; i++) {
        mxp_operator_view view;
        if (mxp__event_is_operator(&live->events[i])) {
            mxp__event_operator(&live->events[i], &view);
            if (view.id == id) {
                return true;
            }
        }
    }
    return false;
}

// Whether the thread got a task that had begun to run when `op` was pushed.
static bool has_task_before(const live_events *live, const mxp_operator_view *op)
{
    for (size_t i = 0; i < live->count; i++) {
        mxp_wait_view view;
        const mxp_event *event = &live->events[i];
        if (event->kind == MXP_KIND_WAIT && event->thread == op->push_thread) {
            mxp__event_wait(event, &view);
            if (view.what == MXP_WAIT_TASK && event->end_ticks <= op->push_ticks) {
                return true;
            }
        }
    }
    return false;
}

// Of those pushed elsewhere than on this thread or inside of another operation: how many.
static size_t check_edges(const live_events *live)
{
    size_t pushed_by_custom = 0;
    for (size_t i = 0; i < live->count; i++) {
        mxp_operator_view op;
        const mxp_event *event = &live->events[i];
        if (!mxp__event_is_operator(event)) {
            continue;
        }
        mxp__event_operator(event, &op);
        assert_true(op.released_by == 0 || has_operator(live, op.released_by));
        const char *thread =
            live->source->name(live->source, live->source->threads[op.push_thread].name).text;
        if (strcmp(thread, "custom operators") == 0) {
            assert_true(has_task_before(live, &op));
            pushed_by_custom++;
        }
    }
    return pushed_by_custom;
}

static size_t check_waits(const live_events *live)
{
    size_t tasks = 0;
    for (size_t i = 0; i < live->count; i++) {
        mxp_wait_view wait;
        const mxp_event *event = &live->events[i];
        if (event->kind != MXP_KIND_WAIT) {
            continue;
        }
        mxp__event_wait(event, &wait);
        const bool named = wait.what != MXP_WAIT_ALL && (event->flags & MXP_WAIT_BLOCKED) != 0;
        if ((named && !is_naive()) || wait.what == MXP_WAIT_TASK) {
            assert_true(wait.ended_by != 0 && has_operator(live, wait.ended_by));
        }
        tasks += wait.what == MXP_WAIT_TASK;
    }
    return tasks;
}

static void everything_that_releases_has_a_record(void **state)
{
    enum { REPEATS = 20, CALLS = 5 };  // of the function, in each
    live_events_start(state);
    for (int i = 0; i < REPEATS; i++) {
        run_custom_program();
    }
    MXNDArrayWaitAll();
    check_deletes(state);
    MXNDArrayWaitAll();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const size_t pushed_by_custom = check_edges(&live), tasks = check_waits(&live);
    const size_t custom = live_events_count(&live, MXP_KIND_HIDDEN, "Custom"),
                 backward = live_events_count(&live, MXP_KIND_HIDDEN, "_backward_Custom"),
                 waits = live_events_count(&live, MXP_KIND_HIDDEN, "CustomOperatorWait");
    assert_int_equal(custom + backward, REPEATS * CALLS);
    assert_int_equal(backward, REPEATS);
    assert_int_equal(waits, custom + backward);
    // Each function came as a task, and what was freed came too.
    assert_true(is_naive() ? tasks == 0 : tasks == 2 * (custom + backward));
    assert_true(is_naive() || pushed_by_custom >= custom + backward);
    live_events_free(&live);
    live_events_stop(state);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, zero_counts, check_deletes)
    const struct CMUnitTest tests[] = {
        TEST(modes_that_compute),
        TEST(prepared_calls_keep_their_property),
        TEST(states_are_written),
        TEST(gradients_flow),
        TEST(failures_reach_the_waiter),
        TEST(failing_pushes_are_its_failure),
        TEST(waiting_for_all_is_refused),
        TEST(waiting_for_itself_is_refused),
        TEST(backward_fails),
        TEST(wrong_calls_are_told),
        TEST(threads_do_not_wait_for_each_other),
        TEST(children_have_threads_of_their_own),
        TEST(names_and_nesting_are_recorded),
        TEST(failures_close_what_they_opened),
        TEST(everything_that_releases_has_a_record),
    };
    add_one_register();
    alarm(100);  // nothing hangs
    int failed = cmocka_run_group_tests_name("threaded", tests, NULL, NULL);
    setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
    mxn_engine_stop();
    return failed + cmocka_run_group_tests_name("naive", tests, NULL, NULL);
}
