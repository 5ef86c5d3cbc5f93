// SPDX-License-Identifier: Apache-2.0
// NumPy's shapes, switched on for a thread or for all: what operators of MXNet's older names make
// of an array they reduce to one number, forward and backward.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <pthread.h>

static NDArrayHandle make(int rank)
{
    const int64_t shape[] = {3, 2};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, rank, 1, 0, 0, 0, &array), 0);
    const float values[] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, rank == 2 ? 6 : 3), 0);
    return array;
}

static NDArrayHandle run(const char *name, int input_count, NDArrayHandle *inputs)
{
    OpHandle op = NULL;
    NDArrayHandle *outputs = NULL;
    int count = 0;
    assert_int_equal(NNGetOpHandle(name, &op), 0);
    if (MXImperativeInvoke(op, input_count, inputs, &count, &outputs, 0, NULL, NULL, NULL) != 0) {
        fail_msg("%s: %s", name, MXGetLastError());
    }
    return outputs[0];
}

static int rank_of(NDArrayHandle array)
{
    int rank = -1;
    const int64_t *dims = NULL;
    assert_int_equal(MXNDArrayGetShape64(array, &rank, &dims), 0);
    return rank;
}

static int rank_of_sum(void)
{
    NDArrayHandle array = make(2), sum = run("sum", 1, &array);
    int rank = rank_of(sum);
    MXNDArrayFree(array);
    MXNDArrayFree(sum);
    return rank;
}

static void *sum_elsewhere(void *rank)
{
    *(int *)rank = rank_of_sum();
    return NULL;
}

static int rank_elsewhere(void)
{
    pthread_t thread;
    int rank = -1;
    assert_int_equal(pthread_create(&thread, NULL, sum_elsewhere, &rank), 0);
    pthread_join(thread, NULL);
    return rank;
}

static void the_switch_is_the_threads_or_everyones(void **state)
{
    (void)state;
    int before = 7;
    assert_int_equal(rank_of_sum(), 1);
    assert_int_equal(MXSetIsNumpyShape(1, &before), 0);
    assert_int_equal(before, 0);
    assert_int_equal(rank_of_sum(), 0);
    assert_int_equal(rank_elsewhere(), 1);
    assert_int_equal(MXSetIsNumpyShape(2, &before), 0);
    assert_int_equal(before, 1);
    assert_int_equal(rank_elsewhere(), 0);
    assert_int_equal(MXSetIsNumpyShape(0, &before), 0);
    assert_int_equal(before, 2);
    assert_int_equal(rank_of_sum(), 1);
    assert_int_equal(rank_elsewhere(), 1);
    assert_int_equal(MXSetIsNumpyShape(3, &before), -1);
}

static void what_reduces_to_one_number(void **state)
{
    (void)state;
    const char *const names[] = {"sum", "mean", "max", "min", "argmax"};
    for (int numpy = 0; numpy < 2; numpy++) {
        MXSetIsNumpyShape(numpy, NULL);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            NDArrayHandle array = make(1), out = run(names[i], 1, &array);
            float value = 0;
            assert_int_equal(rank_of(out), numpy ? 0 : 1);
            assert_int_equal(MXNDArraySyncCopyToCPU(out, &value, 1), 0);
            MXNDArrayFree(array);
            MXNDArrayFree(out);
        }
        NDArrayHandle pair[] = {make(1), make(1)}, product = run("dot", 2, pair);
        float value = 0;
        assert_int_equal(rank_of(product), numpy ? 0 : 1);
        assert_int_equal(MXNDArraySyncCopyToCPU(product, &value, 1), 0);
        assert_true(value == 14);
        MXNDArrayFree(pair[0]);
        MXNDArrayFree(pair[1]);
        MXNDArrayFree(product);
    }
    MXSetIsNumpyShape(0, NULL);
}

static void gradients_of_scalars_flow(void **state)
{
    (void)state;
    MXSetIsNumpyShape(1, NULL);
    NDArrayHandle x = make(2), gradient = make(2);
    mx_uint write = 1;
    int before = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXAutogradSetIsRecording(1, &before);
    NDArrayHandle square = run("square", 1, &x), sum = run("sum", 1, &square);
    MXAutogradSetIsRecording(0, &before);
    assert_int_equal(rank_of(sum), 0);
    assert_int_equal(MXAutogradBackward(1, &sum, NULL, 0), 0);
    float values[6];
    assert_int_equal(MXNDArraySyncCopyToCPU(gradient, values, 6), 0);
    for (int i = 0; i < 6; i++) {
        assert_true(values[i] == 2 * (float)(i + 1));
    }
    NDArrayHandle all[] = {x, gradient, square, sum};
    for (int i = 0; i < 4; i++) {
        MXNDArrayFree(all[i]);
    }
    MXSetIsNumpyShape(0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_switch_is_the_threads_or_everyones),
        cmocka_unit_test(what_reduces_to_one_number),
        cmocka_unit_test(gradients_of_scalars_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
