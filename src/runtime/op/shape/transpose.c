// SPDX-License-Identifier: Apache-2.0
// Dimensions in another order: transpose, and axes swapped, moved, rolled. Each operator says which
// dimension of the input is dimension i of the result; the rest is one. A gradient is the inverse
// order.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct transpose_params {
    mxn_tuple axes, source, destination;
    int32_t dim1, dim2, axis, start;
} transpose_params;

enum { LISTED, SWAPPED, MOVED, ROLLED, KIND_MASK = 3, INVERTED = 4 };

static const mxn_field transpose_fields[] = {
    {MXN_FIELD(transpose_params, axes, TUPLE, "[]")},
    {0},
};

static const mxn_field npi_transpose_fields[] = {
    {MXN_FIELD(transpose_params, axes, TUPLE, "None")},
    {0},
};

static const mxn_field swap_fields[] = {
    {MXN_FIELD(transpose_params, dim1, INT, "0")},
    {MXN_FIELD(transpose_params, dim2, INT, "0")},
    {0},
};

static const mxn_field move_fields[] = {
    {MXN_FIELD(transpose_params, source, TUPLE, NULL)},
    {MXN_FIELD(transpose_params, destination, TUPLE, NULL)},
    {0},
};

static const mxn_field roll_fields[] = {
    {MXN_FIELD(transpose_params, axis, INT, NULL)},
    {MXN_FIELD(transpose_params, start, INT, "0")},
    {0},
};

static int named_twice(const mxn_params *params, int32_t axis)
{
    return mxp__fail(MXP_EINVAL, "Operator %s: axis %d is named twice", params->op->name, axis);
}

static int listed_order(const mxn_params *params, int32_t ndim, int32_t *order)
{
    const mxn_tuple *axes = &((const transpose_params *)(const void *)params->values)->axes;
    bool seen[MXN_DIMS_MAX] = {false};
    if (axes->count > 0 && axes->count != ndim) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %d axes for an input of %d dimensions",
                         params->op->name, axes->count, ndim);
    }
    for (int32_t i = 0; i < ndim; i++) {
        order[i] = ndim - 1 - i;
        int error = axes->count > 0 ? mxn__axis(params, axes->values[i], ndim, &order[i]) : 0;
        if (error != 0) {
            return error;
        }
        if (seen[order[i]]) {
            return named_twice(params, order[i]);
        }
        seen[order[i]] = true;
    }
    return 0;
}

static int swapped_order(const mxn_params *params, int32_t ndim, int32_t *order)
{
    const transpose_params *values = (const void *)params->values;
    int32_t first, second;
    int error = mxn__axis(params, values->dim1, ndim, &first);
    if (error == 0) {
        error = mxn__axis(params, values->dim2, ndim, &second);
    }
    if (error == 0) {
        for (int32_t i = 0; i < ndim; i++) {
            order[i] = i == first ? second : i == second ? first : i;
        }
    }
    return error;
}

// Those moved go where they are sent, the others fill the rest in their order.
static int moved_order(const mxn_params *params, int32_t ndim, int32_t *order)
{
    const transpose_params *values = (const void *)params->values;
    bool moved[MXN_DIMS_MAX] = {false};
    if (values->source.count != values->destination.count) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %d axes in source, %d in destination",
                         params->op->name, values->source.count, values->destination.count);
    }
    for (int32_t i = 0; i < ndim; i++) {
        order[i] = -1;
    }
    for (int32_t i = 0; i < values->source.count; i++) {
        int32_t from, to;
        int error = mxn__axis(params, values->source.values[i], ndim, &from);
        if (error == 0) {
            error = mxn__axis(params, values->destination.values[i], ndim, &to);
        }
        if (error != 0) {
            return error;
        }
        if (moved[from] || order[to] >= 0) {
            return named_twice(params, moved[from] ? from : to);
        }
        moved[from] = true;
        order[to] = from;
    }
    for (int32_t i = 0, next = 0; i < ndim; i++) {
        while (order[i] < 0 && moved[next]) {
            next++;
        }
        order[i] = order[i] < 0 ? next++ : order[i];
    }
    return 0;
}

// The order for rollaxis: one axis is moved until it comes before `start`.
static int rolled_order(const mxn_params *params, int32_t ndim, int32_t *order)
{
    const transpose_params *values = (const void *)params->values;
    int32_t axis, start = values->start < 0 ? values->start + ndim : values->start;
    int error = mxn__axis(params, values->axis, ndim, &axis);
    if (error == 0 && (start < 0 || start > ndim)) {
        error = mxp__fail(MXP_EINVAL, "Operator %s: start=%d is out of range for %d dimensions",
                          params->op->name, values->start, ndim);
    }
    if (error != 0) {
        return error;
    }
    start -= start > axis;
    for (int32_t i = 0, next = 0; i < ndim; i++) {
        next += next == axis;
        order[i] = i == start ? axis : next++;
    }
    return 0;
}

// Dimension i of the result is dimension order[i] of the input.
static int order_of(const mxn_params *params, int32_t ndim, int32_t order[MXN_DIMS_MAX])
{
    static int (*const orders[])(const mxn_params *params, int32_t ndim, int32_t *order) = {
        [LISTED] = listed_order,
        [SWAPPED] = swapped_order,
        [MOVED] = moved_order,
        [ROLLED] = rolled_order,
    };
    int variant = params->op->def->variant;
    int32_t forward[MXN_DIMS_MAX];
    int error = orders[variant & KIND_MASK](params, ndim, order);
    memcpy(forward, order, sizeof forward);
    for (int32_t i = 0; error == 0 && (variant & INVERTED) != 0 && i < ndim; i++) {
        order[forward[i]] = i;
    }
    return error;
}

static int transpose_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (in->ndim < 0) {
        return 0;
    }
    int32_t order[MXN_DIMS_MAX] = {0};
    int error = order_of(shapes->params, in->ndim, order);
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = in->ndim};
    for (int32_t i = 0; i < in->ndim; i++) {
        result.dims[i] = in->dims[order[i]];
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int transpose_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int32_t order[MXN_DIMS_MAX] = {0};
    int error = order_of(job->params, in->shape->ndim, order);
    if (error != 0) {
        return error;
    }
    int64_t own[MXN_DIMS_MAX], steps[2][MXN_DIMS_MAX];
    mxn__row_steps(in->shape, own);
    mxn__row_steps(out->shape, steps[1]);
    for (int32_t i = 0; i < in->shape->ndim; i++) {
        steps[0][i] = own[order[i]];
    }
    mxn_iterator it;
    mxn__iterator_init(&it, out->shape->ndim, out->shape->dims,
                       (const int64_t *const[]){steps[0], steps[1], NULL});
    mxn__iterator_copy(&it, in->data, out->data, mxn_dtype_size(out->dtype));
    return 0;
}

// The inverse order, of as many axes as there are dimensions. No axes are their own inverse.
static void invert_list(void *values)
{
    transpose_params *params = values;
    const mxn_tuple axes = params->axes;
    for (int32_t i = 0; i < axes.count; i++) {
        int64_t axis = axes.values[i] < 0 ? axes.values[i] + axes.count : axes.values[i];
        params->axes.values[axis] = i;
    }
}

static void move_back(void *values)
{
    transpose_params *params = values;
    const mxn_tuple source = params->source;
    params->source = params->destination;
    params->destination = source;
}

#define TRANSPOSE(name_, aliases_, input_, variant_, fields_, back_, adjust_)              \
    {                                                                                      \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .variant = (variant_), \
        .description = "Dimensions in another order.", .fields = (fields_),                \
        .params_bytes = sizeof(transpose_params), .shapes = transpose_shapes,              \
        .flags = MXN_OP_ANY_TYPE, .forward = transpose_forward,                            \
        .gradient = MXN_GRADIENT({.op = (back_), .takes = "g0", .adjust = (adjust_)})      \
    }

static const mxn_op_def table[] = {
    TRANSPOSE("transpose", NULL, "data", LISTED, transpose_fields, "transpose", invert_list),
    TRANSPOSE("_npi_transpose", NULL, "a", LISTED, npi_transpose_fields, "_npi_transpose",
              invert_list),
    TRANSPOSE("_np_transpose", NULL, "a", LISTED, npi_transpose_fields, "_np_transpose",
              invert_list),
    TRANSPOSE("SwapAxis", "_npi_swapaxes swapaxes", "data", SWAPPED, swap_fields,
              "_backward_SwapAxis", mxn__values_kept),
    TRANSPOSE("_npi_moveaxis", "_np_moveaxis", "a", MOVED, move_fields, "_npi_moveaxis", move_back),
    TRANSPOSE("_npi_rollaxis", NULL, "data", ROLLED, roll_fields, "_npi_rollaxis_backward",
              mxn__values_kept),
    {
        .name = "_backward_SwapAxis",
        .input_count = 1,
        .variant = SWAPPED,
        .fields = swap_fields,
        .params_bytes = sizeof(transpose_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("SwapAxis"),
        .forward = transpose_forward,
    },
    {
        .name = "_npi_rollaxis_backward",
        .input_count = 1,
        .variant = ROLLED | INVERTED,
        .fields = roll_fields,
        .params_bytes = sizeof(transpose_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_npi_rollaxis"),
        .forward = transpose_forward,
    },
};

MXN_FAMILY(transpose, table);
