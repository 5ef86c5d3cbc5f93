// SPDX-License-Identifier: Apache-2.0
// Images: from bytes (height, width, channels) to numbers in 0 .. 1 (channels, height, width), and
// those normalised channel by channel. A fourth dimension before them is a batch.
#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct normalize_params {
    mxn_floats mean, std;
} normalize_params;

static const mxn_field normalize_fields[] = {
    {MXN_FIELD(normalize_params, mean, FLOATS, "[0,0,0,0]")},
    {MXN_FIELD(normalize_params, std, FLOATS, "[1,1,1,1]")},
    {0},
};

static int check_dims(const mxn_shapes *shapes)
{
    int32_t ndim = shapes->inputs[0]->ndim;
    return ndim == 3 || ndim == 4
               ? 0
               : mxn__shape_refused(shapes, 0, "an image has 3 dimensions, a batch of them 4");
}

// ---- to_tensor ----------------------------------------------------------------------------------
static int tensor_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    int error = check_dims(shapes);
    if (error != 0) {
        return error;
    }
    mxn_shape result;
    mxn_shape_copy(&result, in);
    int32_t first = in->ndim - 3;
    result.dims[first] = in->dims[first + 2];
    result.dims[first + 1] = in->dims[first];
    result.dims[first + 2] = in->dims[first + 1];
    return mxn__shape_output(shapes, 0, &result);
}

static int tensor_types(const mxn_types *types)
{
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
}

#define TEMPLATE "runtime/op/nn/to_tensor_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/nn/to_tensor_kernels.h"
#include "runtime/op/kernels/each_whole.h"

typedef void (*to_tensor_function)(const void *from, float *to, int64_t pixels, int64_t channels);

static const to_tensor_function to_tensors[MXN_DTYPE_COUNT] = {MXN_OF_NUMBERS(to_tensor)};

static int one_tensor(const mxn_job *job, const void *from, float *to, int64_t pixels,
                      int64_t channels)
{
    to_tensor_function function = to_tensors[job->inputs[0].dtype];
    if (function == NULL) {
        return mxn__type_refused(job, job->inputs[0].dtype);
    }
    function(from, to, pixels, channels);
    return 0;
}

static int tensor_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    const int64_t *dims = in->shape->dims + in->shape->ndim - 3;
    int64_t batches = in->shape->ndim == 4 ? in->shape->dims[0] : 1;
    int64_t pixels = dims[0] * dims[1], each = pixels * dims[2];
    int error = 0;
    for (int64_t i = 0; error == 0 && i < batches; i++) {
        const char *from = (const char *)in->data + (size_t)(i * each) * mxn_dtype_size(in->dtype);
        error = one_tensor(job, from, (float *)job->outputs[0].data + i * each, pixels, dims[2]);
    }
    return error;
}

// ---- normalize ----------------------------------------------------------------------------------
static float element_of(const mxn_floats *list, int64_t channel)
{
    return list->values[list->count == 1 ? 0 : channel];
}

static int normalize_shapes(const mxn_shapes *shapes)
{
    const normalize_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    int error = check_dims(shapes);
    if (error != 0) {
        return error;
    }
    int64_t channels = in->dims[in->ndim - 3];
    for (int i = 0; i < 2; i++) {
        const mxn_floats *list = i == 0 ? &params->mean : &params->std;
        if (list->count == 0 || (list->count != 1 && (int64_t)list->count < channels)) {
            return mxn__shape_refused(shapes, 0, "%s has %u numbers for %lld channels",
                                      i == 0 ? "mean" : "std", list->count, (long long)channels);
        }
    }
    return mxn__shape_output(shapes, 0, in);
}

#define TEMPLATE "runtime/op/nn/image_kernels.h"
#include "runtime/op/kernels/each_real.h"

static int normalize(mxn_job *job, bool backward)
{
    const mxn_operand *out = &job->outputs[0];
    const int64_t *dims = out->shape->dims + out->shape->ndim - 3;
    int64_t batches = out->shape->ndim == 4 ? out->shape->dims[0] : 1;
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        (out->dtype == MXN_FLOAT32 ? normalize_float : normalize_double)(
            job, backward, batches * dims[0], dims[0], dims[1] * dims[2]);
    }
    return error;
}

static int normalize_forward(mxn_job *job)
{
    return normalize(job, false);
}

static int normalize_backward(mxn_job *job)
{
    return normalize(job, true);
}

static const mxn_op_def table[] = {
    {
        .name = "_image_to_tensor",
        .aliases = "_npx__image_to_tensor",
        .inputs = "data",
        .description = "Channels first, in 0 .. 1.",
        .shapes = tensor_shapes,
        .types = tensor_types,
        .takes = MXN_TAKES_NUMBERS | MXN_TAKES_OF_INPUT,
        .forward = tensor_forward,
    },
    {
        .name = "_image_normalize",
        .aliases = "_npx__image_normalize",
        .inputs = "data",
        .description = "Each channel less its mean, divided by its deviation.",
        .fields = normalize_fields,
        .params_bytes = sizeof(normalize_params),
        .shapes = normalize_shapes,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_image_normalize"),
        .takes = MXN_TAKES_REALS,
        .forward = normalize_forward,
        .flops_each = 2,
    },
    {
        .name = "_backward_image_normalize",
        .input_count = 1,
        .fields = normalize_fields,
        .params_bytes = sizeof(normalize_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .inplace = MXN_INPLACE_ALL,
        .takes = MXN_TAKES_REALS,
        .forward = normalize_backward,
    },
};

MXN_FAMILY(image, table);
