// SPDX-License-Identifier: Apache-2.0
// Every function that finds and runs operators and computes gradients, with good and with bad
// arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "walk.h"

enum { SIZE = 2 };

static NDArrayHandle array, freed;
static OpHandle square;

static NDArrayHandle make(float first, float second)
{
    const uint32_t shape[] = {SIZE};
    const float values[] = {first, second};
    NDArrayHandle made = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 1, 1, 0, 0, 0, &made), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(made, values, SIZE), 0);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    array = make(2, 3);
    freed = make(0, 0);
    return MXNDArrayFree(freed) | NNGetOpHandle("square", &square);
}

static int tear_down(void **state)
{
    (void)state;
    return MXNDArrayFree(array);
}

static float first_of(NDArrayHandle of)
{
    float values[SIZE] = {0};
    assert_int_equal(MXNDArraySyncCopyToCPU(of, values, SIZE), 0);
    return values[0];
}

// The first value of a new array, which is freed.
static float taken(NDArrayHandle of)
{
    const float first = first_of(of);
    assert_int_equal(MXNDArrayFree(of), 0);
    return first;
}

// ---- finding ----------------------------------------------------------------------------------
#define LIST(function, type)                                     \
    do {                                                         \
        mx_uint count = 0;                                       \
        type *list = NULL;                                       \
        GOOD(function, (&count, &list), count > 100 && list[1]); \
        BAD(function, (NULL, &list));                            \
        BAD(function, (&count, NULL));                           \
    } while (0)

static void finding(void **state)
{
    (void)state;
    OpHandle op = NULL;
    const char *name = NULL;
    LIST(MXListAllOpNames, const char *);
    LIST(MXSymbolListAtomicSymbolCreators, AtomicSymbolCreator);
    assert_int_equal(NNGetOpHandle("FullyConnected", &op), 0);
    GOOD(MXSymbolGetAtomicSymbolName, (op, &name), strcmp(name, "FullyConnected") == 0);
    BAD_HANDLES(MXSymbolGetAtomicSymbolName, freed, (bad, &name));
    BAD(MXSymbolGetAtomicSymbolName, (op, NULL));
}

static void documentation(void **state)
{
    (void)state;
    OpHandle op = NULL;
    const char *name, *about, **names, **types, **texts, *key, *returned;
    mx_uint count = 0;
    assert_int_equal(NNGetOpHandle("Concat", &op), 0);
    GOOD(MXSymbolGetAtomicSymbolInfo,
         (op, &name, &about, &count, &names, &types, &texts, &key, &returned),
         count == 3 && strcmp(key, "num_args") == 0 && strcmp(names[0], "data") == 0);
    BAD_HANDLES(MXSymbolGetAtomicSymbolInfo, freed,
                (bad, &name, &about, &count, &names, &types, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo,
        (op, NULL, &about, &count, &names, &types, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo, (op, &name, NULL, &count, &names, &types, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo, (op, &name, &about, NULL, &names, &types, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo, (op, &name, &about, &count, NULL, &types, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo, (op, &name, &about, &count, &names, NULL, &texts, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo, (op, &name, &about, &count, &names, &types, NULL, &key, NULL));
    BAD(MXSymbolGetAtomicSymbolInfo,
        (op, &name, &about, &count, &names, &types, &texts, NULL, NULL));
}

// ---- running ----------------------------------------------------------------------------------
#define INVOKE(function)                                                                        \
    do {                                                                                        \
        int count = 0;                                                                          \
        NDArrayHandle *outputs = NULL, given = array, *into = &given;                           \
        const int *kinds = NULL;                                                                \
        GOOD(function, (square, 1, &array, &count, &outputs, 0, NULL, NULL, &kinds),            \
             count == 1 && kinds[0] == 0 && taken(outputs[0]) == 4);                            \
        outputs = NULL;                                                                         \
        BAD_HANDLES(function, freed, (bad, 1, &array, &count, &outputs, 0, NULL, NULL, NULL));  \
        BAD_HANDLES(function, freed, (square, 1, &bad, &count, &outputs, 0, NULL, NULL, NULL)); \
        BAD(function, (square, 2, &array, &count, &outputs, 0, NULL, NULL, NULL));              \
        BAD(function, (square, -1, &array, &count, &outputs, 0, NULL, NULL, NULL));             \
        BAD(function, (square, 1, NULL, &count, &outputs, 0, NULL, NULL, NULL));                \
        BAD(function, (square, 1, &array, NULL, &outputs, 0, NULL, NULL, NULL));                \
        BAD(function, (square, 1, &array, &count, NULL, 0, NULL, NULL, NULL));                  \
        count = 2;                                                                              \
        BAD(function, (square, 1, &array, &count, &into, 0, NULL, NULL, NULL));                 \
        count = 1;                                                                              \
        given = freed;                                                                          \
        BAD(function, (square, 1, &array, &count, &into, 0, NULL, NULL, NULL));                 \
    } while (0)

#define INVOKE_WITH(function)                                                         \
    do {                                                                              \
        int count = 0;                                                                \
        NDArrayHandle *outputs = NULL;                                                \
        const char *key = "axis", *value = "1", *none = NULL;                         \
        BAD(function, (square, 1, &array, &count, &outputs, 1, &key, &value, NULL));  \
        BAD(function, (square, 1, &array, &count, &outputs, 1, NULL, &value, NULL));  \
        BAD(function, (square, 1, &array, &count, &outputs, 1, &key, NULL, NULL));    \
        BAD(function, (square, 1, &array, &count, &outputs, 1, &none, &value, NULL)); \
        BAD(function, (square, 1, &array, &count, &outputs, -1, &key, &value, NULL)); \
    } while (0)

static void running(void **state)
{
    (void)state;
    INVOKE(MXImperativeInvoke);
    INVOKE(MXImperativeInvokeEx);
    INVOKE_WITH(MXImperativeInvoke);
    INVOKE_WITH(MXImperativeInvokeEx);
}

static void prepared_calls(void **state)
{
    (void)state;
    MXPreparedHandle prepared = NULL, gone = NULL;
    NDArrayHandle *outputs = NULL;
    int count = 0;
    const char *key = "axis", *value = "1";
    GOOD(MXPreparedCreate, (square, 1, 0, NULL, NULL, &prepared), prepared != NULL);
    BAD_HANDLES(MXPreparedCreate, freed, (bad, 1, 0, NULL, NULL, &gone));
    BAD(MXPreparedCreate, (square, 2, 0, NULL, NULL, &gone));
    BAD(MXPreparedCreate, (square, -1, 0, NULL, NULL, &gone));
    BAD(MXPreparedCreate, (square, 1, 1, &key, &value, &gone));
    BAD(MXPreparedCreate, (square, 1, 1, NULL, &value, &gone));
    BAD(MXPreparedCreate, (square, 1, -1, &key, &value, &gone));
    BAD(MXPreparedCreate, (square, 1, 0, NULL, NULL, NULL));
    GOOD(MXPreparedInvoke, (prepared, &array, &count, &outputs), taken(outputs[0]) == 4);
    outputs = NULL;
    BAD_HANDLES(MXPreparedInvoke, freed, (prepared, &bad, &count, &outputs));
    BAD(MXPreparedInvoke, (prepared, NULL, &count, &outputs));
    BAD(MXPreparedInvoke, (prepared, &array, NULL, &outputs));
    BAD(MXPreparedInvoke, (prepared, &array, &count, NULL));
    GOOD(MXPreparedFree, (prepared), true);
    BAD_FREED(MXPreparedFree, prepared, (bad));
    BAD_FREED(MXPreparedInvoke, prepared, (bad, &array, &count, &outputs));
}

// ---- gradients --------------------------------------------------------------------------------
static void recording(void **state)
{
    (void)state;
    int before = -1;
    bool now = false;
    GOOD(MXAutogradSetIsRecording, (1, &before), before == 0);
    GOOD(MXAutogradIsRecording, (&now), now);
    GOOD(MXAutogradSetIsRecording, (0, NULL), true);
    NEVER_FAILS(MXAutogradSetIsRecording);
    BAD(MXAutogradIsRecording, (NULL));
    GOOD(MXAutogradSetIsTraining, (1, &before), before == 0);
    GOOD(MXAutogradIsTraining, (&now), now);
    GOOD(MXAutogradSetIsTraining, (0, NULL), true);
    NEVER_FAILS(MXAutogradSetIsTraining);
    BAD(MXAutogradIsTraining, (NULL));
}

// The square of `array`, recorded.
static NDArrayHandle recorded(void)
{
    NDArrayHandle *outputs = NULL;
    int count = 0;
    assert_int_equal(MXAutogradSetIsRecording(1, NULL), 0);
    assert_int_equal(MXImperativeInvoke(square, 1, &array, &count, &outputs, 0, NULL, NULL, NULL),
                     0);
    assert_int_equal(MXAutogradSetIsRecording(0, NULL), 0);
    return outputs[0];
}

static void marking(NDArrayHandle gradient)
{
    mx_uint write = 1, wrong = 99;
    GOOD(MXAutogradMarkVariables, (1, &array, &write, &gradient), true);
    BAD_HANDLES(MXAutogradMarkVariables, freed, (1, &bad, &write, &gradient));
    BAD_HANDLES(MXAutogradMarkVariables, freed, (1, &array, &write, &bad));
    BAD(MXAutogradMarkVariables, (1, &array, &wrong, &gradient));
    BAD(MXAutogradMarkVariables, (1, NULL, &write, &gradient));
    BAD(MXAutogradMarkVariables, (1, &array, NULL, &gradient));
    BAD(MXAutogradMarkVariables, (1, &array, &write, NULL));
}

static void gradients(void **state)
{
    (void)state;
    NDArrayHandle gradient = make(0, 0), y, *made = NULL;
    int *kinds = NULL;
    SymbolHandle symbol = NULL;
    marking(gradient);
    y = recorded();
    BAD_HANDLES(MXAutogradBackward, freed, (1, &bad, NULL, 0));
    BAD(MXAutogradBackward, (1, NULL, NULL, 0));
    BAD(MXAutogradBackward, (1, &y, &freed, 0));
    BAD(MXAutogradBackward, (1, &gradient, NULL, 0));
    BAD(MXAutogradBackward, (0, NULL, NULL, 0));
    GOOD(MXAutogradBackward, (1, &y, NULL, 1), first_of(gradient) == 4);
    GOOD(MXAutogradBackwardEx, (1, &y, NULL, 1, &array, 1, 0, 1, &made, &kinds),
         taken(made[0]) == 4 && kinds[0] == 0);
    BAD_HANDLES(MXAutogradBackwardEx, freed, (1, &bad, NULL, 1, &array, 1, 0, 1, &made, &kinds));
    BAD_HANDLES(MXAutogradBackwardEx, freed, (1, &y, NULL, 1, &bad, 1, 0, 1, &made, &kinds));
    BAD(MXAutogradBackwardEx, (1, &y, NULL, 1, NULL, 1, 0, 1, &made, &kinds));
    BAD(MXAutogradBackwardEx, (1, &y, NULL, 1, &array, 1, 0, 1, NULL, &kinds));
    GOOD(MXAutogradComputeGradient, (1, &y), first_of(gradient) == 4);
    BAD_HANDLES(MXAutogradComputeGradient, freed, (1, &bad));
    BAD(MXAutogradComputeGradient, (1, NULL));
    ONLY_BAD(MXAutogradGetSymbol, (y, &symbol));
    BAD(MXAutogradGetSymbol, (NULL, &symbol));
    assert_int_equal(MXNDArrayFree(y), 0);
    assert_int_equal(MXNDArrayFree(gradient), 0);
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_operator.h");
    walk_complete("mxnet/invoke.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding),         cmocka_unit_test(documentation),
        cmocka_unit_test(running),         cmocka_unit_test(prepared_calls),
        cmocka_unit_test(recording),       cmocka_unit_test(gradients),
        cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
