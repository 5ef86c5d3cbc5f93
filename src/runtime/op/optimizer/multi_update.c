// SPDX-License-Identifier: Apache-2.0
// Updates of several weights by one call. Inputs are a weight, its gradient and its states, then
// those of the next; a preloaded update has its rates and decays as two arrays behind them, because
// what computes them has not run when the call is made.
#include "runtime/op/optimizer/multi_update.h"

#include "base/fail.h"
#include "runtime/op/optimizer/update_params.h"
#include "runtime/op/registry/infer.h"

#define RATES                                           \
    {MXN_FIELD(mxn_update_params, lrs, FLOATS, NULL)},  \
    {                                                   \
        MXN_FIELD(mxn_update_params, wds, FLOATS, NULL) \
    }
#define MOMENTUM                                           \
    {                                                      \
        MXN_FIELD(mxn_update_params, momentum, FLOAT, "0") \
    }
#define COMMON                                                          \
    {MXN_FIELD(mxn_update_params, rescale_grad, FLOAT, "1")},           \
        {MXN_FIELD(mxn_update_params, clip_gradient, FLOAT, "-1")},     \
        {MXN_FIELD(mxn_update_params, num_weights, INT, "1"), .min = 1, \
         .max = MXN_OPERANDS_MAX / 8},                                  \
    {                                                                   \
        0                                                               \
    }

static const mxn_field sgd_fields[] = {RATES, COMMON};
static const mxn_field sgd_mom_fields[] = {RATES, MOMENTUM, COMMON};
static const mxn_field preloaded_sgd_fields[] = {COMMON};
static const mxn_field preloaded_sgd_mom_fields[] = {MOMENTUM, COMMON};

enum { PRELOADED = 2 };  // arrays behind those of the weights

static bool is_preloaded(const mxn_params *params)
{
    return ((const mxn_update_params *)(const void *)params->values)->lrs.count == 0;
}

uint32_t mxn__multi_inputs_each(const mxn_params *params)
{
    uint32_t more = is_preloaded(params) ? PRELOADED : 0;
    return (params->input_count - more) / params->output_count;
}

static int multi_check(const mxn_op *op, void *values)
{
    const mxn_update_params *params = values;
    uint32_t count = (uint32_t)params->num_weights;
    if (params->lrs.count == count && params->wds.count == count) {
        return 0;
    }
    return mxp__fail(MXP_EINVAL, "Operator %s: num_weights=%u, but there are %u lrs and %u wds",
                     op->name, count, params->lrs.count, params->wds.count);
}

uint32_t mxn__multi_weight_count(const void *values)
{
    return (uint32_t)((const mxn_update_params *)values)->num_weights;
}

static uint32_t two_each(const void *values)
{
    return 2 * mxn__multi_weight_count(values);
}

static uint32_t three_each(const void *values)
{
    return 3 * mxn__multi_weight_count(values);
}

uint32_t mxn__multi_four_each(const void *values)
{
    return 4 * mxn__multi_weight_count(values);
}

static uint32_t preloaded_two_each(const void *values)
{
    return two_each(values) + PRELOADED;
}

static uint32_t preloaded_three_each(const void *values)
{
    return three_each(values) + PRELOADED;
}

static uint32_t preloaded_four_each(const void *values)
{
    return mxn__multi_four_each(values) + PRELOADED;
}

// Another's weight or gradient may be read after this one is written.
bool mxn__multi_own_weight(const mxn_params *params, uint32_t output, uint32_t input)
{
    return input == output * mxn__multi_inputs_each(params);
}

// What comes after weight and gradient is a state.
bool mxn__multi_is_state(const mxn_params *params, uint32_t index)
{
    uint32_t each = mxn__multi_inputs_each(params);
    return index < each * params->output_count && index % each >= 2;
}

int mxn__multi_shapes(const mxn_shapes *shapes)
{
    const mxn_params *params = shapes->params;
    uint32_t each = mxn__multi_inputs_each(params), weights = params->output_count;
    const mxn_shape rates = {.ndim = 1, .dims = {weights}};
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < params->input_count; i++) {
        error = mxn__shape_input(shapes, i,
                                 i < each * weights ? shapes->inputs[i / each * each] : &rates);
    }
    for (uint32_t i = 0; error == 0 && i < weights; i++) {
        error = mxn__shape_output(shapes, i, shapes->inputs[i * each]);
    }
    return error;
}

// ---- types --------------------------------------------------------------------------------------
static int merge_input(const mxn_types *types, uint32_t index, int32_t dtype)
{
    return mxn__type_merge(types->params, "input", index, &types->inputs[index], dtype);
}

// Gradients are of their weight's type, and so are states unless they are float32, as `exact` says;
// rates are.
static int types_of(const mxn_types *types, bool exact)
{
    const mxn_params *params = types->params;
    uint32_t each = mxn__multi_inputs_each(params), weights = params->output_count;
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < params->input_count; i++) {
        bool is_float32 = i >= each * weights || (exact && i % each >= 2);
        error = merge_input(types, i, is_float32 ? MXN_FLOAT32 : types->inputs[i / each * each]);
    }
    for (uint32_t i = 0; error == 0 && i < weights; i++) {
        error = mxn__type_merge(params, "output", i, &types->outputs[i], types->inputs[i * each]);
    }
    return error;
}

int mxn__multi_types(const mxn_types *types)
{
    return types_of(types, false);
}

int mxn__multi_master_types(const mxn_types *types)
{
    return types_of(types, true);
}

// ---- the kernel ---------------------------------------------------------------------------------
// Of weight number `index`; its rate and decay are values of the parameters or of two arrays.
static mxn_update update_of(const mxn_job *job, uint32_t index, uint32_t each)
{
    const mxn_update_params *params = mxn__values(job);
    const mxn_operand *in = job->inputs + (size_t)index * each;
    mxn_update update = mxn__update_of(params, in, each, &job->outputs[index]);
    if (is_preloaded(job->params)) {
        const mxn_operand *rates = &job->inputs[each * job->params->output_count];
        update.lr = (double)((const float *)rates[0].data)[index];
        update.wd = (double)((const float *)rates[1].data)[index];
    } else {
        update.lr = (double)params->lrs.values[index];
        update.wd = (double)params->wds.values[index];
    }
    return update;
}

static int multi_forward(mxn_job *job)
{
    uint32_t each = mxn__multi_inputs_each(job->params);
    bool is_master = job->params->op->def->types == mxn__multi_master_types;
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < job->params->output_count; i++) {
        const mxn_operand *in = job->inputs + (size_t)i * each, *out = &job->outputs[i];
        const mxn_update update = update_of(job, i, each);
        if (is_master) {
            error = mxn__update_master(job, &update, in, each, out);
        } else if (out->data != NULL) {
            error = mxn__update_run(job, &update, out->dtype);
        }
    }
    return error;
}

// ---- the table ----------------------------------------------------------------------------------
#define ANY(name_, check_, fields_, inputs_of_, variant_)                                     \
    .name = (name_), .inputs = "data[]", .check = (check_), .fields = (fields_),              \
    .params_bytes = sizeof(mxn_update_params), .inputs_of = (inputs_of_),                     \
    .outputs_of = mxn__multi_weight_count, .mutates_of = mxn__multi_is_state,                 \
    .shapes = mxn__multi_shapes, .flags = MXN_OP_UPDATE, .inplace_of = mxn__multi_own_weight, \
    .variant = (variant_), .forward = multi_forward
#define PLAIN(...)                                                            \
    {                                                                         \
        ANY(__VA_ARGS__), .types = mxn__multi_types, .takes = MXN_TAKES_REALS \
    }
#define MASTER(...)                                                                           \
    {                                                                                         \
        ANY(__VA_ARGS__), .types = mxn__multi_master_types,                                   \
                          .takes = MXN_TAKES_NARROW | MXN_TAKES(FLOAT32) | MXN_TAKES_OF_INPUT \
    }

static const mxn_op_def table[] = {
    PLAIN("multi_sgd_update", multi_check, sgd_fields, two_each, MXN_RULE_SGD),
    PLAIN("multi_sgd_mom_update", multi_check, sgd_mom_fields, three_each, MXN_RULE_SGD_MOM),
    MASTER("multi_mp_sgd_update", multi_check, sgd_fields, three_each, MXN_RULE_SGD),
    MASTER("multi_mp_sgd_mom_update", multi_check, sgd_mom_fields, mxn__multi_four_each,
           MXN_RULE_SGD_MOM),
    PLAIN("preloaded_multi_sgd_update", NULL, preloaded_sgd_fields, preloaded_two_each,
          MXN_RULE_SGD),
    PLAIN("preloaded_multi_sgd_mom_update", NULL, preloaded_sgd_mom_fields, preloaded_three_each,
          MXN_RULE_SGD_MOM),
    MASTER("preloaded_multi_mp_sgd_update", NULL, preloaded_sgd_fields, preloaded_three_each,
           MXN_RULE_SGD),
    MASTER("preloaded_multi_mp_sgd_mom_update", NULL, preloaded_sgd_mom_fields, preloaded_four_each,
           MXN_RULE_SGD_MOM),
};

MXN_FAMILY(multi_update, table);
