// SPDX-License-Identifier: Apache-2.0
// What is wrong is told, by operator, argument and value; and everything works afterwards.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CPU = 1, GPU = 2, FLOAT32 = 0, FLOAT64 = 1 };

static NDArrayHandle make_typed(int rank, int64_t rows, int64_t columns, int dtype)
{
    const int64_t shape[] = {rows, columns, 1, 1};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, rank, CPU, 0, 0, dtype, &array), 0);
    return array;
}

static NDArrayHandle make(int64_t rows, int64_t columns)
{
    return make_typed(2, rows, columns, FLOAT32);
}

static OpHandle find(const char *name)
{
    OpHandle found = NULL;
    if (NNGetOpHandle(name, &found) != 0) {
        fail_msg("%s", MXGetLastError());
    }
    return found;
}

// Each of the parts, separated by '|', must be in the last error.
static void assert_told(const char *parts)
{
    char part[128];
    for (const char *at = parts; *at != '\0';) {
        size_t length = strcspn(at, "|");
        assert_true(length < sizeof(part));
        memcpy(part, at, length);
        part[length] = '\0';
        if (strstr(MXGetLastError(), part) == NULL) {
            fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
        }
        at += length + (at[length] == '|');
    }
}

// One more operation runs, and its result is right.
static void assert_usable(void)
{
    NDArrayHandle in = make(1, 2), list[] = {in}, *outputs = list;
    const float values[] = {1, 2};
    float got[2];
    const char *key = "scalar", *value = "1";
    int count = 1;
    assert_int_equal(MXNDArraySyncCopyFromCPU(in, values, 2), 0);
    assert_int_equal(
        MXImperativeInvoke(find("_plus_scalar"), 1, &in, &count, &outputs, 1, &key, &value, NULL),
        0);
    assert_int_equal(MXNDArraySyncCopyToCPU(in, got, 2), 0);
    assert_true(got[0] == 2 && got[1] == 3);
    MXNDArrayFree(in);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

// ---- calls of operators -----------------------------------------------------------------------
typedef struct bad_call {
    const char *op, *key, *value;
    int inputs;  // of (2,3), (3,2), (2,3)
    const char *told;
} bad_call;

static const bad_call bad_calls[] = {
    {"elemwise_add", NULL, NULL, 1, "Operator elemwise_add expects 2 inputs, but got 1 instead"},
    {"elemwise_add", NULL, NULL, 2, "elemwise_add|(2,3)|(3,2)"},
    {"broadcast_mul", NULL, NULL, 2, "broadcast_mul|(2,3)|(3,2)"},
    {"dot", "transpose_a", "True", 2, "dot|(2,3)|(3,2)"},
    {"FullyConnected", "num_hiden", "3", 3, "FullyConnected|num_hiden|did you mean 'num_hidden'"},
    {"FullyConnected", NULL, NULL, 3, "FullyConnected|num_hidden"},
    {"FullyConnected", "num_hidden", "some", 3, "FullyConnected|num_hidden|'some'"},
    {"FullyConnected", "num_hidden", "0", 3, "FullyConnected|num_hidden|0"},
    {"FullyConnected", "num_hidden", "5", 3, "FullyConnected|bias|(2,3)|(5,)"},
    {"Activation", "act_type", "rely", 1, "Activation|act_type|'rely'|'relu'"},
    {"Dropout", "p", "1.5", 1, "Dropout|p|1.5"},
    {"sum", "axis", "5", 1, "sum|5"},
    {"Reshape", "shape", "(5,)", 1, "Reshape|(2,3)|5"},
    {"transpose", "axes", "(0,0)", 1, "transpose|axis 0|twice"},
    {"tile", "reps", "(2147483647,2147483647,2,2)", 1,
     "tile|output 0|(2147483647,2147483647,4,6)|too many elements"},
    {"_zeros", "ctx", "gpu(0)", 0, "gpu(0)"},
    {"_zeros", "ctx", "cup(0)", 0, "_zeros|'cup(0)'|cpu(0)"},
    {"_zeros", "shape", "(2,-7)", 0, "_zeros|-7"},
    {"_zeros", "dtype", "float31", 0, "_zeros|'float31'|'float32'"},
};

static void wrong_calls_of_operators(void **state)
{
    (void)state;
    NDArrayHandle inputs[] = {make(2, 3), make(3, 2), make(2, 3)};
    for (size_t i = 0; i < sizeof(bad_calls) / sizeof(bad_calls[0]); i++) {
        const bad_call *bad = &bad_calls[i];
        const char *keys[] = {bad->key, "shape"}, *values[] = {bad->value, "(2,)"};
        bool zeros = strcmp(bad->op, "_zeros") == 0 && strcmp(bad->key, "shape") != 0;
        NDArrayHandle *outputs = NULL;
        int count = 0;
        int status = MXImperativeInvoke(find(bad->op), bad->inputs, inputs, &count, &outputs,
                                        (bad->key != NULL) + zeros, keys, values, NULL);
        if (status == 0) {
            fail_msg("%s %s=%s was accepted", bad->op, bad->key, bad->value);
        }
        assert_told(bad->told);
        assert_null(outputs);
    }
    for (int i = 0; i < 3; i++) {
        MXNDArrayFree(inputs[i]);
    }
    assert_usable();
}

static void wrong_types_of_inputs(void **state)
{
    (void)state;
    NDArrayHandle pair[] = {make(2, 3), make_typed(2, 2, 3, FLOAT64)}, *outputs = NULL;
    int count = 0;
    assert_int_equal(
        MXImperativeInvoke(find("elemwise_add"), 2, pair, &count, &outputs, 0, NULL, NULL, NULL),
        -1);
    assert_told("elemwise_add|float32|float64");
    MXNDArrayFree(pair[0]);
    MXNDArrayFree(pair[1]);
    assert_usable();
}

static void unknown_operators(void **state)
{
    (void)state;
    OpHandle op = NULL;
    assert_int_equal(NNGetOpHandle("FullyConected", &op), -1);
    assert_told("FullyConected|FullyConnected");
    assert_int_equal(NNGetOpHandle("", &op), -1);
    assert_int_equal(NNGetOpHandle(NULL, &op), -1);
    assert_null(op);
}

static void wrong_outputs(void **state)
{
    (void)state;
    NDArrayHandle in = make(2, 3), small = make(1, 3), two[] = {small, small}, *outputs = two;
    int count = 2;
    OpHandle op = find("square");
    assert_int_equal(MXImperativeInvoke(op, 1, &in, &count, &outputs, 0, NULL, NULL, NULL), -1);
    assert_told("square|2");
    count = 1;
    assert_int_equal(MXImperativeInvoke(op, 1, &in, &count, &outputs, 0, NULL, NULL, NULL), -1);
    assert_told("square|(1,3)|(2,3)");
    assert_int_equal(MXImperativeInvoke(op, -1, &in, &count, &outputs, 0, NULL, NULL, NULL), -1);
    assert_told("-1");
    assert_int_equal(MXImperativeInvoke(op, 1, NULL, &count, &outputs, 0, NULL, NULL, NULL), -1);
    assert_told("inputs");
    assert_int_equal(MXImperativeInvoke(op, 1, &in, NULL, NULL, 0, NULL, NULL, NULL), -1);
    MXNDArrayFree(in);
    MXNDArrayFree(small);
    assert_usable();
}

// ---- handles ----------------------------------------------------------------------------------
static void freed_handles(void **state)
{
    (void)state;
    NDArrayHandle good = make(2, 3), freed = make(2, 3), *outputs = NULL, pair[] = {good, freed};
    int count = 0;
    mx_uint write = 1;
    MXNDArrayFree(freed);
    assert_int_equal(
        MXImperativeInvoke(find("elemwise_add"), 2, pair, &count, &outputs, 0, NULL, NULL, NULL),
        -1);
    assert_told("elemwise_add|input 1|rhs|freed");
    outputs = &freed;
    count = 1;
    assert_int_equal(
        MXImperativeInvoke(find("square"), 1, &good, &count, &outputs, 0, NULL, NULL, NULL), -1);
    assert_told("outputs|freed");
    assert_int_equal(MXAutogradMarkVariables(1, &good, &write, &freed), -1);
    assert_told("grad_handles|freed");
    assert_int_equal(MXAutogradBackward(1, &freed, NULL, 0), -1);
    assert_told("output_handles|freed");
    assert_int_equal(MXNDArraySave("freed.params", 1, &freed, NULL), -1);
    assert_told("args|freed");
    assert_int_equal(MXNDArrayFree(freed), -1);
    assert_int_equal(MXNDArrayFree(NULL), -1);
    MXNDArrayFree(good);
    assert_usable();
}

// The second call to free one is an error, also when its memory is another array's by then.
static void freeing_twice_leaves_the_next_array_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        NDArrayHandle freed = make(2, 3);
        assert_int_equal(MXNDArrayFree(freed), 0);
        MXNDArrayWaitAll();
        NDArrayHandle next = make(2, 3);
        assert_int_equal(MXNDArrayFree(freed), -1);
        assert_told("handle|freed");
        assert_int_equal(MXNDArrayWaitToRead(next), 0);
        assert_int_equal(MXNDArrayFree(next), 0);
        MXNDArrayWaitAll();
    }
    assert_usable();
}

static void devices_that_do_not_exist(void **state)
{
    (void)state;
    const int64_t shape[] = {2};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 1, GPU, 3, 0, FLOAT32, &array), -1);
    assert_told("gpu(3)");
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, 128, 0, FLOAT32, &array), -1);
    assert_told("128");
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, -1, 0, FLOAT32, &array), -1);
    assert_int_equal(MXNDArrayCreate64(shape, 1, 9, 0, 0, FLOAT32, &array), -1);
    assert_told("9");
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, 0, 0, 77, &array), -1);
    assert_told("77");
    const int64_t negative[] = {-4};
    assert_int_equal(MXNDArrayCreate64(negative, 1, CPU, 0, 0, FLOAT32, &array), -1);
    assert_told("-4");
    assert_int_equal(MXNDArrayCreate64(shape, 33, CPU, 0, 0, FLOAT32, &array), -1);
    assert_told("33");
    assert_null(array);
    assert_int_equal(MXRandomSeedContext(1, GPU, 0), -1);
    assert_int_equal(MXStorageEmptyCache(GPU, 0), -1);
    assert_usable();
}

// ---- memory -----------------------------------------------------------------------------------
enum { BIG_ROWS = 1 << 20 };

// More than there is; the message names who has most of it.
static void too_much_memory(void **state)
{
    (void)state;
    MXSetProfilerScope("weights:");
    NDArrayHandle owner = make(BIG_ROWS, 4), huge = NULL;
    MXSetProfilerScope("<unk>:");
    const int64_t shape[] = {INT64_C(1) << 45};
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, 0, 0, FLOAT32, &huge), -1);
    assert_told("memory|weights:|cpu/0");
    // Found out when an operation writes it.
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, 0, 1, FLOAT32, &huge), 0);
    NDArrayHandle *outputs = &huge;
    const char *key = "src", *value = "1";
    int count = 1;
    assert_int_equal(
        MXImperativeInvoke(find("_set_value"), 0, NULL, &count, &outputs, 1, &key, &value, NULL),
        0);
    assert_int_equal(MXNDArrayWaitToRead(huge), -1);
    assert_told("memory|weights:");
    MXNDArrayFree(huge);
    MXNDArrayFree(owner);
    assert_usable();
}

// ---- the program's own operations -------------------------------------------------------------
static void complete_with_error(void *rctx, void *on_start, void *on_complete, void *param)
{
    (void)rctx;
    (void)on_start;
    (void)param;
    const struct MXEngineCallback *done = on_complete;
    done->callback(done->engine, done->param, "");
}

static void failing_operations_are_passed_on(void **state)
{
    (void)state;
    NDArrayHandle first = make(1, 2), second = NULL, *outputs = NULL;
    int count = 0;
    assert_int_equal(MXEnginePushAsyncND(complete_with_error, NULL, NULL, NULL, NULL, 0, &first, 1,
                                         NULL, 0, "breaks", false),
                     0);
    assert_int_equal(
        MXImperativeInvoke(find("square"), 1, &first, &count, &outputs, 0, NULL, NULL, NULL), 0);
    second = outputs[0];
    assert_int_equal(MXNDArrayWaitToRead(second), -1);
    assert_told("has failed");
    assert_int_equal(MXNDArrayWaitToRead(second), 0);  // told once
    MXNDArrayFree(first);
    MXNDArrayFree(second);
    assert_usable();
}

static void wrong_pushes(void **state)
{
    (void)state;
    NDArrayHandle array = make(1, 2), twice[] = {array, array};
    assert_int_equal(MXEnginePushAsyncND(complete_with_error, NULL, NULL, NULL, NULL, 0, twice, 2,
                                         NULL, 0, "twice", false),
                     -1);
    assert_told("duplicate");
    assert_int_equal(
        MXEnginePushAsyncND(NULL, NULL, NULL, NULL, NULL, 0, &array, 1, NULL, 0, "nothing", false),
        -1);
    assert_int_equal(MXEnginePushAsyncND(complete_with_error, NULL, NULL, NULL, &array, -1, NULL, 0,
                                         NULL, 0, "negative", false),
                     -1);
    assert_told("Non-negative number of const vars expected");
    const struct MXContext gpu = {GPU, 0};
    assert_int_equal(MXEnginePushAsyncND(complete_with_error, NULL, NULL, &gpu, NULL, 0, &array, 1,
                                         NULL, 0, "gpu", false),
                     -1);
    assert_told("gpu(0)");
    MXNDArrayFree(array);
    assert_usable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls_of_operators),
        cmocka_unit_test(wrong_types_of_inputs),
        cmocka_unit_test(unknown_operators),
        cmocka_unit_test(wrong_outputs),
        cmocka_unit_test(freed_handles),
        cmocka_unit_test(freeing_twice_leaves_the_next_array_alone),
        cmocka_unit_test(devices_that_do_not_exist),
        cmocka_unit_test(too_much_memory),
        cmocka_unit_test(failing_operations_are_passed_on),
        cmocka_unit_test(wrong_pushes),
    };
    alarm(60);  // nothing hangs
    return cmocka_run_group_tests(tests, NULL, NULL);
}
