// SPDX-License-Identifier: Apache-2.0
// Pooling of images in 1, 2 and 3 dimensions: the largest, the mean or the sum of a window. The
// gradient of the largest goes to the first element that is it.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"
#include "op/window.h"

typedef struct pool_params {
    mxn_tuple kernel;
    int32_t pool_type;
    bool global_pool, cudnn_off;
    int32_t pooling_convention;
    mxn_tuple stride, pad;
    mxn_maybe_int p_value, count_include_pad;
    int32_t layout;
    mxn_tuple output_size;
} pool_params;

enum { MAX, AVG, SUM, LP };
enum { VALID, FULL, SAME };
static const mxn_word pool_types[] = {{"avg", AVG}, {"lp", LP}, {"max", MAX}, {"sum", SUM}, {0}};
static const mxn_word conventions[] = {{"full", FULL}, {"same", SAME}, {"valid", VALID}, {0}};

static const mxn_field pool_fields[] = {
    {MXN_FIELD(pool_params, kernel, TUPLE, "[]")},
    {MXN_FIELD(pool_params, pool_type, ENUM, "max"), .words = pool_types},
    {MXN_FIELD(pool_params, global_pool, BOOL, "0")},
    {MXN_FIELD(pool_params, cudnn_off, BOOL, "0")},
    {MXN_FIELD(pool_params, pooling_convention, ENUM, "valid"), .words = conventions},
    {MXN_FIELD(pool_params, stride, TUPLE, "[]")},
    {MXN_FIELD(pool_params, pad, TUPLE, "[]")},
    {MXN_FIELD(pool_params, p_value, MAYBE_INT, "None")},
    {MXN_FIELD(pool_params, count_include_pad, MAYBE_BOOL, "None")},
    {MXN_FIELD(pool_params, layout, ENUM, "None"), .words = mxn__words_layouts},
    {MXN_FIELD(pool_params, output_size, MAYBE_TUPLE, "None")},
    {0},
};

static int pool_check(const mxn_op *op, void *values)
{
    const pool_params *p = values;
    const char *what = p->layout == MXN_LAYOUT_CHANNELS_LAST ? "layouts with channels last"
                       : p->pool_type == LP                  ? "pool_type='lp'"
                       : p->pooling_convention == SAME       ? "pooling_convention='same'"
                       : p->output_size.count > 0            ? "output_size"
                                                             : NULL;
    if (what != NULL) {
        return mxp__fail(MXP_ENOTSUP, "Operator %s: %s: not supported", op->name, what);
    }
    mxn_window window;
    return p->global_pool ? 0
                          : mxn__window_init(&window, op, &p->kernel, &p->stride, NULL, &p->pad);
}

// Of a global pool the kernel is the image.
static int pool_window(const mxn_params *params, const mxn_shape *data, mxn_window *window)
{
    const pool_params *p = (const void *)params->values;
    if (!p->global_pool) {
        return mxn__window_init(window, params->op, &p->kernel, &p->stride, NULL, &p->pad);
    }
    static const mxn_tuple none = {0};
    mxn_tuple kernel = {.count = data->ndim - 2};
    for (int32_t i = 0; i < kernel.count && i < MXN_DIMS_MAX; i++) {
        kernel.values[i] = data->dims[i + 2];
    }
    return mxn__window_init(window, params->op, &kernel, &none, NULL, &none);
}

static int pool_shapes(const mxn_shapes *shapes)
{
    const pool_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    if (data->ndim < 3 || data->ndim > 5 ||
        (!p->global_pool && data->ndim != p->kernel.count + 2)) {
        return mxn__shape_refused(shapes, 0, "must have %d dimensions",
                                  p->global_pool ? 4 : p->kernel.count + 2);
    }
    mxn_window w;
    int error = pool_window(shapes->params, data, &w);
    if (error != 0) {
        return error;
    }
    mxn_shape result;
    mxn_shape_copy(&result, data);
    for (int32_t i = 2; i < data->ndim; i++) {
        int32_t k = 3 - data->ndim + i;
        int64_t room = data->dims[i] + 2 * w.pad[k] - w.kernel[k];
        if (room < 0 || w.pad[k] >= w.kernel[k]) {
            return mxn__shape_refused(shapes, 0, "kernel %lld with pad %lld does not fit axis %d",
                                      (long long)w.kernel[k], (long long)w.pad[k], i);
        }
        bool up = p->pooling_convention == FULL && !p->global_pool;
        result.dims[i] = (room + (up ? w.stride[k] - 1 : 0)) / w.stride[k] + 1;
    }
    return mxn__shape_output(shapes, 0, &result);
}

// One place of the window: what of it lies on the image, and how many elements it counts.
typedef struct place {
    int64_t begin[3], end[3];
    double count;
} place;

static place place_at(const mxn_window *w, const int64_t at[3], bool include_pad)
{
    place p = {.count = 1};
    for (int k = 0; k < 3; k++) {
        int64_t begin = at[k] * w->stride[k] - w->pad[k];
        int64_t end = begin + w->kernel[k];
        end = end < w->in[k] + w->pad[k] ? end : w->in[k] + w->pad[k];
        p.begin[k] = begin > 0 ? begin : 0;
        p.end[k] = end < w->in[k] ? end : w->in[k];
        int64_t count = include_pad ? end - begin : p.end[k] - p.begin[k];
        p.count *= (double)(count > 0 ? count : 0);
    }
    return p;
}

// Forward, or with `g` the gradient, which is added to `back`.
#define POOL_PLACE(type)                                                                         \
    static type pool_place_##type(const mxn_window *w, const place *p, int kind, const type *in, \
                                  const type *g, type *back)                                     \
    {                                                                                            \
        type result = kind == MAX ? (type)-INFINITY : 0;                                         \
        int64_t where = -1;                                                                      \
        const type scale = kind == AVG && p->count > 0 ? (type)(1.0 / p->count) : 1;             \
        for (int64_t z = p->begin[0]; z < p->end[0]; z++) {                                      \
            for (int64_t y = p->begin[1]; y < p->end[1]; y++) {                                  \
                for (int64_t x = p->begin[2]; x < p->end[2]; x++) {                              \
                    int64_t at = (z * w->in[1] + y) * w->in[2] + x;                              \
                    if (kind != MAX) {                                                           \
                        result += in[at] * scale;                                                \
                    } else if (where < 0 || in[at] > result) {                                   \
                        result = in[at];                                                         \
                        where = at;                                                              \
                    }                                                                            \
                    if (kind != MAX && g != NULL) {                                              \
                        back[at] += *g * scale;                                                  \
                    }                                                                            \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        if (kind == MAX && g != NULL && where >= 0) {                                            \
            back[where] += *g;                                                                   \
        }                                                                                        \
        return result;                                                                           \
    }                                                                                            \
    static void pool_all_##type(const mxn_window *w, int kind, bool include_pad, int64_t images, \
                                const type *in, const type *g, type *to)                         \
    {                                                                                            \
        int64_t in_size = w->in[0] * w->in[1] * w->in[2], at[3];                                 \
        for (int64_t n = 0; n < images; n++, in += in_size) {                                    \
            for (at[0] = 0; at[0] < w->out[0]; at[0]++) {                                        \
                for (at[1] = 0; at[1] < w->out[1]; at[1]++) {                                    \
                    for (at[2] = 0; at[2] < w->out[2]; at[2]++) {                                \
                        const place p = place_at(w, at, include_pad);                            \
                        if (g == NULL) {                                                         \
                            *to++ = pool_place_##type(w, &p, kind, in, NULL, NULL);              \
                        } else {                                                                 \
                            pool_place_##type(w, &p, kind, in, g++, to + n * in_size);           \
                        }                                                                        \
                    }                                                                            \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }
POOL_PLACE(float)
POOL_PLACE(double)

static int pool(mxn_job *job, const mxn_operand *in, const mxn_shape *result, const void *g)
{
    const pool_params *p = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    bool include = !p->count_include_pad.has || p->count_include_pad.value != 0;
    int64_t images = in->shape->dims[0] * in->shape->dims[1];
    mxn_window w;
    int error = pool_window(job->params, in->shape, &w);
    if (error != 0) {
        return error;
    }
    mxn__window_images(&w, in->shape, result);
    if (out->dtype == MXN_FLOAT32) {
        pool_all_float(&w, p->pool_type, include, images, in->data, g, out->data);
    } else if (out->dtype == MXN_FLOAT64) {
        pool_all_double(&w, p->pool_type, include, images, in->data, g, out->data);
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
}

static int pool_forward(mxn_job *job)
{
    return pool(job, &job->inputs[0], job->outputs[0].shape, NULL);
}

// Inputs: gradient, data, result.
static int pool_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    return pool(job, &job->inputs[1], job->inputs[0].shape, job->inputs[0].data);
}

static double pool_flops(const mxn_job *job)
{
    return (double)mxn_shape_size(job->inputs[0].shape);
}

static const mxn_op_def table[] = {
    {
        .name = "Pooling",
        .aliases = "_npx_pooling",
        .inputs = "data",
        .fields = pool_fields,
        .description = "One number for each place of a window.",
        .params_bytes = sizeof(pool_params),
        .check = pool_check,
        .shapes = pool_shapes,
        .gradient = MXN_USES_ALL("_backward_Pooling"),
        .flags = MXN_OP_PARALLEL,
        .forward = pool_forward,
        .flops = pool_flops,
    },
    {
        .name = "_backward_Pooling",
        .input_count = 3,
        .fields = pool_fields,
        .params_bytes = sizeof(pool_params),
        .forward = pool_backward,
        .flops = pool_flops,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL,
    },
};

MXN_FAMILY(pooling, table);
