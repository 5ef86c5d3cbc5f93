// SPDX-License-Identifier: Apache-2.0
// SequenceMask: in a batch of sequences that lie in one array, a value in place of what comes after
// the end of each. Without lengths the array as it is.
#include <string.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct mask_params {
    bool use_sequence_length;
    double value;
    int32_t axis;  // of time; the other one of the first two is that of the batch
} mask_params;

enum { FORWARD, BACKWARD };  // nothing comes back from what was replaced

static const mxn_field mask_fields[] = {
    {MXN_FIELD(mask_params, use_sequence_length, BOOL, "0")},
    {MXN_FIELD(mask_params, value, WIDE_FLOAT, "0")},
    {MXN_FIELD(mask_params, axis, INT, "0"), .min = 0, .max = 1},
    {0},
};

static uint32_t mask_inputs(const void *values)
{
    return ((const mask_params *)values)->use_sequence_length ? 2 : 1;
}

static int mask_shapes(const mxn_shapes *shapes)
{
    const mask_params *params = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    if (data->ndim < 2) {
        return mxn__shape_refused(shapes, 0, "has no axes of time and of the batch");
    }
    const mxn_shape lengths = {.ndim = 1, .dims = {data->dims[1 - params->axis]}};
    int error = params->use_sequence_length ? mxn__shape_input(shapes, 1, &lengths) : 0;
    return error != 0 ? error : mxn__shape_output(shapes, 0, data);
}

static int64_t length_of(const mxn_operand *lengths, int64_t sequence)
{
    int64_t length;
    mxn_cast(&length, MXN_INT64,
             (const char *)lengths->data + (size_t)sequence * mxn_dtype_size(lengths->dtype),
             lengths->dtype, 1);
    return length;
}

static void mask_rows(mxn_job *job, double value)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    const mask_params *params = mxn__values(job);
    int64_t times = in->shape->dims[params->axis], sequences = in->shape->dims[1 - params->axis];
    size_t size = mxn_dtype_size(in->dtype), row = mxn_shape_size(in->shape);
    row /= (size_t)(times * sequences);
    for (int64_t sequence = 0; sequence < sequences; sequence++) {
        int64_t length = length_of(&job->inputs[1], sequence);
        for (int64_t time = 0; time < times; time++) {
            int64_t at = params->axis == 0 ? time * sequences + sequence : sequence * times + time;
            size_t offset = (size_t)at * row * size;
            if (time < length) {
                memcpy((char *)out->data + offset, (const char *)in->data + offset, row * size);
            } else {
                mxn_fill((char *)out->data + offset, out->dtype, value, row);
            }
        }
    }
}

static int mask_forward(mxn_job *job)
{
    const mask_params *params = mxn__values(job);
    if (params->use_sequence_length) {
        mask_rows(job, job->params->op->def->variant == BACKWARD ? 0 : (double)params->value);
    } else {
        memcpy(job->outputs[0].data, job->inputs[0].data,
               mxn_shape_size(job->inputs[0].shape) * mxn_dtype_size(job->inputs[0].dtype));
    }
    return 0;
}

static const mxn_gradient_step *mask_gradient(const void *values)
{
    static const mxn_gradient_step masked[] = {
        {.op = "_backward_SequenceMask", .takes = "g0 i1", .gives = "0"}, {0}};
    static const mxn_gradient_step whole[] = {
        {.op = "_backward_SequenceMask", .takes = "g0", .gives = "0"}, {0}};
    return ((const mask_params *)values)->use_sequence_length ? masked : whole;
}

static const mxn_op_def table[] = {
    {
        .name = "SequenceMask",
        .aliases = "_npx_sequence_mask",
        .inputs = "data sequence_length",
        .description = "A value after the end of each sequence of a batch.",
        .fields = mask_fields,
        .params_bytes = sizeof(mask_params),
        .inputs_of = mask_inputs,
        .shapes = mask_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .variant = FORWARD,
        .forward = mask_forward,
        .gradient_of = mask_gradient,
    },
    {
        .name = "_backward_SequenceMask",
        .fields = mask_fields,
        .params_bytes = sizeof(mask_params),
        .inputs_of = mask_inputs,
        .forward = mask_forward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .variant = BACKWARD,
        .gradient_of = mask_gradient,
    },
};

MXN_FAMILY(sequence_mask, table);
