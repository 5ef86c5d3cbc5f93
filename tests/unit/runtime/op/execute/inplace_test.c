// SPDX-License-Identifier: Apache-2.0
// An output that is exactly an input: of every operator that names such pairs each one, and each
// other pair of as many bytes too, has the result that it has elsewhere, to the last bit.
#include <math.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"
#include "runtime/op/registry/declare.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { NUMBERS_MAX = 64, ROWS = 2, COLUMNS = 3 };

// How an operator is called. Without a name: what is tried for one that has no line of its own.
typedef struct sample {
    const char *op;
    const char *const *parameters;
    uint32_t count;  // of inputs, where they are a list
    int dtype;
    int ndim;  // 0: ROWS x COLUMNS
    int64_t dims[3];
} sample;

static const sample any[] = {
    {NULL, NULL, 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("scalar", "1.5"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("a_min", "0.7", "a_max", "1.2"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("lr", "0.1"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("axis", "1"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("shape", "(3,2)"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("newshape", "(3,2)"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("dtype", "int32"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("dtype", "float32"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("fill_value", "3"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("begin", "(0,0)", "end", "(2,3)"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, NULL, 2, MXN_INT32, 0, {0}},
    {NULL, P("scalar", "2"), 2, MXN_INT32, 0, {0}},
    {NULL, NULL, 2, MXN_BOOL, 0, {0}},
    {NULL, P("scalar", "1"), 2, MXN_BOOL, 0, {0}},
    {NULL, P("act_type", "tanh"), 2, MXN_FLOAT32, 0, {0}},
    {NULL, P("lr", "0.1"), 2, MXN_FLOAT16, 0, {0}},
    {NULL, NULL, 2, MXN_FLOAT32, 3, {3, 2, 2}},
};

// Beside those, because other parameters take other ways through the kernel.
static const sample special[] = {
    {"softmax", P("use_length", "True", "axis", "1"), 2, MXN_FLOAT32, 2, {6, 1}},
    {"LeakyReLU", P("act_type", "prelu"), 2, MXN_FLOAT32, 0, {0}},
    {"LeakyReLU", P("act_type", "rrelu"), 1, MXN_FLOAT32, 0, {0}},
    {"_scatter_set_nd", P("shape", "(6,)"), 3, MXN_INT32, 1, {6}},
    {"_slice_assign", P("begin", "(0,0)", "end", "(2,3)"), 2, MXN_FLOAT32, 0, {0}},
    {"multi_sgd_update",
     P("lrs", "(0.1,0.2)", "wds", "(0,0)", "num_weights", "2"),
     4,
     MXN_FLOAT32,
     0,
     {0}},
    {"multi_sgd_update",
     P("lrs", "(0.1,0.2)", "wds", "(0,0)", "num_weights", "2"),
     4,
     MXN_FLOAT64,
     0,
     {0}},
    {"multi_sgd_mom_update",
     P("lrs", "(0.1,0.2)", "wds", "(0,0)", "num_weights", "2", "momentum", "0.9"),
     6,
     MXN_FLOAT32,
     0,
     {0}},
    {"multi_mp_sgd_update",
     P("lrs", "(0.1,0.2)", "wds", "(0,0)", "num_weights", "2"),
     6,
     MXN_FLOAT32,
     0,
     {0}},
    {"multi_mp_sgd_mom_update",
     P("lrs", "(0.1,0.2)", "wds", "(0,0)", "num_weights", "2", "momentum", "0.9"),
     8,
     MXN_FLOAT32,
     0,
     {0}},
    {"preloaded_multi_sgd_update", P("num_weights", "2"), 6, MXN_FLOAT32, 1, {2}},
    {"preloaded_multi_sgd_mom_update", P("num_weights", "2"), 8, MXN_FLOAT32, 1, {2}},
    {"preloaded_multi_mp_sgd_update", P("num_weights", "2"), 8, MXN_FLOAT32, 1, {2}},
    {"preloaded_multi_mp_sgd_mom_update", P("num_weights", "2"), 10, MXN_FLOAT32, 1, {2}},
    {"ftml_update", P("lr", "0.1", "t", "2"), 5, MXN_FLOAT32, 0, {0}},
    {"lamb_update_phase1", P("t", "2", "wd", "0.1"), 4, MXN_FLOAT32, 0, {0}},
    {"mp_lamb_update_phase1", P("t", "2", "wd", "0.1"), 5, MXN_FLOAT32, 0, {0}},
    {"lamb_update_phase2", P("lr", "0.1"), 4, MXN_FLOAT32, 1, {1}},
    {"mp_lamb_update_phase2", P("lr", "0.1"), 5, MXN_FLOAT32, 1, {1}},
    {"_multi_lamb_update",
     P("learning_rates", "(0.1,0.2)", "wds", "(0,0)", "step_count", "(1,2)", "num_tensors", "2"),
     8,
     MXN_FLOAT32,
     0,
     {0}},
    {"_multi_mp_lamb_update",
     P("learning_rates", "(0.1,0.2)", "wds", "(0,0)", "step_count", "(1,2)", "num_tensors", "2"),
     10,
     MXN_FLOAT32,
     0,
     {0}},
    {"multi_lars", P("eta", "0.1", "eps", "0"), 4, MXN_FLOAT32, 0, {0}},
};

typedef struct call {
    mxn_params *params;
    mxn_array *inputs[OP_RUN_MAX], *outputs[OP_RUN_MAX];
} call;

static void release(mxn_array **arrays)
{
    for (int i = 0; i < OP_RUN_MAX; i++) {
        mxn_array_release(arrays[i]);
        arrays[i] = NULL;
    }
}

// New inputs, of the same values each time.
static void fill(call *c, const sample *s)
{
    static const int64_t plain[] = {ROWS, COLUMNS};
    static const double whole[] = {0, 1, 2, 3, 4, 5, 1, 0, 2, 1, 1, 0};
    release(c->inputs);
    release(c->outputs);
    for (uint32_t i = 0; i < c->params->input_count; i++) {
        const bool lengths = i == 1 && c->params->op == mxn_op_find("softmax");
        const bool points = i == 2 && c->params->op == mxn_op_find("_scatter_set_nd");
        const int64_t rows[] = {s->ndim == 0 ? ROWS : s->dims[0]}, list[] = {1, s->dims[0]};
        c->inputs[i] =
            lengths ? op_array(s->dtype, 1, rows, NULL, 7)
            : points
                ? op_array(s->dtype, 2, list, whole, i)
                : op_array(s->dtype, s->ndim == 0 ? 2 : s->ndim, s->ndim == 0 ? plain : s->dims,
                           s->dtype == MXN_INT32 || s->dtype == MXN_BOOL ? whole + i : NULL, i + 1);
    }
    for (uint32_t i = 0; i < c->params->output_count; i++) {
        const bool given = (c->params->op->flags & MXN_OP_BACKWARD) != 0;
        c->outputs[i] = given ? op_array(s->dtype, s->ndim == 0 ? 2 : s->ndim,
                                         s->ndim == 0 ? plain : s->dims, NULL, 90 + i)
                              : NULL;
    }
}

static int run(call *c)
{
    return op_run_params(c->params, c->inputs, c->outputs, MXN_WRITE, false);
}

static void same_results(const call *c, const call *expected, uint32_t output, uint32_t input)
{
    for (uint32_t i = 0; i < c->params->output_count; i++) {
        double is[NUMBERS_MAX], should[NUMBERS_MAX];
        op_values(c->outputs[i], is);
        op_values(expected->outputs[i], should);
        for (uint64_t k = 0; k < mxn_array_size(expected->outputs[i]); k++) {
            if (is[k] != should[k] && !(isnan(is[k]) && isnan(should[k]))) {
                fail_msg("%s with output %u in input %u: element %u of output %u is %.9g, not %.9g",
                         c->params->op->name, output, input, (unsigned)k, i, is[k], should[k]);
            }
        }
    }
}

static bool as_large(const mxn_array *a, const mxn_array *b)
{
    return a->dtype == b->dtype && mxn_array_size(a) == mxn_array_size(b);
}

static uint32_t run_pair(call *c, const sample *s, const call *expected, uint32_t output,
                         uint32_t input)
{
    const mxn_array *out = expected->outputs[output];
    if (mxn_params_mutates(c->params, input) || !as_large(out, expected->inputs[input])) {
        return 0;
    }
    fill(c, s);
    mxn_array_release(c->outputs[output]);
    assert_int_equal(mxn_array_reshape(c->inputs[input], out->shape.ndim, out->shape.dims, false,
                                       &c->outputs[output]),
                     MXP_OK);
    assert_int_equal(run(c), MXP_OK);
    same_results(c, expected, output, input);
    return mxn_params_inplace(c->params, output, input) ? 1 : 0;
}

// How many of the named pairs were run.
static uint32_t run_pairs(const char *name, const sample *s)
{
    const char *keys[OP_RUN_MAX], *values[OP_RUN_MAX];
    uint32_t count = 0, run_of_named = 0;
    for (; s->parameters != NULL && s->parameters[2 * count] != NULL; count++) {
        keys[count] = s->parameters[2 * count];
        values[count] = s->parameters[2 * count + 1];
    }
    call c = {0}, expected = {0};
    if (mxn_params_parse(mxn_op_find(name), count, keys, values, s->count, false, &c.params) != 0) {
        return 0;
    }
    expected.params = c.params;
    fill(&expected, s);
    if (run(&expected) == MXP_OK) {
        for (uint32_t o = 0; o < c.params->output_count; o++) {
            for (uint32_t i = 0; i < c.params->input_count; i++) {
                run_of_named += run_pair(&c, s, &expected, o, i);
            }
        }
    }
    release(c.inputs);
    release(c.outputs);
    release(expected.inputs);
    release(expected.outputs);
    mxn_params_release(c.params);
    return run_of_named;
}

static void each_operator_with_pairs_computes_the_same_in_place(void **state)
{
    (void)state;
    const mxn_op *ops;
    const uint32_t count = mxn_op_list(&ops);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].def->inplace == 0 && ops[i].def->inplace_of == NULL) {
            continue;
        }
        uint32_t pairs = 0;
        for (size_t k = 0; k < sizeof any / sizeof any[0]; k++) {
            pairs += run_pairs(ops[i].name, &any[k]);
        }
        for (size_t k = 0; k < sizeof special / sizeof special[0]; k++) {
            pairs +=
                strcmp(special[k].op, ops[i].name) == 0 ? run_pairs(ops[i].name, &special[k]) : 0;
        }
        if (pairs == 0) {
            print_error("%s: no call runs it in place: give it a line\n", ops[i].name);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

static void each_special_call_has_a_pair(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof special / sizeof special[0]; k++) {
        if (run_pairs(special[k].op, &special[k]) == 0) {
            fail_msg("%s (%u): %s", special[k].op, (unsigned)k, mxp_last_error());
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_special_call_has_a_pair),
        cmocka_unit_test(each_operator_with_pairs_computes_the_same_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
