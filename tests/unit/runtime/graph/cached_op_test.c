// SPDX-License-Identifier: Apache-2.0
// Cached operators: values and gradients against the same operators run one by one, and records.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum { VARIABLES = 7, MOST = 64 };

// The network: a dense layer, normalized, with a shortcut, and the sum of the dense layer.
static const char *const variables[VARIABLES] = {"x",    "fc_weight", "fc_bias", "bn_gamma",
                                                 "beta", "mean",      "var"};
static const mx_uint sizes[VARIABLES][2] = {{4, 5}, {3, 5}, {3}, {3}, {3}, {3}, {3}};

typedef struct member {
    const char *op, *key, *value;
    int inputs[5], count;  // variables, then results of members before
} member;

static const member members[] = {
    {"FullyConnected", "num_hidden", "3", {0, 1, 2}, 3},
    {"BatchNorm", "fix_gamma", "False", {7, 3, 4, 5, 6}, 5},
    {"Activation", "act_type", "relu", {8}, 1},
    {"elemwise_add", NULL, NULL, {9, 7}, 2},
    {"sum", NULL, NULL, {7}, 1},
};
enum { MEMBERS = sizeof members / sizeof *members, OUTPUTS = 2 };
static const int results[OUTPUTS] = {10, 11};

static void must(int result)
{
    if (result != 0) {
        fail_msg("%s", MXGetLastError());
    }
}

static OpHandle creator_of(const char *name)
{
    OpHandle op = NULL;
    must(NNGetOpHandle(name, &op));
    return op;
}

// ---- arrays -----------------------------------------------------------------------------------
typedef struct arrays {
    NDArrayHandle values[VARIABLES], gradients[VARIABLES];
} arrays;

static int size_of(int variable)
{
    return (int)(sizes[variable][0] * (sizes[variable][1] != 0 ? sizes[variable][1] : 1));
}

static NDArrayHandle make(int variable, bool zeros)
{
    NDArrayHandle array = NULL;
    float values[MOST];
    must(MXNDArrayCreate(sizes[variable], sizes[variable][1] != 0 ? 2 : 1, 1, 0, 0, 0, &array));
    for (int i = 0; i < size_of(variable); i++) {
        values[i] = zeros ? 0.0F : (float)((i * 7 + variable * 5) % 13) / 8 - 0.5F;
    }
    must(MXNDArraySyncCopyFromCPU(array, values, (size_t)size_of(variable)));
    return array;
}

// With gradients for all but the auxiliary states.
static arrays make_arrays(void)
{
    arrays made = {{NULL}, {NULL}};
    mx_uint write = 1;
    for (int i = 0; i < VARIABLES; i++) {
        made.values[i] = make(i, i == 5);
        made.gradients[i] = make(i, true);
        if (i < 5) {
            must(MXAutogradMarkVariables(1, &made.values[i], &write, &made.gradients[i]));
        }
    }
    return made;
}

static void free_arrays(const arrays *a)
{
    for (int i = 0; i < VARIABLES; i++) {
        must(MXNDArrayFree(a->values[i]));
        must(MXNDArrayFree(a->gradients[i]));
    }
}

static void assert_same(NDArrayHandle is, NDArrayHandle expected, int count)
{
    float a[MOST], b[MOST];
    must(MXNDArraySyncCopyToCPU(is, a, (size_t)count));
    must(MXNDArraySyncCopyToCPU(expected, b, (size_t)count));
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

// ---- the two ways -----------------------------------------------------------------------------
static void run_one_by_one(const arrays *a, NDArrayHandle *outputs)
{
    NDArrayHandle all[VARIABLES + MEMBERS], inputs[5];
    memcpy(all, a->values, sizeof a->values);
    for (int i = 0; i < MEMBERS; i++) {
        const member *m = &members[i];
        NDArrayHandle *made = NULL;
        int count = 0;
        const char *key = m->key, *value = m->value;
        for (int j = 0; j < m->count; j++) {
            inputs[j] = all[m->inputs[j]];
        }
        must(MXImperativeInvoke(creator_of(m->op), m->count, inputs, &count, &made, key != NULL,
                                &key, &value, NULL));
        all[VARIABLES + i] = made[0];
    }
    for (int i = 0; i < OUTPUTS; i++) {
        must(MXShallowCopyNDArray(all[results[i]], &outputs[i]));
    }
    for (int i = 0; i < MEMBERS; i++) {
        must(MXNDArrayFree(all[VARIABLES + i]));
    }
}

static SymbolHandle network(void)
{
    SymbolHandle all[VARIABLES + MEMBERS], inputs[5], group, made[OUTPUTS];
    const char *names[MEMBERS] = {"fc", "bn", "relu", "add", "total"};
    for (int i = 0; i < VARIABLES; i++) {
        must(MXSymbolCreateVariable(variables[i], &all[i]));
    }
    for (int i = 0; i < MEMBERS; i++) {
        const member *m = &members[i];
        const char *key = m->key, *value = m->value;
        SymbolHandle *symbol = &all[VARIABLES + i];
        for (int j = 0; j < m->count; j++) {
            inputs[j] = all[m->inputs[j]];
        }
        must(MXSymbolCreateAtomicSymbol(creator_of(m->op), key != NULL, &key, &value, symbol));
        must(MXSymbolCompose(*symbol, names[i], (mx_uint)m->count, NULL, inputs));
    }
    for (int i = 0; i < OUTPUTS; i++) {
        made[i] = all[results[i]];
    }
    must(MXSymbolCreateGroup(OUTPUTS, made, &group));
    for (int i = 0; i < VARIABLES + MEMBERS; i++) {
        must(MXSymbolFree(all[i]));
    }
    return group;
}

static CachedOpHandle cached(int count, const char **keys, const char **values)
{
    SymbolHandle symbol = network();
    CachedOpHandle op = NULL;
    must(MXCreateCachedOp(symbol, count, keys, values, &op, false));
    must(MXSymbolFree(symbol));
    return op;
}

static void call(CachedOpHandle op, const arrays *a, NDArrayHandle *outputs)
{
    NDArrayHandle inputs[VARIABLES], *made = NULL;
    int count = 0;
    memcpy(inputs, a->values, sizeof inputs);
    must(MXInvokeCachedOp(op, VARIABLES, inputs, 1, 0, &count, &made, NULL));
    assert_int_equal(count, OUTPUTS);
    memcpy(outputs, made, OUTPUTS * sizeof *outputs);
}

static void free_outputs(NDArrayHandle *outputs)
{
    for (int i = 0; i < OUTPUTS; i++) {
        must(MXNDArrayFree(outputs[i]));
    }
}

static const int output_sizes[OUTPUTS] = {12, 1};

static void record(bool on)
{
    must(MXAutogradSetIsRecording(on, NULL));
    must(MXAutogradSetIsTraining(on, NULL));
}

// ---- values -----------------------------------------------------------------------------------
static void assert_as_one_by_one(int count, const char **keys, const char **values, bool train)
{
    CachedOpHandle op = cached(count, keys, values);
    arrays a = make_arrays(), b = make_arrays();
    NDArrayHandle is[OUTPUTS], expected[OUTPUTS];
    for (int step = 0; step < 3; step++) {
        record(train);
        call(op, &a, is);
        run_one_by_one(&b, expected);
        record(false);
        if (train) {
            must(MXAutogradBackward(OUTPUTS, is, NULL, 0));
            must(MXAutogradBackward(OUTPUTS, expected, NULL, 0));
        }
        for (int i = 0; i < OUTPUTS; i++) {
            assert_same(is[i], expected[i], output_sizes[i]);
        }
        for (int i = 0; i < VARIABLES; i++) {
            assert_same(a.values[i], b.values[i], size_of(i));
            assert_same(a.gradients[i], b.gradients[i], size_of(i));
        }
        free_outputs(is);
        free_outputs(expected);
    }
    free_arrays(&a);
    free_arrays(&b);
    must(MXFreeCachedOp(op));
}

static void values_gradients_and_states_are_those_of_the_operators_by_themselves(void **state)
{
    (void)state;
    const char *keys[] = {"static_alloc", "static_shape", "forward_bulk_size"},
               *values[] = {"True", "True", "2"};
    for (int count = 0; count <= 3; count++) {
        assert_as_one_by_one(count, keys, values, false);
        assert_as_one_by_one(count, keys, values, true);
    }
}

static void a_network_that_is_made_ready_adds_nothing_to_the_line_of_the_last_error(void **state)
{
    (void)state;
    const char *keys[] = {"static_alloc", "static_shape"}, *values[] = {"True", "True"};
    OpHandle none = NULL;
    assert_int_equal(NNGetOpHandle("nonsense", &none), -1);
    char line[256];
    snprintf(line, sizeof line, "%s", MXGetLastError());
    assert_string_not_equal(line, "");
    assert_as_one_by_one(2, keys, values, true);
    assert_string_equal(MXGetLastError(), line);
}

// square(x), -x and x itself.
static CachedOpHandle three_of_x(void)
{
    SymbolHandle parts[3], all;
    CachedOpHandle op = NULL;
    must(MXSymbolCreateVariable("x", &parts[2]));
    for (int i = 0; i < 2; i++) {
        OpHandle creator = creator_of(i == 0 ? "square" : "negative");
        must(MXSymbolCreateAtomicSymbol(creator, 0, NULL, NULL, &parts[i]));
        must(MXSymbolCompose(parts[i], "n", 1, NULL, &parts[2]));
    }
    must(MXSymbolCreateGroup(3, parts, &all));
    must(MXCreateCachedOpEx(all, 0, NULL, NULL, &op));
    for (int i = 0; i < 3; i++) {
        must(MXSymbolFree(parts[i]));
    }
    must(MXSymbolFree(all));
    return op;
}

static void given_outputs_are_written_also_where_they_are_inputs(void **state)
{
    (void)state;
    CachedOpHandle op = three_of_x();
    NDArrayHandle x = make(2, false), none = NULL;
    must(MXNDArrayCreateNone(&none));
    NDArrayHandle given[] = {x, none, make(2, true)}, *list = given;
    float before[3], after[3][3];
    int count = 3;
    must(MXNDArraySyncCopyToCPU(x, before, 3));
    must(MXInvokeCachedOpEx(op, 1, &x, &count, &list, NULL));
    assert_ptr_equal(list, given);
    for (int i = 0; i < 3; i++) {
        must(MXNDArraySyncCopyToCPU(given[i], after[i], 3));
        must(MXNDArrayFree(given[i]));
    }
    for (int i = 0; i < 3; i++) {
        assert_true(after[0][i] == before[i] * before[i]);
        assert_true(after[1][i] == -before[i]);
        assert_true(after[2][i] == before[i]);
    }
    must(MXFreeCachedOp(op));
}

static void inputs_that_are_outputs_change_places(void **state)
{
    (void)state;
    SymbolHandle parts[2], all;
    CachedOpHandle op = NULL;
    must(MXSymbolCreateVariable("y", &parts[0]));
    must(MXSymbolCreateVariable("x", &parts[1]));
    must(MXSymbolCreateGroup(2, parts, &all));
    must(MXCreateCachedOpEx(all, 0, NULL, NULL, &op));
    NDArrayHandle inputs[] = {make(2, false), make(2, true)};
    NDArrayHandle given[] = {inputs[1], inputs[0]}, *list = given;
    float before[3], after[2][3];
    int count = 2;
    must(MXNDArraySyncCopyToCPU(inputs[0], before, 3));
    must(MXInvokeCachedOpEx(op, 2, inputs, &count, &list, NULL));
    for (int i = 0; i < 2; i++) {
        must(MXNDArraySyncCopyToCPU(inputs[i], after[i], 3));
        must(MXNDArrayFree(inputs[i]));
        must(MXSymbolFree(parts[i]));
    }
    for (int i = 0; i < 3; i++) {
        assert_true(after[0][i] == 0 && after[1][i] == before[i]);
    }
    must(MXSymbolFree(all));
    must(MXFreeCachedOp(op));
}

// ---- records ----------------------------------------------------------------------------------
static void assert_counts(const char *bulk, const char *bulks, size_t parents)
{
    CachedOpHandle op = cached(1, &bulk, &bulks);
    arrays a = make_arrays();
    NDArrayHandle outputs[OUTPUTS];
    must(MXNDArrayWaitAll());
    live_events_start(NULL);
    call(op, &a, outputs);
    must(MXNDArrayWaitAll());
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, members[i].op), 1);
    }
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "ImperativeBulk"), parents);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "MXInvokeCachedOp"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "MXImperativeInvoke"), 0);
    live_events_free(&live);
    live_events_stop(NULL);
    free_outputs(outputs);
    free_arrays(&a);
    must(MXFreeCachedOp(op));
}

static void each_operator_is_recorded_once_within_bulks_of_the_size_asked_for(void **state)
{
    (void)state;
    assert_counts("forward_bulk_size", "0", 0);
    assert_counts("forward_bulk_size", "3", 2);
    assert_counts("forward_bulk_size", "100", 1);
    assert_counts("inline_limit", "0", 1);  // 15, as the environment says
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_gradients_and_states_are_those_of_the_operators_by_themselves),
        cmocka_unit_test(a_network_that_is_made_ready_adds_nothing_to_the_line_of_the_last_error),
        cmocka_unit_test(given_outputs_are_written_also_where_they_are_inputs),
        cmocka_unit_test(inputs_that_are_outputs_change_places),
        cmocka_unit_test(each_operator_is_recorded_once_within_bulks_of_the_size_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
