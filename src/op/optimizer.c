// SPDX-License-Identifier: Apache-2.0
// Updates of parameters. The weight is the output, usually the same array; states are inputs that
// are written.
#include "op/optimizer.h"

#include <math.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"

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

// One weight's update: what all of them read and write.
typedef struct update {
    const void *weight, *gradient;
    void *state, *second_state, *third_state, *to;
    size_t count;
    double lr, wd;
    const update_params *params;
} update;

// To -limit .. limit, unless that is negative.
static inline double cut(double value, double limit)
{
    return limit < 0 ? value : value > limit ? limit : value < -limit ? -limit : value;
}

#define CLIPPED_GRADIENT(type)                                                               \
    static inline double gradient_##type(const update *u, size_t i)                          \
    {                                                                                        \
        double g = (double)((const type *)u->gradient)[i] * (double)u->params->rescale_grad; \
        return cut(g, (double)u->params->clip_gradient);                                     \
    }
// w - lr (g + wd w)
#define SGD(type)                                                                               \
    static void sgd_##type(const update *u)                                                     \
    {                                                                                           \
        const type *w = u->weight;                                                              \
        type *to = u->to;                                                                       \
        for (size_t i = 0; i < u->count; i++) {                                                 \
            to[i] = (type)((1 - u->lr * u->wd) * (double)w[i] - u->lr * gradient_##type(u, i)); \
        }                                                                                       \
    }
// m = momentum m - lr (g + wd w); w + m
#define SGD_MOM(type)                                                              \
    static void sgd_mom_##type(const update *u)                                    \
    {                                                                              \
        const type *w = u->weight;                                                 \
        type *m = u->state, *to = u->to;                                           \
        for (size_t i = 0; i < u->count; i++) {                                    \
            m[i] = (type)((double)u->params->momentum * (double)m[i] -             \
                          u->lr * (u->wd * (double)w[i] + gradient_##type(u, i))); \
            to[i] = w[i] + m[i];                                                   \
        }                                                                          \
    }
// The clip is of g + wd w, as the original does it.
#define ADAM(type)                                                                                 \
    static void adam_##type(const update *u)                                                       \
    {                                                                                              \
        const update_params *p = u->params;                                                        \
        const type *w = u->weight, *raw = u->gradient;                                             \
        type *mean = u->state, *var = u->second_state, *to = u->to;                                \
        const double b1 = (double)p->beta1, b2 = (double)p->beta2;                                 \
        for (size_t i = 0; i < u->count; i++) {                                                    \
            double g = (double)raw[i] * (double)p->rescale_grad + u->wd * (double)w[i];            \
            g = cut(g, (double)p->clip_gradient);                                                  \
            mean[i] = (type)(b1 * (double)mean[i] + (1 - b1) * g);                                 \
            var[i] = (type)(b2 * (double)var[i] + (1 - b2) * g * g);                               \
            to[i] = (type)((double)w[i] -                                                          \
                           u->lr * (double)mean[i] / (sqrt((double)var[i]) + (double)p->epsilon)); \
        }                                                                                          \
    }
// Nesterov's: m = momentum m - lr (g + wd w); w + momentum m - lr (g + wd w)
#define NAG(type)                                                                       \
    static void nag_##type(const update *u)                                             \
    {                                                                                   \
        const type *w = u->weight;                                                      \
        type *m = u->state, *to = u->to;                                                \
        const double momentum = (double)u->params->momentum;                            \
        for (size_t i = 0; i < u->count; i++) {                                         \
            const double step = u->lr * (u->wd * (double)w[i] + gradient_##type(u, i)); \
            const double next = momentum * (double)m[i] - step;                         \
            m[i] = (type)next;                                                          \
            to[i] = (type)((double)w[i] + momentum * next - step);                      \
        }                                                                               \
    }
#define SIGNSGD(type)                                                          \
    static void signsgd_##type(const update *u)                                \
    {                                                                          \
        const type *w = u->weight, *raw = u->gradient;                         \
        type *to = u->to;                                                      \
        for (size_t i = 0; i < u->count; i++) {                                \
            const double sign = (double)((raw[i] > 0) - (raw[i] < 0));         \
            to[i] = (type)((1 - u->lr * u->wd) * (double)w[i] - u->lr * sign); \
        }                                                                      \
    }
// The clip is of g + wd w, as the original does it; a second one, of the weight, comes last.
#define RMSPROP(type)                                                                              \
    static inline double decayed_##type(const update *u, size_t i)                                 \
    {                                                                                              \
        const double g = (double)((const type *)u->gradient)[i] * (double)u->params->rescale_grad; \
        return cut(g + u->wd * (double)((const type *)u->weight)[i],                               \
                   (double)u->params->clip_gradient);                                              \
    }                                                                                              \
    static void rmsprop_##type(const update *u)                                                    \
    {                                                                                              \
        const update_params *p = u->params;                                                        \
        const double rho = (double)p->rho;                                                         \
        type *n = u->state, *to = u->to;                                                           \
        for (size_t i = 0; i < u->count; i++) {                                                    \
            const double g = decayed_##type(u, i);                                                 \
            n[i] = (type)(rho * (double)n[i] + (1 - rho) * g * g);                                 \
            const double w = (double)((const type *)u->weight)[i];                                 \
            to[i] = (type)cut(w - u->lr * g / sqrt((double)n[i] + (double)p->epsilon),             \
                              (double)p->clip_weights);                                            \
        }                                                                                          \
    }                                                                                              \
    static void rmspropalex_##type(const update *u)                                                \
    {                                                                                              \
        const update_params *p = u->params;                                                        \
        const double rho = (double)p->rho;                                                         \
        type *n = u->state, *mean = u->second_state, *delta = u->third_state, *to = u->to;         \
        for (size_t i = 0; i < u->count; i++) {                                                    \
            const double g = decayed_##type(u, i);                                                 \
            n[i] = (type)(rho * (double)n[i] + (1 - rho) * g * g);                                 \
            mean[i] = (type)(rho * (double)mean[i] + (1 - rho) * g);                               \
            const double spread =                                                                  \
                (double)n[i] - (double)mean[i] * (double)mean[i] + (double)p->epsilon;             \
            delta[i] = (type)((double)p->momentum * (double)delta[i] - u->lr * g / sqrt(spread));  \
            const double w = (double)((const type *)u->weight)[i];                                 \
            to[i] = (type)cut(w + (double)delta[i], (double)p->clip_weights);                      \
        }                                                                                          \
    }
#define ALL_OF(type) \
    CLIPPED_GRADIENT(type) SGD(type) SGD_MOM(type) ADAM(type) NAG(type) SIGNSGD(type) RMSPROP(type)
ALL_OF(float)
ALL_OF(double)

enum { OF_SGD, OF_SGD_MOM, OF_ADAM, OF_NAG, OF_SIGNSGD, OF_RMSPROP, OF_RMSPROPALEX };
static void (*const updates[][2])(const update *u) = {{sgd_float, sgd_double},
                                                      {sgd_mom_float, sgd_mom_double},
                                                      {adam_float, adam_double},
                                                      {nag_float, nag_double},
                                                      {signsgd_float, signsgd_double},
                                                      {rmsprop_float, rmsprop_double},
                                                      {rmspropalex_float, rmspropalex_double}};

static int run_update(const mxn_job *job, const update *u, int32_t dtype)
{
    if (dtype != MXN_FLOAT32 && dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, dtype);
    }
    updates[job->params->op->def->variant][dtype == MXN_FLOAT64](u);
    return 0;
}

static int update_forward(mxn_job *job)
{
    const update_params *params = mxn__values(job);
    const mxn_operand *in = job->inputs;
    const update u = {
        .weight = in[0].data,
        .gradient = in[1].data,
        .state = job->params->input_count > 2 ? in[2].data : NULL,
        .second_state = job->params->input_count > 3 ? in[3].data : NULL,
        .third_state = job->params->input_count > 4 ? in[4].data : NULL,
        .to = job->outputs[0].data,
        .count = mxn_shape_size(job->outputs[0].shape),
        .lr = (double)params->lr,
        .wd = (double)params->wd,
        .params = params,
    };
    return run_update(job, &u, job->outputs[0].dtype);
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
    const update_params *params = mxn__values(job);
    const mxn_operand *in = job->inputs, *master = &in[job->params->input_count - 1];
    size_t count = mxn_shape_size(master->shape);
    const update u = {
        .weight = master->data,
        .gradient = in[1].data,
        .state = in[2].data,
        .to = master->data,
        .count = count,
        .lr = (double)params->lr,
        .wd = (double)params->wd,
        .params = params,
    };
    int error = in[1].dtype == MXN_FLOAT32 ? run_update(job, &u, MXN_FLOAT32)
                                           : mxn__type_refused(job, in[1].dtype);
    if (error == 0 && job->outputs[0].data != NULL) {
        mxn_cast(job->outputs[0].data, job->outputs[0].dtype, master->data, MXN_FLOAT32, count);
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
        const mxn_operand *in = job->inputs + (size_t)i * each;
        const update u = {
            .weight = in[0].data,
            .gradient = in[1].data,
            .state = each > 2 ? in[2].data : NULL,
            .to = job->outputs[i].data,
            .count = mxn_shape_size(job->outputs[i].shape),
            .lr = (double)params->lrs.values[i],
            .wd = (double)params->wds.values[i],
            .params = params,
        };
        error = run_update(job, &u, job->outputs[i].dtype);
    }
    return error;
}

// ---- the table --------------------------------------------------------------------------------
#define UPDATE(name_, aliases_, inputs_, fields_, mutates_, variant_, flops_)             \
    {                                                                                     \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .fields = (fields_), \
        .params_bytes = sizeof(update_params), .flags = MXN_OP_UPDATE | MXN_OP_INPLACE,   \
        .mutates = (mutates_), .variant = (variant_), .forward = update_forward,          \
        .flops_each = (flops_)                                                            \
    }
#define MASTER(name_, inputs_, fields_, mutates_, variant_)                               \
    {                                                                                     \
        .name = (name_), .inputs = (inputs_), .fields = (fields_), .mutates = (mutates_), \
        .params_bytes = sizeof(update_params), .flags = MXN_OP_UPDATE | MXN_OP_INPLACE,   \
        .variant = (variant_), .types = master_types, .forward = master_forward           \
    }
#define MULTI(name_, fields_, inputs_of_, mutates_of_, variant_)                                 \
    {                                                                                            \
        .name = (name_), .inputs = "data[]", .fields = (fields_),                                \
        .params_bytes = sizeof(update_params), .check = multi_check, .inputs_of = (inputs_of_),  \
        .outputs_of = weight_count, .mutates_of = (mutates_of_), .shapes = multi_shapes,         \
        .flags = MXN_OP_UPDATE | MXN_OP_INPLACE, .variant = (variant_), .forward = multi_forward \
    }

static const mxn_op_def table[] = {
    UPDATE("sgd_update", "_sparse_sgd_update", "weight grad", sgd_fields, 0, OF_SGD, 4),
    UPDATE("sgd_mom_update", "_sparse_sgd_mom_update", "weight grad mom", sgd_mom_fields, 1 << 2,
           OF_SGD_MOM, 6),
    UPDATE("adam_update", "_sparse_adam_update", "weight grad mean var", adam_fields,
           1 << 2 | 1 << 3, OF_ADAM, 15),
    UPDATE("nag_mom_update", NULL, "weight grad mom", nag_fields, 1 << 2, OF_NAG, 7),
    UPDATE("signsgd_update", NULL, "weight grad", signsgd_fields, 0, OF_SIGNSGD, 4),
    UPDATE("rmsprop_update", NULL, "weight grad n", rmsprop_fields, 1 << 2, OF_RMSPROP, 12),
    UPDATE("rmspropalex_update", NULL, "weight grad n g delta", rmspropalex_fields,
           1 << 2 | 1 << 3 | 1 << 4, OF_RMSPROPALEX, 18),
    MASTER("mp_sgd_update", "weight grad weight32", sgd_fields, 1 << 2, OF_SGD),
    MASTER("mp_sgd_mom_update", "weight grad mom weight32", sgd_mom_fields, 1 << 2 | 1 << 3,
           OF_SGD_MOM),
    MASTER("mp_nag_mom_update", "weight grad mom weight32", nag_fields, 1 << 2 | 1 << 3, OF_NAG),
    MULTI("multi_sgd_update", multi_sgd_fields, two_each, NULL, OF_SGD),
    MULTI("multi_sgd_mom_update", multi_sgd_mom_fields, three_each, third_of_each, OF_SGD_MOM),
};

MXN_FAMILY(optimizer, table);
