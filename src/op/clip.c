// SPDX-License-Identifier: Apache-2.0
// Numbers kept between two limits.
#include "op/infer.h"
#include "op/loops.h"

typedef struct clip_params {
    float a_min, a_max;
} clip_params;

static const mxn_field clip_fields[] = {
    {MXN_FIELD(clip_params, a_min, FLOAT, NULL)},
    {MXN_FIELD(clip_params, a_max, FLOAT, NULL)},
    {0},
};

#define CLIP_CASE(NAME, type)                                              \
    case MXN_##NAME:                                                       \
        for (size_t i = 0; i < count; i++) {                               \
            type x = ((const type *)job->inputs[0].data)[i];               \
            double value = (double)x;                                      \
            ((type *)job->outputs[0].data)[i] = value > high  ? (type)high \
                                                : value < low ? (type)low  \
                                                              : x;         \
        }                                                                  \
        return 0;

static int clip_forward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const double low = (double)params->a_min, high = (double)params->a_max;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    switch (job->outputs[0].dtype) {
        MXN_NUMBER_TYPES(CLIP_CASE)
    default:
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
}

#define CLIP_BACKWARD_CASE(NAME, type)                                       \
    case MXN_##NAME:                                                         \
        for (size_t i = 0; i < count; i++) {                                 \
            type g = ((const type *)job->inputs[0].data)[i];                 \
            double x = (double)((const type *)job->inputs[1].data)[i];       \
            ((type *)job->outputs[0].data)[i] = x < low || x > high ? 0 : g; \
        }                                                                    \
        return 0;

static int clip_backward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const double low = (double)params->a_min, high = (double)params->a_max;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    switch (job->outputs[0].dtype) {
        MXN_REAL_TYPES(CLIP_BACKWARD_CASE)
    default:
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
}

static const mxn_op_def table[] = {
    {
        .name = "clip",
        .aliases = "_npi_clip _sparse_clip",
        .inputs = "data",
        .description = "No smaller and no larger than two limits.",
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_INPLACE,
        .gradient = MXN_GRADIENT({.op = "_backward_clip", .takes = "g0 i0"}),
        .forward = clip_forward,
    },
    {
        .name = "_backward_clip",
        .input_count = 2,
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_SILENT | MXN_OP_INPLACE,
        .forward = clip_backward,
    },
};

MXN_FAMILY(clip, table);
