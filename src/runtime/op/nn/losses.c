// SPDX-License-Identifier: Apache-2.0
// Layers at the end of a network that bring their own gradient, and functions for losses.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/kernels/losses.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// ---- regression: linear, logistic, mean absolute error ------------------------------------------
typedef struct loss_params {
    double grad_scale, scalar;
    float valid_thresh;
    int32_t normalization;
} loss_params;

enum { LINEAR, LOGISTIC, ABSOLUTE };

static const mxn_field regression_fields[] = {
    {MXN_FIELD(loss_params, grad_scale, WIDE_FLOAT, "1")},
    {0},
};

// A label may lack a last dimension of size 1, and does if nobody says what it is.
static int regression_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0], *label = shapes->inputs[1];
    int error = mxn__shape_output(shapes, 0, data);
    bool flat = mxn_shape_known(data) && data->ndim == 2 && data->dims[1] == 1 && label->ndim < 2;
    const mxn_shape vector = {.ndim = 1, .dims = {flat ? data->dims[0] : 0}};
    return error != 0 ? error : mxn__shape_input(shapes, 1, flat ? &vector : data);
}

static int regression_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    const size_t count = mxn_shape_size(out->shape);
    int error = mxn__real_type(job, out->dtype);
    if (error != 0) {
        return error;
    }
    if (job->params->op->def->variant == LOGISTIC) {
        MXN_WIDEST(mxn__losses)->logistic[out->dtype == MXN_FLOAT64](in->data, out->data, count);
    } else if (in->data != out->data) {
        memcpy(out->data, in->data, count * mxn_dtype_size(out->dtype));
    }
    return 0;
}

// Inputs: label, output. The sum over a row's numbers is their mean.
static int regression_backward(mxn_job *job)
{
    const loss_params *params = mxn__values(job);
    const mxn_operand *label = &job->inputs[0], *y = &job->inputs[1], *out = &job->outputs[0];
    const bool wide = out->dtype == MXN_FLOAT64;
    size_t count = mxn_shape_size(out->shape);
    int64_t rows = out->shape->ndim == 0 ? 1 : out->shape->dims[0];
    double scale = params->grad_scale * (double)rows / (double)count;
    int error = mxn__real_type(job, out->dtype);
    if (error != 0) {
        return error;
    }
    if (job->params->op->def->variant == ABSOLUTE) {
        MXN_WIDEST(mxn__losses)->distance_sign[wide](y->data, label->data, out->data, scale, count);
    } else {
        MXN_WIDEST(mxn__losses)->distance[wide](y->data, label->data, out->data, scale, count);
    }
    return 0;
}

// ---- MakeLoss -----------------------------------------------------------------------------------
enum { PER_NOTHING, PER_BATCH, PER_VALID };
static const mxn_word normalizations[] = {
    {"batch", PER_BATCH}, {"null", PER_NOTHING}, {"valid", PER_VALID}, {0}};

static const mxn_field make_loss_fields[] = {
    {MXN_FIELD(loss_params, grad_scale, WIDE_FLOAT, "1")},
    {MXN_FIELD(loss_params, valid_thresh, FLOAT, "0")},
    {MXN_FIELD(loss_params, normalization, ENUM, "null"), .words = normalizations},
    {0},
};

static int copy_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    if (in->data != out->data) {
        memcpy(out->data, in->data, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    }
    return 0;
}

// Valid are the elements above a threshold.
static double valid_count(const mxn_operand *data, double threshold)
{
    size_t count = mxn_shape_size(data->shape), size = mxn_dtype_size(data->dtype);
    double valid = 0;
    for (size_t i = 0; i < count; i++) {
        double value;
        mxn_cast(&value, MXN_FLOAT64, (const char *)data->data + i * size, data->dtype, 1);
        valid += value > threshold;
    }
    return valid > 1 ? valid : 1;
}

static int make_loss_backward(mxn_job *job)
{
    const loss_params *params = mxn__values(job);
    const mxn_operand *data = &job->inputs[0];
    mxn_operand *out = &job->outputs[0];
    double value = params->grad_scale;
    if (params->normalization == PER_BATCH && data->shape->ndim > 0) {
        value /= (double)data->shape->dims[0];
    } else if (params->normalization == PER_VALID) {
        value /= valid_count(data, (double)params->valid_thresh);
    }
    mxn_fill(out->data, out->dtype, value, mxn_shape_size(out->shape));
    return 0;
}

// ---- smooth_l1 ----------------------------------------------------------------------------------
static const mxn_field smooth_fields[] = {
    {MXN_FIELD(loss_params, scalar, WIDE_FLOAT, "1"), .type_text = "float"},
    {0},
};

static int smooth_forward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    const double scalar = ((const loss_params *)mxn__values(job))->scalar;
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        MXN_WIDEST(mxn__losses)
            ->smooth[out->dtype == MXN_FLOAT64](job->inputs[0].data, out->data, scalar,
                                                mxn_shape_size(out->shape));
    }
    return error;
}

static int smooth_backward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    const double scalar = ((const loss_params *)mxn__values(job))->scalar;
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        MXN_WIDEST(mxn__losses)
            ->smooth_back[out->dtype == MXN_FLOAT64](in[0].data, in[1].data, out->data, scalar,
                                                     mxn_shape_size(out->shape));
    }
    return error;
}

// ---- softmax_cross_entropy ----------------------------------------------------------------------
static int entropy_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0];
    const mxn_shape one = {.ndim = 1, .dims = {1}};
    if (!mxn_shape_known(data)) {
        return 0;
    }
    if (data->ndim != 2 || data->dims[1] == 0) {
        return mxn__shape_refused(shapes, 0, "must be a matrix with a row of scores each");
    }
    const mxn_shape label = {.ndim = 1, .dims = {data->dims[0]}};
    int error = mxn__shape_input(shapes, 1, &label);
    return error != 0 ? error : mxn__shape_output(shapes, 0, &one);
}

static int64_t label_at(const mxn_operand *labels, int64_t row, int64_t count)
{
    int64_t label = mxn__whole_at(labels, row);
    return label < 0 ? 0 : label >= count ? count - 1 : label;
}

static int entropy_forward(mxn_job *job)
{
    const mxn_operand *data = &job->inputs[0];
    const bool wide = data->dtype == MXN_FLOAT64;
    const int64_t rows = data->shape->dims[0], count = data->shape->dims[1];
    int error = mxn__real_type(job, data->dtype);
    if (error != 0) {
        return error;
    }
    double total = 0;
    const char *x = data->data;
    for (int64_t row = 0; row < rows; row++, x += count * (int64_t)mxn_dtype_size(data->dtype)) {
        const int64_t label = label_at(&job->inputs[1], row, count);
        total += MXN_WIDEST(mxn__losses)->entropy[wide](x, count, label);
    }
    mxn_fill(job->outputs[0].data, data->dtype, total, 1);
    return 0;
}

// Inputs: gradient, data, labels.
static int entropy_backward(mxn_job *job)
{
    const mxn_operand *data = &job->inputs[1];
    const bool wide = data->dtype == MXN_FLOAT64;
    const int64_t rows = data->shape->dims[0], count = data->shape->dims[1];
    int error = mxn__real_type(job, data->dtype);
    if (error != 0) {
        return error;
    }
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row * count * (int64_t)mxn_dtype_size(data->dtype);
        const int64_t label = label_at(&job->inputs[2], row, count);
        MXN_WIDEST(mxn__losses)
            ->entropy_back[wide](job->inputs[0].data, (const char *)data->data + at,
                                 (char *)job->outputs[0].data + at, count, label);
    }
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------
#define REGRESSION_OUTPUT(name_, aliases_, variant_, gradient_)                                  \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = "data label",                          \
        .description = "The prediction; its gradient is that of the distance to the label.",     \
        .fields = regression_fields, .params_bytes = sizeof(loss_params), .variant = (variant_), \
        .shapes = regression_shapes, .inplace = MXN_INPLACE_ALL,                                 \
        .gradient = MXN_GRADIENT({.op = (gradient_), .takes = "i1 o0", .gives = "0"}),           \
        .takes = MXN_TAKES_REALS, .forward = regression_forward                                  \
    }
#define BACKWARD(name_, inputs_, fields_, variant_, takes_, forward_)                            \
    {                                                                                            \
        .name = (name_), .input_count = (inputs_), .fields = (fields_),                          \
        .params_bytes = sizeof(loss_params), .variant = (variant_),                              \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, .inplace = MXN_INPLACE_ALL, .takes = (takes_), \
        .forward = (forward_)                                                                    \
    }
#define PLAIN_BACKWARD(name_, inputs_, forward_)                             \
    {                                                                        \
        .name = (name_), .input_count = (inputs_), .flags = MXN_OP_BACKWARD, \
        .takes = MXN_TAKES_REALS, .forward = (forward_)                      \
    }

static const mxn_op_def table[] = {
    REGRESSION_OUTPUT("LinearRegressionOutput", "_sparse_LinearRegressionOutput", LINEAR,
                      "_backward_linear_reg_out"),
    REGRESSION_OUTPUT("LogisticRegressionOutput", "_sparse_LogisticRegressionOutput", LOGISTIC,
                      "_backward_logistic_reg_out"),
    REGRESSION_OUTPUT("MAERegressionOutput", "_sparse_MAERegressionOutput", ABSOLUTE,
                      "_backward_mae_reg_out"),
    BACKWARD("_backward_linear_reg_out", 2, regression_fields, LINEAR, MXN_TAKES_REALS,
             regression_backward),
    BACKWARD("_backward_logistic_reg_out", 2, regression_fields, LOGISTIC, MXN_TAKES_REALS,
             regression_backward),
    BACKWARD("_backward_mae_reg_out", 2, regression_fields, ABSOLUTE, MXN_TAKES_REALS,
             regression_backward),
    {
        .name = "MakeLoss",
        .inputs = "data",
        .description = "The input as a loss: its gradient is a constant.",
        .fields = make_loss_fields,
        .params_bytes = sizeof(loss_params),
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_MakeLoss", .takes = "i0", .gives = "0"}),
        .forward = copy_forward,
    },
    BACKWARD("_backward_MakeLoss", 1, make_loss_fields, 0, MXN_TAKES_ALL, make_loss_backward),
    {
        .name = "make_loss",
        .aliases = "_sparse_make_loss",
        .inputs = "data",
        .description = "The input as a loss: its gradient is one.",
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "ones_like", .takes = "i0", .gives = "0"}),
        .forward = copy_forward,
    },
    {
        .name = "smooth_l1",
        .aliases = "_npx_smooth_l1",
        .inputs = "data",
        .description = "Quadratic near 0, linear beyond.",
        .fields = smooth_fields,
        .params_bytes = sizeof(loss_params),
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_IN("_backward_smooth_l1"),
        .takes = MXN_TAKES_REALS,
        .forward = smooth_forward,
        .flops_each = 4,
    },
    {
        .name = "_backward_smooth_l1",
        .inputs = "lhs rhs",
        .fields = smooth_fields,
        .params_bytes = sizeof(loss_params),
        .flags = MXN_OP_SILENT,
        .inplace = MXN_INPLACE_ALL,
        .takes = MXN_TAKES_REALS,
        .forward = smooth_backward,
    },
    {
        .name = "softmax_cross_entropy",
        .inputs = "data label",
        .description = "The sum of the logarithms of what softmax gives the labels, negative.",
        .shapes = entropy_shapes,
        .types = mxn__types_of_first,
        .gradient = MXN_GRADIENT(
            {.op = "_backward_softmax_cross_entropy", .takes = "g0 i0 i1", .gives = "0"}),
        .takes = MXN_TAKES_REALS,
        .forward = entropy_forward,
    },
    PLAIN_BACKWARD("_backward_softmax_cross_entropy", 3, entropy_backward),
};

MXN_FAMILY(losses, table);
