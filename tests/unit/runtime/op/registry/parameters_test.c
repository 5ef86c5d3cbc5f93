// SPDX-License-Identifier: Apache-2.0
// Parameters from text: what is accepted, and that everything else is an error that names operator,
// argument and value. Shapes that do not fit, too.
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
#define D(...) ((const int64_t[]){__VA_ARGS__})

static void expect_text(const char *text)
{
    if (strstr(mxp_last_error(), text) == NULL) {
        fail_msg("the error says\n%s\nwithout '%s'", mxp_last_error(), text);
    }
}

// Of an operator on one vector of three.
static int run_one(const char *op, const char *const *parameters)
{
    mxn_array *in = op_array(MXN_FLOAT32, 1, D(3), NULL, 1), *outputs[OP_RUN_MAX] = {NULL};
    int error = op_run(op, parameters, 1, &in, outputs, MXN_WRITE);
    mxn_array_release(in);
    for (uint32_t i = 0; i < OP_RUN_MAX; i++) {
        mxn_array_release(outputs[i]);
    }
    return error;
}

static void ill_typed_values_name_operator_argument_and_value(void **state)
{
    (void)state;
    const struct {
        const char *op;
        const char *const *parameters;
        const char *texts[3];
    } cases[] = {
        {"_plus_scalar", P("scalar", "x"), {"scalar", "expect double", "value='x'"}},
        {"_plus_scalar", P("scalar", ""), {"expect double but value=''", "_plus_scalar", ""}},
        {"_plus_scalar", P("scalar", "1x"), {"trailing characters", "'x'", "_plus_scalar"}},
        {"_plus_scalar", P("is_int", "2"), {"expect boolean but value='2'", "is_int", ""}},
        {"_plus_scalar", P("is_int", "yes"), {"expect boolean", "'yes'", ""}},
        {"expand_dims", P("axis", "1.5"), {"trailing characters", "'.5'", "expand_dims"}},
        {"expand_dims", P("axis", "99999999999"), {"Out of range value for axis", "9999", ""}},
        {"smooth_l1", P("scalar", "1e39"), {"Out of range value for scalar", "1e39", ""}},
        {"Cast",
         P("dtype", "float31"),
         {"Invalid Input: 'float31', valid values are: {'bfloat16'", "dtype", "Cast"}},
        {"Activation", P("act_type", "Relu"), {"Invalid Input: 'Relu'", "'relu'", "Activation"}},
        {"Reshape", P("shape", "(1,"), {"Shape(tuple)", "'(1,'", "Reshape"}},
        {"Reshape", P("shape", "1,2"), {"Shape(tuple)", "'1,2'", ""}},
        {"Reshape", P("shape", "(1 2)"), {"Shape(tuple)", "'(1 2)'", ""}},
        {"Reshape", P("shape", "(3,) x"), {"Shape(tuple)", "'(3,) x'", ""}},
        {"Dropout", P("p", "1.5"), {"value 1.5 for Parameter p", "exceed bound [0,1]", "Dropout"}},
        {"Dropout", P("p", "nan"), {"value nan for Parameter p", "exceed bound [0,1]", ""}},
        {"FullyConnected",
         P("num_hidden", "0"),
         {"value 0 for Parameter num_hidden should be greater equal to 1", "", ""}},
        {"_npi_eye",
         P("N", "-1"),
         {"value -1 for Parameter N should be greater equal to 0", "", ""}},
        {"_zeros", P("shape", "(1,)", "ctx", "tpu(0)"), {"context string 'tpu(0)'", "_zeros", ""}},
        {"_zeros", P("shape", "(1,)", "ctx", "gpu(0)"), {"gpu(0)", "", ""}},
        {"softmax", P("temperature", "0"), {"temperature=0", "softmax", ""}},
        {"multi_sgd_update", P("lrs", "(1, 2)", "wds", "0"), {"num_weights=1", "2 lrs", "1 wds"}},
        {"_arange", P("start", "1", "stop", "2", "step", "0"), {"step=0", "_arange", ""}},
        {"slice", P("begin", "0", "end", "1", "step", "0"), {"step of axis 0 is 0", "", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(run_one(cases[i].op, cases[i].parameters) < 0);
        for (int k = 0; k < 3; k++) {
            expect_text(cases[i].texts[k]);
        }
    }
}

static void unknown_parameter_lists_the_valid_ones_and_the_closest(void **state)
{
    (void)state;
    assert_int_equal(run_one("Dropout", P("mod", "always")), MXP_EINVAL);
    expect_text("Cannot find argument 'mod', Possible Arguments:\n----------------\n");
    expect_text("p : float, optional, default=0.5");
    expect_text("mode : {'always', 'training'},optional, default='training'");
    expect_text("did you mean 'mode'?");
}

static void missing_parameter_is_named(void **state)
{
    (void)state;
    assert_int_equal(run_one("expand_dims", NULL), MXP_EINVAL);
    expect_text("Required parameter axis of int is not presented, in operator");
    expect_text("expand_dims");
}

static void hidden_keys_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(run_one("exp", P("__profiler_scope__", "net:")), 0);
    assert_int_equal(run_one("exp", P("____", "x")), MXP_EINVAL);
}

static void unknown_operator_names_the_closest(void **state)
{
    (void)state;
    assert_int_equal(run_one("Convolutoin", NULL), MXP_EINVAL);
    expect_text("Cannot find operator 'Convolutoin'; did you mean 'Convolution'?");
}

static void accepted_forms_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(run_one("_plus_scalar", P("scalar", " -1e3", "is_int", "FALSE")), 0);
    assert_int_equal(run_one("_plus_scalar", P("scalar", "inf")), 0);
    assert_int_equal(run_one("Reshape", P("shape", "[3L, 1L]")), 0);
    assert_int_equal(run_one("Reshape", P("shape", " ( 1 , 3 , ) ")), 0);
    assert_int_equal(run_one("Reshape", P("shape", "-1")), 0);
    assert_int_equal(run_one("sum", P("axis", "None")), 0);
    assert_int_equal(run_one("softmax", P("temperature", "None", "dtype", "None")), 0);
}

static void number_of_inputs_is_checked(void **state)
{
    (void)state;
    mxn_array *in[] = {op_array(MXN_FLOAT32, 1, D(3), NULL, 1)}, *out = NULL;
    assert_int_equal(op_run("dot", NULL, 1, in, &out, MXN_WRITE), MXP_EINVAL);
    expect_text("Operator dot expects 2 inputs, but got 1 instead. Missing: rhs");
    assert_int_equal(op_run("add_n", P("num_args", "3"), 1, in, &out, MXN_WRITE), MXP_EINVAL);
    expect_text("Operator add_n expects 3 inputs, but got 1 instead. Missing: args1, args2");
    assert_int_equal(op_run("add_n", P("num_args", "x"), 1, in, &out, MXN_WRITE), MXP_EINVAL);
    expect_text("num_args");
    mxn_array_release(in[0]);
}

static void shapes_and_types_that_do_not_fit_are_named(void **state)
{
    (void)state;
    mxn_array *a = op_array(MXN_FLOAT32, 2, D(2, 3), NULL, 1);
    mxn_array *b = op_array(MXN_FLOAT32, 2, D(2, 4), NULL, 1);
    mxn_array *c = op_array(MXN_FLOAT64, 2, D(2, 3), NULL, 1), *out = NULL;
    mxn_array *const ab[] = {a, b}, *const ac[] = {a, c};
    const struct {
        const char *op;
        const char *const *parameters;
        mxn_array *const *inputs;
        uint32_t count;
        const char *text;
    } cases[] = {
        {"broadcast_add", NULL, ab, 2, "Operator broadcast_add: input 1 'rhs' of shape (2,4)"},
        {"broadcast_add", NULL, ab, 2, "(2,3)"},
        {"elemwise_add", NULL, ab, 2, "Operator elemwise_add: input 1 'rhs' has shape (2,4)"},
        {"elemwise_add", NULL, ac, 2, "input 1 'rhs' has type float64, it must be float32"},
        {"dot", NULL, ab, 2, "dimension 1 does not match dimension 0 of (2,4)"},
        {"FullyConnected", P("num_hidden", "2", "no_bias", "1"), ab, 2, "it must be (2,3)"},
        {"Concat", P("dim", "0"), ab, 2, "cannot be joined along axis 0"},
        {"Concat", P("dim", "2"), ab, 2, "axis 2 is out of range for 2 dimensions"},
        {"sum", P("axis", "2"), ab, 1, "axis 2 is out of range for 2 dimensions"},
        {"sum", P("axis", "(1, -1)"), ab, 1, "axis 1 is named twice"},
        {"transpose", P("axes", "(0, 0)"), ab, 1, "axis 0 is named twice"},
        {"Reshape", P("shape", "(4, 2)"), ab, 1, "(2,3)"},
        {"squeeze", P("axis", "0"), ab, 1, "its size is not 1"},
        {"slice_axis", P("axis", "1", "begin", "2", "end", "9"), ab, 1,
         "end=9 of axis 1 of size 3"},
        {"Convolution", P("kernel", "(2, 2)", "num_filter", "1", "no_bias", "1"), ab, 2,
         "must have 4 dimensions"},
        {"Pooling", P("kernel", "(2, 2)", "stride", "(1,)"), ab, 1, "stride has 1 elements"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(op_run(cases[i].op, cases[i].parameters, cases[i].count, cases[i].inputs, &out,
                           MXN_WRITE) < 0);
        expect_text(cases[i].text);
        assert_null(out);
    }
    mxn_array_release(a);
    mxn_array_release(b);
    mxn_array_release(c);
}

static void unknown_shapes_are_inferred_from_known_ones(void **state)
{
    (void)state;
    const mxn_op *op = mxn_op_find("FullyConnected");
    mxn_params *params;
    assert_int_equal(mxn_params_parse(op, 1, P("num_hidden"), P("4"), 3, false, &params), 0);
    mxn_shape shapes[4] = {{.ndim = 2, .dims = {5, 3}}, {.ndim = -1}, {.ndim = -1}, {.ndim = -1}};
    mxn_shape *const inputs[] = {&shapes[0], &shapes[1], &shapes[2]}, *const outputs[] = {
                                                                          &shapes[3]};
    int32_t types[3] = {MXN_FLOAT64, MXN_DTYPE_NONE, MXN_DTYPE_NONE}, type = MXN_DTYPE_NONE;
    bool complete = false;
    assert_int_equal(mxn_op_infer(params, inputs, types, outputs, &type, &complete), 0);
    assert_true(complete);
    assert_true(shapes[1].ndim == 2 && shapes[1].dims[0] == 4 && shapes[1].dims[1] == 3);
    assert_true(shapes[2].ndim == 1 && shapes[2].dims[0] == 4);
    assert_true(shapes[3].ndim == 2 && shapes[3].dims[0] == 5 && shapes[3].dims[1] == 4);
    assert_true(types[1] == MXN_FLOAT64 && type == MXN_FLOAT64);
    shapes[0].ndim = -1;
    shapes[3].ndim = -1;
    assert_int_equal(mxn_op_infer(params, inputs, types, outputs, &type, &complete), 0);
    assert_false(complete);
    assert_int_equal(mxn_op_infer(params, inputs, types, outputs, &type, NULL), MXP_EINVAL);
    expect_text("input 0 'data' has no known shape");
    mxn_params_release(params);
}

static void operator_without_gradient_says_so(void **state)
{
    (void)state;
    mxn_params *params;
    const mxn_gradient *gradient;
    const char *const keys[] = {"lr"}, *const values[] = {"1"};
    assert_int_equal(
        mxn_params_parse(mxn_op_find("sgd_update"), 1, keys, values, 2, false, &params), 0);
    assert_int_equal(mxn_params_gradient(params, &gradient), MXP_ENOTSUP);
    expect_text("sgd_update is non-differentiable");
    mxn_params_release(params);
}

static void cost_counts_operations_and_bytes(void **state)
{
    (void)state;
    mxn_params *params;
    assert_int_equal(mxn_params_parse(mxn_op_find("dot"), 0, NULL, NULL, 2, false, &params), 0);
    const mxn_shape a = {.ndim = 2, .dims = {4, 5}}, b = {.ndim = 2, .dims = {5, 6}};
    const mxn_shape c = {.ndim = 2, .dims = {4, 6}};
    mxn_buffer buffer;
    mxn_operand in[] = {{.shape = &a, .dtype = MXN_FLOAT32}, {.shape = &b, .dtype = MXN_FLOAT32}};
    mxn_operand out = {
        .memory = {&buffer, 0}, .shape = &c, .dtype = MXN_FLOAT32, .request = MXN_WRITE};
    const mxn_job job = {.params = params, .inputs = in, .outputs = &out};
    float flops, bytes;
    mxn_job_cost(&job, &flops, &bytes);
    assert_true(flops == 2 * 4 * 5 * 6);
    assert_true(bytes == 4 * (20 + 30 + 24));
    mxn_params_release(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ill_typed_values_name_operator_argument_and_value),
        cmocka_unit_test(unknown_parameter_lists_the_valid_ones_and_the_closest),
        cmocka_unit_test(missing_parameter_is_named),
        cmocka_unit_test(hidden_keys_are_ignored),
        cmocka_unit_test(unknown_operator_names_the_closest),
        cmocka_unit_test(accepted_forms_are_accepted),
        cmocka_unit_test(number_of_inputs_is_checked),
        cmocka_unit_test(shapes_and_types_that_do_not_fit_are_named),
        cmocka_unit_test(unknown_shapes_are_inferred_from_known_ones),
        cmocka_unit_test(operator_without_gradient_says_so),
        cmocka_unit_test(cost_counts_operations_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
