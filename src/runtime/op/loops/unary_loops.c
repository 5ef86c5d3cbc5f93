// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one number. float32 and float64 have loops of their own, whole numbers of
// every width where the function makes whole numbers of them; what becomes another type is
// converted in pieces that stay in the cache.
#include "runtime/op/loops/unary_loops.h"

#include <math.h>

#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/loops/loops.h"

// ---- functions that libm has not ----------------------------------------------------------------
static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double mish_slope(double x)
{
    double t = tanh(softplus(x));
    return t + x / (1 + exp(-x)) * (1 - t * t);
}

// lgamma writes a global, the sign: not for many threads.
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

// Up to where the asymptotic series is good, by the recurrence; below 0 by reflection.
static double digamma(double x)
{
    if (x <= 0) {
        return digamma(1 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * x);
    }
    double sum = 0;
    for (; x < 10; x++) {
        sum -= 1 / x;
    }
    double r = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

// From a rational guess by Newton's steps, which double the digits each time.
static double inverse_erf(double x)
{
    if (!(fabs(x) < 1)) {
        return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    }
    double l = log1p(-x * x), a = 4.3307467508 + l / 2;
    double y = copysign(sqrt(sqrt(a * a - l / 0.147) - a), x);
    for (int i = 0; i < 4; i++) {
        y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    }
    return y;
}

// ---- forward ------------------------------------------------------------------------------------
typedef void (*row_function)(const void *from, void *to, size_t count);

#define ROW(name, suffix, type, expression)                               \
    static void name##_##suffix(const void *from, void *to, size_t count) \
    {                                                                     \
        typedef type self;                                                \
        MXN_EACH_ALONE for (size_t i = 0; i < count; i++)                 \
        {                                                                 \
            const self x = ((const self *)from)[i];                       \
            ((self *)to)[i] = (self)(expression);                         \
        }                                                                 \
    }
#define REAL(name, of_float, of_double) \
    ROW(name, float, float, of_float)   \
    ROW(name, double, double, of_double)
#define ROUNDING REAL
#define WHOLE(name, of_real, of_whole)    \
    ROW(name, float, float, of_real)      \
    ROW(name, double, double, of_real)    \
    ROW(name, uint8, uint8_t, of_whole)   \
    ROW(name, int8, int8_t, of_whole)     \
    ROW(name, int16, int16_t, of_whole)   \
    ROW(name, uint16, uint16_t, of_whole) \
    ROW(name, int32, int32_t, of_whole)   \
    ROW(name, uint32, uint32_t, of_whole) \
    ROW(name, int64, int64_t, of_whole)   \
    ROW(name, uint64, uint64_t, of_whole)
#define PRODUCT(name)
#define GRADIENT(name, expression)
#include "runtime/op/loops/unary_functions.def"
#undef PRODUCT
#undef REAL
#undef ROUNDING
#undef WHOLE

static const struct {
    row_function of[MXN_DTYPE_COUNT];  // by the type it is computed in; null: there is none
    bool rounds;
} functions[MXN_UNARY_COUNT] = {
#define FLOATS_OF(name) [MXN_FLOAT32] = name##_float, [MXN_FLOAT64] = name##_double
#define REAL(name, of_float, of_double) {{FLOATS_OF(name)}, false},
#define ROUNDING(name, of_float, of_double) {{FLOATS_OF(name)}, true},
#define WHOLE(name, of_real, of_whole)                                                         \
    {{FLOATS_OF(name), [MXN_UINT8] = name##_uint8, [MXN_INT8] = name##_int8,                   \
      [MXN_INT16] = name##_int16, [MXN_UINT16] = name##_uint16, [MXN_INT32] = name##_int32,    \
      [MXN_UINT32] = name##_uint32, [MXN_INT64] = name##_int64, [MXN_UINT64] = name##_uint64}, \
     false},
#define PRODUCT(name) {{NULL}, false},
#include "runtime/op/loops/unary_functions.def"
#undef PRODUCT
#undef REAL
#undef ROUNDING
#undef WHOLE
#undef GRADIENT
};

enum { CHUNK = 256 };

// In pieces: to the type it is computed in and back.
static void apply_converted(row_function function, int32_t type, const mxn_operand *in,
                            const mxn_operand *out, size_t count)
{
    size_t in_size = mxn_dtype_size(in->dtype), out_size = mxn_dtype_size(out->dtype);
    int64_t buffer[CHUNK];  // of any type
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        mxn_cast(buffer, type, (const char *)in->data + done * in_size, in->dtype, n);
        function(buffer, buffer, n);
        mxn_cast((char *)out->data + done * out_size, out->dtype, buffer, type, n);
    }
}

int mxn__unary_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int function = job->params->op->def->variant;
    size_t count = mxn_shape_size(out->shape);
    bool is_whole = !mxn_dtype_is_float(in->dtype);
    if (is_whole && functions[function].rounds) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, count);
        return 0;
    }
    int32_t type = in->dtype == MXN_BOOL ? MXN_UINT8 : in->dtype;
    type = functions[function].of[type] == NULL ? MXN_FLOAT64 : type;
    if (in->dtype == type && out->dtype == type) {
        functions[function].of[type](in->data, out->data, count);
    } else {
        apply_converted(functions[function].of[type], type, in, out, count);
    }
    return 0;
}

int mxn__square_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    const mxn_row row = {in->data, 1, in->dtype};
    mxn__binary_row(MXN_MUL_OF, &row, &row, out->data, out->dtype,
                    (int64_t)mxn_shape_size(out->shape));
    return 0;
}

// ---- gradients ----------------------------------------------------------------------------------
typedef void (*gradient_function)(const void *gradients, const void *values, void *to,
                                  size_t count);

#define GRADIENT_ROW(name, type, expression)                                            \
    static void name##_back_##type(const void *gradients, const void *values, void *to, \
                                   size_t count)                                        \
    {                                                                                   \
        for (size_t i = 0; i < count; i++) {                                            \
            const type g = ((const type *)gradients)[i], y = ((const type *)values)[i]; \
            (void)y;                                                                    \
            ((type *)to)[i] = (type)(expression);                                       \
        }                                                                               \
    }
#define REAL(name, of_float, of_double)
#define ROUNDING(name, of_float, of_double)
#define PRODUCT(name)
#define WHOLE(name, of_real, of_whole)
#define GRADIENT(name, expression)        \
    GRADIENT_ROW(name, float, expression) \
    GRADIENT_ROW(name, double, expression)
#include "runtime/op/loops/unary_functions.def"
#undef GRADIENT

static const struct {
    gradient_function of_float, of_double;
} gradients[MXN_UNARY_COUNT] = {
#define GRADIENT(name, expression) [MXN_UNARY_##name] = {name##_back_float, name##_back_double},
#include "runtime/op/loops/unary_functions.def"
#undef GRADIENT
#undef REAL
#undef PRODUCT
#undef ROUNDING
#undef WHOLE
};

int mxn__unary_backward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    int function = job->params->op->def->variant;
    size_t count = mxn_shape_size(out->shape);
    const void *g = job->inputs[0].data, *y = job->inputs[1].data;
    if (out->dtype == MXN_FLOAT32) {
        gradients[function].of_float(g, y, out->data, count);
    } else if (out->dtype == MXN_FLOAT64) {
        gradients[function].of_double(g, y, out->data, count);
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
}
