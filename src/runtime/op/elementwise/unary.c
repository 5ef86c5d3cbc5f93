// SPDX-License-Identifier: Apache-2.0
// Functions of one number, element by element, and their gradients. A new one is a line in
// unary_functions.def that says how it is computed and an entry in the table here. numpy's
// functions make floats of whole numbers, MXNet's own keep the type.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/elementwise/unary_loops.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// Whole numbers become float32, those of 8 bits and truth values float16; the rest stays.
static int types_float(const mxn_types *types)
{
    int32_t in = types->inputs[0];
    if (in == MXN_DTYPE_NONE || mxn_dtype_is_float(in)) {
        return mxn__types_alike(types);
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           mxn_dtype_size(in) == 1 ? MXN_FLOAT16 : MXN_FLOAT32);
}

// The gradient of a float that was made of a whole number has the type of the latter.
static int gradient_types(const mxn_types *types)
{
    int32_t gradient = types->inputs[0], value = types->inputs[1], out = types->outputs[0];
    if (out == MXN_DTYPE_NONE && value != MXN_DTYPE_NONE && !mxn_dtype_is_float(value)) {
        out = types->outputs[0] = value;
    }
    bool is_cut = gradient != MXN_DTYPE_NONE && mxn_dtype_is_float(gradient) &&
                  value != MXN_DTYPE_NONE && out != MXN_DTYPE_NONE && !mxn_dtype_is_float(out);
    return is_cut ? 0 : mxn__types_alike(types);
}

static int whole_types(const mxn_types *types)
{
    int32_t in = types->inputs[0];
    return in != MXN_DTYPE_NONE && mxn_dtype_is_float(in)
               ? mxp__fail(MXP_EINVAL,
                           "TypeError: Operator %s: input 0 has type %s, it must be whole",
                           types->params->op->name, mxn_dtype_name(in))
               : mxn__types_alike(types);
}

// All bits the other way round; a truth value has one.
static int bitwise_not_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    const uint8_t *from = in->data, mask = in->dtype == MXN_BOOL ? 1 : 0xff;
    uint8_t *to = job->outputs[0].data;
    size_t count = mxn_shape_size(in->shape) * mxn_dtype_size(in->dtype);
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i] ^ mask;
    }
    return 0;
}

// ---- gradients of gradients ---------------------------------------------------------------------
// Of g f'(y), with h for its own gradient: to g goes h f'(y), which is the same operator; to y goes
// h g f''(y). Result 0 is the former, result 1 the product h g or h times the output.
#define SAME(name_)                                   \
    {                                                 \
        .op = (name_), .takes = "g0 i1", .gives = "0" \
    }
#define PRODUCT                                              \
    {                                                        \
        .op = "elemwise_mul", .takes = "g0 i0", .gives = "-" \
    }
#define OUTPUT_PRODUCT                                       \
    {                                                        \
        .op = "elemwise_mul", .takes = "g0 o0", .gives = "-" \
    }
#define SCALED(takes_, number_, gives_)                                                \
    {                                                                                  \
        .op = "_mul_scalar", .takes = (takes_), .gives = (gives_), .params = (number_) \
    }

static const char *const two[] = {"scalar", "2", NULL};
static const char *const half[] = {"scalar", "0.5", NULL};
static const char *const minus_two[] = {"scalar", "-2", NULL};
static const char *const minus_one[] = {"scalar", "-1", NULL};
static const char *const minus_three_halves[] = {"scalar", "-1.5", NULL};
static const char *const minus_four_thirds[] = {"scalar", "-1.3333333333333333", NULL};
static const char *const one[] = {"scalar", "1", NULL};

#define STRAIGHT(name) MXN_GRADIENT(SAME(name))
#define AGAIN_EXP(name) \
    MXN_GRADIENT(SAME(name), {.op = "elemwise_mul", .takes = "g0 i0", .gives = "1"})
#define AGAIN_EXPM1(name) \
    MXN_GRADIENT(SAME(name), {.op = "elemwise_mul", .takes = "g0 o0", .gives = "1"})
#define AGAIN_LOG(name)               \
    MXN_GRADIENT(SAME(name), PRODUCT, \
                 {.op = "_backward_reciprocal", .takes = "s1 i1", .gives = "1"})
#define AGAIN_SQRT(name)                                                         \
    MXN_GRADIENT(SAME(name), PRODUCT,                                            \
                 {.op = "_backward_reciprocal", .takes = "s1 i1", .gives = "-"}, \
                 SCALED("s2", half, "1"))
#define AGAIN_SQUARE(name) MXN_GRADIENT(SAME(name), PRODUCT, SCALED("s1", two, "1"))
#define AGAIN_TANH(name)                                                                      \
    MXN_GRADIENT(SAME(name), PRODUCT, {.op = "elemwise_mul", .takes = "s1 i1", .gives = "-"}, \
                 SCALED("s2", minus_two, "1"))
#define AGAIN_SIGMOID(name)                                                            \
    MXN_GRADIENT(SAME(name), PRODUCT, SCALED("i1", two, "-"),                          \
                 {.op = "_rminus_scalar", .takes = "s2", .gives = "-", .params = one}, \
                 {.op = "elemwise_mul", .takes = "s1 s3", .gives = "1"})
#define AGAIN_SIN(name) \
    MXN_GRADIENT(SAME(name), PRODUCT, {.op = "_backward_cos", .takes = "s1 i1", .gives = "1"})
#define AGAIN_COS(name)                                                                        \
    MXN_GRADIENT(SAME(name), PRODUCT, {.op = "_backward_sin", .takes = "s1 i1", .gives = "-"}, \
                 {.op = "negative", .takes = "s2", .gives = "1"})
#define AGAIN_RECIPROCAL(name)                                           \
    MXN_GRADIENT(SAME(name), OUTPUT_PRODUCT,                             \
                 {.op = "elemwise_div", .takes = "s1 i1", .gives = "-"}, \
                 SCALED("s2", minus_two, "1"))
#define AGAIN_ERF(name)                                                  \
    MXN_GRADIENT(SAME(name), OUTPUT_PRODUCT,                             \
                 {.op = "elemwise_mul", .takes = "s1 i1", .gives = "-"}, \
                 SCALED("s2", minus_two, "1"))

// Where f'' is a number times x^k f'^n: the derivative is applied n times to the product.
#define DERIVED(name, takes_)                         \
    {                                                 \
        .op = (name), .takes = (takes_), .gives = "-" \
    }
#define AGAIN_OVER(name, number)                                         \
    MXN_GRADIENT(SAME(name), PRODUCT, DERIVED(name, "s1 i1"),            \
                 {.op = "elemwise_div", .takes = "s2 i1", .gives = "-"}, \
                 SCALED("s3", number, "1"))
#define AGAIN_SQUARED(name, number)                                                   \
    MXN_GRADIENT(SAME(name), PRODUCT, DERIVED(name, "s1 i1"), DERIVED(name, "s2 i1"), \
                 SCALED("s3", number, "1"))
#define AGAIN_TIMES_SQUARED(name, number)                                             \
    MXN_GRADIENT(SAME(name), PRODUCT, DERIVED(name, "s1 i1"), DERIVED(name, "s2 i1"), \
                 {.op = "elemwise_mul", .takes = "s3 i1", .gives = "-"},              \
                 SCALED("s4", number, "1"))
#define AGAIN_TIMES_CUBED(name, number)                                                          \
    MXN_GRADIENT(SAME(name), PRODUCT, DERIVED(name, "s1 i1"), DERIVED(name, "s2 i1"),            \
                 DERIVED(name, "s3 i1"), {.op = "elemwise_mul", .takes = "s4 i1", .gives = "-"}, \
                 SCALED("s5", number, "1"))
// The derivative of `other` is that of the derivative.
#define AGAIN_BY(name, other) \
    MXN_GRADIENT(SAME(name), PRODUCT, {.op = (other), .takes = "s1 i1", .gives = "1"})
// Of g (1 + y^2).
#define AGAIN_TAN(name)                                                                       \
    MXN_GRADIENT(SAME(name), PRODUCT, {.op = "elemwise_mul", .takes = "s1 i1", .gives = "-"}, \
                 SCALED("s2", two, "1"))

// ---- the table ----------------------------------------------------------------------------------
#define RUN(name_, aliases_, input_, function_, types_, gradient_, flops_, forward_)             \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .types = (types_),           \
        .flags = MXN_OP_POINTWISE, .inplace = MXN_INPLACE_ALL, .variant = MXN_UNARY_##function_, \
        .gradient = (gradient_), .forward = (forward_), .flops_each = (flops_)                   \
    }
#define ENTRY(name, aliases, input, function, types, gradient, flops) \
    RUN(name, aliases, input, function, types, gradient, flops, mxn__unary_forward)
#define SQUARES(name, aliases, input) \
    RUN(name, aliases, input, SQUARE, NULL, MXN_USES_IN("_backward_square"), 1, mxn__square_forward)
#define OLD(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "data", function, NULL, gradient, flops)
#define NUMPY(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "x", function, types_float, gradient, flops)
#define NUMPY_SAME(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "x", function, NULL, gradient, flops)
#define NUMPY_TRUTH(name, function) \
    ENTRY(name, NULL, "x", function, mxn__types_bool, MXN_GRADIENT_ZERO, 1)
#define BACKWARD(name_, function_, again_)                                                  \
    {                                                                                       \
        .name = (name_), .inputs = "lhs rhs", .flags = MXN_OP_POINTWISE,                    \
        .inplace = MXN_INPLACE_ALL, .gradient = (again_), .variant = MXN_UNARY_##function_, \
        .types = gradient_types, .forward = mxn__unary_backward, .flops_each = 4            \
    }

static const mxn_op_def table[] = {
    OLD("exp", "_sparse_exp", EXP, MXN_USES_OUT("elemwise_mul"), 20),
    OLD("log", "_sparse_log", LOG, MXN_USES_IN("_backward_log"), 20),
    OLD("log2", "_sparse_log2", LOG2, MXN_USES_IN("_backward_log2"), 20),
    OLD("log10", "_sparse_log10", LOG10, MXN_USES_IN("_backward_log10"), 20),
    OLD("log1p", "_sparse_log1p", LOG1P, MXN_USES_IN("_backward_log1p"), 20),
    OLD("expm1", "_sparse_expm1", EXPM1, MXN_USES_IN("_backward_expm1"), 20),
    OLD("sqrt", "_sparse_sqrt", SQRT, MXN_USES_OUT("_backward_sqrt"), 1),
    OLD("rsqrt", "_sparse_rsqrt", RSQRT, MXN_USES_IN("_backward_rsqrt"), 2),
    OLD("cbrt", "_sparse_cbrt", CBRT, MXN_USES_OUT("_backward_cbrt"), 20),
    OLD("reciprocal", NULL, RECIPROCAL, MXN_USES_IN("_backward_reciprocal"), 1),
    OLD("sin", "_sparse_sin", SIN, MXN_USES_IN("_backward_sin"), 20),
    OLD("cos", "_sparse_cos", COS, MXN_USES_IN("_backward_cos"), 20),
    OLD("tan", "_sparse_tan", TAN, MXN_USES_OUT("_backward_tan"), 20),
    OLD("tanh", "_sparse_tanh", TANH, MXN_USES_OUT("_backward_tanh"), 20),
    OLD("erf", "_npx_erf", ERF, MXN_USES_IN("_backward_erf"), 20),
    OLD("sigmoid", "_sparse_sigmoid", SIGMOID, MXN_USES_OUT("_backward_sigmoid"), 20),
    OLD("softsign", "_npx_softsign", SOFTSIGN, MXN_USES_IN("_backward_softsign"), 3),
    OLD("log_sigmoid", "_sparse_log_sigmoid", LOG_SIGMOID, MXN_USES_OUT("_backward_log_sigmoid"),
        40),
    OLD("relu", "_sparse_relu", RELU, MXN_USES_OUT("_backward_relu"), 1),
    OLD("abs", "_sparse_abs", ABS, MXN_USES_IN("_backward_abs"), 1),
    SQUARES("square", "_sparse_square", "data"),
    OLD("negative", "_sparse_negative", NEGATIVE, MXN_USES_NONE("negative"), 1),
    OLD("sign", "_sparse_sign", SIGN, MXN_GRADIENT_ZERO, 1),
    OLD("floor", "_sparse_floor", FLOOR, MXN_GRADIENT_ZERO, 1),
    OLD("ceil", "_sparse_ceil", CEIL, MXN_GRADIENT_ZERO, 1),
    OLD("trunc", "_sparse_trunc", TRUNC, MXN_GRADIENT_ZERO, 1),
    OLD("rint", "_sparse_rint", RINT, MXN_GRADIENT_ZERO, 1),
    OLD("round", "_sparse_round", ROUND, MXN_GRADIENT_ZERO, 1),
    ENTRY("_npx_relu", NULL, "data", RELU, NULL, MXN_USES_OUT("_backward_relu"), 1),
    ENTRY("_npx_sigmoid", NULL, "data", SIGMOID, types_float, MXN_USES_OUT("_backward_sigmoid"),
          20),
    NUMPY("_npi_exp", NULL, EXP, MXN_USES_OUT("_backward_npi_exp"), 20),
    NUMPY("_npi_log", NULL, LOG, MXN_USES_IN("_backward_npi_log"), 20),
    NUMPY("_npi_log2", NULL, LOG2, MXN_USES_IN("_backward_npi_log2"), 20),
    NUMPY("_npi_log10", NULL, LOG10, MXN_USES_IN("_backward_npi_log10"), 20),
    NUMPY("_npi_log1p", NULL, LOG1P, MXN_USES_IN("_backward_npi_log1p"), 20),
    NUMPY("_npi_expm1", NULL, EXPM1, MXN_USES_IN("_backward_npi_expm1"), 20),
    NUMPY("_npi_sqrt", NULL, SQRT, MXN_USES_OUT("_backward_npi_sqrt"), 1),
    NUMPY("_npi_cbrt", NULL, CBRT, MXN_USES_OUT("_backward_npi_cbrt"), 20),
    NUMPY("_npi_reciprocal", NULL, RECIPROCAL, MXN_USES_IN("_backward_reciprocal"), 1),
    NUMPY("_npi_sin", NULL, SIN, MXN_USES_IN("_backward_npi_sin"), 20),
    NUMPY("_npi_cos", NULL, COS, MXN_USES_IN("_backward_npi_cos"), 20),
    NUMPY("_npi_tan", NULL, TAN, MXN_USES_OUT("_backward_npi_tan"), 20),
    NUMPY("_npi_tanh", NULL, TANH, MXN_USES_OUT("_backward_npi_tanh"), 20),
    NUMPY_SAME("_npi_absolute", "_npi_abs", ABS, MXN_USES_IN("_backward_abs"), 1),
    SQUARES("_npi_square", NULL, "x"),
    NUMPY_SAME("_npi_negative", NULL, NEGATIVE, MXN_USES_NONE("negative"), 1),
    NUMPY_SAME("_npi_sign", NULL, SIGN, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_floor", NULL, FLOOR, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_ceil", NULL, CEIL, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_trunc", NULL, TRUNC, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_rint", NULL, RINT_EVEN, MXN_GRADIENT_ZERO, 1),
    OLD("arcsin", "_sparse_arcsin", ARCSIN, MXN_USES_IN("_backward_arcsin"), 20),
    OLD("arccos", "_sparse_arccos", ARCCOS, MXN_USES_IN("_backward_arccos"), 20),
    OLD("arctan", "_sparse_arctan", ARCTAN, MXN_USES_IN("_backward_arctan"), 20),
    OLD("sinh", "_sparse_sinh", SINH, MXN_USES_IN("_backward_sinh"), 20),
    OLD("cosh", "_sparse_cosh", COSH, MXN_USES_IN("_backward_cosh"), 20),
    OLD("arcsinh", "_sparse_arcsinh", ARCSINH, MXN_USES_IN("_backward_arcsinh"), 20),
    OLD("arccosh", "_sparse_arccosh", ARCCOSH, MXN_USES_IN("_backward_arccosh"), 20),
    OLD("arctanh", "_sparse_arctanh", ARCTANH, MXN_USES_IN("_backward_arctanh"), 20),
    OLD("degrees", "_sparse_degrees", DEGREES, MXN_USES_IN("_backward_degrees"), 1),
    OLD("radians", "_sparse_radians", RADIANS, MXN_USES_IN("_backward_radians"), 1),
    OLD("gamma", "_npx_gamma _sparse_gamma", GAMMA, MXN_USES_IN("_backward_gamma"), 40),
    OLD("gammaln", "_npx_gammaln _sparse_gammaln", GAMMALN, MXN_USES_IN("_backward_gammaln"), 40),
    OLD("digamma", "_npx_digamma _sparse_digamma", DIGAMMA, MXN_USES_IN("_backward_digamma"), 40),
    OLD("mish", "_sparse_mish", MISH, MXN_USES_IN("_backward_mish"), 40),
    OLD("rcbrt", NULL, RCBRT, MXN_USES_IN("_backward_rcbrt"), 20),
    OLD("erfinv", "_npx_erfinv", ERFINV, MXN_USES_OUT("_backward_erfinv"), 80),
    OLD("fix", "_sparse_fix", TRUNC, MXN_GRADIENT_ZERO, 1),
    OLD("logical_not", NULL, LOGICAL_NOT, MXN_GRADIENT_ZERO, 1),
    NUMPY("_npi_arcsin", NULL, ARCSIN, MXN_USES_IN("_backward_npi_arcsin"), 20),
    NUMPY("_npi_arccos", NULL, ARCCOS, MXN_USES_IN("_backward_npi_arccos"), 20),
    NUMPY("_npi_arctan", NULL, ARCTAN, MXN_USES_IN("_backward_npi_arctan"), 20),
    NUMPY("_npi_sinh", NULL, SINH, MXN_USES_IN("_backward_npi_sinh"), 20),
    NUMPY("_npi_cosh", NULL, COSH, MXN_USES_IN("_backward_npi_cosh"), 20),
    NUMPY("_npi_arcsinh", NULL, ARCSINH, MXN_USES_IN("_backward_npi_arcsinh"), 20),
    NUMPY("_npi_arccosh", NULL, ARCCOSH, MXN_USES_IN("_backward_npi_arccosh"), 20),
    NUMPY("_npi_arctanh", NULL, ARCTANH, MXN_USES_IN("_backward_npi_arctanh"), 20),
    NUMPY("_npi_degrees", NULL, DEGREES, MXN_USES_IN("_backward_npi_degrees"), 20),
    NUMPY("_npi_radians", NULL, RADIANS, MXN_USES_IN("_backward_npi_radians"), 20),
    NUMPY_SAME("_npi_fix", NULL, TRUNC, MXN_GRADIENT_ZERO, 1),
    NUMPY_TRUTH("_npi_logical_not", LOGICAL_NOT),
    NUMPY_TRUTH("_npi_isnan", ISNAN),
    NUMPY_TRUTH("_npi_isinf", ISINF),
    NUMPY_TRUTH("_npi_isfinite", ISFINITE),
    NUMPY_TRUTH("_npi_isposinf", ISPOSINF),
    NUMPY_TRUTH("_npi_isneginf", ISNEGINF),
    {
        .name = "_npi_bitwise_not",
        .inputs = "x",
        .description = "All bits the other way round.",
        .types = whole_types,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT_ZERO,
        .forward = bitwise_not_forward,
    },
    BACKWARD("_backward_log", LOG, AGAIN_LOG("_backward_log")),
    BACKWARD("_backward_log2", LOG2, AGAIN_OVER("_backward_log2", minus_one)),
    BACKWARD("_backward_log10", LOG10, AGAIN_OVER("_backward_log10", minus_one)),
    BACKWARD("_backward_log1p", LOG1P, AGAIN_SQUARED("_backward_log1p", minus_one)),
    BACKWARD("_backward_expm1", EXPM1, AGAIN_EXPM1("_backward_expm1")),
    BACKWARD("_backward_sqrt", SQRT, AGAIN_SQRT("_backward_sqrt")),
    BACKWARD("_backward_rsqrt", RSQRT, AGAIN_OVER("_backward_rsqrt", minus_three_halves)),
    BACKWARD("_backward_cbrt", CBRT, AGAIN_OVER("_backward_cbrt", minus_two)),
    BACKWARD("_backward_rcbrt", RCBRT, AGAIN_OVER("_backward_rcbrt", minus_four_thirds)),
    BACKWARD("_backward_reciprocal", RECIPROCAL, AGAIN_RECIPROCAL("_backward_reciprocal")),
    BACKWARD("_backward_sin", SIN, AGAIN_SIN("_backward_sin")),
    BACKWARD("_backward_cos", COS, AGAIN_COS("_backward_cos")),
    BACKWARD("_backward_tan", TAN, AGAIN_TAN("_backward_tan")),
    BACKWARD("_backward_arcsin", ARCSIN, AGAIN_TIMES_CUBED("_backward_arcsin", one)),
    BACKWARD("_backward_arccos", ARCCOS, AGAIN_TIMES_CUBED("_backward_arccos", one)),
    BACKWARD("_backward_arctan", ARCTAN, AGAIN_TIMES_SQUARED("_backward_arctan", minus_two)),
    BACKWARD("_backward_sinh", SINH, AGAIN_BY("_backward_sinh", "_backward_cosh")),
    BACKWARD("_backward_cosh", COSH, AGAIN_BY("_backward_cosh", "_backward_sinh")),
    BACKWARD("_backward_tanh", TANH, AGAIN_TANH("_backward_tanh")),
    BACKWARD("_backward_arcsinh", ARCSINH, AGAIN_TIMES_CUBED("_backward_arcsinh", minus_one)),
    BACKWARD("_backward_arccosh", ARCCOSH, AGAIN_TIMES_CUBED("_backward_arccosh", minus_one)),
    BACKWARD("_backward_arctanh", ARCTANH, AGAIN_TIMES_SQUARED("_backward_arctanh", two)),
    BACKWARD("_backward_degrees", DEGREES, STRAIGHT("_backward_degrees")),
    BACKWARD("_backward_radians", RADIANS, STRAIGHT("_backward_radians")),
    BACKWARD("_backward_erf", ERF, AGAIN_ERF("_backward_erf")),
    BACKWARD("_backward_erfinv", ERFINV, NULL),
    BACKWARD("_backward_gamma", GAMMA, NULL),
    BACKWARD("_backward_gammaln", GAMMALN, NULL),
    BACKWARD("_backward_digamma", DIGAMMA, NULL),
    BACKWARD("_backward_sigmoid", SIGMOID, AGAIN_SIGMOID("_backward_sigmoid")),
    BACKWARD("_backward_softsign", SOFTSIGN, NULL),
    BACKWARD("_backward_log_sigmoid", LOG_SIGMOID, NULL),
    BACKWARD("_backward_mish", MISH, NULL),
    BACKWARD("_backward_relu", RELU, STRAIGHT("_backward_relu")),
    BACKWARD("_backward_abs", ABS, STRAIGHT("_backward_abs")),
    BACKWARD("_backward_square", SQUARE, AGAIN_SQUARE("_backward_square")),
    BACKWARD("_backward_npi_exp", EXP, AGAIN_EXP("_backward_npi_exp")),
    BACKWARD("_backward_npi_log", LOG, AGAIN_LOG("_backward_npi_log")),
    BACKWARD("_backward_npi_log2", LOG2, AGAIN_OVER("_backward_npi_log2", minus_one)),
    BACKWARD("_backward_npi_log10", LOG10, AGAIN_OVER("_backward_npi_log10", minus_one)),
    BACKWARD("_backward_npi_log1p", LOG1P, AGAIN_SQUARED("_backward_npi_log1p", minus_one)),
    BACKWARD("_backward_npi_expm1", EXPM1, AGAIN_EXPM1("_backward_npi_expm1")),
    BACKWARD("_backward_npi_sqrt", SQRT, AGAIN_SQRT("_backward_npi_sqrt")),
    BACKWARD("_backward_npi_cbrt", CBRT, AGAIN_OVER("_backward_npi_cbrt", minus_two)),
    BACKWARD("_backward_npi_sin", SIN, AGAIN_SIN("_backward_npi_sin")),
    BACKWARD("_backward_npi_cos", COS, AGAIN_COS("_backward_npi_cos")),
    BACKWARD("_backward_npi_tan", TAN, AGAIN_TAN("_backward_npi_tan")),
    BACKWARD("_backward_npi_arcsin", ARCSIN, AGAIN_TIMES_CUBED("_backward_npi_arcsin", one)),
    BACKWARD("_backward_npi_arccos", ARCCOS, AGAIN_TIMES_CUBED("_backward_npi_arccos", one)),
    BACKWARD("_backward_npi_arctan", ARCTAN,
             AGAIN_TIMES_SQUARED("_backward_npi_arctan", minus_two)),
    BACKWARD("_backward_npi_sinh", SINH, AGAIN_BY("_backward_npi_sinh", "_backward_cosh")),
    BACKWARD("_backward_npi_cosh", COSH, AGAIN_BY("_backward_npi_cosh", "_backward_sinh")),
    BACKWARD("_backward_npi_tanh", TANH, AGAIN_TANH("_backward_npi_tanh")),
    BACKWARD("_backward_npi_arcsinh", ARCSINH,
             AGAIN_TIMES_CUBED("_backward_npi_arcsinh", minus_one)),
    BACKWARD("_backward_npi_arccosh", ARCCOSH,
             AGAIN_TIMES_CUBED("_backward_npi_arccosh", minus_one)),
    BACKWARD("_backward_npi_arctanh", ARCTANH, AGAIN_TIMES_SQUARED("_backward_npi_arctanh", two)),
    BACKWARD("_backward_npi_degrees", DEGREES, STRAIGHT("_backward_npi_degrees")),
    BACKWARD("_backward_npi_radians", RADIANS, STRAIGHT("_backward_npi_radians")),
};

MXN_FAMILY(unary, table);
