// SPDX-License-Identifier: Apache-2.0
// Layers at the end of a network that bring their own gradient, and functions for losses.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/registry/infer.h"
#include "runtime/op/loops/loops.h"

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

// A label may lack a last dimension of size 1.
static int regression_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0], *label = shapes->inputs[1];
    int error = mxn__shape_output(shapes, 0, data);
    bool flat = mxn_shape_known(data) && mxn_shape_known(label) && data->ndim == 2 &&
                data->dims[1] == 1 && label->ndim == 1 && label->dims[0] == data->dims[0];
    return error != 0 || flat ? error : mxn__shape_input(shapes, 1, data);
}

#define REGRESSION(type)                                                                        \
    static void regression_##type(const type *x, type *to, int variant, size_t count)           \
    {                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                    \
            to[i] = variant == LOGISTIC ? (type)(1 / (1 + exp(-(double)x[i]))) : x[i];          \
        }                                                                                       \
    }                                                                                           \
    static void regression_back_##type(const type *y, const type *label, type *to, int variant, \
                                       double scale, size_t count)                              \
    {                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                    \
            const double off = (double)y[i] - (double)label[i];                                 \
            const double slope = variant != ABSOLUTE ? off : off > 0 ? 1 : -1;                  \
            to[i] = (type)(slope * scale);                                                      \
        }                                                                                       \
    }
REGRESSION(float)
REGRESSION(double)

static int regression_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int variant = job->params->op->def->variant;
    if (out->dtype == MXN_FLOAT32) {
        regression_float(in->data, out->data, variant, mxn_shape_size(out->shape));
    } else if (out->dtype == MXN_FLOAT64) {
        regression_double(in->data, out->data, variant, mxn_shape_size(out->shape));
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
}

// Inputs: label, output. The sum over a row's numbers is their mean.
static int regression_backward(mxn_job *job)
{
    const loss_params *params = mxn__values(job);
    const mxn_operand *label = &job->inputs[0], *y = &job->inputs[1], *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    int64_t rows = out->shape->ndim == 0 ? 1 : out->shape->dims[0];
    double scale = params->grad_scale * (double)rows / (double)count;
    int variant = job->params->op->def->variant;
    if (out->dtype == MXN_FLOAT32) {
        regression_back_float(y->data, label->data, out->data, variant, scale, count);
    } else if (out->dtype == MXN_FLOAT64) {
        regression_back_double(y->data, label->data, out->data, variant, scale, count);
    } else {
        return mxn__type_refused(job, out->dtype);
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
// With s the parameter: (s x)^2 / 2 within 1 / s^2 of 0, beyond it |x| - 1 / (2 s^2).
static const mxn_field smooth_fields[] = {
    {MXN_FIELD(loss_params, scalar, WIDE_FLOAT, "1"), .type_text = "float"},
    {0},
};

#define SMOOTH(type)                                                                               \
    static void smooth_##type(const type *x, type *to, double s, size_t count)                     \
    {                                                                                              \
        const double edge = 1 / (s * s);                                                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            const double size = fabs((double)x[i]);                                                \
            to[i] = (type)(size < edge ? 0.5 * size * size * s * s : size - 0.5 * edge);           \
        }                                                                                          \
    }                                                                                              \
    static void smooth_back_##type(const type *g, const type *x, type *to, double s, size_t count) \
    {                                                                                              \
        const double edge = 1 / (s * s);                                                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            const double value = (double)x[i];                                                     \
            const double slope = fabs(value) < edge ? value * s * s : copysign(1.0, value);        \
            to[i] = (type)((double)g[i] * slope);                                                  \
        }                                                                                          \
    }
SMOOTH(float)
SMOOTH(double)

static int smooth_forward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    const double s = ((const loss_params *)mxn__values(job))->scalar;
    if (out->dtype == MXN_FLOAT32) {
        smooth_float(job->inputs[0].data, out->data, s, count);
    } else if (out->dtype == MXN_FLOAT64) {
        smooth_double(job->inputs[0].data, out->data, s, count);
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
}

static int smooth_backward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    const double s = ((const loss_params *)mxn__values(job))->scalar;
    const void *g = job->inputs[0].data, *x = job->inputs[1].data;
    if (out->dtype == MXN_FLOAT32) {
        smooth_back_float(g, x, out->data, s, count);
    } else if (out->dtype == MXN_FLOAT64) {
        smooth_back_double(g, x, out->data, s, count);
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
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

// The sum of a row's exponentials of the distance to its largest number, which goes to `most`.
#define ENTROPY(type)                                                                \
    static double exponentials_##type(const type *x, int64_t count, double *most)    \
    {                                                                                \
        double sum = 0;                                                              \
        *most = (double)x[0];                                                        \
        for (int64_t i = 1; i < count; i++) {                                        \
            *most = (double)x[i] > *most ? (double)x[i] : *most;                     \
        }                                                                            \
        for (int64_t i = 0; i < count; i++) {                                        \
            sum += exp((double)x[i] - *most);                                        \
        }                                                                            \
        return sum;                                                                  \
    }                                                                                \
    static void entropy_##type(const mxn_job *job, int64_t rows, int64_t count)      \
    {                                                                                \
        double total = 0, most;                                                      \
        for (int64_t row = 0; row < rows; row++) {                                   \
            const type *x = (const type *)job->inputs[0].data + row * count;         \
            const int64_t label = label_at(&job->inputs[1], row, count);             \
            const double sum = exponentials_##type(x, count, &most);                 \
            total += log(sum) + most - (double)x[label];                             \
        }                                                                            \
        *(type *)job->outputs[0].data = (type)total;                                 \
    }                                                                                \
    static void entropy_back_##type(const mxn_job *job, int64_t rows, int64_t count) \
    {                                                                                \
        const double g = (double)*(const type *)job->inputs[0].data;                 \
        double most;                                                                 \
        for (int64_t row = 0; row < rows; row++) {                                   \
            const type *x = (const type *)job->inputs[1].data + row * count;         \
            type *to = (type *)job->outputs[0].data + row * count;                   \
            const int64_t label = label_at(&job->inputs[2], row, count);             \
            const double sum = exponentials_##type(x, count, &most);                 \
            for (int64_t i = 0; i < count; i++) {                                    \
                to[i] = (type)(g * (exp((double)x[i] - most) / sum - (i == label))); \
            }                                                                        \
        }                                                                            \
    }
ENTROPY(float)
ENTROPY(double)

static int entropy(mxn_job *job, bool backward)
{
    const mxn_operand *data = &job->inputs[backward ? 1 : 0];
    int64_t rows = data->shape->dims[0], count = data->shape->dims[1];
    if (data->dtype == MXN_FLOAT32) {
        backward ? entropy_back_float(job, rows, count) : entropy_float(job, rows, count);
    } else if (data->dtype == MXN_FLOAT64) {
        backward ? entropy_back_double(job, rows, count) : entropy_double(job, rows, count);
    } else {
        return mxn__type_refused(job, data->dtype);
    }
    return 0;
}

static int entropy_forward(mxn_job *job)
{
    return entropy(job, false);
}

static int entropy_backward(mxn_job *job)
{
    return entropy(job, true);
}

// ---- the table ----------------------------------------------------------------------------------
#define REGRESSION_OUTPUT(name_, aliases_, variant_, gradient_)                                  \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = "data label",                          \
        .description = "The prediction; its gradient is that of the distance to the label.",     \
        .fields = regression_fields, .params_bytes = sizeof(loss_params), .variant = (variant_), \
        .shapes = regression_shapes, .flags = MXN_OP_INPLACE,                                    \
        .gradient = MXN_GRADIENT({.op = (gradient_), .takes = "i1 o0", .gives = "0"}),           \
        .takes = MXN_TAKES_REALS, .forward = regression_forward                                  \
    }
#define BACKWARD(name_, inputs_, fields_, variant_, takes_, forward_)                 \
    {                                                                                 \
        .name = (name_), .input_count = (inputs_), .fields = (fields_),               \
        .params_bytes = sizeof(loss_params), .variant = (variant_),                   \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_INPLACE, .takes = (takes_), \
        .forward = (forward_)                                                         \
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
        .flags = MXN_OP_INPLACE,
        .gradient = MXN_GRADIENT({.op = "_backward_MakeLoss", .takes = "i0", .gives = "0"}),
        .forward = copy_forward,
    },
    BACKWARD("_backward_MakeLoss", 1, make_loss_fields, 0, MXN_TAKES_ALL, make_loss_backward),
    {
        .name = "make_loss",
        .aliases = "_sparse_make_loss",
        .inputs = "data",
        .description = "The input as a loss: its gradient is one.",
        .flags = MXN_OP_INPLACE,
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
        .flags = MXN_OP_INPLACE,
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
        .flags = MXN_OP_SILENT | MXN_OP_INPLACE,
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
