// SPDX-License-Identifier: Apache-2.0
// Small layers of networks: Activation, Dropout, pick.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "op/activation.h"
#include "op/infer.h"
#include "op/loops.h"

// ---- Activation ---------------------------------------------------------------------------------
enum { RELU, SIGMOID, TANH, SOFTRELU, SOFTSIGN, LOG_SIGMOID, MISH };

typedef struct activation_params {
    int32_t act_type;
} activation_params;

static const mxn_word activations[] = {
    {"log_sigmoid", LOG_SIGMOID}, {"mish", MISH},         {"relu", RELU}, {"sigmoid", SIGMOID},
    {"softrelu", SOFTRELU},       {"softsign", SOFTSIGN}, {"tanh", TANH}, {0}};

static const mxn_field activation_fields[] = {
    {MXN_FIELD(activation_params, act_type, ENUM, NULL), .words = activations},
    {0},
};

static double softrelu(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double activate(int type, double x)
{
    switch (type) {
    case RELU:
        return x < 0 ? 0 : x;
    case SIGMOID:
        return 1 / (1 + exp(-x));
    case TANH:
        return tanh(x);
    case SOFTRELU:
        return softrelu(x);
    case SOFTSIGN:
        return x / (1 + fabs(x));
    case LOG_SIGMOID:
        return -softrelu(-x);
    default:  // MISH
        return x * tanh(softrelu(x));
    }
}

// From the input x and the output y.
static double activate_slope(int type, double x, double y)
{
    switch (type) {
    case RELU:
        return y > 0 ? 1 : 0;
    case SIGMOID:
        return y * (1 - y);
    case TANH:
        return 1 - y * y;
    case SOFTRELU:
        return -expm1(-y);
    case SOFTSIGN:
        return 1 / ((1 + fabs(x)) * (1 + fabs(x)));
    case LOG_SIGMOID:
        return -expm1(y);
    default: {  // MISH
        double t = tanh(softrelu(x));
        return t + x / (1 + exp(-x)) * (1 - t * t);
    }
    }
}

// relu is by far the most used: a loop of its own.
#define ACTIVATION(type)                                                                        \
    static void activation_##type(const mxn_job *job, size_t count)                             \
    {                                                                                           \
        const activation_params *p = mxn__values(job);                                          \
        const type *from = job->inputs[0].data;                                                 \
        type *to = job->outputs[0].data;                                                        \
        for (size_t i = 0; p->act_type == RELU && i < count; i++) {                             \
            to[i] = from[i] < 0 ? 0 : from[i];                                                  \
        }                                                                                       \
        for (size_t i = 0; p->act_type != RELU && i < count; i++) {                             \
            to[i] = (type)activate(p->act_type, (double)from[i]);                               \
        }                                                                                       \
    }                                                                                           \
    static void activation_back_##type(const mxn_job *job, size_t count)                        \
    {                                                                                           \
        const activation_params *p = mxn__values(job);                                          \
        const type *g = job->inputs[0].data, *y = job->inputs[1].data;                          \
        const type *x = job->inputs[2].data;                                                    \
        type *to = job->outputs[0].data;                                                        \
        for (size_t i = 0; p->act_type == RELU && i < count; i++) {                             \
            to[i] = y[i] > 0 ? g[i] : 0;                                                        \
        }                                                                                       \
        for (size_t i = 0; p->act_type != RELU && i < count; i++) {                             \
            to[i] =                                                                             \
                (type)((double)g[i] * activate_slope(p->act_type, (double)x[i], (double)y[i])); \
        }                                                                                       \
    }
ACTIVATION(float)
ACTIVATION(double)

static int activation_forward(mxn_job *job)
{
    size_t count = mxn_shape_size(job->outputs[0].shape);
    if (job->outputs[0].dtype == MXN_FLOAT32) {
        activation_float(job, count);
    } else if (job->outputs[0].dtype == MXN_FLOAT64) {
        activation_double(job, count);
    } else {
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
    return 0;
}

static int activation_backward(mxn_job *job)
{
    size_t count = mxn_shape_size(job->outputs[0].shape);
    if (job->outputs[0].dtype == MXN_FLOAT32) {
        activation_back_float(job, count);
    } else if (job->outputs[0].dtype == MXN_FLOAT64) {
        activation_back_double(job, count);
    } else {
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
    return 0;
}

bool mxn__activation_is_relu(const mxn_params *params)
{
    return ((const activation_params *)(const void *)params->values)->act_type == RELU;
}

// ---- Dropout
// --------------------------------------------------------------------------------------
typedef struct dropout_params {
    float p;
    int32_t mode;
    mxn_tuple axes;
    mxn_maybe_int cudnn_off;
} dropout_params;

enum { WHEN_TRAINING, ALWAYS };
static const mxn_word dropout_modes[] = {{"always", ALWAYS}, {"training", WHEN_TRAINING}, {0}};

static const mxn_field dropout_fields[] = {
    {MXN_FIELD(dropout_params, p, FLOAT, "0.5"), .min = 0, .max = 1},
    {MXN_FIELD(dropout_params, mode, ENUM, "training"), .words = dropout_modes},
    {MXN_FIELD(dropout_params, axes, TUPLE, "[]")},
    {MXN_FIELD(dropout_params, cudnn_off, MAYBE_BOOL, "0")},
    {0},
};

static uint32_t one_visible(const void *values)
{
    (void)values;
    return 1;
}

// The mask has size 1 along the axes that share it.
static int dropout_shapes(const mxn_shapes *shapes)
{
    const dropout_params *params = (const void *)shapes->params->values;
    int error = mxn__shape_output(shapes, 0, shapes->inputs[0]);
    if (error != 0 || shapes->inputs[0]->ndim < 0) {
        return error;
    }
    mxn_shape mask;
    mxn_shape_copy(&mask, shapes->inputs[0]);
    for (int32_t i = 0; i < params->axes.count; i++) {
        int32_t axis;
        error = mxn__axis(shapes->params, params->axes.values[i], mask.ndim, &axis);
        if (error != 0) {
            return error;
        }
        mask.dims[axis] = 1;
    }
    return mxn__shape_output(shapes, 1, &mask);
}

// 32 bits decide each element: kept ones are 1 / (1 - p), so that the mean stays.
static void fill_mask(mxn_job *job, double keep)
{
    mxn_operand *mask = &job->outputs[1];
    uint64_t count = mxn_shape_size(mask->shape), key, first;
    size_t size = mxn_dtype_size(mask->dtype);
    uint64_t limit = (uint64_t)(keep * 4294967296.0);
    const double kept = keep > 0 ? 1 / keep : 0;
    mxn_random_reserve(job->random, (count + 3) / 4, &key, &first);
    for (uint64_t i = 0; i < count; i += 4) {
        uint32_t numbers[4];
        mxn_random_block(key, first + i / 4, numbers);
        for (uint64_t k = 0; k < 4 && i + k < count; k++) {
            double value = numbers[k] < limit ? kept : 0;
            mxn_cast((char *)mask->data + (i + k) * size, mask->dtype, &value, MXN_FLOAT64, 1);
        }
    }
}

#define TIMES_MASK(type)                                                                        \
    static void times_mask_##type(const void *from, const void *mask, void *to, mxn_walk *walk) \
    {                                                                                           \
        const type *x = from;                                                                   \
        type *y = to;                                                                           \
        for (bool more = walk->total > 0; more; more = mxn__walk_next(walk)) {                  \
            const type *m = (const type *)mask + walk->at[0];                                   \
            for (int64_t i = 0; i < walk->count; i++) {                                         \
                *y++ = *x++ * m[i * walk->step[0]];                                             \
            }                                                                                   \
        }                                                                                       \
    }
TIMES_MASK(float)
TIMES_MASK(double)

static int times_mask(const mxn_job *job, const mxn_operand *from, const mxn_operand *mask,
                      mxn_operand *to)
{
    int64_t steps[MXN_DIMS_MAX];
    mxn__broadcast_steps(mask->shape, to->shape, steps);
    mxn_walk walk;
    mxn__walk_init(&walk, to->shape->ndim, to->shape->dims,
                   (const int64_t *const[]){steps, NULL, NULL});
    if (to->dtype == MXN_FLOAT32) {
        times_mask_float(from->data, mask->data, to->data, &walk);
    } else if (to->dtype == MXN_FLOAT64) {
        times_mask_double(from->data, mask->data, to->data, &walk);
    } else {
        return mxn__type_refused(job, to->dtype);
    }
    return 0;
}

// Not dropping is a mask of ones, so that the gradient need not know.
static int dropout_forward(mxn_job *job)
{
    const dropout_params *params = mxn__values(job);
    mxn_operand *mask = &job->outputs[1];
    if (!job->training && params->mode != ALWAYS) {
        mxn_fill(mask->data, mask->dtype, 1, mxn_shape_size(mask->shape));
        mxn_cast(job->outputs[0].data, job->outputs[0].dtype, job->inputs[0].data,
                 job->inputs[0].dtype, mxn_shape_size(job->outputs[0].shape));
        return 0;
    }
    fill_mask(job, 1 - (double)params->p);
    return times_mask(job, &job->inputs[0], mask, &job->outputs[0]);
}

static int dropout_backward(mxn_job *job)
{
    return times_mask(job, &job->inputs[0], &job->inputs[1], &job->outputs[0]);
}

// ---- pick
// -----------------------------------------------------------------------------------------
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
    mxn__shape_settle(&picked, false);
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

// ---- the table
// ------------------------------------------------------------------------------------
static const mxn_op_def table[] = {
    {
        .name = "Activation",
        .aliases = "_npx_activation",
        .inputs = "data",
        .description = "A function of each element.",
        .fields = activation_fields,
        .params_bytes = sizeof(activation_params),
        .flags = MXN_OP_INPLACE,
        .gradient = MXN_GRADIENT({.op = "_backward_Activation", .takes = "g0 o0 i0"}),
        .forward = activation_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_Activation",
        .input_count = 3,
        .fields = activation_fields,
        .params_bytes = sizeof(activation_params),
        .forward = activation_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_INPLACE,
        .flops_each = 10,
    },
    {
        .name = "Dropout",
        .aliases = "_npx_dropout",
        .inputs = "data",
        .output_count = 2,
        .description = "Some elements become 0, the others grow.",
        .fields = dropout_fields,
        .params_bytes = sizeof(dropout_params),
        .visible_of = one_visible,
        .shapes = dropout_shapes,
        .flags = MXN_OP_RANDOM,
        .gradient = MXN_GRADIENT({.op = "_backward_Dropout", .takes = "g0 o1"}),
        .forward = dropout_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_Dropout",
        .input_count = 2,
        .fields = dropout_fields,
        .params_bytes = sizeof(dropout_params),
        .forward = dropout_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_INPLACE,
    },
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

MXN_FAMILY(layers, table);
