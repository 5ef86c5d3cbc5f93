// SPDX-License-Identifier: Apache-2.0
// LeakyReLU: functions of each element that are not 0 below 0. prelu learns its slopes, one for all
// or one a channel; rrelu draws them in training and has their mean else.
#include <string.h>

#include "runtime/op/kernels/leaky_relu.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct leaky_params {
    int32_t act_type;
    double slope, lower_bound, upper_bound;
} leaky_params;

static const mxn_word words[] = {{"elu", MXN_LEAKY_ELU},
                                 {"gelu", MXN_LEAKY_GELU},
                                 {"leaky", MXN_LEAKY_LEAKY},
                                 {"prelu", MXN_LEAKY_PRELU},
                                 {"rrelu", MXN_LEAKY_RRELU},
                                 {"selu", MXN_LEAKY_SELU},
                                 {0}};

static const mxn_field fields[] = {
    {MXN_FIELD(leaky_params, act_type, ENUM, "leaky"), .words = words},
    {MXN_FIELD(leaky_params, slope, WIDE_FLOAT, "0.25")},
    {MXN_FIELD(leaky_params, lower_bound, WIDE_FLOAT, "0.125")},
    {MXN_FIELD(leaky_params, upper_bound, WIDE_FLOAT, "0.333999991")},
    {0},
};

static int32_t type_of(const void *values)
{
    return ((const leaky_params *)values)->act_type;
}

static uint32_t inputs_of(const void *values)
{
    return type_of(values) == MXN_LEAKY_PRELU ? 2 : 1;
}

// The slopes that rrelu took are a result too.
static uint32_t outputs_of(const void *values)
{
    return type_of(values) == MXN_LEAKY_RRELU ? 2 : 1;
}

static uint32_t gradients_of(const void *values)
{
    return type_of(values) == MXN_LEAKY_PRELU ? 2 : 1;
}

static bool draws(const void *values)
{
    return type_of(values) == MXN_LEAKY_RRELU;
}

// ---- slopes of prelu ----------------------------------------------------------------------------
static int32_t channel_axis(const mxn_shape *data)
{
    return data->ndim > 1 ? 1 : 0;
}

static int leaky_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0];
    int32_t type = type_of(shapes->params->values);
    int error = mxn__shape_output(shapes, 0, data);
    if (error == 0) {
        error = mxn__shape_input(shapes, 0, shapes->outputs[0]);
    }
    if (error != 0 || type == MXN_LEAKY_RRELU) {
        return error != 0 ? error : mxn__shape_output(shapes, 1, data);
    }
    const mxn_shape *gamma = type == MXN_LEAKY_PRELU ? shapes->inputs[1] : NULL;
    if (gamma == NULL || data->ndim < 1 ||
        (mxn_shape_known(gamma) && (mxn_shape_size(gamma) == 1 || mxn_shape_equal(gamma, data)))) {
        return 0;
    }
    return mxn__shape_input(shapes, 1,
                            &(mxn_shape){.ndim = 1, .dims = {data->dims[channel_axis(data)]}});
}

static void slope_steps(const mxn_shape *gamma, const mxn_shape *data, int64_t *steps)
{
    memset(steps, 0, (size_t)data->ndim * sizeof *steps);
    if (mxn_shape_equal(gamma, data)) {
        mxn__row_steps(data, steps);
    } else if (mxn_shape_size(gamma) > 1) {
        steps[channel_axis(data)] = 1;
    }
}

// ---- running ------------------------------------------------------------------------------------
// Over the data; the slopes, if they are an array, are operand 0.
static void start_iterator(mxn_iterator *it, const mxn_shape *data, const mxn_shape *slopes)
{
    int64_t steps[MXN_DIMS_MAX] = {0};
    if (slopes != NULL) {
        slope_steps(slopes, data, steps);
    }
    mxn__iterator_init(it, data->ndim, data->dims, (const int64_t *const[]){steps, NULL, NULL});
}

static void draw(mxn_job *job, double low, double high)
{
    const mxn_operand *mask = &job->outputs[1];
    const bool wide = mask->dtype == MXN_FLOAT64;
    uint64_t count = mxn_shape_size(mask->shape), key, first;
    mxn_random_reserve(job->random, (count + 3) / 4, &key, &first);
    for (uint64_t i = 0; i < count; i += 4) {
        uint32_t numbers[4];
        mxn_random_block(key, first + i / 4, numbers);
        for (uint64_t k = 0; k < 4 && i + k < count; k++) {
            const double slope = low + (high - low) * numbers[k] / 4294967296.0;
            if (wide) {
                ((double *)mask->data)[i + k] = slope;
            } else {
                ((float *)mask->data)[i + k] = (float)slope;
            }
        }
    }
}

static void take_slopes(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *mask = &job->outputs[1];
    const double low = params->lower_bound, high = params->upper_bound;
    if (job->training) {
        draw(job, low, high);
    } else {
        mxn_fill(mask->data, mask->dtype, (low + high) / 2, mxn_shape_size(mask->shape));
    }
}

static const void *after(const void *array, int64_t elements, size_t size)
{
    return array == NULL ? NULL : (const char *)array + elements * (int64_t)size;
}

// Row by row; `row` says where the arrays begin, of which those of slopes follow the iterator.
static void run_rows(void (*const kernels[2])(const mxn_leaky_row *row), mxn_leaky_row row,
                     mxn_iterator *it, int32_t dtype)
{
    const size_t size = mxn_dtype_size(dtype);
    const mxn_leaky_row all = row;
    int64_t done = 0;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        row.count = it->count;
        row.step = it->step[0];
        row.x = after(all.x, done, size);
        row.g = after(all.g, done, size);
        row.to = (void *)after(all.to, done, size);
        row.slopes = after(all.slopes, it->at[0], size);
        row.of_slopes = (void *)after(all.of_slopes, it->at[0], size);
        kernels[dtype == MXN_FLOAT64](&row);
        done += it->count;
    }
}

static int leaky_forward(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *out = &job->outputs[0];
    int error = mxn__real_type(job, out->dtype);
    if (error != 0) {
        return error;
    }
    const mxn_operand *slopes = NULL;
    if (params->act_type == MXN_LEAKY_PRELU) {
        slopes = &job->inputs[1];
    } else if (params->act_type == MXN_LEAKY_RRELU) {
        take_slopes(job);
        slopes = &job->outputs[1];
    }
    mxn_iterator it;
    start_iterator(&it, out->shape, slopes == NULL ? NULL : slopes->shape);
    const mxn_leaky_row row = {.function = params->act_type,
                               .x = job->inputs[0].data,
                               .to = out->data,
                               .slopes = slopes == NULL ? NULL : slopes->data,
                               .slope = params->slope};
    run_rows(MXN_WIDEST(mxn__leaky)->forward, row, &it, out->dtype);
    return 0;
}

// Inputs: the gradient, the data and, of those that have them, the slopes.
static int leaky_backward(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *g = &job->inputs[0];
    int error = mxn__real_type(job, g->dtype);
    if (error != 0) {
        return error;
    }
    const mxn_operand *slopes = job->params->input_count > 2 ? &job->inputs[2] : NULL;
    void *of_slopes = params->act_type == MXN_LEAKY_PRELU ? job->outputs[1].data : NULL;
    if (of_slopes != NULL) {
        mxn_fill(of_slopes, g->dtype, 0, mxn_shape_size(job->outputs[1].shape));
    }
    mxn_iterator it;
    start_iterator(&it, g->shape, slopes == NULL ? NULL : slopes->shape);
    const mxn_leaky_row row = {.function = params->act_type,
                               .x = job->inputs[1].data,
                               .to = job->outputs[0].data,
                               .slopes = slopes == NULL ? NULL : slopes->data,
                               .slope = params->slope,
                               .g = g->data,
                               .of_slopes = of_slopes};
    run_rows(MXN_WIDEST(mxn__leaky)->backward, row, &it, g->dtype);
    return 0;
}

static uint32_t backward_inputs(const void *values)
{
    return type_of(values) == MXN_LEAKY_PRELU || type_of(values) == MXN_LEAKY_RRELU ? 3 : 2;
}

static const mxn_gradient_step *leaky_gradient(const void *values)
{
    static const mxn_gradient_step alone[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0", .gives = "0"}, {0}};
    static const mxn_gradient_step learned[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0 i1", .gives = "0 1"}, {0}};
    static const mxn_gradient_step drawn[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0 o1", .gives = "0"}, {0}};
    int32_t type = type_of(values);
    return type == MXN_LEAKY_PRELU ? learned : type == MXN_LEAKY_RRELU ? drawn : alone;
}

// The second input is that of 'prelu'.
static const char *init_of(const void *values, uint32_t input)
{
    (void)values;
    return input == 1 ? "[\"Constant\", {\"value\": 0.25}]" : NULL;
}

static const mxn_op_def table[] = {
    {
        .name = "LeakyReLU",
        .aliases = "_npx_leaky_relu",
        .inputs = "data gamma",
        .description = "A function of each element that does not end at 0.",
        .fields = fields,
        .params_bytes = sizeof(leaky_params),
        .inputs_of = inputs_of,
        .init_of = init_of,
        .outputs_of = outputs_of,
        .draws = draws,
        .shapes = leaky_shapes,
        .inplace = MXN_INPLACE_ALL,
        .gradient_of = leaky_gradient,
        .takes = MXN_TAKES_REALS,
        .forward = leaky_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_LeakyReLU",
        .inputs_of = backward_inputs,
        .outputs_of = gradients_of,
        .fields = fields,
        .params_bytes = sizeof(leaky_params),
        .takes = MXN_TAKES_REALS | MXN_TAKES_OF_INPUT,
        .forward = leaky_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .flops_each = 10,
    },
};

MXN_FAMILY(leaky_relu, table);
