// SPDX-License-Identifier: Apache-2.0
// Cached operators through MXNet's C functions: numbers, gradients, flags, the hook, and what is
// refused. Expected numbers are those of the same operators called one by one.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>

static const char two_layers[] =
    "{\"nodes\": ["
    "{\"op\": \"null\", \"name\": \"x\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"w\", \"inputs\": []},"
    "{\"op\": \"dot\", \"name\": \"product\", \"inputs\": [[0, 0, 0], [1, 0, 0]]},"
    "{\"op\": \"relu\", \"name\": \"act\", \"inputs\": [[2, 0, 0]]},"
    "{\"op\": \"elemwise_mul\", \"name\": \"square\", \"inputs\": [[3, 0, 0], [3, 0, 0]]},"
    "{\"op\": \"elemwise_add\", \"name\": \"sum\", \"inputs\": [[4, 0, 0], [2, 0, 0]]}],"
    "\"arg_nodes\": [0, 1], \"heads\": %s}";

enum { SIDE = 2, COUNT = SIDE * SIDE };

static const float x_values[COUNT] = {1, -2, 3, 4}, w_values[COUNT] = {0.5f, 1, -1, 2};

// ---- helpers ----------------------------------------------------------------------------------
static SymbolHandle network(const char *heads)
{
    char json[2048];
    SymbolHandle symbol = NULL;
    snprintf(json, sizeof json, two_layers, heads);
    if (MXSymbolCreateFromJSON(json, &symbol) != 0) {
        fail_msg("%s", MXGetLastError());
    }
    return symbol;
}

static CachedOpHandle cached(const char *heads, int count, const char **keys, const char **values)
{
    SymbolHandle symbol = network(heads);
    CachedOpHandle op = NULL;
    if (MXCreateCachedOp(symbol, count, keys, values, &op, false) != 0) {
        fail_msg("%s", MXGetLastError());
    }
    assert_int_equal(MXSymbolFree(symbol), 0);  // the operator has a copy
    return op;
}

static NDArrayHandle array_on(const float *values, int device)
{
    const mx_uint shape[] = {SIDE, SIDE};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreateEx(shape, 2, 1, device, 0, 0, &array), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, COUNT), 0);
    return array;
}

static NDArrayHandle array(const float *values)
{
    return array_on(values, 0);
}

static void assert_values(NDArrayHandle array, const float *expected)
{
    float values[COUNT];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, COUNT), 0);
    for (int i = 0; i < COUNT; i++) {
        assert_float_equal(values[i], expected[i], 0);
    }
}

static void assert_refused(int result, const char *part)
{
    assert_int_equal(result, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, MXGetLastError());
    }
}

static int call(CachedOpHandle op, NDArrayHandle *inputs, int inputs_count, int *count,
                NDArrayHandle **outputs)
{
    return MXInvokeCachedOp(op, inputs_count, inputs, 1, 0, count, outputs, NULL);
}

static void free_all(NDArrayHandle *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(MXNDArrayFree(arrays[i]), 0);
    }
}

// y = relu(x w)^2 + x w, and its gradient by w: xT (2 relu(x w) + 1).
static void compute(float *product, float *y, float *gradient)
{
    float slope[COUNT];
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            float p =
                x_values[i * SIDE] * w_values[k] + x_values[i * SIDE + 1] * w_values[SIDE + k];
            float r = p > 0 ? p : 0;
            product[i * SIDE + k] = p;
            y[i * SIDE + k] = r * r + p;
            slope[i * SIDE + k] = 2 * r + 1;
        }
    }
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            gradient[i * SIDE + k] = x_values[i] * slope[k] + x_values[SIDE + i] * slope[SIDE + k];
        }
    }
}

// ---- what works -------------------------------------------------------------------------------
static void a_call_gives_what_its_operators_give(void **state)
{
    (void)state;
    float product[COUNT], y[COUNT], gradient[COUNT];
    compute(product, y, gradient);
    CachedOpHandle op = cached("[[5, 0, 0], [2, 0, 0]]", 0, NULL, NULL);
    NDArrayHandle inputs[] = {array(x_values), array(w_values)}, *outputs = NULL;
    const int *types = NULL;
    int count = 0;
    assert_int_equal(MXInvokeCachedOpEx(op, 2, inputs, &count, &outputs, &types), 0);
    assert_int_equal(count, 2);
    assert_int_equal(types[0] + types[1], 0);
    assert_values(outputs[0], y);
    assert_values(outputs[1], product);
    free_all(outputs, 2);
    free_all(inputs, 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

static void outputs_that_are_given_are_written(void **state)
{
    (void)state;
    float product[COUNT], y[COUNT], gradient[COUNT];
    compute(product, y, gradient);
    // The second output is the first one again, the third is an input.
    CachedOpHandle op = cached("[[5, 0, 0], [5, 0, 0], [0, 0, 0]]", 0, NULL, NULL);
    NDArrayHandle inputs[] = {array(x_values), array(w_values)};
    NDArrayHandle given[] = {array(x_values), array(x_values), array(w_values)}, *outputs = given;
    int count = 3;
    assert_int_equal(call(op, inputs, 2, &count, &outputs), 0);
    assert_values(given[0], y);
    assert_values(given[1], y);
    assert_values(given[2], x_values);
    NDArrayHandle *made = NULL;
    assert_int_equal(call(op, inputs, 2, &count, &made), 0);
    assert_true(made[0] != made[1] && made[2] != inputs[0]);  // each can be written alone
    assert_values(made[2], x_values);
    free_all(made, 3);
    free_all(given, 3);
    free_all(inputs, 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

static void gradients_go_through_a_call(void **state)
{
    (void)state;
    float product[COUNT], y[COUNT], gradient[COUNT];
    compute(product, y, gradient);
    const char *keys[] = {"static_alloc", "static_shape", "forward_bulk_size", "param_indices"};
    const char *flags[][4] = {
        {"False", "0", "15", "[]"}, {"True", "False", "0", "[1]"}, {"true", "1", "2", "(1,)"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CachedOpHandle op = cached("[[5, 0, 0]]", 4, keys, flags[i]);
        NDArrayHandle inputs[] = {array(x_values), array(w_values)}, *outputs = NULL;
        NDArrayHandle to = array(x_values);
        mx_uint request = 1;
        int count = 0, before;
        assert_int_equal(MXAutogradMarkVariables(1, &inputs[1], &request, &to), 0);
        assert_int_equal(MXAutogradSetIsRecording(1, &before), 0);
        assert_int_equal(call(op, inputs, 2, &count, &outputs), 0);
        assert_int_equal(MXAutogradSetIsRecording(0, &before), 0);
        NDArrayHandle y_made = outputs[0];
        assert_int_equal(MXAutogradBackward(1, &y_made, NULL, 0), 0);
        assert_values(y_made, y);
        assert_values(to, gradient);
        free_all((NDArrayHandle[]){y_made, to, inputs[0], inputs[1]}, 4);
        assert_int_equal(MXFreeCachedOp(op), 0);
    }
}

// ---- the hook ---------------------------------------------------------------------------------
static char told[512];

static void note(const char *name, const char *op, NDArrayHandle handle)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s:%s ", name, op);
    assert_int_equal(MXNDArrayFree(handle), 0);
}

static void the_hook_is_told_of_each_operator(void **state)
{
    (void)state;
    CachedOpHandle op = cached("[[3, 0, 0]]", 0, NULL, NULL);
    NDArrayHandle inputs[] = {array(x_values), array(w_values)}, *outputs = NULL;
    int count = 0;
    assert_int_equal(MXCachedOpRegisterOpHook(op, note, false), 0);
    told[0] = '\0';
    assert_int_equal(call(op, inputs, 2, &count, &outputs), 0);
    assert_string_equal(told, "product_output:dot act_output:relu ");
    free_all(outputs, 1);
    assert_int_equal(MXCachedOpRegisterOpHook(op, note, true), 0);
    told[0] = '\0';
    outputs = NULL;
    assert_int_equal(call(op, inputs, 2, &count, &outputs), 0);
    assert_string_equal(told, "product_lhs:dot product_rhs:dot product_output:dot act_input0:relu "
                              "act_output:relu ");
    free_all(outputs, 1);
    free_all(inputs, 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

static void the_network_is_handed_out(void **state)
{
    (void)state;
    CachedOpHandle op = cached("[[5, 0, 0]]", 0, NULL, NULL);
    SymbolHandle symbol = NULL;
    mx_uint count;
    const char **names;
    assert_int_equal(MXCachedOpGetOptimizedSymbol(op, &symbol), 0);
    assert_int_equal(MXFreeCachedOp(op), 0);
    assert_int_equal(MXSymbolListOutputs(symbol, &count, &names), 0);
    assert_string_equal(names[0], "sum_output");
    assert_int_equal(MXSymbolFree(symbol), 0);
}

// ---- what is refused --------------------------------------------------------------------------
static void assert_flag_refused(const char *key, const char *value, const char *part)
{
    SymbolHandle symbol = network("[[5, 0, 0]]");
    CachedOpHandle op = NULL;
    assert_refused(MXCreateCachedOpEX(symbol, 1, &key, &value, &op, false), part);
    assert_refused(MXCreateCachedOpEx(symbol, 1, &key, &value, &op), part);
    assert_null(op);
    assert_int_equal(MXSymbolFree(symbol), 0);
}

static void wrong_flags_are_refused(void **state)
{
    (void)state;
    assert_flag_refused("static_aloc", "1", "Cannot find argument 'static_aloc'");
    assert_flag_refused("static_alloc", "2", "for static_alloc expect boolean but value='2'");
    assert_flag_refused("inline_limit", "many",
                        "for inline_limit expect int (non-negative) but value='many'");
    assert_flag_refused("inline_limit", "-1", "but value='-1'");
    assert_flag_refused("forward_bulk_size", "99999999999", "but value='99999999999'");
    assert_flag_refused("data_indices", "[0, x]", "for data_indices expect tuple of <int>");
    assert_flag_refused("data_indices", "[0", "but value='[0'");
    SymbolHandle symbol = network("[[5, 0, 0]]");
    CachedOpHandle op = NULL;
    assert_refused(MXCreateCachedOp(symbol, -1, NULL, NULL, &op, false), "cannot be negative");
    assert_refused(MXCreateCachedOp(symbol, 1, NULL, NULL, &op, false), "keys");
    assert_refused(MXCreateCachedOp(symbol, 0, NULL, NULL, NULL, false), "out");
    assert_refused(MXCreateCachedOp(NULL, 0, NULL, NULL, &op, false), "null handle");
    assert_int_equal(MXSymbolFree(symbol), 0);
}

static void an_operator_without_inputs_is_refused(void **state)
{
    (void)state;
    OpHandle relu = NULL;
    SymbolHandle symbol = NULL;
    CachedOpHandle op = NULL;
    assert_int_equal(NNGetOpHandle("relu", &relu), 0);
    assert_int_equal(MXSymbolCreateAtomicSymbol(relu, 0, NULL, NULL, &symbol), 0);
    assert_refused(MXCreateCachedOp(symbol, 0, NULL, NULL, &op, false), "has not been composed");
    assert_int_equal(MXSymbolFree(symbol), 0);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    CachedOpHandle op = cached("[[5, 0, 0]]", 0, NULL, NULL);
    NDArrayHandle inputs[] = {array(x_values), array(w_values)}, *outputs = NULL;
    NDArrayHandle other[] = {inputs[0], array_on(w_values, 1)};
    int count = 0;
    assert_refused(call(op, inputs, 1, &count, &outputs), "1 given, 2 expected");
    assert_refused(call(op, inputs, -1, &count, &outputs), "cannot be negative");
    assert_refused(call(op, NULL, 2, &count, &outputs), "inputs");
    assert_refused(call(op, other, 2, &count, &outputs), "But x is on cpu(0) while w is on cpu(1)");
    assert_refused(call(op, inputs, 2, NULL, &outputs), "num_outputs");
    assert_refused(call(op, inputs, 2, &count, NULL), "outputs");
    outputs = inputs;
    count = 2;
    assert_refused(call(op, inputs, 2, &count, &outputs), "has 1 outputs, but got 2");
    free_all((NDArrayHandle[]){inputs[0], inputs[1], other[1]}, 3);
    assert_int_equal(MXFreeCachedOp(op), 0);
    assert_refused(MXFreeCachedOp(op), "has been freed");
    assert_refused(call(op, NULL, 0, &count, &outputs), "has been freed");
    assert_refused(MXCachedOpRegisterOpHook(op, NULL, false), "has been freed");
}

static void static_shapes_want_static_memory(void **state)
{
    (void)state;
    const char *key = "static_shape", *value = "1";
    CachedOpHandle op = cached("[[5, 0, 0]]", 1, &key, &value);
    NDArrayHandle inputs[] = {array(x_values), array(w_values)}, *outputs = NULL;
    int count = 0;
    assert_refused(call(op, inputs, 2, &count, &outputs),
                   "static_alloc must be True when static_shape is True");
    free_all(inputs, 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

static void an_operator_that_does_not_fit_is_named(void **state)
{
    (void)state;
    const mx_uint shape[] = {3, 3};
    CachedOpHandle op = cached("[[5, 0, 0]]", 0, NULL, NULL);
    NDArrayHandle inputs[] = {array(x_values), NULL}, *outputs = NULL;
    int count = 0;
    assert_int_equal(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, &inputs[1]), 0);
    assert_refused(call(op, inputs, 2, &count, &outputs), "Error in operator product:");
    assert_null(outputs);
    free_all(inputs, 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_gives_what_its_operators_give),
        cmocka_unit_test(outputs_that_are_given_are_written),
        cmocka_unit_test(gradients_go_through_a_call),
        cmocka_unit_test(the_hook_is_told_of_each_operator),
        cmocka_unit_test(the_network_is_handed_out),
        cmocka_unit_test(wrong_flags_are_refused),
        cmocka_unit_test(an_operator_without_inputs_is_refused),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(static_shapes_want_static_memory),
        cmocka_unit_test(an_operator_that_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
