// SPDX-License-Identifier: Apache-2.0
// Functions of one number. float32 and float64 have loops of their own, whole numbers of every
// width where the function makes whole numbers of them; what becomes another type is converted in
// pieces that stay in the cache.
#include "runtime/op/elementwise/unary_loops.h"

#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/loops/loops.h"

static const bool rounds[MXN_UNARY_COUNT] = {
// whole numbers stay what they are
#define REAL(name, of_float, of_double)
#define ROUNDING(name, of_float, of_double) [MXN_UNARY_##name] = true,
#define WHOLE(name, of_real, of_whole)
#define PRODUCT(name)
#define GRADIENT(name, expression)
#define WHOLE_GRADIENT(name, of_real, of_whole)
#include "runtime/op/kernels/unary_functions.def"
};

enum { CHUNK = 256 };

// In pieces: to the type it is computed in and back.
static void apply_converted(mxn_unary_function function, int32_t type, const mxn_operand *in,
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
    if (is_whole && rounds[function]) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, count);
        return 0;
    }
    const mxn_unary_function *of = MXN_WIDEST(mxn__unary)->of[function];
    int32_t type = in->dtype == MXN_BOOL ? MXN_UINT8 : in->dtype;
    type = of[type] == NULL ? MXN_FLOAT64 : type;
    if (in->dtype == type && out->dtype == type) {
        of[type](in->data, out->data, count);
    } else {
        apply_converted(of[type], type, in, out, count);
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

// `n` numbers from `at` on, as doubles.
static void load(const mxn_operand *from, size_t at, size_t n, double *to)
{
    const char *data = from->data;
    mxn_cast(to, MXN_FLOAT64, data + at * mxn_dtype_size(from->dtype), from->dtype, n);
}

static void gradient_converted(mxn_unary_gradient gradient, mxn_job *job, size_t count)
{
    const mxn_operand *out = &job->outputs[0];
    double gradients[CHUNK], values[CHUNK];
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        load(&job->inputs[0], done, n, gradients);
        load(&job->inputs[1], done, n, values);
        gradient(gradients, values, gradients, n);
        mxn_cast((char *)out->data + done * mxn_dtype_size(out->dtype), out->dtype, gradients,
                 MXN_FLOAT64, n);
    }
}

int mxn__unary_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *y = &job->inputs[1], *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    const mxn_unary_gradient *of = MXN_WIDEST(mxn__unary)->gradients[job->params->op->def->variant];
    if (of[out->dtype] != NULL && g->dtype == out->dtype && y->dtype == out->dtype) {
        of[out->dtype](g->data, y->data, out->data, count);
    } else {
        gradient_converted(of[MXN_FLOAT64], job, count);
    }
    return 0;
}
