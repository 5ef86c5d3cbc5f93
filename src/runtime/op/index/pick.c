// SPDX-License-Identifier: Apache-2.0
// One element of each row, by index.
#include <string.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct pick_params {
    mxn_maybe_int axis;
    bool keepdims;
    int32_t mode;
} pick_params;

enum { CLIP, WRAP };
static const mxn_word pick_modes[] = {{"clip", CLIP}, {"wrap", WRAP}, {0}};

static const mxn_field pick_fields[] = {
    {MXN_FIELD(pick_params, axis, MAYBE_INT, "-1")},
    {MXN_FIELD(pick_params, keepdims, BOOL, "0")},
    {MXN_FIELD(pick_params, mode, ENUM, "clip"), .words = pick_modes},
    {0},
};

typedef struct pick_place {
    int64_t outer, count, inner;
} pick_place;

// Without an axis the array is one long one.
static int pick_place_of(const mxn_params *params, const mxn_shape *data, pick_place *place)
{
    const pick_params *values = (const void *)params->values;
    *place = (pick_place){1, (int64_t)mxn_shape_size(data), 1};
    if (!values->axis.has) {
        return 0;
    }
    int32_t axis;
    int error = mxn__axis(params, values->axis.value, data->ndim, &axis);
    if (error != 0) {
        return error;
    }
    place->count = data->dims[axis];
    for (int32_t i = 0; i < data->ndim; i++) {
        place->outer *= i < axis ? data->dims[i] : 1;
        place->inner *= i > axis ? data->dims[i] : 1;
    }
    return 0;
}

static int pick_shapes(const mxn_shapes *shapes)
{
    const pick_params *params = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0], *index = shapes->inputs[1];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    pick_place place;
    int error = pick_place_of(shapes->params, data, &place);
    if (error != 0) {
        return error;
    }
    mxn_shape picked = {.ndim = 0}, kept = {.ndim = 0};
    int32_t axis = params->axis.value < 0 ? params->axis.value + data->ndim : params->axis.value;
    for (int32_t i = 0; i < data->ndim; i++) {
        bool goes = i == axis || !params->axis.has;
        kept.dims[kept.ndim++] = goes ? 1 : data->dims[i];
        if (!goes) {
            picked.dims[picked.ndim++] = data->dims[i];
        }
    }
    mxn__shape_settle(shapes->params, &picked, false);
    bool index_fits = mxn_shape_known(index) && mxn_shape_equal(index, &kept);
    error = index_fits ? 0 : mxn__shape_input(shapes, 1, &picked);
    if (error == 0 && place.count == 0 && place.outer * place.inner > 0) {
        error = mxn__shape_refused(shapes, 0, "has nothing to pick from");
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, params->keepdims ? &kept : &picked);
}

static int64_t picked_at(const mxn_job *job, const pick_place *place, int64_t i)
{
    const mxn_operand *index = &job->inputs[1];
    int64_t at;
    mxn_cast(&at, MXN_INT64, (const char *)index->data + (size_t)i * mxn_dtype_size(index->dtype),
             index->dtype, 1);
    if (((const pick_params *)mxn__values(job))->mode == WRAP) {
        at %= place->count;
        at += at < 0 ? place->count : 0;
    }
    at = at < 0 ? 0 : at >= place->count ? place->count - 1 : at;
    return (i / place->inner * place->count + at) * place->inner + i % place->inner;
}

static int pick_forward(mxn_job *job)
{
    pick_place place;
    int error = pick_place_of(job->params, job->inputs[0].shape, &place);
    size_t size = mxn_dtype_size(job->outputs[0].dtype);
    for (int64_t i = 0; error == 0 && i < place.outer * place.inner; i++) {
        memcpy((char *)job->outputs[0].data + (size_t)i * size,
               (const char *)job->inputs[0].data + (size_t)picked_at(job, &place, i) * size, size);
    }
    return error;
}

static int pick_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    pick_place place;
    int error = pick_place_of(job->params, out->shape, &place);
    size_t size = mxn_dtype_size(out->dtype);
    memset(out->data, 0, mxn_shape_size(out->shape) * size);
    for (int64_t i = 0; error == 0 && i < place.outer * place.inner; i++) {
        memcpy((char *)out->data + (size_t)picked_at(job, &place, i) * size,
               (const char *)job->inputs[0].data + (size_t)i * size, size);
    }
    return error;
}

static const mxn_op_def table[] = {
    {
        .name = "pick",
        .aliases = "_npx_pick choose_element_0index",
        .inputs = "data index",
        .description = "One element of each row, by index.",
        .fields = pick_fields,
        .params_bytes = sizeof(pick_params),
        .shapes = pick_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .forward = pick_forward,
        .gradient = MXN_GRADIENT({.op = "_backward_pick", .takes = "g0 i1", .gives = "0"}),
    },
    {
        .name = "_backward_pick",
        .input_count = 2,
        .fields = pick_fields,
        .params_bytes = sizeof(pick_params),
        .forward = pick_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
    },
};

MXN_FAMILY(pick, table);
