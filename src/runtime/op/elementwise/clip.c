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
static void make_limit(const mxn_number *limit, int32_t dtype, int64_t *result)
{
    if (mxn_dtype_is_float(dtype)) {
        mxn_number_fill(result, dtype, limit, 1);
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
    mxn_cast(result, dtype, &kept, MXN_UINT64, 1);
}

#define TEMPLATE "runtime/op/elementwise/clip_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/elementwise/clip_kernels.h"
#include "runtime/op/kernels/each_whole.h"

typedef void (*clip_function)(const void *from, const void *low, const void *high, void *to,
                              size_t count);
typedef void (*clip_back_function)(const mxn_job *job, const void *low, const void *high,
                                   size_t count);

static const clip_function clips[MXN_DTYPE_COUNT] = {MXN_OF_NUMBERS(clip)};
static const clip_back_function clip_backs[MXN_DTYPE_COUNT] = {MXN_OF_NUMBERS(clip_back)};

static int clip_forward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0];
    size_t count = mxn_shape_size(in->shape);
    int64_t low, high;
    make_limit(&params->a_min, in->dtype, &low);
    make_limit(&params->a_max, in->dtype, &high);
    if (clips[in->dtype] == NULL) {
        return mxn__type_refused(job, in->dtype);
    }
    clips[in->dtype](in->data, &low, &high, job->outputs[0].data, count);
    return 0;
}

// ---- gradient -----------------------------------------------------------------------------------
static int clip_backward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    int32_t dtype = job->outputs[0].dtype;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    int64_t low, high;
    make_limit(&params->a_min, dtype, &low);
    make_limit(&params->a_max, dtype, &high);
    if (clip_backs[dtype] == NULL) {
        return mxn__type_refused(job, dtype);
    }
    clip_backs[dtype](job, &low, &high, count);
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "clip",
        .aliases = "_npi_clip _sparse_clip",
        .inputs = "data",
        .description = "No smaller and no larger than two limits.",
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_POINTWISE,
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
        .flags = MXN_OP_SILENT | MXN_OP_POINTWISE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_clip", .takes = "g0 i1", .gives = "0"}),
        .takes = MXN_TAKES_NUMBERS,
        .forward = clip_backward,
    },
};

MXN_FAMILY(clip, table);
