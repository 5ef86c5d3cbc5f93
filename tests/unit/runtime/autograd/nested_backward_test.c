// SPDX-License-Identifier: Apache-2.0
// Graphs that share variables: backward of one inside of another's, from a function of the program
// with both engines, and of several on threads of their own.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/engine/engine.h"

enum { THREADS = 3, TIMES = 500, BRANCHES = 20 };

static NDArrayHandle variable, gradient;  // gradients are added up
static NDArrayHandle other, other_gradient;
static NDArrayHandle late, late_gradient;  // newer than what is computed from the others
static bool hands_out;  // the inner backward asks for its gradient

static NDArrayHandle make(float value)
{
    const int64_t shape[] = {1};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 1, 1, 0, 0, 0, &array), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, &value, 1), 0);
    return array;
}

static void assert_value(NDArrayHandle array, float wanted)
{
    float value = -1;
    assert_int_equal(MXNDArraySyncCopyToCPU(array, &value, 1), 0);
    assert_true(value == wanted);
}

static void make_variable(NDArrayHandle *array, NDArrayHandle *its_gradient)
{
    mx_uint add = 3;
    *array = make(1);
    *its_gradient = make(0);
    assert_int_equal(MXAutogradMarkVariables(1, array, &add, its_gradient), 0);
}

static bool free_arrays(int count, void **arrays)
{
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = MXNDArrayFree(arrays[i]) == 0 && good;
    }
    return good;
}

static int set_up(void **state)
{
    (void)state;
    make_variable(&variable, &gradient);
    make_variable(&other, &other_gradient);
    late = late_gradient = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    NDArrayHandle all[] = {variable, gradient, other, other_gradient, late, late_gradient};
    free_arrays(late == NULL ? 4 : 6, all);
    return MXNDArrayWaitAll();
}

static int run(const char *name, int count, NDArrayHandle *inputs, const char *scalar,
               NDArrayHandle *out)
{
    OpHandle op = NULL;
    const char *key = "scalar";
    int outputs = 1;
    NDArrayHandle *list = *out == NULL ? NULL : out;
    if (NNGetOpHandle(name, &op) != 0 ||
        MXImperativeInvoke(op, count, inputs, &outputs, &list, scalar != NULL, &key, &scalar,
                           NULL) != 0) {
        return -1;
    }
    *out = list[0];
    return 0;
}

// ---- one inside of the other ------------------------------------------------------------------
// The gradient of 5 * variable, handed out or to where it belongs.
static bool run_inner(void)
{
    int before = 0;
    NDArrayHandle result = NULL, *found = NULL;
    int *types = NULL;
    MXAutogradSetIsRecording(1, &before);
    bool good = run("_mul_scalar", 1, &variable, "5", &result) == 0;
    MXAutogradSetIsRecording(0, &before);
    good = good && MXAutogradBackwardEx(1, &result, NULL, hands_out, &variable, 0, 0, 1, &found,
                                        &types) == 0;
    MXNDArrayFree(result);
    if (good && hands_out) {
        MXNDArrayFree(found[0]);
    }
    return good;
}

// Of a function that gives its input.
static int backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                    const int is_train, void *state)
{
    (void)reqs, (void)is_train, (void)state;
    bool good = num_ograds == 1 && num_igrads == 1 && run_inner() &&
                run("_copyto", 1, &ptrs[0], NULL, &ptrs[1]) == 0;
    return free_arrays(num_ograds + num_igrads, ptrs) && good;
}

static int delete_function(void *state)
{
    (void)state;
    return 1;
}

typedef int (*any_function)(void);

// 2 * variable + 3 * variable + f(other) + 7 * late.
static NDArrayHandle run_outer(void)
{
    any_function functions[] = {(any_function)(void (*)(void))backward,
                                (any_function)(void (*)(void))delete_function};
    void *contexts[] = {NULL, NULL};
    struct MXCallbackList callbacks = {2, functions, contexts};
    NDArrayHandle terms[] = {NULL, NULL, make(1), NULL}, *list = NULL;
    int before = 0;
    MXAutogradSetIsRecording(1, &before);
    assert_int_equal(run("_mul_scalar", 1, &variable, "2", &terms[0]), 0);
    assert_int_equal(run("_mul_scalar", 1, &variable, "3", &terms[1]), 0);
    assert_int_equal(MXCustomFunctionRecord(1, &other, 1, &terms[2], &callbacks), 0);
    make_variable(&late, &late_gradient);
    assert_int_equal(run("_mul_scalar", 1, &late, "7", &terms[3]), 0);
    OpHandle op = NULL;
    const char *key = "num_args", *four = "4";
    int outputs = 1;
    assert_int_equal(NNGetOpHandle("add_n", &op), 0);
    assert_int_equal(MXImperativeInvoke(op, 4, terms, &outputs, &list, 1, &key, &four, NULL), 0);
    NDArrayHandle sum = list[0];
    MXAutogradSetIsRecording(0, &before);
    assert_true(free_arrays(4, terms));
    return sum;
}

static void backward_inside_of_backward_loses_nothing(void **state)
{
    (void)state;
    hands_out = false;
    NDArrayHandle sum = run_outer();
    assert_int_equal(MXAutogradBackward(1, &sum, NULL, 0), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_value(gradient, 2 + 3 + 5);
    assert_value(other_gradient, 1);
    assert_value(late_gradient, 7);
    MXNDArrayFree(sum);
}

static void gradients_handed_out_are_each_call_s_own(void **state)
{
    (void)state;
    hands_out = true;
    NDArrayHandle sum = run_outer(), *found = NULL;
    NDArrayHandle wanted[] = {late, other, variable};
    int *types = NULL;
    assert_int_equal(MXAutogradBackwardEx(1, &sum, NULL, 3, wanted, 0, 0, 1, &found, &types), 0);
    NDArrayHandle mine[] = {found[0], found[1], found[2]};
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_value(mine[0], 7);
    assert_value(mine[1], 1);
    assert_value(mine[2], 2 + 3);
    assert_value(gradient, 0);
    assert_true(free_arrays(3, mine));
    MXNDArrayFree(sum);
}

// ---- side by side -----------------------------------------------------------------------------
static void *train(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        NDArrayHandle terms[BRANCHES] = {NULL}, last = NULL;
        int before = 0;
        MXAutogradSetIsRecording(1, &before);
        bool good = run("_mul_scalar", 1, &variable, "1", &last) == 0;
        for (int j = 0; good && j < BRANCHES; j++) {
            terms[j] = last;
            last = NULL;
            NDArrayHandle pair[] = {terms[j], variable};
            good = run("elemwise_add", 2, pair, NULL, &last) == 0;
        }
        MXAutogradSetIsRecording(0, &before);
        if (!good || MXAutogradBackward(1, &last, NULL, 0) != 0) {
            return "failed";
        }
        free_arrays(BRANCHES, terms);
        MXNDArrayFree(last);
    }
    return unused;
}

static void threads_may_share_a_variable(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, train, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_value(gradient, THREADS * TIMES * (BRANCHES + 1));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(backward_inside_of_backward_loses_nothing),
        TEST(gradients_handed_out_are_each_call_s_own),
        TEST(threads_may_share_a_variable),
    };
    int failed = cmocka_run_group_tests_name("threaded", tests, NULL, NULL);
    setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
    mxn_engine_stop();
    return failed + cmocka_run_group_tests_name("naive", tests, NULL, NULL);
}
