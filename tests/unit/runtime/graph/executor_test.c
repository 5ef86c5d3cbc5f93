// SPDX-License-Identifier: Apache-2.0
// Executors: values, gradients and auxiliary states against the same operators run one by one under
// autograd, requests, and what they refuse.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS = 5, STATES = 2, VARIABLES = ARGUMENTS + STATES, MOST = 32 };

// relu(batch norm(dense(x))): arguments first, then auxiliary states.
static const char *const names[VARIABLES] = {"x", "weight", "bias", "gamma", "beta", "mean", "var"};
static const mx_uint sizes[VARIABLES][2] = {{4, 5}, {3, 5}, {3}, {3}, {3}, {3}, {3}};

static void must(int result)
{
    if (result != 0) {
        fail_msg("%s", MXGetLastError());
    }
}

static void assert_refused(int result, const char *part)
{
    assert_int_equal(result, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, MXGetLastError());
    }
}

// ---- arrays -----------------------------------------------------------------------------------
static int size_of(int variable)
{
    return (int)(sizes[variable][0] * (sizes[variable][1] != 0 ? sizes[variable][1] : 1));
}

static NDArrayHandle make_on(int variable, bool zeros, int device)
{
    NDArrayHandle array = NULL;
    float values[MOST];
    must(
        MXNDArrayCreate(sizes[variable], sizes[variable][1] != 0 ? 2 : 1, 1, device, 0, 0, &array));
    for (int i = 0; i < size_of(variable); i++) {
        values[i] = zeros ? 0.0F : (float)((i * 7 + variable * 5) % 13) / 8 - 0.25F;
    }
    must(MXNDArraySyncCopyFromCPU(array, values, (size_t)size_of(variable)));
    return array;
}

static NDArrayHandle make(int variable, bool zeros)
{
    return make_on(variable, zeros, 0);
}

static void assert_same(NDArrayHandle is, NDArrayHandle expected, int count)
{
    float a[MOST], b[MOST];
    must(MXNDArraySyncCopyToCPU(is, a, (size_t)count));
    must(MXNDArraySyncCopyToCPU(expected, b, (size_t)count));
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

typedef struct arrays {
    NDArrayHandle values[VARIABLES], gradients[ARGUMENTS];
} arrays;

static arrays make_arrays(void)
{
    arrays made;
    for (int i = 0; i < VARIABLES; i++) {
        made.values[i] = make(i, false);
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        made.gradients[i] = make(i, true);
    }
    return made;
}

static void free_arrays(const arrays *a)
{
    for (int i = 0; i < VARIABLES; i++) {
        must(MXNDArrayFree(a->values[i]));
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        must(MXNDArrayFree(a->gradients[i]));
    }
}

// ---- the network ------------------------------------------------------------------------------
static const char *const ops[] = {"FullyConnected", "BatchNorm", "Activation"},
                         *const keys[] = {"num_hidden", "fix_gamma", "act_type"},
                         *const values[] = {"3", "False", "relu"};
static const int takes[] = {3, 5, 1}, first_taken[] = {1, 3, 0};

static SymbolHandle network(void)
{
    SymbolHandle variables[VARIABLES], layers[3];
    for (int i = 0; i < VARIABLES; i++) {
        must(MXSymbolCreateVariable(names[i], &variables[i]));
    }
    for (int i = 0; i < 3; i++) {
        OpHandle op = NULL;
        const char *key = keys[i], *value = values[i];
        SymbolHandle inputs[5] = {i == 0 ? variables[0] : layers[i - 1]};
        for (int j = 1; j < takes[i]; j++) {
            inputs[j] = variables[first_taken[i] + j - 1];
        }
        must(NNGetOpHandle(ops[i], &op));
        must(MXSymbolCreateAtomicSymbol(op, 1, &key, &value, &layers[i]));
        must(MXSymbolCompose(layers[i], keys[i], (mx_uint)takes[i], NULL, inputs));
    }
    for (int i = 0; i < VARIABLES; i++) {
        must(MXSymbolFree(variables[i]));
    }
    must(MXSymbolFree(layers[0]));
    must(MXSymbolFree(layers[1]));
    return layers[2];
}

static NDArrayHandle run_one_by_one(const arrays *a)
{
    NDArrayHandle last = a->values[0];
    for (int i = 0; i < 3; i++) {
        OpHandle op = NULL;
        const char *key = keys[i], *value = values[i];
        NDArrayHandle inputs[5] = {last}, *made = NULL;
        int count = 0;
        for (int j = 1; j < takes[i]; j++) {
            inputs[j] = a->values[first_taken[i] + j - 1];
        }
        must(NNGetOpHandle(ops[i], &op));
        must(MXImperativeInvoke(op, takes[i], inputs, &count, &made, 1, &key, &value, NULL));
        if (i > 0) {
            must(MXNDArrayFree(last));
        }
        last = made[0];
    }
    return last;
}

static int bind_to(arrays *a, mx_uint *requests, ExecutorHandle *executor)
{
    SymbolHandle symbol = network();
    int result =
        MXExecutorBindEX(symbol, 1, 0, 0, NULL, NULL, NULL, ARGUMENTS, a->values, a->gradients,
                         requests, STATES, a->values + ARGUMENTS, NULL, executor);
    must(MXSymbolFree(symbol));
    return result;
}

static NDArrayHandle output_of(ExecutorHandle executor)
{
    mx_uint count = 0;
    NDArrayHandle *outputs = NULL;
    must(MXExecutorOutputs(executor, &count, &outputs));
    assert_int_equal(count, 1);
    return outputs[0];
}

static void record(bool on)
{
    must(MXAutogradSetIsRecording(on, NULL));
    must(MXAutogradSetIsTraining(on, NULL));
}

static void mark(arrays *a, mx_uint *requests)
{
    must(MXAutogradMarkVariables(ARGUMENTS, a->values, requests, a->gradients));
}

static void assert_same_arrays(const arrays *a, const arrays *b)
{
    for (int i = 0; i < VARIABLES; i++) {
        assert_same(a->values[i], b->values[i], size_of(i));
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        assert_same(a->gradients[i], b->gradients[i], size_of(i));
    }
}

// ---- what works -------------------------------------------------------------------------------
static void training_gives_what_the_operators_give_under_autograd(void **state)
{
    (void)state;
    mx_uint requests[ARGUMENTS] = {1, 3, 2, 1, 0}, same[ARGUMENTS] = {1, 3, 1, 1, 0};
    arrays a = make_arrays(), b = make_arrays();
    ExecutorHandle executor = NULL;
    must(bind_to(&a, requests, &executor));
    mark(&b, same);
    for (int step = 0; step < 3; step++) {
        must(MXExecutorForward(executor, 1));
        record(true);
        NDArrayHandle expected = run_one_by_one(&b), is = output_of(executor);
        record(false);
        assert_same(is, expected, 12);
        must(step == 0 ? MXExecutorBackward(executor, 0, NULL)
                       : MXExecutorBackwardEx(executor, 1, &is, 1));
        must(MXAutogradBackward(1, &expected, step == 0 ? NULL : &is, 0));
        assert_same_arrays(&a, &b);
        must(MXNDArrayFree(expected));
        must(MXNDArrayFree(is));
    }
    must(MXExecutorFree(executor));
    free_arrays(&a);
    free_arrays(&b);
}

static void prediction_leaves_states_and_sees_new_values_of_the_arrays(void **state)
{
    (void)state;
    mx_uint requests[ARGUMENTS] = {0};
    arrays a = make_arrays(), b = make_arrays();
    ExecutorHandle executor = NULL;
    float ones[20];
    must(bind_to(&a, requests, &executor));
    for (int i = 0; i < 20; i++) {
        ones[i] = 1;
    }
    for (int step = 0; step < 2; step++) {
        must(MXExecutorForward(executor, 0));
        NDArrayHandle is = output_of(executor), expected = run_one_by_one(&b);
        assert_same(is, expected, 12);
        must(MXExecutorBackward(executor, 0, NULL));  // nothing is asked for
        assert_same_arrays(&a, &b);
        must(MXNDArrayFree(is));
        must(MXNDArrayFree(expected));
        must(MXNDArraySyncCopyFromCPU(a.values[0], ones, 20));
        must(MXNDArraySyncCopyFromCPU(b.values[0], ones, 20));
    }
    must(MXExecutorFree(executor));
    free_arrays(&a);
    free_arrays(&b);
}

static void each_backward_of_one_forward_gives_the_same(void **state)
{
    (void)state;
    mx_uint write[ARGUMENTS] = {1, 1, 1, 1, 1};
    arrays a = make_arrays(), b = make_arrays();
    ExecutorHandle executor = NULL, other = NULL;
    must(bind_to(&a, write, &executor));
    must(bind_to(&b, write, &other));
    must(MXExecutorForward(executor, 1));
    must(MXExecutorForward(other, 1));
    must(MXExecutorBackward(executor, 0, NULL));
    must(MXExecutorBackward(executor, 0, NULL));
    must(MXExecutorBackward(other, 0, NULL));
    for (int i = 0; i < ARGUMENTS; i++) {
        assert_same(a.gradients[i], b.gradients[i], size_of(i));
    }
    must(MXExecutorFree(executor));
    must(MXExecutorFree(other));
    free_arrays(&a);
    free_arrays(&b);
}

static char told[512];

static void note(const char *name, NDArrayHandle array, void *handle)
{
    must(MXNDArrayFree(array));
    size_t length = strlen(told);
    snprintf(told + length, sizeof told - length, "%s%s ", name, (const char *)handle);
}

static void monitor_text_and_network_are_those_of_the_symbol(void **state)
{
    (void)state;
    mx_uint requests[ARGUMENTS] = {0}, count;
    arrays a = make_arrays();
    ExecutorHandle executor = NULL;
    SymbolHandle symbol = NULL;
    const char **listed, *text = NULL;
    char mark_text[] = "!";
    must(bind_to(&a, requests, &executor));
    must(MXExecutorSetMonitorCallback(executor, note, mark_text));
    must(MXExecutorForward(executor, 0));
    assert_string_equal(told, "num_hidden_output! fix_gamma_output! act_type_output! ");
    told[0] = '\0';
    must(MXExecutorSetMonitorCallbackEX(executor, note, mark_text, true));
    must(MXExecutorForward(executor, 0));
    assert_non_null(strstr(told, "weight! num_hidden_weight! "));
    assert_non_null(strstr(told, "num_hidden_bias! num_hidden_output! "));
    assert_non_null(strstr(told, "act_type_input0! act_type_output! "));
    must(MXExecutorSetMonitorCallback(executor, NULL, NULL));
    must(MXExecutorPrint(executor, &text));
    assert_non_null(strstr(text, "Op:FullyConnected, Name=num_hidden\n"));
    // MXNet's Module reads the number in the line before the last one.
    assert_non_null(strstr(text, "\nTotal 0 MB allocated\nTotal 0 TempSpace resource requested\n"));
    must(MXExecutorGetOptimizedSymbol(executor, &symbol));
    must(MXSymbolListArguments(symbol, &count, &listed));
    assert_int_equal(count, ARGUMENTS);
    must(MXSymbolFree(symbol));
    must(MXExecutorFree(executor));
    free_arrays(&a);
}

// ---- refusals ---------------------------------------------------------------------------------
static void assert_bind_refused(int place, NDArrayHandle wrong, bool gradient, const char *part)
{
    mx_uint requests[ARGUMENTS] = {1, 1, 1, 1, 1};
    arrays a = make_arrays(), changed = a;
    ExecutorHandle executor = NULL;
    *(gradient ? &changed.gradients[place] : &changed.values[place]) = wrong;
    assert_refused(bind_to(&changed, requests, &executor), part);
    assert_null(executor);
    free_arrays(&a);
    must(MXNDArrayFree(wrong));
}

static void arrays_that_do_not_fit_are_refused_at_bind_by_name(void **state)
{
    (void)state;
    assert_bind_refused(1, make(0, false), false, "Error in operator num_hidden");
    assert_bind_refused(1, make(0, false), true, "weight");
    assert_bind_refused(5, make(0, false), false, "Auxiliary state 0 is float32(4,5)");
    assert_bind_refused(1, make_on(1, false, 1), false,
                        "Input array is in cpu(1) while binding with ctx=cpu(0)");
    NDArrayHandle none = NULL;
    must(MXNDArrayCreateNone(&none));
    assert_bind_refused(2, none, false, "in_args[2]");
}

static void counts_requests_and_groups_are_refused(void **state)
{
    (void)state;
    mx_uint requests[ARGUMENTS] = {1, 1, 4, 1, 1}, good[ARGUMENTS] = {0};
    arrays a = make_arrays();
    ExecutorHandle executor = NULL;
    SymbolHandle symbol = network();
    const char *key = "group";
    const int type = 1, id = 1;
    assert_refused(bind_to(&a, requests, &executor), "grad_req_type[2] is 4");
    assert_refused(MXExecutorBind(symbol, 1, 0, 4, a.values, NULL, NULL, STATES,
                                  a.values + ARGUMENTS, &executor),
                   "4 given, 5 expected");
    assert_refused(MXExecutorBind(symbol, 1, 0, ARGUMENTS, a.values, NULL, NULL, 1,
                                  a.values + ARGUMENTS, &executor),
                   "1 given, 2 expected");
    assert_refused(MXExecutorBindX(symbol, 1, 0, 1, &key, &type, &id, ARGUMENTS, a.values, NULL,
                                   NULL, STATES, a.values + ARGUMENTS, &executor),
                   "group2ctx");
    assert_refused(MXExecutorBind(symbol, 2, 0, ARGUMENTS, a.values, NULL, NULL, STATES,
                                  a.values + ARGUMENTS, &executor),
                   "gpu");
    must(bind_to(&a, good, &executor));
    assert_refused(MXExecutorBackward(executor, 0, NULL), "run forward first");
    must(MXExecutorForward(executor, 1));
    assert_refused(MXExecutorBackward(executor, 2, a.values), "2 head gradients");
    must(MXSymbolFree(symbol));
    must(MXExecutorFree(executor));
    assert_refused(MXExecutorForward(executor, 1), "freed");
    assert_refused(MXExecutorFree(NULL), "null handle");
    free_arrays(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_gives_what_the_operators_give_under_autograd),
        cmocka_unit_test(prediction_leaves_states_and_sees_new_values_of_the_arrays),
        cmocka_unit_test(each_backward_of_one_forward_gives_the_same),
        cmocka_unit_test(monitor_text_and_network_are_those_of_the_symbol),
        cmocka_unit_test(arrays_that_do_not_fit_are_refused_at_bind_by_name),
        cmocka_unit_test(counts_requests_and_groups_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
