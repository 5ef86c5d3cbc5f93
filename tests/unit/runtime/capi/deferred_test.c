// SPDX-License-Identifier: Apache-2.0
// Deferred compute by the C functions: the graph of what ran, and why there is none.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>

static void must(int result)
{
    if (result != 0) {
        fail_msg("%s", MXGetLastError());
    }
}

static NDArrayHandle make(float value)
{
    const mx_uint shape[] = {2};
    const float values[] = {value, value};
    NDArrayHandle array = NULL;
    must(MXNDArrayCreate(shape, 1, 1, 0, 0, 0, &array));
    must(MXNDArraySyncCopyFromCPU(array, values, 2));
    return array;
}

static NDArrayHandle add(NDArrayHandle a, NDArrayHandle b)
{
    OpHandle op = NULL;
    NDArrayHandle inputs[] = {a, b}, *made = NULL;
    int count = 0;
    must(NNGetOpHandle("elemwise_add", &op));
    must(MXImperativeInvoke(op, 2, inputs, &count, &made, 0, NULL, NULL, NULL));
    return made[0];
}

static void set_variable(NDArrayHandle array, const char *name)
{
    SymbolHandle variable = NULL;
    must(MXSymbolCreateVariable(name, &variable));
    must(MXNDArraySetDeferredComputeVariable(&array, &variable, 1));
    must(MXSymbolFree(variable));
}

static void set_switch(int on)
{
    int before = -1;
    must(MXNDArraySetIsDeferredCompute(on, &before));
    assert_int_equal(before, !on);
    must(MXNDArrayIsDeferredCompute(&before));
    assert_int_equal(before, on);
}

static void the_graph_is_that_of_what_ran(void **state)
{
    (void)state;
    NDArrayHandle x = make(1), y = make(2);
    set_variable(x, "x");
    set_variable(y, "y");
    set_switch(1);
    NDArrayHandle sum = add(x, y), twice = add(sum, x);
    set_switch(0);
    NDArrayHandle outputs[] = {twice, sum}, arrays[] = {x, y, sum, twice};
    SymbolHandle symbol = NULL;
    mx_uint count = 0;
    const char **names = NULL;
    must(MXNDArrayGetDeferredComputeSymbol(outputs, 2, &symbol));
    must(MXSymbolListArguments(symbol, &count, &names));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "x");
    assert_string_equal(names[1], "y");
    must(MXSymbolListOutputs(symbol, &count, &names));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "node_1_output");
    assert_string_equal(names[1], "node_0_output");
    must(MXNDArrayClearDeferredCompute(arrays, 4));
    assert_int_equal(MXNDArrayGetDeferredComputeSymbol(outputs, 2, &symbol), -1);
    for (int i = 0; i < 4; i++) {
        must(MXNDArrayFree(arrays[i]));
    }
    must(MXSymbolFree(symbol));
}

static void assert_no_graph(NDArrayHandle output, const char *why)
{
    SymbolHandle symbol = NULL;
    assert_int_equal(MXNDArrayGetDeferredComputeSymbol(&output, 1, &symbol), -1);
    assert_non_null(strstr(MXGetLastError(), why));
}

static void what_a_graph_cannot_say_is_told(void **state)
{
    (void)state;
    NDArrayHandle x = make(1), other = make(5), made[3];
    float values[2];
    set_variable(x, "x");
    set_switch(1);
    made[0] = add(x, other);
    assert_no_graph(made[0], "elemwise_add takes an array (rhs) that is neither data");
    made[1] = add(x, x);
    must(MXNDArraySyncCopyToCPU(made[1], values, 2));
    assert_true(values[0] == 2);
    assert_no_graph(made[1], "the program reads values of an array");
    made[2] = add(x, x);
    SymbolHandle symbol = NULL;
    must(MXNDArrayGetDeferredComputeSymbol(&made[2], 1, &symbol));
    set_switch(0);
    must(MXSymbolFree(symbol));
    for (int i = 0; i < 3; i++) {
        must(MXNDArrayFree(made[i]));
    }
    must(MXNDArrayFree(x));
    must(MXNDArrayFree(other));
}

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    NDArrayHandle x = make(1), none = NULL;
    SymbolHandle symbol = NULL, no_symbol = NULL;
    assert_int_equal(MXNDArrayIsDeferredCompute(NULL), -1);
    assert_int_equal(MXNDArraySetDeferredComputeVariable(&x, NULL, 1), -1);
    assert_int_equal(MXNDArraySetDeferredComputeVariable(&x, &no_symbol, 1), -1);
    assert_int_equal(MXNDArraySetDeferredComputeVariable(&none, &no_symbol, 1), -1);
    assert_int_equal(MXNDArraySetDeferredComputeVariable(&x, &no_symbol, -1), -1);
    assert_int_equal(MXNDArrayGetDeferredComputeSymbol(NULL, 1, &symbol), -1);
    assert_int_equal(MXNDArrayGetDeferredComputeSymbol(&x, 1, NULL), -1);
    assert_int_equal(MXNDArrayGetDeferredComputeSymbol(&x, 0, &symbol), -1);
    assert_int_equal(MXNDArrayClearDeferredCompute(&none, 1), -1);
    must(MXNDArraySetIsDeferredCompute(0, NULL));
    must(MXNDArrayFree(x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_is_that_of_what_ran),
        cmocka_unit_test(what_a_graph_cannot_say_is_told),
        cmocka_unit_test(wrong_arguments_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
