// SPDX-License-Identifier: Apache-2.0
// Updates of parameters. The weight is the output, usually the same array; states are inputs that
// are written.
#include "runtime/op/optimizer/optimizer.h"

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/optimizer/update_params.h"
#include "runtime/op/registry/infer.h"

#define COMMON_FIELDS                                               \
    {MXN_FIELD(mxn_update_params, wd, FLOAT, "0")},                 \
        {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")},   \
        {MXN_FIELD(mxn_update_params, clip_gradient, FLOAT, "-1")}, \
        {MXN_FIELD(mxn_update_params, lazy_update, BOOL, "1")},     \
    {                                                               \
        0                                                           \
    }

static const mxn_field sgd_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    COMMON_FIELDS,
};

static const mxn_field sgd_mom_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, momentum, FLOAT, "0")},
    COMMON_FIELDS,
};

static const mxn_field adam_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, beta1, FLOAT, "0.899999976")},
    {MXN_FIELD(mxn_update_params, beta2, FLOAT, "0.999000013")},
    {MXN_FIELD(mxn_update_params, epsilon, FLOAT, "9.99999994e-09")},
    COMMON_FIELDS,
};

#define PLAIN_FIELDS                                              \
    {MXN_FIELD(mxn_update_params, wd, FLOAT, "0")},               \
        {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")}, \
    {                                                             \
        MXN_FIELD(mxn_update_params, clip_gradient, FLOAT, "-1")  \
    }

static const mxn_field signsgd_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    PLAIN_FIELDS,
    {0},
};

static const mxn_field signum_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, momentum, FLOAT, "0")},
    PLAIN_FIELDS,
    {MXN_FIELD(mxn_update_params, wd_lh, FLOAT, "0")},
    {0},
};

static const mxn_field ftrl_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, lamda1, FLOAT, "0.00999999978")},
    {MXN_FIELD(mxn_update_params, beta, FLOAT, "1")},
    PLAIN_FIELDS,
    {0},
};

static const mxn_field ftml_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, beta1, FLOAT, "0.600000024")},
    {MXN_FIELD(mxn_update_params, beta2, FLOAT, "0.999000013")},
    {MXN_UPDATE_FIELD(epsilon, wide_epsilon, DOUBLE, "9.9999999392252903e-09")},
    {MXN_FIELD(mxn_update_params, t, INT, NULL), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(mxn_update_params, wd, FLOAT, "0")},
    {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")},
    {MXN_UPDATE_FIELD(clip_grad, clip_gradient, FLOAT, "-1")},
    {0},
};

static const mxn_field nag_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, momentum, FLOAT, "0")},
    PLAIN_FIELDS,
    {0},
};

static const mxn_field rmsprop_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, rho, FLOAT, "0.949999988"), .other_name = "gamma1"},
    {MXN_FIELD(mxn_update_params, epsilon, FLOAT, "9.99999994e-09")},
    PLAIN_FIELDS,
    {MXN_FIELD(mxn_update_params, clip_weights, FLOAT, "-1")},
    {0},
};

static const mxn_field rmspropalex_fields[] = {
    {MXN_FIELD(mxn_update_params, lr, FLOAT, NULL)},
    {MXN_FIELD(mxn_update_params, rho, FLOAT, "0.949999988"), .other_name = "gamma1"},
    {MXN_FIELD(mxn_update_params, momentum, FLOAT, "0.899999976"), .other_name = "gamma2"},
    {MXN_FIELD(mxn_update_params, epsilon, FLOAT, "9.99999994e-09")},
    PLAIN_FIELDS,
    {MXN_FIELD(mxn_update_params, clip_weights, FLOAT, "-1")},
    {0},
};

mxn_update mxn__update_of(const mxn_update_params *params, const mxn_operand *in, uint32_t count,
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
        .beta = (double)params->beta,
        .lamda1 = (double)params->lamda1,
        .weight_decay = (double)params->wd_lh,
        .t = params->t,
        .epsilon = params->wide_epsilon > 0 ? params->wide_epsilon : (double)params->epsilon,
        .scale = (double)params->rescale_grad,
        .clip = (double)params->clip_gradient,
        .weight_clip = (double)params->clip_weights,
    };
}

int mxn__update_run(const mxn_job *job, const mxn_update *update, int32_t dtype)
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
        mxn__update_of(mxn__values(job), job->inputs, job->params->input_count, out);
    return mxn__update_run(job, &update, out->dtype);
}

void mxn__sgd_rates(const mxn_params *params, uint32_t index, mxn_sgd_rates *rates)
{
    const mxn_update_params *p = (const void *)params->values;
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

int mxn__update_master(const mxn_job *job, const mxn_update *update, const mxn_operand *in,
                       uint32_t count, const mxn_operand *to)
{
    const mxn_operand *master = &in[count - 1];
    mxn_update exact = *update;
    exact.weight = exact.to = master->data;
    exact.count = mxn_shape_size(master->shape);
    int error = in[1].dtype == MXN_FLOAT32 ? mxn__update_run(job, &exact, MXN_FLOAT32)
                                           : mxn__type_refused(job, in[1].dtype);
    if (error == 0 && to->data != NULL) {
        mxn_cast(to->data, to->dtype, master->data, MXN_FLOAT32, exact.count);
    }
    return error;
}

static int master_forward(mxn_job *job)
{
    uint32_t count = job->params->input_count;
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    const mxn_update update = mxn__update_of(mxn__values(job), in, count - 1, out);
    return mxn__update_master(job, &update, in, count, out);
}

// ---- the table --------------------------------------------------------------------------------
#define UPDATE(name_, aliases_, inputs_, fields_, mutates_, variant_, flops_)             \
    {                                                                                     \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .fields = (fields_), \
        .params_bytes = sizeof(mxn_update_params), .flags = MXN_OP_UPDATE,                \
        .inplace = 1 << 0 | 1 << 1, .mutates = (mutates_), .variant = (variant_),         \
        .takes = MXN_TAKES_REALS, .forward = update_forward, .flops_each = (flops_)       \
    }
#define MASTER(name_, inputs_, fields_, mutates_, variant_)                               \
    {                                                                                     \
        .name = (name_), .inputs = (inputs_), .fields = (fields_), .mutates = (mutates_), \
        .params_bytes = sizeof(mxn_update_params), .flags = MXN_OP_UPDATE,                \
        .inplace = 1 << 0 | 1 << 1, .variant = (variant_), .types = master_types,         \
        .takes = (MXN_TAKES_NARROW | MXN_TAKES(FLOAT32)) | MXN_TAKES_OF_INPUT,            \
        .forward = master_forward                                                         \
    }

static const mxn_op_def table[] = {
    UPDATE("sgd_update", "_sparse_sgd_update", "weight grad", sgd_fields, 0, MXN_RULE_SGD, 4),
    UPDATE("sgd_mom_update", "_sparse_sgd_mom_update", "weight grad mom", sgd_mom_fields, 1 << 2,
           MXN_RULE_SGD_MOM, 6),
    UPDATE("adam_update", "_sparse_adam_update", "weight grad mean var", adam_fields,
           1 << 2 | 1 << 3, MXN_RULE_ADAM, 15),
    UPDATE("nag_mom_update", NULL, "weight grad mom", nag_fields, 1 << 2, MXN_RULE_NAG, 7),
    UPDATE("signsgd_update", NULL, "weight grad", signsgd_fields, 0, MXN_RULE_SIGNSGD, 4),
    UPDATE("signum_update", NULL, "weight grad mom", signum_fields, 1 << 2, MXN_RULE_SIGNUM, 8),
    UPDATE("ftrl_update", "_sparse_ftrl_update", "weight grad z n", ftrl_fields, 1 << 2 | 1 << 3,
           MXN_RULE_FTRL, 16),
    UPDATE("ftml_update", NULL, "weight grad d v z", ftml_fields, 1 << 2 | 1 << 3 | 1 << 4,
           MXN_RULE_FTML, 18),
    UPDATE("rmsprop_update", NULL, "weight grad n", rmsprop_fields, 1 << 2, MXN_RULE_RMSPROP, 12),
    UPDATE("rmspropalex_update", NULL, "weight grad n g delta", rmspropalex_fields,
           1 << 2 | 1 << 3 | 1 << 4, MXN_RULE_RMSPROPALEX, 18),
    MASTER("mp_sgd_update", "weight grad weight32", sgd_fields, 1 << 2, MXN_RULE_SGD),
    MASTER("mp_sgd_mom_update", "weight grad mom weight32", sgd_mom_fields, 1 << 2 | 1 << 3,
           MXN_RULE_SGD_MOM),
    MASTER("mp_nag_mom_update", "weight grad mom weight32", nag_fields, 1 << 2 | 1 << 3,
           MXN_RULE_NAG),
};

MXN_FAMILY(optimizer, table);
