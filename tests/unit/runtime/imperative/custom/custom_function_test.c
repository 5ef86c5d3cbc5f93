// SPDX-License-Identifier: Apache-2.0
// Gradients of what the program has computed itself, with both engines.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/engine/engine.h"

static int backwards, deletes;  // calls; atomic
static int result;  // of the next backward

static NDArrayHandle make(float value)
{
    const int64_t shape[] = {2};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 1, 1, 0, 0, 0, &array), 0);
    const float values[] = {value, value + 1};
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 2), 0);
    return array;
}

static void assert_values(NDArrayHandle array, float first, float second)
{
    float values[2];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 2), 0);
    assert_true(values[0] == first && values[1] == second);
}

static int scale(NDArrayHandle in, NDArrayHandle out, const char *factor)
{
    OpHandle op = NULL;
    NDArrayHandle *list = &out;
    int count = 1;
    const char *key = "scalar";
    return NNGetOpHandle("_mul_scalar", &op) != 0
               ? -1
               : MXImperativeInvoke(op, 1, &in, &count, &list, 1, &key, &factor, NULL);
}

// The function is y = 3 a + 5 b.
static int backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                    const int is_train, void *state)
{
    (void)is_train;
    __atomic_fetch_add(&backwards, 1, __ATOMIC_RELAXED);
    bool recording = true;
    bool good = num_ograds == 1 && num_igrads == 2 && *(int *)state == 42 &&
                MXAutogradIsRecording(&recording) == 0 && !recording;
    good = good && (reqs[0] == 0 || scale(ptrs[0], ptrs[1], "3") == 0);
    good = good && (reqs[1] == 0 || scale(ptrs[0], ptrs[2], "5") == 0);
    for (int i = 0; i < num_ograds + num_igrads; i++) {
        MXNDArrayFree(ptrs[i]);
    }
    return good ? result : 0;
}

static int delete_function(void *state)
{
    (void)state;
    __atomic_fetch_add(&deletes, 1, __ATOMIC_RELEASE);
    return 1;
}

typedef int (*any_function)(void);

static int record(NDArrayHandle a, NDArrayHandle b, NDArrayHandle y)
{
    static int state = 42;
    any_function functions[] = {(any_function)(void (*)(void))backward,
                                (any_function)(void (*)(void))delete_function};
    void *contexts[] = {&state, &state};
    struct MXCallbackList callbacks = {2, functions, contexts};
    NDArrayHandle inputs[] = {a, b};
    return MXCustomFunctionRecord(2, inputs, 1, &y, &callbacks);
}

static int reset(void **state)
{
    (void)state;
    backwards = deletes = 0;
    result = 1;
    return 0;
}

typedef struct program {
    NDArrayHandle a, b, a_gradient, b_gradient, y;
} program;

// It may come after the operation has ended.
static void assert_deleted_once(void)
{
    for (int i = 0; i < 5000 && __atomic_load_n(&deletes, __ATOMIC_ACQUIRE) == 0; i++) {
        usleep(1000);
    }
    assert_int_equal(__atomic_load_n(&deletes, __ATOMIC_ACQUIRE), 1);
}

static program run_program(bool mark_b)
{
    program p = {make(1), make(2), make(0), make(0), make(100)};
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &p.a, &write, &p.a_gradient), 0);
    if (mark_b) {
        assert_int_equal(MXAutogradMarkVariables(1, &p.b, &write, &p.b_gradient), 0);
    }
    MXAutogradSetIsRecording(1, &before);
    assert_int_equal(record(p.a, p.b, p.y), 0);
    MXAutogradSetIsRecording(0, &before);
    return p;
}

static void free_program(const program *p)
{
    NDArrayHandle all[] = {p->a, p->b, p->a_gradient, p->b_gradient, p->y};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        MXNDArrayFree(all[i]);
    }
    MXNDArrayWaitAll();
}

static void gradients_come_from_the_program(void **state)
{
    (void)state;
    program p = run_program(true);
    NDArrayHandle head = make(7);
    assert_int_equal(MXAutogradBackward(1, &p.y, &head, 0), 0);
    assert_values(p.a_gradient, 21, 24);
    assert_values(p.b_gradient, 35, 40);
    MXNDArrayFree(head);
    free_program(&p);
    assert_int_equal(backwards, 1);
    assert_deleted_once();
}

static void unwanted_gradients_are_not_asked_for(void **state)
{
    (void)state;
    program p = run_program(false);
    assert_int_equal(MXAutogradBackward(1, &p.y, NULL, 0), 0);
    assert_values(p.a_gradient, 3, 3);
    assert_values(p.b_gradient, 0, 1);
    free_program(&p);
    assert_deleted_once();
}

static void nothing_is_recorded_without_recording(void **state)
{
    (void)state;
    NDArrayHandle a = make(1), y = make(2);
    assert_int_equal(record(a, a, y), 0);
    assert_deleted_once();
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), -1);
    MXNDArrayFree(a);
    MXNDArrayFree(y);
}

static void failures_reach_the_waiter(void **state)
{
    (void)state;
    program p = run_program(true);
    result = 0;
    int status = MXAutogradBackward(1, &p.y, NULL, 0);
    status = status == 0 ? MXNDArrayWaitToRead(p.a_gradient) : status;
    assert_int_equal(status, -1);
    assert_non_null(strstr(MXGetLastError(), "Function.backward has failed"));
    MXNDArrayWaitAll();
    free_program(&p);
    assert_deleted_once();
}

static void wrong_arguments_are_told(void **state)
{
    (void)state;
    NDArrayHandle a = make(1);
    struct MXCallbackList none = {0, NULL, NULL};
    assert_int_equal(MXCustomFunctionRecord(1, &a, 1, &a, NULL), -1);
    assert_int_equal(MXCustomFunctionRecord(1, &a, 1, &a, &none), -1);
    assert_int_equal(MXCustomFunctionRecord(-1, &a, 1, &a, &none), -1);
    MXNDArrayFree(a);
    assert_int_equal(record(a, a, a), -1);
    assert_non_null(strstr(MXGetLastError(), "freed"));
    assert_int_equal(deletes, 0);
}

static void names_are_recorded(void **state)
{
    live_events_start(state);
    program p = run_program(true);
    assert_int_equal(MXAutogradBackward(1, &p.y, NULL, 0), 0);
    assert_values(p.a_gradient, 3, 3);
    free_program(&p);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "_backward_CustomFunction"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "_mul_scalar"), 2);
    live_events_free(&live);
    live_events_stop(state);
    assert_deleted_once();
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, reset)
    const struct CMUnitTest tests[] = {
        TEST(gradients_come_from_the_program),
        TEST(unwanted_gradients_are_not_asked_for),
        TEST(nothing_is_recorded_without_recording),
        TEST(failures_reach_the_waiter),
        TEST(wrong_arguments_are_told),
        TEST(names_are_recorded),
    };
    int failed = cmocka_run_group_tests_name("threaded", tests, NULL, NULL);
    setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
    mxn_engine_stop();
    return failed + cmocka_run_group_tests_name("naive", tests, NULL, NULL);
}
