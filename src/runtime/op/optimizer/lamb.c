// SPDX-License-Identifier: Apache-2.0
// LAMB: steps of Adam that are as long as the weight's norm says. Of one weight there are two
// operators, between which a program takes the norms; of several one, which takes them itself.
#include <math.h>

#include "base/fail.h"
#include "runtime/op/kernels/reduce.h"
#include "runtime/op/optimizer/multi_update.h"
#include "runtime/op/optimizer/update_params.h"
#include "runtime/op/registry/infer.h"

#define MEANS                                                          \
    {MXN_FIELD(mxn_update_params, beta1, FLOAT, "0.899999976")},       \
        {MXN_FIELD(mxn_update_params, beta2, FLOAT, "0.999000013")},   \
    {                                                                  \
        MXN_FIELD(mxn_update_params, epsilon, FLOAT, "9.99999997e-07") \
    }
#define BOUNDS                                                 \
    {MXN_FIELD(mxn_update_params, lower_bound, FLOAT, "-1")},  \
    {                                                          \
        MXN_FIELD(mxn_update_params, upper_bound, FLOAT, "-1") \
    }

static const mxn_field first_fields[] = {
    MEANS,
    {MXN_FIELD(mxn_update_params, t, INT, NULL), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(mxn_update_params, bias_correction, BOOL, "1")},
    {MXN_FIELD(mxn_update_params, wd, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")},
    {MXN_FIELD(mxn_update_params, clip_gradient, FLOAT, "-1")},
    {0},
};

static const mxn_field second_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    BOUNDS,
    {0},
};

// As many step counts as weights, more than a shape may have dimensions.
static const mxn_field multi_fields[] = {
    {MXN_UPDATE_FIELD(learning_rates, lrs, FLOATS, NULL)},
    MEANS,
    {MXN_FIELD(mxn_update_params, wds, FLOATS, NULL)},
    {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")},
    BOUNDS,
    {MXN_FIELD(mxn_update_params, clip_gradient, FLOAT, "-1")},
    {MXN_FIELD(mxn_update_params, bias_correction, BOOL, "1")},
    {MXN_FIELD(mxn_update_params, step_count, FLOATS, NULL), .type_text = "Shape(tuple), required"},
    {MXN_UPDATE_FIELD(num_tensors, num_weights, INT, "1"), .min = 1, .max = MXN_OPERANDS_MAX / 8},
    {0},
};

static double norm_of(const void *data, int32_t dtype, size_t count)
{
    return sqrt(MXN_WIDEST(mxn__reduce)->squares_row[dtype == MXN_FLOAT64](data, (int64_t)count));
}

// The rate of a step whose direction has norm `step`, of a weight of norm `weight`.
static double rate_of(const mxn_update_params *params, double lr, double weight, double step)
{
    const double lower = (double)params->lower_bound, upper = (double)params->upper_bound;
    const double least = lower >= 0 && weight < lower ? lower : weight;
    const double length = upper >= 0 && least > upper ? upper : least;
    return length == 0 || step == 0 ? lr : lr * length / step;
}

static void run(int rule, int32_t dtype, const mxn_update *update)
{
    MXN_WIDEST(mxn__updates)->rules[rule][dtype == MXN_FLOAT64](update);
}

static mxn_update direction_of(const mxn_update_params *params, const mxn_operand *in,
                               uint32_t count, const mxn_operand *to)
{
    mxn_update update = mxn__update_of(params, in, count, to);
    update.t = params->bias_correction ? params->t : 0;
    return update;
}

// weight - rate direction
static mxn_update step_of(const mxn_update *of, const void *direction, double rate, void *to)
{
    return (mxn_update){.weight = of->weight,
                        .gradient = direction,
                        .to = to,
                        .count = of->count,
                        .lr = rate,
                        .scale = 1,
                        .clip = -1};
}

// ---- of one weight ------------------------------------------------------------------------------
static int first_forward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    const mxn_update update = direction_of(mxn__values(job), in, job->params->input_count, out);
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        run(MXN_RULE_LAMB, out->dtype, &update);
    }
    return error;
}

// The direction is that of the float32 copy, and is float32.
static int first_master_forward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    mxn_update update = direction_of(mxn__values(job), in, 4, out);
    update.weight = in[4].data;
    run(MXN_RULE_LAMB, MXN_FLOAT32, &update);
    return 0;
}

static double number_of(const mxn_operand *in)
{
    return in->dtype == MXN_FLOAT64 ? *(const double *)in->data : (double)*(const float *)in->data;
}

static int second_forward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    const mxn_update_params *params = mxn__values(job);
    int error = mxn__real_type(job, in[1].dtype);
    if (error != 0) {
        return error;
    }
    const double rate = rate_of(params, (double)params->lr, number_of(&in[2]), number_of(&in[3]));
    const mxn_update whole = mxn__update_of(params, in, 2, out);
    const mxn_update step = step_of(&whole, in[1].data, rate, out->data);
    if (job->params->input_count > 4) {
        return mxn__update_master(job, &step, in, 5, out);
    }
    run(MXN_RULE_SGD, out->dtype, &step);
    return 0;
}

// Norms are scalars, or vectors of one element.
static int second_shapes(const mxn_shapes *shapes)
{
    const mxn_shape one = {.ndim = 1, .dims = {1}};
    int error = 0;
    for (uint32_t i = 1; error == 0 && i < shapes->params->input_count; i++) {
        const bool is_norm = i == 2 || i == 3;
        if (!is_norm) {
            error = mxn__shape_input(shapes, i, shapes->inputs[0]);
        } else if (!mxn_shape_known(shapes->inputs[i]) || shapes->inputs[i]->ndim != 0) {
            error = mxn__shape_input(shapes, i, &one);
        }
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, shapes->inputs[0]);
}

static int merge_input(const mxn_types *types, uint32_t index, int32_t dtype)
{
    return mxn__type_merge(types->params, "input", index, &types->inputs[index], dtype);
}

// What comes behind input `narrow` is float32, and so is the direction.
static int master_types(const mxn_types *types, uint32_t narrow)
{
    int error = 0;
    for (uint32_t i = 1; error == 0 && i < types->params->input_count; i++) {
        error = merge_input(types, i, i <= narrow ? types->inputs[0] : MXN_FLOAT32);
    }
    return error;
}

static int first_master_types(const mxn_types *types)
{
    int error = master_types(types, 1);
    return error != 0
               ? error
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
}

static int second_master_types(const mxn_types *types)
{
    int error = master_types(types, 0);
    return error != 0 ? error : mxn__types_of_first(types);
}

// ---- of several ---------------------------------------------------------------------------------
static int multi_check(const mxn_op *op, void *values)
{
    const mxn_update_params *params = values;
    uint32_t count = (uint32_t)params->num_weights;
    const mxn_floats *steps = &params->step_count;
    if (params->lrs.count != count || params->wds.count != count || steps->count != count) {
        return mxp__fail(MXP_EINVAL,
                         "Operator %s: num_tensors=%u, but there are %u learning_rates, %u wds and "
                         "%u step_count",
                         op->name, count, params->lrs.count, params->wds.count, steps->count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const float step = steps->values[i];
        if (!(step >= 1 && step < 0x1p31f && step == floorf(step))) {
            return mxp__fail(MXP_EINVAL, "Operator %s: step_count has %g; steps are counted from 1",
                             op->name, (double)step);
        }
    }
    return 0;
}

static uint32_t five_each(const void *values)
{
    return 5 * mxn__multi_weight_count(values);
}

// Room for the direction of the largest weight.
static uint64_t multi_workspace(const mxn_job *job)
{
    const bool is_double = job->inputs[0].dtype == MXN_FLOAT64;
    uint64_t most = 0;
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        const uint64_t count = mxn_shape_size(job->outputs[i].shape);
        most = count > most ? count : most;
    }
    return most * (is_double ? sizeof(double) : sizeof(float));
}

static int update_one(mxn_job *job, uint32_t index, uint32_t each)
{
    const mxn_update_params *params = mxn__values(job);
    const mxn_operand *in = job->inputs + (size_t)index * each, *out = &job->outputs[index];
    const bool is_master = each > 4;
    const mxn_operand *weight = is_master ? &in[4] : &in[0];
    mxn_update update = mxn__update_of(params, in, 4, out);
    update.weight = weight->data;
    update.to = job->workspace;
    update.wd = (double)params->wds.values[index];
    update.t = params->bias_correction ? (int32_t)params->step_count.values[index] : 0;
    const double norm = norm_of(weight->data, weight->dtype, update.count);
    run(MXN_RULE_LAMB, weight->dtype, &update);
    const double rate = rate_of(params, (double)params->lrs.values[index], norm,
                                norm_of(job->workspace, weight->dtype, update.count));
    const mxn_update step = step_of(&update, job->workspace, rate, out->data);
    if (is_master) {
        return mxn__update_master(job, &step, in, each, out);
    }
    run(MXN_RULE_SGD, weight->dtype, &step);
    return 0;
}

static int multi_forward(mxn_job *job)
{
    uint32_t each = mxn__multi_inputs_each(job->params);
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < job->params->output_count; i++) {
        error = mxn__real_type(job, job->inputs[(size_t)i * each].dtype);
        if (error == 0 && job->outputs[i].data != NULL) {
            error = update_one(job, i, each);
        }
    }
    return error;
}

// ---- the table ----------------------------------------------------------------------------------
#define TAKES_MASTER (MXN_TAKES_NARROW | MXN_TAKES(FLOAT32) | MXN_TAKES_OF_INPUT)
#define ONE(name_, inputs_, fields_, flops_)                                                       \
    .name = (name_), .inputs = (inputs_), .fields = (fields_), .flops_each = (flops_),             \
    .params_bytes = sizeof(mxn_update_params), .flags = MXN_OP_UPDATE, .inplace = 1 << 0 | 1 << 1, \
    .variant = MXN_RULE_SGD
#define MULTI(name_, inputs_of_)                                                              \
    .name = (name_), .inputs = "data[]", .fields = multi_fields, .check = multi_check,        \
    .params_bytes = sizeof(mxn_update_params), .inputs_of = (inputs_of_),                     \
    .outputs_of = mxn__multi_weight_count, .mutates_of = mxn__multi_is_state,                 \
    .shapes = mxn__multi_shapes, .flags = MXN_OP_UPDATE, .inplace_of = mxn__multi_own_weight, \
    .variant = MXN_RULE_SGD, .forward = multi_forward, .workspace = multi_workspace,          \
    .flops_each = 22

static const mxn_op_def table[] = {
    {ONE("lamb_update_phase1", "weight grad mean var", first_fields, 17),
     .mutates = 1 << 2 | 1 << 3, .takes = MXN_TAKES_REALS, .forward = first_forward},
    {ONE("mp_lamb_update_phase1", "weight grad mean var weight32", first_fields, 17),
     .mutates = 1 << 2 | 1 << 3, .types = first_master_types, .takes = TAKES_MASTER,
     .forward = first_master_forward},
    {ONE("lamb_update_phase2", "weight g r1 r2", second_fields, 2), .shapes = second_shapes,
     .takes = MXN_TAKES_REALS, .forward = second_forward},
    {ONE("mp_lamb_update_phase2", "weight g r1 r2 weight32", second_fields, 2), .mutates = 1 << 4,
     .shapes = second_shapes, .types = second_master_types, .takes = TAKES_MASTER,
     .forward = second_forward},
    {MULTI("_multi_lamb_update", mxn__multi_four_each), .types = mxn__multi_types,
     .takes = MXN_TAKES_REALS},
    {MULTI("_multi_mp_lamb_update", five_each), .types = mxn__multi_master_types,
     .takes = TAKES_MASTER},
};

MXN_FAMILY(lamb, table);
