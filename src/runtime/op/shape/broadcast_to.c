// SPDX-License-Identifier: Apache-2.0
// Dimensions of size 1 repeated: the operators differ in how they say the result's shape. A
// gradient is a sum over what was repeated.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct broadcast_params {
    mxn_tuple shape, axis, size, lhs_axes, rhs_axes;
} broadcast_params;

static const mxn_field shape_fields[] = {
    {MXN_FIELD(broadcast_params, shape, TUPLE, "[]")},
    {0},
};

static const mxn_field axis_fields[] = {
    {MXN_FIELD(broadcast_params, axis, TUPLE, "[]")},
    {MXN_FIELD(broadcast_params, size, TUPLE, "[]")},
    {0},
};

static const mxn_field like_fields[] = {
    {MXN_FIELD(broadcast_params, lhs_axes, MAYBE_TUPLE, "None")},
    {MXN_FIELD(broadcast_params, rhs_axes, MAYBE_TUPLE, "None")},
    {0},
};

enum { OLD, NUMPY };

static const broadcast_params *params_of(const mxn_shapes *shapes)
{
    return (const void *)shapes->params->values;
}

// To a shape, aligned at the last dimension. An element of the parameter that says so (0, numpy's
// -1 and -2) keeps the input's dimension.
static int to_shape(const mxn_shapes *shapes, const mxn_shape *wanted, bool keeps_zero)
{
    const mxn_shape *in = shapes->inputs[0];
    mxn_shape result;
    mxn_shape_copy(&result, wanted);
    int32_t lead = wanted->ndim - in->ndim;
    bool fits = lead >= 0;
    for (int32_t i = 0; fits && i < in->ndim; i++) {
        int64_t *dim = &result.dims[i + lead];
        *dim = *dim < 0 || (*dim == 0 && keeps_zero) ? in->dims[i] : *dim;
        fits = *dim == in->dims[i] || in->dims[i] == 1;
    }
    if (!fits) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "cannot be broadcast to %s",
                                  mxn_shape_tuple(wanted, text));
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int broadcast_to_shapes(const mxn_shapes *shapes)
{
    const broadcast_params *params = params_of(shapes);
    if (!mxn_shape_known(shapes->inputs[0])) {
        return 0;
    }
    mxn_shape wanted = {.ndim = params->shape.count < 0 ? 0 : params->shape.count};
    bool numpy = shapes->params->op->def->variant == NUMPY;
    for (int32_t i = 0; i < wanted.ndim; i++) {
        wanted.dims[i] = params->shape.values[i];
        bool leads = i < wanted.ndim - shapes->inputs[0]->ndim;
        if (wanted.dims[i] < (numpy && !leads ? -2 : 0)) {
            return mxn__shape_refused(shapes, 0, "element %d of shape is %lld", i,
                                      (long long)wanted.dims[i]);
        }
    }
    return to_shape(shapes, &wanted, !numpy);
}

static int broadcast_axis_shapes(const mxn_shapes *shapes)
{
    const broadcast_params *params = params_of(shapes);
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    if (params->axis.count != params->size.count) {
        return mxn__shape_refused(shapes, 0, "%d axes, but %d sizes", params->axis.count,
                                  params->size.count);
    }
    mxn_shape result;
    mxn_shape_copy(&result, in);
    for (int32_t i = 0; i < params->axis.count; i++) {
        int32_t axis;
        int error = mxn__axis(shapes->params, params->axis.values[i], in->ndim, &axis);
        if (error != 0) {
            return error;
        }
        if (in->dims[axis] != 1 || params->size.values[i] < 0) {
            return mxn__shape_refused(shapes, 0, "axis %d cannot have size %lld", axis,
                                      (long long)params->size.values[i]);
        }
        result.dims[axis] = params->size.values[i];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// Without axes the whole shape of the other, else its sizes along some axes.
static int broadcast_like_shapes(const mxn_shapes *shapes)
{
    const broadcast_params *params = params_of(shapes);
    const mxn_shape *in = shapes->inputs[0], *other = shapes->inputs[1];
    if (!mxn_shape_known(in) || !mxn_shape_known(other)) {
        return 0;
    }
    if (params->lhs_axes.count < 0 && params->rhs_axes.count < 0) {
        return to_shape(shapes, other, false);
    }
    if (params->lhs_axes.count != params->rhs_axes.count) {
        return mxn__shape_refused(shapes, 0, "%d lhs_axes, but %d rhs_axes", params->lhs_axes.count,
                                  params->rhs_axes.count);
    }
    if (params->lhs_axes.count == 0) {
        return mxn__shape_refused(shapes, 0, "lhs_axes and rhs_axes are empty");
    }
    mxn_shape result;
    mxn_shape_copy(&result, in);
    for (int32_t i = 0; i < params->lhs_axes.count; i++) {
        int32_t to, from;
        int error = mxn__axis(shapes->params, params->lhs_axes.values[i], in->ndim, &to);
        if (error == 0) {
            error = mxn__axis(shapes->params, params->rhs_axes.values[i], other->ndim, &from);
        }
        if (error != 0) {
            return error;
        }
        if (in->dims[to] != 1 && in->dims[to] != other->dims[from]) {
            return mxn__shape_refused(shapes, 0, "axis %d cannot have size %lld", to,
                                      (long long)other->dims[from]);
        }
        result.dims[to] = other->dims[from];
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int broadcast_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int64_t steps[2][MXN_DIMS_MAX];
    mxn__broadcast_steps(in->shape, out->shape, steps[0]);
    mxn__row_steps(out->shape, steps[1]);
    mxn_iterator it;
    mxn__iterator_init(&it, out->shape->ndim, out->shape->dims,
                       (const int64_t *const[]){steps[0], steps[1], NULL});
    mxn__iterator_copy(&it, in->data, out->data, mxn_dtype_size(out->dtype));
    return 0;
}

// ---- gradient -----------------------------------------------------------------------------------
static uint64_t backward_workspace(const mxn_job *job)
{
    return mxn_shape_size(job->outputs[0].shape) * sizeof(uint64_t);
}

// Sums of whole numbers are whole numbers, which may wrap.
#define SUM double
#define TEMPLATE "runtime/op/shape/broadcast_kernels.h"
#include "runtime/op/kernels/each_real.h"
#undef SUM
#define SUM uint64_t
#define TEMPLATE "runtime/op/shape/broadcast_kernels.h"
#include "runtime/op/kernels/each_whole.h"
#undef SUM

typedef void (*add_function)(const void *from, void *to, mxn_iterator *it);

static const add_function adds[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(add_rows),
    [MXN_BOOL] = add_rows_uint8,
};

static int broadcast_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *out = &job->outputs[0];
    size_t size = mxn_shape_size(out->shape);
    int64_t steps[MXN_DIMS_MAX];
    mxn__broadcast_steps(out->shape, g->shape, steps);
    mxn_iterator it;
    mxn__iterator_init(&it, g->shape->ndim, g->shape->dims,
                       (const int64_t *const[]){steps, NULL, NULL});
    memset(job->workspace, 0, size * sizeof(uint64_t));
    if (adds[g->dtype] == NULL) {
        return mxn__type_refused(job, g->dtype);
    }
    adds[g->dtype](g->data, job->workspace, &it);
    bool is_real = g->dtype == MXN_FLOAT32 || g->dtype == MXN_FLOAT64;
    mxn_cast(out->data, out->dtype, job->workspace, is_real ? MXN_FLOAT64 : MXN_UINT64, size);
    return 0;
}

#define BROADCAST(name_, aliases_, inputs_, fields_, variant_, shapes_, gradient_)        \
    {                                                                                     \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .fields = (fields_), \
        .description = "Repeated along dimensions of size 1.", .variant = (variant_),     \
        .params_bytes = sizeof(broadcast_params), .shapes = (shapes_),                    \
        .types = mxn__types_of_first, .flags = MXN_OP_ANY_TYPE,                           \
        .gradient = MXN_GRADIENT({.op = (gradient_), .takes = "g0", .gives = "0"}),       \
        .reads = MXN_READS_FIRST, .forward = broadcast_forward                            \
    }
#define BACKWARD(name_)                                                                     \
    {                                                                                       \
        .name = (name_), .input_count = 1, .flags = MXN_OP_BACKWARD,                        \
        .gradient = MXN_GRADIENT({.op = "broadcast_like", .takes = "g0 i0", .gives = "0"}), \
        .forward = broadcast_backward, .workspace = backward_workspace                      \
    }

static const mxn_op_def table[] = {
    BROADCAST("broadcast_to", NULL, "data", shape_fields, OLD, broadcast_to_shapes,
              "_broadcast_backward"),
    BROADCAST("_npi_broadcast_to", NULL, "array", shape_fields, NUMPY, broadcast_to_shapes,
              "_backward_np_broadcast_to"),
    BROADCAST("broadcast_axis", "broadcast_axes", "data", axis_fields, OLD, broadcast_axis_shapes,
              "_broadcast_backward"),
    BROADCAST("broadcast_like", "_npx_broadcast_like", "lhs rhs", like_fields, OLD,
              broadcast_like_shapes, "_broadcast_backward"),
    BACKWARD("_broadcast_backward"),
    BACKWARD("_backward_np_broadcast_to"),
};

MXN_FAMILY(broadcast_to, table);
