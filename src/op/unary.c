// SPDX-License-Identifier: Apache-2.0
// Functions of one number, element by element, and their gradients. A new one is a line that says
// how it is computed and an entry in the table. float32 and float64 have loops of their own; all
// other combinations of types (numpy's functions make float32 of whole numbers) are computed as
// doubles.
#include <math.h>

#include "op/infer.h"
#include "op/loops.h"

typedef double (*number_function)(double x);

enum { CHUNK = 256 };

// Any type to any type.
static void apply_slowly(mxn_job *job, number_function function)
{
    const mxn_operand *in = &job->inputs[0];
    mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    size_t in_size = mxn_dtype_size(in->dtype), out_size = mxn_dtype_size(out->dtype);
    double buffer[CHUNK];
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        mxn_cast(buffer, MXN_FLOAT64, (const char *)in->data + done * in_size, in->dtype, n);
        for (size_t i = 0; i < n; i++) {
            buffer[i] = function(buffer[i]);
        }
        mxn_cast((char *)out->data + done * out_size, out->dtype, buffer, MXN_FLOAT64, n);
    }
}

#define LOOP(type, expression)                  \
    {                                           \
        const type *from = job->inputs[0].data; \
        type *to = job->outputs[0].data;        \
        for (size_t i = 0; i < count; i++) {    \
            type x = from[i];                   \
            to[i] = (type)(expression);         \
        }                                       \
        return 0;                               \
    }
// x -> expression, the float one where both types are float32.
#define FUNCTION(name, float_expression, double_expression)        \
    static double name##_number(double x)                          \
    {                                                              \
        return double_expression;                                  \
    }                                                              \
    static int name##_forward(mxn_job *job)                        \
    {                                                              \
        size_t count = mxn_shape_size(job->outputs[0].shape);      \
        bool same = job->inputs[0].dtype == job->outputs[0].dtype; \
        if (same && job->inputs[0].dtype == MXN_FLOAT32)           \
            LOOP(float, float_expression)                          \
        if (same && job->inputs[0].dtype == MXN_FLOAT64)           \
            LOOP(double, double_expression)                        \
        apply_slowly(job, name##_number);                          \
        return 0;                                                  \
    }

// For functions that whole numbers of 64 bits must pass through unharmed: an expression for reals
// and one for whole numbers, which wrap around.
#define EXACT_LOOP(type, expression)                            \
    for (size_t i = 0; i < count; i++) {                        \
        const type x = ((const type *)job->inputs[0].data)[i];  \
        ((type *)job->outputs[0].data)[i] = (type)(expression); \
    }                                                           \
    return 0;
#define EXACT_FUNCTION(name, of_real, of_whole)                   \
    static int name##_forward(mxn_job *job)                       \
    {                                                             \
        size_t count = mxn_shape_size(job->outputs[0].shape);     \
        switch (job->outputs[0].dtype) {                          \
        case MXN_FLOAT32:                                         \
            EXACT_LOOP(float, of_real)                            \
        case MXN_FLOAT64:                                         \
            EXACT_LOOP(double, of_real)                           \
        case MXN_INT8:                                            \
            EXACT_LOOP(int8_t, of_whole)                          \
        case MXN_UINT8:                                           \
            EXACT_LOOP(uint8_t, of_whole)                         \
        case MXN_INT16:                                           \
            EXACT_LOOP(int16_t, of_whole)                         \
        case MXN_UINT16:                                          \
            EXACT_LOOP(uint16_t, of_whole)                        \
        case MXN_INT32:                                           \
            EXACT_LOOP(int32_t, of_whole)                         \
        case MXN_UINT32:                                          \
            EXACT_LOOP(uint32_t, of_whole)                        \
        case MXN_INT64:                                           \
            EXACT_LOOP(int64_t, of_whole)                         \
        case MXN_UINT64:                                          \
            EXACT_LOOP(uint64_t, of_whole)                        \
        default:                                                  \
            return mxn__type_refused(job, job->outputs[0].dtype); \
        }                                                         \
    }

EXACT_FUNCTION(abs, x > 0 ? x : 0 - x, x > 0 ? (uint64_t)x : 0 - (uint64_t)x)
EXACT_FUNCTION(negative, -x, 0 - (uint64_t)x)
EXACT_FUNCTION(square, x *x, (uint64_t)x *(uint64_t)x)
EXACT_FUNCTION(sign, x > 0 ? 1 : x < 0 ? -1 : x, x > 0 ? 1 : x == 0 ? 0 : -1)
EXACT_FUNCTION(relu, x > 0 ? x : x * 0, x > 0 ? x : 0)  // NaN stays one

FUNCTION(exp, expf(x), exp(x))
FUNCTION(log, logf(x), log(x))
FUNCTION(log2, log2f(x), log2(x))
FUNCTION(log10, log10f(x), log10(x))
FUNCTION(log1p, log1pf(x), log1p(x))
FUNCTION(expm1, expm1f(x), expm1(x))
FUNCTION(sqrt, sqrtf(x), sqrt(x))
FUNCTION(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))
FUNCTION(cbrt, cbrtf(x), cbrt(x))
FUNCTION(reciprocal, 1.0f / x, 1.0 / x)
FUNCTION(sin, sinf(x), sin(x))
FUNCTION(cos, cosf(x), cos(x))
FUNCTION(tan, tanf(x), tan(x))
FUNCTION(tanh, tanhf(x), tanh(x))
FUNCTION(erf, erff(x), erf(x))
FUNCTION(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))
FUNCTION(softsign, x / (1.0f + fabsf(x)), x / (1.0 + fabs(x)))
FUNCTION(log_sigmoid, fminf(x, 0) - log1pf(expf(-fabsf(x))), fmin(x, 0) - log1p(exp(-fabs(x))))
FUNCTION(floor, floorf(x), floor(x))
FUNCTION(ceil, ceilf(x), ceil(x))
FUNCTION(trunc, truncf(x), trunc(x))
FUNCTION(rint, rintf(x), rint(x))
FUNCTION(round, roundf(x), round(x))

// Gradients: g times the derivative, which is a function of the input or of the output, here `y`.
#define GRADIENT(name, expression)                                \
    static int name##_backward(mxn_job *job)                      \
    {                                                             \
        size_t count = mxn_shape_size(job->outputs[0].shape);     \
        switch (job->outputs[0].dtype) {                          \
        case MXN_FLOAT32:                                         \
            GRADIENT_LOOP(float, expression)                      \
        case MXN_FLOAT64:                                         \
            GRADIENT_LOOP(double, expression)                     \
        default:                                                  \
            return mxn__type_refused(job, job->outputs[0].dtype); \
        }                                                         \
    }
#define GRADIENT_LOOP(type, expression)              \
    {                                                \
        const type *gradients = job->inputs[0].data; \
        const type *values = job->inputs[1].data;    \
        type *to = job->outputs[0].data;             \
        for (size_t i = 0; i < count; i++) {         \
            type g = gradients[i], y = values[i];    \
            to[i] = (type)(expression);              \
        }                                            \
        return 0;                                    \
    }

GRADIENT(exp, g *y)
GRADIENT(log, g / y)
GRADIENT(log2, g / (y * 0.69314718055994530942))
GRADIENT(log10, g / (y * 2.30258509299404568402))
GRADIENT(log1p, g / (1 + y))
GRADIENT(expm1, g *exp(y))
GRADIENT(sqrt, g / (2 * y))
GRADIENT(rsqrt, g * -0.5 / (y * sqrt(y)))
GRADIENT(cbrt, g / (3 * y * y))
GRADIENT(reciprocal, -g / (y * y))
GRADIENT(sin, g *cos(y))
GRADIENT(cos, -g *sin(y))
GRADIENT(tan, g *(1 + y * y))
GRADIENT(tanh, g *(1 - y * y))
GRADIENT(erf, g * 1.12837916709551257390 * exp(-y * y))
GRADIENT(sigmoid, g *y *(1 - y))
GRADIENT(softsign, g / ((1 + fabs(y)) * (1 + fabs(y))))
GRADIENT(log_sigmoid, g *(1 - exp(y)))
GRADIENT(relu, y > 0 ? g : g * 0)
GRADIENT(abs, y > 0 ? g : y < 0 ? -g : g * 0)
GRADIENT(square, 2 * g * y)

// Whole numbers and truth values become float32, the rest stays.
static int types_float(const mxn_types *types)
{
    int32_t in = types->inputs[0];
    if (in == MXN_DTYPE_NONE || mxn_dtype_is_float(in)) {
        return mxn__types_alike(types);
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
}

#define ENTRY(name_, aliases_, input_, function_, types_, gradient_, flops_)                 \
    {                                                                                        \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .flags = MXN_OP_INPLACE, \
        .types = (types_), .forward = function_##_forward, .gradient = (gradient_),          \
        .flops_each = (flops_)                                                               \
    }
#define OLD(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "data", function, NULL, gradient, flops)
#define NUMPY(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "x", function, types_float, gradient, flops)
#define NUMPY_SAME(name, aliases, function, gradient, flops) \
    ENTRY(name, aliases, "x", function, NULL, gradient, flops)
#define BACKWARD(name_, function_)                                     \
    {                                                                  \
        .name = (name_), .inputs = "lhs rhs", .flags = MXN_OP_INPLACE, \
        .forward = function_##_backward, .flops_each = 4               \
    }

static const mxn_op_def table[] = {
    OLD("exp", "_sparse_exp", exp, MXN_USES_OUT("elemwise_mul"), 20),
    OLD("log", "_sparse_log", log, MXN_USES_IN("_backward_log"), 20),
    OLD("log2", "_sparse_log2", log2, MXN_USES_IN("_backward_log2"), 20),
    OLD("log10", "_sparse_log10", log10, MXN_USES_IN("_backward_log10"), 20),
    OLD("log1p", "_sparse_log1p", log1p, MXN_USES_IN("_backward_log1p"), 20),
    OLD("expm1", "_sparse_expm1", expm1, MXN_USES_IN("_backward_expm1"), 20),
    OLD("sqrt", "_sparse_sqrt", sqrt, MXN_USES_OUT("_backward_sqrt"), 1),
    OLD("rsqrt", "_sparse_rsqrt", rsqrt, MXN_USES_IN("_backward_rsqrt"), 2),
    OLD("cbrt", "_sparse_cbrt", cbrt, MXN_USES_OUT("_backward_cbrt"), 20),
    OLD("reciprocal", NULL, reciprocal, MXN_USES_IN("_backward_reciprocal"), 1),
    OLD("sin", "_sparse_sin", sin, MXN_USES_IN("_backward_sin"), 20),
    OLD("cos", "_sparse_cos", cos, MXN_USES_IN("_backward_cos"), 20),
    OLD("tan", "_sparse_tan", tan, MXN_USES_OUT("_backward_tan"), 20),
    OLD("tanh", "_sparse_tanh", tanh, MXN_USES_OUT("_backward_tanh"), 20),
    OLD("erf", "_npx_erf", erf, MXN_USES_IN("_backward_erf"), 20),
    OLD("sigmoid", "_sparse_sigmoid", sigmoid, MXN_USES_OUT("_backward_sigmoid"), 20),
    OLD("softsign", "_npx_softsign", softsign, MXN_USES_IN("_backward_softsign"), 3),
    OLD("log_sigmoid", "_sparse_log_sigmoid", log_sigmoid, MXN_USES_OUT("_backward_log_sigmoid"),
        40),
    OLD("relu", "_sparse_relu", relu, MXN_USES_OUT("_backward_relu"), 1),
    OLD("abs", "_sparse_abs", abs, MXN_USES_IN("_backward_abs"), 1),
    OLD("square", "_sparse_square", square, MXN_USES_IN("_backward_square"), 1),
    OLD("negative", "_sparse_negative", negative, MXN_USES_NONE("negative"), 1),
    OLD("sign", "_sparse_sign", sign, MXN_GRADIENT_ZERO, 1),
    OLD("floor", "_sparse_floor", floor, MXN_GRADIENT_ZERO, 1),
    OLD("ceil", "_sparse_ceil", ceil, MXN_GRADIENT_ZERO, 1),
    OLD("trunc", "_sparse_trunc", trunc, MXN_GRADIENT_ZERO, 1),
    OLD("rint", "_sparse_rint", rint, MXN_GRADIENT_ZERO, 1),
    OLD("round", "_sparse_round", round, MXN_GRADIENT_ZERO, 1),
    ENTRY("_npx_relu", NULL, "data", relu, NULL, MXN_USES_OUT("_backward_relu"), 1),
    ENTRY("_npx_sigmoid", NULL, "data", sigmoid, types_float, MXN_USES_OUT("_backward_sigmoid"),
          20),
    NUMPY("_npi_exp", NULL, exp, MXN_USES_OUT("_backward_npi_exp"), 20),
    NUMPY("_npi_log", NULL, log, MXN_USES_IN("_backward_npi_log"), 20),
    NUMPY("_npi_log2", NULL, log2, MXN_USES_IN("_backward_npi_log2"), 20),
    NUMPY("_npi_log10", NULL, log10, MXN_USES_IN("_backward_npi_log10"), 20),
    NUMPY("_npi_log1p", NULL, log1p, MXN_USES_IN("_backward_npi_log1p"), 20),
    NUMPY("_npi_expm1", NULL, expm1, MXN_USES_IN("_backward_npi_expm1"), 20),
    NUMPY("_npi_sqrt", NULL, sqrt, MXN_USES_OUT("_backward_npi_sqrt"), 1),
    NUMPY("_npi_cbrt", NULL, cbrt, MXN_USES_OUT("_backward_npi_cbrt"), 20),
    NUMPY("_npi_reciprocal", NULL, reciprocal, MXN_USES_IN("_backward_reciprocal"), 1),
    NUMPY("_npi_sin", NULL, sin, MXN_USES_IN("_backward_npi_sin"), 20),
    NUMPY("_npi_cos", NULL, cos, MXN_USES_IN("_backward_npi_cos"), 20),
    NUMPY("_npi_tan", NULL, tan, MXN_USES_OUT("_backward_npi_tan"), 20),
    NUMPY("_npi_tanh", NULL, tanh, MXN_USES_OUT("_backward_npi_tanh"), 20),
    NUMPY_SAME("_npi_absolute", "_npi_abs", abs, MXN_USES_IN("_backward_abs"), 1),
    NUMPY_SAME("_npi_square", NULL, square, MXN_USES_IN("_backward_square"), 1),
    NUMPY_SAME("_npi_negative", NULL, negative, MXN_USES_NONE("negative"), 1),
    NUMPY_SAME("_npi_sign", NULL, sign, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_floor", NULL, floor, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_ceil", NULL, ceil, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_trunc", NULL, trunc, MXN_GRADIENT_ZERO, 1),
    NUMPY_SAME("_npi_rint", NULL, rint, MXN_GRADIENT_ZERO, 1),
    BACKWARD("_backward_log", log),
    BACKWARD("_backward_log2", log2),
    BACKWARD("_backward_log10", log10),
    BACKWARD("_backward_log1p", log1p),
    BACKWARD("_backward_expm1", expm1),
    BACKWARD("_backward_sqrt", sqrt),
    BACKWARD("_backward_rsqrt", rsqrt),
    BACKWARD("_backward_cbrt", cbrt),
    BACKWARD("_backward_reciprocal", reciprocal),
    BACKWARD("_backward_sin", sin),
    BACKWARD("_backward_cos", cos),
    BACKWARD("_backward_tan", tan),
    BACKWARD("_backward_tanh", tanh),
    BACKWARD("_backward_erf", erf),
    BACKWARD("_backward_sigmoid", sigmoid),
    BACKWARD("_backward_softsign", softsign),
    BACKWARD("_backward_log_sigmoid", log_sigmoid),
    BACKWARD("_backward_relu", relu),
    BACKWARD("_backward_abs", abs),
    BACKWARD("_backward_square", square),
    BACKWARD("_backward_npi_exp", exp),
    BACKWARD("_backward_npi_log", log),
    BACKWARD("_backward_npi_log2", log2),
    BACKWARD("_backward_npi_log10", log10),
    BACKWARD("_backward_npi_log1p", log1p),
    BACKWARD("_backward_npi_expm1", expm1),
    BACKWARD("_backward_npi_sqrt", sqrt),
    BACKWARD("_backward_npi_cbrt", cbrt),
    BACKWARD("_backward_npi_sin", sin),
    BACKWARD("_backward_npi_cos", cos),
    BACKWARD("_backward_npi_tan", tan),
    BACKWARD("_backward_npi_tanh", tanh),
};

MXN_FAMILY(unary, table);
