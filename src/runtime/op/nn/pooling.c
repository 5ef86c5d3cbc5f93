// SPDX-License-Identifier: Apache-2.0
// Pooling of images in 1, 2 and 3 dimensions: the largest, the mean, the sum or a norm of a window.
// The gradient of the largest goes to the first element that is it.
#include "runtime/op/nn/pooling.h"

#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

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

enum { VALID, FULL, SAME };
static const mxn_word pool_types[] = {
    {"avg", MXN_POOL_AVG}, {"lp", MXN_POOL_LP}, {"max", MXN_POOL_MAX}, {"sum", MXN_POOL_SUM}, {0}};
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

static bool is_adaptive(const pool_params *p)
{
    return p->output_size.count > 0;
}

static int pool_check(const mxn_op *op, void *values)
{
    const pool_params *p = values;
    bool power = p->p_value.has && p->p_value.value >= 1 && p->p_value.value <= 3;
    if (p->pool_type == MXN_POOL_LP && !power) {
        return mxp__fail(MXP_EINVAL, "Operator %s: pool_type='lp' needs p_value=1, 2 or 3",
                         op->name);
    }
    if (is_adaptive(p) && p->pool_type != MXN_POOL_AVG) {
        return mxp__fail(MXP_EINVAL, "Operator %s: output_size is for pool_type='avg'", op->name);
    }
    bool padded = p->pad.count > 0 && p->pad.values[0] != 0;
    if (p->pooling_convention == SAME && !p->global_pool && (p->kernel.count != 1 || padded)) {
        return mxp__fail(MXP_EINVAL,
                         "Operator %s: pooling_convention='same' is for one dimension without pad",
                         op->name);
    }
    for (int32_t i = 0; i < p->output_size.count; i++) {
        if (p->output_size.values[i] < 1) {
            return mxp__fail(MXP_EINVAL, "Operator %s: output_size has %lld, the least is 1",
                             op->name, (long long)p->output_size.values[i]);
        }
    }
    mxn_window window;
    return p->global_pool || is_adaptive(p)
               ? 0
               : mxn__window_init(&window, op, &p->kernel, &p->stride, NULL, &p->pad);
}

static int32_t image_axis(const pool_params *p)
{
    return p->layout == MXN_LAYOUT_CHANNELS_LAST ? 1 : 2;
}

// Of a global pool the kernel is the image. Sizes of adaptive windows vary: they have none here.
static int pool_window(const mxn_params *params, const mxn_shape *data, mxn_window *window)
{
    const pool_params *p = (const void *)params->values;
    if (!p->global_pool && !is_adaptive(p)) {
        return mxn__window_init(window, params->op, &p->kernel, &p->stride, NULL, &p->pad);
    }
    *window = (mxn_window){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    for (int32_t i = 0; i < data->ndim - 2 && p->global_pool; i++) {
        window->kernel[5 - data->ndim + i] = data->dims[image_axis(p) + i];
    }
    return 0;
}

// Windows along one axis: those that fit; with `full` one more if something is left; with `same` as
// many as strides.
static int64_t places(const pool_params *p, const mxn_window *w, int k, int64_t size)
{
    int64_t extent = size + 2 * w->pad[k] - w->kernel[k], stride = w->stride[k];
    if (p->global_pool || p->pooling_convention == VALID) {
        return extent / stride + 1;
    }
    return (p->pooling_convention == SAME ? size - 1 : extent + stride - 1) / stride + 1;
}

static int adaptive_shapes(const mxn_shapes *shapes, mxn_shape *result)
{
    const pool_params *p = (const void *)shapes->params->values;
    int32_t count = result->ndim - 2;
    if (p->output_size.count != 1 && p->output_size.count != count) {
        return mxn__shape_refused(shapes, 0, "does not match output_size of %d elements",
                                  p->output_size.count);
    }
    for (int32_t i = 0; i < count; i++) {
        result->dims[image_axis(p) + i] = p->output_size.values[p->output_size.count == 1 ? 0 : i];
    }
    return mxn__shape_output(shapes, 0, result);
}

static int pool_shapes(const mxn_shapes *shapes)
{
    const pool_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    if (data->ndim < 0) {
        return 0;
    }
    bool any = p->global_pool || is_adaptive(p);
    if (data->ndim < 3 || data->ndim > 5 || (!any && data->ndim != p->kernel.count + 2)) {
        return mxn__shape_refused(shapes, 0, "must have %d dimensions",
                                  any ? 4 : p->kernel.count + 2);
    }
    mxn_window w;
    mxn_shape result;
    mxn_shape_copy(&result, data);
    if (is_adaptive(p) && !p->global_pool) {
        return adaptive_shapes(shapes, &result);
    }
    int error = pool_window(shapes->params, data, &w);
    if (error != 0) {
        return error;
    }
    for (int32_t i = 0; i < data->ndim - 2; i++) {
        int32_t k = 5 - data->ndim + i, axis = image_axis(p) + i;
        if (data->dims[axis] < 0) {
            result.dims[axis] = p->global_pool ? 1 : -1;
            continue;
        }
        if (data->dims[axis] + 2 * w.pad[k] < w.kernel[k]) {
            return mxn__shape_refused(shapes, 0, "kernel %lld with pad %lld does not fit axis %d",
                                      (long long)w.kernel[k], (long long)w.pad[k], axis);
        }
        result.dims[axis] = places(p, &w, k, data->dims[axis]);
    }
    return mxn__shape_output(shapes, 0, &result);
}

// ---- the reference ----------------------------------------------------------------------------
int mxn__pool_describe(const mxn_job *job, mxn_pool *pool)
{
    const pool_params *p = mxn__values(job);
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_operand *data = &job->inputs[backward ? 1 : 0];
    const mxn_shape *result = backward ? job->inputs[0].shape : job->outputs[0].shape;
    int error = pool_window(job->params, data->shape, &pool->window);
    if (error != 0) {
        return error;
    }
    mxn__window_images(&pool->window, data->shape, result, image_axis(p));
    pool->channels_last = p->layout == MXN_LAYOUT_CHANNELS_LAST;
    pool->images = data->shape->dims[0];
    pool->channels = data->shape->dims[pool->channels_last ? data->shape->ndim - 1 : 1];
    pool->kind = p->pool_type;
    pool->power = p->p_value.value;
    pool->counts_pad = !p->count_include_pad.has || p->count_include_pad.value != 0;
    pool->adaptive = is_adaptive(p) && !p->global_pool;
    pool->dtype = data->dtype;
    return 0;
}

static int pool(mxn_job *job, const void *in, const void *g, void *out, void *back)
{
    mxn_pool described;
    int error = mxn__pool_describe(job, &described);
    if (error != 0) {
        return error;
    }
    error = mxn__real_type(job, described.dtype);
    if (error == 0) {
        mxn__pool_reference(&described, in, g, out, back);
    }
    return error;
}

static int pool_forward(mxn_job *job)
{
    return pool(job, job->inputs[0].data, NULL, job->outputs[0].data, NULL);
}

// Inputs: gradient, data, result.
static int pool_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    return pool(job, job->inputs[1].data, job->inputs[0].data, job->inputs[2].data, out->data);
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
        .takes = MXN_TAKES_REALS,
        .forward = pool_forward,
        .flops = pool_flops,
    },
    {
        .name = "_backward_Pooling",
        .input_count = 3,
        .fields = pool_fields,
        .params_bytes = sizeof(pool_params),
        .takes = MXN_TAKES_REALS,
        .forward = pool_backward,
        .flops = pool_flops,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL,
    },
};

MXN_FAMILY(pooling, table);
