// SPDX-License-Identifier: Apache-2.0
// Results of operators against numbers worked out by hand, write requests, memory that outputs
// share with inputs, half precision. Cases are lines of tables.
#include <math.h>
#include <stdlib.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
#define V(...) ((const double[]){__VA_ARGS__})
#define D(...) ((const int64_t[]){__VA_ARGS__})
enum { NUMBERS_MAX = 64, INPUTS_MAX = 6 };

typedef struct array_case {
    int ndim;
    const int64_t *dims;
    const double *values;
} array_case;

typedef struct forward_case {
    const char *op;
    const char *const *parameters;
    uint32_t count;
    array_case inputs[INPUTS_MAX];
    array_case output;
} forward_case;

#define A1(n, ...)              \
    {                           \
        1, D(n), V(__VA_ARGS__) \
    }
#define A2(m, n, ...)              \
    {                              \
        2, D(m, n), V(__VA_ARGS__) \
    }
#define A3(l, m, n, ...)              \
    {                                 \
        3, D(l, m, n), V(__VA_ARGS__) \
    }
#define A4(k, l, m, n, ...)              \
    {                                    \
        4, D(k, l, m, n), V(__VA_ARGS__) \
    }

static const forward_case cases[] = {
#include "forward_cases.def"
};

static void expect_values(const char *what, const mxn_array *array, const array_case *wanted,
                          double tolerance)
{
    double values[NUMBERS_MAX];
    mxn_shape shape;
    char is[MXN_SHAPE_TEXT];
    assert_int_equal(mxn_shape_set(&shape, wanted->ndim, wanted->dims, "test"), 0);
    if (!mxn_shape_equal(&shape, &array->shape)) {
        fail_msg("%s: the result has shape %s", what, mxn_shape_tuple(&array->shape, is));
    }
    op_values(array, values);
    for (uint64_t i = 0; i < mxn_array_size(array); i++) {
        bool same =
            isfinite(wanted->values[i])
                ? fabs(values[i] - wanted->values[i]) <= tolerance * (1 + fabs(wanted->values[i]))
                : values[i] == wanted->values[i] || (isnan(values[i]) && isnan(wanted->values[i]));
        if (!same) {
            fail_msg("%s: element %llu is %.9g, it must be %.9g", what, (unsigned long long)i,
                     values[i], wanted->values[i]);
        }
    }
}

static void run_case(const forward_case *c, int dtype, double tolerance)
{
    mxn_array *inputs[INPUTS_MAX], *outputs[OP_RUN_MAX] = {NULL};
    for (uint32_t i = 0; i < c->count; i++) {
        const array_case *in = &c->inputs[i];
        inputs[i] = op_array(dtype, in->ndim, in->dims, in->values, 0);
    }
    const mxn_op *op = mxn_op_find(c->op);
    if (op != NULL && (op->flags & MXN_OP_BACKWARD) != 0) {
        outputs[0] = op_array(dtype, c->output.ndim, c->output.dims, NULL, 1);
    }
    if (op_run(c->op, c->parameters, c->count, inputs, outputs, MXN_WRITE) != 0) {
        fail_msg("%s: %s", c->op, mxp_last_error());
    }
    expect_values(c->op, outputs[0], &c->output, tolerance);
    for (uint32_t i = 0; i < c->count; i++) {
        mxn_array_release(inputs[i]);
    }
    for (uint32_t i = 0; i < OP_RUN_MAX; i++) {
        mxn_array_release(outputs[i]);
    }
}

static void results_are_those_worked_out_by_hand(void **state)
{
    (void)state;
    static const int dtypes[] = {MXN_FLOAT32, MXN_FLOAT64, MXN_FLOAT16, MXN_BFLOAT16};
    static const double tolerances[] = {1e-6, 1e-12, 2e-3, 1e-2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
            // Creation and comparison make types of their own, which these numbers fit exactly.
            run_case(&cases[i], dtypes[k], tolerances[k]);
        }
    }
}

static void add_request_adds_to_what_is_there(void **state)
{
    (void)state;
    static const int dtypes[] = {MXN_FLOAT32, MXN_FLOAT64, MXN_FLOAT16, MXN_INT32};
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        mxn_array *in = op_array(dtypes[k], 1, D(3), V(1, 2, 3), 0);
        mxn_array *out = op_array(dtypes[k], 1, D(3), V(10, 20, 30), 0);
        assert_int_equal(op_run("square", NULL, 1, &in, &out, MXN_ADD), 0);
        expect_values("square", out, &(array_case)A1(3, 11, 24, 39), 1e-6);
        mxn_array_release(in);
        mxn_array_release(out);
    }
}

static void null_request_writes_nothing(void **state)
{
    (void)state;
    mxn_array *in = op_array(MXN_FLOAT32, 1, D(2), V(4, 9), 0);
    mxn_array *out = op_array(MXN_FLOAT32, 1, D(2), V(7, 8), 0);
    assert_int_equal(op_run("sqrt", NULL, 1, &in, &out, MXN_NULL), 0);
    expect_values("sqrt", out, &(array_case)A1(2, 7, 8), 0);
    mxn_array_release(in);
    mxn_array_release(out);
}

static void output_may_be_an_input(void **state)
{
    (void)state;
    mxn_array *a = op_array(MXN_FLOAT32, 2, D(2, 2), V(1, 2, 3, 4), 0);
    assert_int_equal(op_run("transpose", NULL, 1, &a, &a, MXN_WRITE), 0);
    expect_values("transpose", a, &(array_case)A2(2, 2, 1, 3, 2, 4), 0);
    assert_int_equal(op_run("dot", NULL, 2, (mxn_array *[]){a, a}, &a, MXN_WRITE), 0);
    expect_values("dot", a, &(array_case)A2(2, 2, 7, 15, 10, 22), 0);
    assert_int_equal(op_run("_plus_scalar", P("scalar", "1"), 1, &a, &a, MXN_WRITE), 0);
    expect_values("_plus_scalar", a, &(array_case)A2(2, 2, 8, 16, 11, 23), 0);
    mxn_array_release(a);
}

static void output_may_overlap_an_input(void **state)
{
    (void)state;
    mxn_array *all = op_array(MXN_FLOAT32, 1, D(5), V(1, 2, 3, 4, 5), 0), *front, *back;
    assert_int_equal(mxn_array_slice(all, 0, 4, &front), 0);
    assert_int_equal(mxn_array_slice(all, 1, 5, &back), 0);
    assert_int_equal(op_run("_mul_scalar", P("scalar", "10"), 1, &front, &back, MXN_WRITE), 0);
    expect_values("_mul_scalar", all, &(array_case)A1(5, 1, 10, 20, 30, 40), 0);
    mxn_array_release(front);
    mxn_array_release(back);
    mxn_array_release(all);
}

static void states_of_optimizers_are_written(void **state)
{
    (void)state;
    mxn_array *in[] = {op_array(MXN_FLOAT32, 1, D(2), V(1, 2), 0),
                       op_array(MXN_FLOAT32, 1, D(2), V(10, 20), 0),
                       op_array(MXN_FLOAT32, 1, D(2), V(1, -1), 0)};
    mxn_array *out = in[0];
    const char *const *parameters = P("lr", "0.1", "momentum", "0.5");
    assert_int_equal(op_run("sgd_mom_update", parameters, 3, in, &out, MXN_WRITE), 0);
    expect_values("sgd_mom_update", in[2], &(array_case)A1(2, -0.5, -2.5), 1e-6);
    expect_values("sgd_mom_update", in[0], &(array_case)A1(2, 0.5, -0.5), 1e-6);
    for (int i = 0; i < 3; i++) {
        mxn_array_release(in[i]);
    }
}

static void loss_layer_brings_its_own_gradient(void **state)
{
    (void)state;
    mxn_array *in[] = {op_array(MXN_FLOAT32, 2, D(2, 2), V(0.25, 0.75, 0.5, 0.5), 0),
                       op_array(MXN_FLOAT32, 1, D(2), V(1, 0), 0)};
    mxn_array *out = op_array(MXN_FLOAT32, 2, D(2, 2), V(9, 9, 9, 9), 0);
    const char *const *parameters = P("grad_scale", "2", "normalization", "batch");
    assert_int_equal(op_run("_backward_SoftmaxOutput", parameters, 2, in, &out, MXN_WRITE), 0);
    expect_values("_backward_SoftmaxOutput", out, &(array_case)A2(2, 2, 0.25, -0.25, -0.5, 0.5),
                  1e-6);
    const char *const *ignoring =
        P("use_ignore", "True", "ignore_label", "1", "normalization", "valid");
    assert_int_equal(op_run("_backward_SoftmaxOutput", ignoring, 2, in, &out, MXN_WRITE), 0);
    expect_values("_backward_SoftmaxOutput", out, &(array_case)A2(2, 2, 0, 0, -0.5, 0.5), 1e-6);
    mxn_array_release(in[0]);
    mxn_array_release(in[1]);
    mxn_array_release(out);
}

static void dropped_elements_are_zero_and_the_mean_stays(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    mxn_array *in, *outputs[2] = {NULL, NULL};
    mxn_array *none = NULL;
    assert_int_equal(op_run("_ones", P("shape", "(20000,)"), 0, &none, &outputs[0], MXN_WRITE), 0);
    in = outputs[0];
    outputs[0] = NULL;
    assert_int_equal(op_run("Dropout", P("p", "0.25"), 1, &in, outputs, MXN_WRITE), 0);
    double *values = malloc(COUNT * sizeof *values), sum = 0;
    op_values(outputs[0], values);
    for (int i = 0; i < COUNT; i++) {
        assert_true(values[i] == 0 || fabs(values[i] - 4.0 / 3) < 1e-6);
        sum += values[i] / COUNT;
    }
    assert_true(fabs(sum - 1) < 0.03);
    free(values);
    mxn_array_release(in);
    mxn_array_release(outputs[0]);
    mxn_array_release(outputs[1]);
}

static void random_numbers_have_the_moments_asked_for(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    const struct {
        const char *op;
        const char *const *parameters;
        double mean, variance, least, most;
    } draws[] = {
        {"_random_uniform", P("low", "2", "high", "6", "shape", "20000"), 4, 16.0 / 12, 2, 6},
        {"_random_normal", P("loc", "1", "scale", "2", "shape", "(20000,)"), 1, 4, -20, 20},
        {"_npi_uniform", P("low", "0", "high", "1", "size", "20000"), 0.5, 1.0 / 12, 0, 1},
        {"_npi_normal", P("loc", "0", "scale", "1", "size", "(20000,)"), 0, 1, -10, 10},
        {"_random_randint", P("low", "-3", "high", "7", "shape", "20000"), 1.5, 8.25, -3, 6},
    };
    double *values = malloc(COUNT * sizeof *values);
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        mxn_array *out = NULL, *none = NULL;
        assert_int_equal(op_run(draws[i].op, draws[i].parameters, 0, &none, &out, MXN_WRITE), 0);
        double sum = 0, squares = 0;
        op_values(out, values);
        for (int k = 0; k < COUNT; k++) {
            assert_true(values[k] >= draws[i].least && values[k] <= draws[i].most);
            sum += values[k] / COUNT;
            squares += (values[k] - draws[i].mean) * (values[k] - draws[i].mean) / COUNT;
        }
        // Five standard deviations of the mean, a tenth of the variance.
        assert_true(fabs(sum - draws[i].mean) < 5 * sqrt(draws[i].variance / COUNT));
        assert_true(fabs(squares - draws[i].variance) < 0.1 * draws[i].variance);
        mxn_array_release(out);
    }
    free(values);
}

static mxn_params *parsed(const char *name, const char *key, const char *value)
{
    const mxn_op *op;
    mxn_params *params;
    assert_int_equal(mxn_op_require(name, &op), 0);
    assert_true((op->flags & MXN_OP_DIRECT) != 0);
    assert_int_equal(mxn_params_parse(op, key == NULL ? 0 : 1, &key, &value, 1, false, &params), 0);
    return params;
}

static void direct_operators_copy_and_fill(void **state)
{
    (void)state;
    mxn_array *from = op_array(MXN_FLOAT32, 1, D(2), V(1.5, 2.5), 0), *to;
    mxn_params *copy = parsed("_copyto", NULL, NULL), *set = parsed("_set_value", "src", "3.5");
    assert_int_equal(mxn_array_new_none(&to), 0);
    const mxn_direct_call sets = {.params = set, .outputs = &to};
    const mxn_direct_call copies = {.params = copy, .inputs = &from, .outputs = &to};
    assert_int_equal(mxn_op_direct(&sets), MXP_EINVAL);
    assert_int_equal(mxn_op_direct(&copies), 0);
    expect_values("_copyto", to, &(array_case)A1(2, 1.5, 2.5), 0);
    assert_int_equal(mxn_op_direct(&sets), 0);
    expect_values("_set_value", to, &(array_case)A1(2, 3.5, 3.5), 0);
    mxn_params_release(copy);
    mxn_params_release(set);
    mxn_array_release(from);
    mxn_array_release(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_worked_out_by_hand),
        cmocka_unit_test(add_request_adds_to_what_is_there),
        cmocka_unit_test(null_request_writes_nothing),
        cmocka_unit_test(output_may_be_an_input),
        cmocka_unit_test(output_may_overlap_an_input),
        cmocka_unit_test(states_of_optimizers_are_written),
        cmocka_unit_test(loss_layer_brings_its_own_gradient),
        cmocka_unit_test(dropped_elements_are_zero_and_the_mean_stays),
        cmocka_unit_test(direct_operators_copy_and_fill),
        cmocka_unit_test(random_numbers_have_the_moments_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
