// SPDX-License-Identifier: Apache-2.0
// Updates of parameters. The weight is the output, usually the same array; states are inputs that
// are written.
#include "runtime/op/optimizer/optimizer.h"

#include "base/fail.h"
#include "runtime/op/kernels/update.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct update_params {
    float lr, momentum, beta1, beta2, rho, epsilon, wd, rescale_grad, clip_gradient, clip_weights;
    bool lazy_update;
    mxn_floats lrs, wds;
    int32_t num_weights;
} update_params;

#define COMMON_FIELDS                                           \
    {MXN_FIELD(update_params, wd, FLOAT, "0")},                 \
        {MXN_FIELD(update_params, rescale_grad, FLOAT, "1")},   \
        {MXN_FIELD(update_params, clip_gradient, FLOAT, "-1")}, \
        {MXN_FIELD(update_params, lazy_update, BOOL, "1")},     \
    {                                                           \
        0                                                       \
    }

static const mxn_field sgd_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    COMMON_FIELDS,
};

static const mxn_field sgd_mom_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(update_params, momentum, FLOAT, "0")},
    COMMON_FIELDS,
};

static const mxn_field adam_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(update_params, beta1, FLOAT, "0.899999976")},
    {MXN_FIELD(update_params, beta2, FLOAT, "0.999000013")},
    {MXN_FIELD(update_params, epsilon, FLOAT, "9.99999994e-09")},
    COMMON_FIELDS,
};

#define PLAIN_FIELDS                                          \
    {MXN_FIELD(update_params, wd, FLOAT, "0")},               \
        {MXN_FIELD(update_params, rescale_grad, FLOAT, "1")}, \
    {                                                         \
        MXN_FIELD(update_params, clip_gradient, FLOAT, "-1")  \
    }

static const mxn_field signsgd_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    PLAIN_FIELDS,
    {0},
};

static const mxn_field nag_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(update_params, momentum, FLOAT, "0")},
    PLAIN_FIELDS,
    {0},
};

static const mxn_field rmsprop_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(update_params, rho, FLOAT, "0.949999988")},
    {MXN_FIELD(update_params, epsilon, FLOAT, "9.99999994e-09")},
    PLAIN_FIELDS,
    {MXN_FIELD(update_params, clip_weights, FLOAT, "-1")},
    {0},
};

static const mxn_field rmspropalex_fields[] = {
    {MXN_FIELD(update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(update_params, rho, FLOAT, "0.949999988")},
    {MXN_FIELD(update_params, momentum, FLOAT, "0.899999976")},
    {MXN_FIELD(update_params, epsilon, FLOAT, "9.99999994e-09")},
    PLAIN_FIELDS,
    {MXN_FIELD(update_params, clip_weights, FLOAT, "-1")},
    {0},
};

static const mxn_field multi_sgd_fields[] = {
    {MXN_FIELD(update_params, lrs, FLOATS, NULL)},
    {MXN_FIELD(update_params, wds, FLOATS, NULL)},
    {MXN_FIELD(update_params, rescale_grad, FLOAT, "1")},
    {MXN_FIELD(update_params, clip_gradient, FLOAT, "-1")},
    {MXN_FIELD(update_params, num_weights, INT, "1"), .min = 1, .max = MXN_OPERANDS_MAX / 4},
    {0},
};

static const mxn_field multi_sgd_mom_fields[] = {
    {MXN_FIELD(update_params, lrs, FLOATS, NULL)},
    {MXN_FIELD(update_params, wds, FLOATS, NULL)},
    {MXN_FIELD(update_params, momentum, FLOAT, "0")},
    {MXN_FIELD(update_params, rescale_grad, FLOAT, "1")},
    {MXN_FIELD(update_params, clip_gradient, FLOAT, "-1")},
    {MXN_FIELD(update_params, num_weights, INT, "1"), .min = 1, .max = MXN_OPERANDS_MAX / 4},
    {0},
};

// Of a weight, with its gradient and states after it among the `count` inputs, into `to`.
static mxn_update update_of(const update_params *params, const mxn_operand *in, uint32_t count,
                            const mxn_operand *to)
{
    return (mxn_update){
        .weight = in[0].data,
        .gradient = in[1].data,
        .state = count > 2 ? in[2].data : NULL,
        .second_state = count > 3 ? in[3].data : NULL,
        .third_state = count > 4 ? in[4].data : NULL,
        .to = to->data,
        .count = mxn_shape_size(to->shape),
        .lr = (double)params->lr,
        .wd = (double)params->wd,
        .momentum = (double)params->momentum,
        .beta1 = (double)params->beta1,
        .beta2 = (double)params->beta2,
        .rho = (double)params->rho,
        .epsilon = (double)params->epsilon,
        .scale = (double)params->rescale_grad,
        .clip = (double)params->clip_gradient,
        .weight_clip = (double)params->clip_weights,
    };
}

static int run_update(const mxn_job *job, const mxn_update *update, int32_t dtype)
{
    int error = mxn__real_type(job, dtype);
    if (error == 0) {
        MXN_WIDEST(mxn__updates)
            ->rules[job->params->op->def->variant][dtype == MXN_FLOAT64](update);
    }
    return error;
}

static int update_forward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    const mxn_update update =
        update_of(mxn__values(job), job->inputs, job->params->input_count, out);
    return run_update(job, &update, out->dtype);
}

void mxn__sgd_rates(const mxn_params *params, uint32_t index, mxn_sgd_rates *rates)
{
    const update_params *p = (const void *)params->values;
    bool many = p->lrs.count > 0;
    *rates = (mxn_sgd_rates){.lr = (double)(many ? p->lrs.values[index] : p->lr),
                             .wd = (double)(many ? p->wds.values[index] : p->wd),
                             .scale = (double)p->rescale_grad,
                             .clip = (double)p->clip_gradient};
}

// ---- narrow weights with a float32 copy ---------------------------------------------------------
// Weight and gradient may be float16; the last input is the weight as float32, on which the update
// is made, and so are the states between them. All come as float32 here, the narrow ones converted.
static int master_types(const mxn_types *types)
{
    uint32_t count = types->params->input_count;
    int error = mxn__type_merge(types->params, "input", 1, &types->inputs[1], types->inputs[0]);
    for (uint32_t i = 2; error == 0 && i < count; i++) {
        error = mxn__type_merge(types->params, "input", i, &types->inputs[i], MXN_FLOAT32);
    }
    return error != 0 ? error : mxn__types_of_first(types);
}

static int master_forward(mxn_job *job)
{
    uint32_t last = job->params->input_count - 1;
    const mxn_operand *in = job->inputs, *master = &in[last], *out = &job->outputs[0];
    mxn_update update = update_of(mxn__values(job), in, last, master);
    update.weight = master->data;
    int error = in[1].dtype == MXN_FLOAT32 ? run_update(job, &update, MXN_FLOAT32)
                                           : mxn__type_refused(job, in[1].dtype);
    if (error == 0 && out->data != NULL) {
        mxn_cast(out->data, out->dtype, master->data, MXN_FLOAT32, update.count);
    }
    return error;
}

// ---- many weights at once ---------------------------------------------------------------------
static int multi_check(const mxn_op *op, void *values)
{
    const update_params *params = values;
    uint32_t count = (uint32_t)params->num_weights;
    if (params->lrs.count == count && params->wds.count == count) {
        return 0;
    }
    return mxp__fail(MXP_EINVAL, "Operator %s: num_weights=%u, but there are %u lrs and %u wds",
                     op->name, count, params->lrs.count, params->wds.count);
}

static uint32_t two_each(const void *values)
{
    return 2 * (uint32_t)((const update_params *)values)->num_weights;
}

static uint32_t three_each(const void *values)
{
    return 3 * (uint32_t)((const update_params *)values)->num_weights;
}

static uint32_t weight_count(const void *values)
{
    return (uint32_t)((const update_params *)values)->num_weights;
}

// Another's weight or gradient may be read after this one is written.
static bool own_weight(const mxn_params *params, uint32_t output, uint32_t input)
{
    return input == output * (params->input_count / params->output_count);
}

static bool third_of_each(const mxn_params *params, uint32_t index)
{
    (void)params;
    return index % 3 == 2;
}

static int multi_shapes(const mxn_shapes *shapes)
{
    uint32_t each = shapes->params->input_count / shapes->params->output_count;
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < shapes->params->input_count; i++) {
        error = mxn__shape_input(shapes, i, shapes->inputs[i / each * each]);
    }
    for (uint32_t i = 0; error == 0 && i < shapes->params->output_count; i++) {
        error = mxn__shape_output(shapes, i, shapes->inputs[i * each]);
    }
    return error;
}

static int multi_forward(mxn_job *job)
{
    const update_params *params = mxn__values(job);
    uint32_t each = job->params->input_count / job->params->output_count;
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < job->params->output_count; i++) {
        const mxn_operand *out = &job->outputs[i];
        mxn_update update = update_of(params, job->inputs + (size_t)i * each, each, out);
        update.lr = (double)params->lrs.values[i];
        update.wd = (double)params->wds.values[i];
        error = run_update(job, &update, out->dtype);
    }
    return error;
}

// ---- the table --------------------------------------------------------------------------------
#define UPDATE(name_, aliases_, inputs_, fields_, mutates_, variant_, flops_)                      \
    {                                                                                              \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .fields = (fields_),          \
        .params_bytes = sizeof(update_params), .flags = MXN_OP_UPDATE, .inplace = 1 << 0 | 1 << 1, \
        .mutates = (mutates_), .variant = (variant_), .takes = MXN_TAKES_REALS,                    \
        .forward = update_forward, .flops_each = (flops_)                                          \
    }
#define MASTER(name_, inputs_, fields_, mutates_, variant_)                                        \
    {                                                                                              \
        .name = (name_), .inputs = (inputs_), .fields = (fields_), .mutates = (mutates_),          \
        .params_bytes = sizeof(update_params), .flags = MXN_OP_UPDATE, .inplace = 1 << 0 | 1 << 1, \
        .variant = (variant_), .types = master_types,                                              \
        .takes = (MXN_TAKES_NARROW | MXN_TAKES(FLOAT32)) | MXN_TAKES_OF_INPUT,                     \
        .forward = master_forward                                                                  \
    }
#define MULTI(name_, fields_, inputs_of_, mutates_of_, variant_)                                \
    {                                                                                           \
        .name = (name_), .inputs = "data[]", .fields = (fields_),                               \
        .params_bytes = sizeof(update_params), .check = multi_check, .inputs_of = (inputs_of_), \
        .outputs_of = weight_count, .mutates_of = (mutates_of_), .shapes = multi_shapes,        \
        .flags = MXN_OP_UPDATE, .inplace_of = own_weight, .variant = (variant_),                \
        .takes = MXN_TAKES_REALS, .forward = multi_forward                                      \
    }

static const mxn_op_def table[] = {
    UPDATE("sgd_update", "_sparse_sgd_update", "weight grad", sgd_fields, 0, MXN_RULE_SGD, 4),
    UPDATE("sgd_mom_update", "_sparse_sgd_mom_update", "weight grad mom", sgd_mom_fields, 1 << 2,
           MXN_RULE_SGD_MOM, 6),
    UPDATE("adam_update", "_sparse_adam_update", "weight grad mean var", adam_fields,
           1 << 2 | 1 << 3, MXN_RULE_ADAM, 15),
    UPDATE("nag_mom_update", NULL, "weight grad mom", nag_fields, 1 << 2, MXN_RULE_NAG, 7),
    UPDATE("signsgd_update", NULL, "weight grad", signsgd_fields, 0, MXN_RULE_SIGNSGD, 4),
    UPDATE("rmsprop_update", NULL, "weight grad n", rmsprop_fields, 1 << 2, MXN_RULE_RMSPROP, 12),
    UPDATE("rmspropalex_update", NULL, "weight grad n g delta", rmspropalex_fields,
           1 << 2 | 1 << 3 | 1 << 4, MXN_RULE_RMSPROPALEX, 18),
    MASTER("mp_sgd_update", "weight grad weight32", sgd_fields, 1 << 2, MXN_RULE_SGD),
    MASTER("mp_sgd_mom_update", "weight grad mom weight32", sgd_mom_fields, 1 << 2 | 1 << 3,
           MXN_RULE_SGD_MOM),
    MASTER("mp_nag_mom_update", "weight grad mom weight32", nag_fields, 1 << 2 | 1 << 3,
           MXN_RULE_NAG),
    MULTI("multi_sgd_update", multi_sgd_fields, two_each, NULL, MXN_RULE_SGD),
    MULTI("multi_sgd_mom_update", multi_sgd_mom_fields, three_each, third_of_each,
          MXN_RULE_SGD_MOM),
};

MXN_FAMILY(optimizer, table);
