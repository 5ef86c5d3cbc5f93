// SPDX-License-Identifier: Apache-2.0
// Numbers kept between two limits. Of crossed ones what is above the upper gets that, the rest the
// lower.
#include <math.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct clip_params {
    mxn_number a_min, a_max;
} clip_params;

static const mxn_field clip_fields[] = {
    {MXN_FIELD(clip_params, a_min, NUMBER, NULL), .type_text = "float, required"},
    {MXN_FIELD(clip_params, a_max, NUMBER, NULL), .type_text = "float, required"},
    {0},
};

__extension__ typedef __int128 wide;

// The limit as a number of the array's type: of whole numbers the nearest that the type has.
static void make_limit(const mxn_number *limit, int32_t dtype, int64_t *room)
{
    if (mxn_dtype_is_float(dtype)) {
        mxn_number_fill(room, dtype, limit, 1);
        return;
    }
    bool is_signed =
        dtype == MXN_INT8 || dtype == MXN_INT16 || dtype == MXN_INT32 || dtype == MXN_INT64;
    unsigned bits = (unsigned)mxn_dtype_size(dtype) * 8 - is_signed;
    wide most = dtype == MXN_BOOL ? 1 : ((wide)1 << bits) - 1, least = is_signed ? -most - 1 : 0;
    wide value = limit->dtype == MXN_FLOAT64  ? (wide)fmax(fmin(limit->real, 0x1p65), -0x1p65)
                 : limit->dtype == MXN_UINT64 ? (wide)limit->bits
                                              : (wide)(int64_t)limit->bits;
    uint64_t kept = (uint64_t)(value < least ? least : value > most ? most : value);
    mxn_cast(room, dtype, &kept, MXN_UINT64, 1);
}

#define CLIP_CASE(NAME, type)                                                   \
    case MXN_##NAME: {                                                          \
        const type *x = in->data, *least = (void *)&low, *most = (void *)&high; \
        const type below = *least, above = *most;                               \
        MXN_EACH_ALONE for (size_t i = 0; i < count; i++)                       \
        {                                                                       \
            const type no_less = x[i] < below ? below : x[i];                   \
            ((type *)job->outputs[0].data)[i] = x[i] > above ? above : no_less; \
        }                                                                       \
        return 0;                                                               \
    }

static int clip_forward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0];
    size_t count = mxn_shape_size(in->shape);
    int64_t low, high;
    make_limit(&params->a_min, in->dtype, &low);
    make_limit(&params->a_max, in->dtype, &high);
    switch (in->dtype) {
        MXN_NUMBER_TYPES(CLIP_CASE)
    default:
        return mxn__type_refused(job, in->dtype);
    }
}

// ---- gradient -----------------------------------------------------------------------------------
#define BACKWARD_CASE(NAME, type)                                                         \
    case MXN_##NAME: {                                                                    \
        const type *g = job->inputs[0].data, *x = job->inputs[1].data;                    \
        const type *least = (void *)&low, *most = (void *)&high;                          \
        for (size_t i = 0; i < count; i++) {                                              \
            ((type *)job->outputs[0].data)[i] = x[i] < *least || x[i] > *most ? 0 : g[i]; \
        }                                                                                 \
        return 0;                                                                         \
    }

static int clip_backward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    int32_t dtype = job->outputs[0].dtype;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    int64_t low, high;
    make_limit(&params->a_min, dtype, &low);
    make_limit(&params->a_max, dtype, &high);
    switch (dtype) {
        MXN_NUMBER_TYPES(BACKWARD_CASE)
    default:
        return mxn__type_refused(job, dtype);
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
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_clip", .takes = "g0 i0"}),
        .takes = MXN_TAKES_NUMBERS,
        .forward = clip_forward,
    },
    {
        .name = "_backward_clip",
        .input_count = 2,
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_SILENT,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_clip", .takes = "g0 i1", .gives = "0"}),
        .takes = MXN_TAKES_NUMBERS,
        .forward = clip_backward,
    },
};

MXN_FAMILY(clip, table);
