// SPDX-License-Identifier: Apache-2.0
// RNN: a recurrent network of several layers over sequences, in one or both directions, as one
// operator, and its gradient. rnn.h says where things lie.
#include "runtime/op/nn/rnn.h"

#include "base/fail.h"
#include "runtime/op/registry/infer.h"

static const mxn_word modes[] = {{"gru", MXN_RNN_GRU},
                                 {"lstm", MXN_RNN_LSTM},
                                 {"rnn_relu", MXN_RNN_RELU},
                                 {"rnn_tanh", MXN_RNN_TANH},
                                 {0}};

static const mxn_field fields[] = {
    {MXN_FIELD(mxn_rnn_params, state_size, UINT, NULL), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(mxn_rnn_params, num_layers, UINT, NULL), .min = 1, .max = 4096},
    {MXN_FIELD(mxn_rnn_params, bidirectional, BOOL, "0")},
    {MXN_FIELD(mxn_rnn_params, mode, ENUM, NULL), .words = modes},
    {MXN_FIELD(mxn_rnn_params, p, WIDE_FLOAT, "0"), .min = 0, .max = 1},
    {MXN_FIELD(mxn_rnn_params, state_outputs, BOOL, "0")},
    {MXN_FIELD(mxn_rnn_params, projection_size, MAYBE_INT, "None")},
    {MXN_FIELD(mxn_rnn_params, lstm_state_clip_min, MAYBE_DOUBLE, "None")},
    {MXN_FIELD(mxn_rnn_params, lstm_state_clip_max, MAYBE_DOUBLE, "None")},
    {MXN_FIELD(mxn_rnn_params, lstm_state_clip_nan, BOOL, "0")},
    {MXN_FIELD(mxn_rnn_params, use_sequence_length, BOOL, "0")},
    {0},
};

enum { DATA, PARAMETERS, STATE, CELL };  // inputs

static int check(const mxn_op *op, void *values)
{
    const mxn_rnn_params *p = values;
    bool is_lstm = p->mode == MXN_RNN_LSTM;
    bool clips = p->lstm_state_clip_min.has || p->lstm_state_clip_max.has;
    if (!is_lstm && (p->projection_size.has || clips)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: only mode 'lstm' has %s", op->name,
                         clips ? "lstm_state_clip_min and lstm_state_clip_max"
                               : "a projection_size");
    }
    return !p->projection_size.has || p->projection_size.value > 0
               ? 0
               : mxp__fail(MXP_EINVAL, "Operator %s: projection_size must be above 0, not %d",
                           op->name, p->projection_size.value);
}

static uint32_t inputs_of(const void *values)
{
    const mxn_rnn_params *p = values;
    return 3u + mxn__rnn_has_cell(p) + p->use_sequence_length;
}

// The lengths come last, whether there are cells or not.
static uint32_t name_of(const void *values, uint32_t input)
{
    return input < CELL || mxn__rnn_has_cell(values) ? input : input + 1;
}

static uint32_t visible_of(const void *values)
{
    const mxn_rnn_params *p = values;
    return !p->state_outputs ? 1 : mxn__rnn_has_cell(p) ? 3 : 2;
}

static uint32_t outputs_of(const void *values)
{
    return visible_of(values) + 1;
}

// Gradients of the outputs, data, parameters, what is kept, lengths.
static uint32_t backward_inputs(const void *values)
{
    const mxn_rnn_params *p = values;
    return visible_of(values) + 3 + p->use_sequence_length;
}

static uint32_t backward_outputs(const void *values)
{
    return 3u + mxn__rnn_has_cell(values);
}

static bool draws(const void *values)
{
    return ((const mxn_rnn_params *)values)->p > 0;
}

// ---- inference ----------------------------------------------------------------------------------
// That no size below is beyond what an array may have: sums of products are bounded by the product
// of their greatest.
static int check_sizes(const mxn_shapes *shapes, const mxn_rnn *r)
{
    const int64_t factors[] = {16,      r->gates,  r->directions,
                               r->size, r->layers, r->size + r->directions * r->width + r->inputs};
    int64_t product = 1;
    int error = 0;
    for (size_t i = 0; i < sizeof factors / sizeof *factors && error == 0; i++) {
        error = mxn__dim_mul(shapes->params, product, factors[i], &product);
    }
    int64_t kept = 16;
    const int64_t more[] = {r->layers,          r->directions, r->gates + 2,
                            r->size + r->width, r->batch,      r->steps};
    for (size_t i = 0; i < sizeof more / sizeof *more && error == 0; i++) {
        error = mxn__dim_mul(shapes->params, kept, more[i], &kept);
    }
    return error;
}

static int state_shapes(const mxn_shapes *shapes, const mxn_rnn *r)
{
    const mxn_rnn_params *p = r->params;
    const mxn_shape state = {.ndim = 3, .dims = {r->layers * r->directions, r->batch, r->width}};
    const mxn_shape cell = {.ndim = 3, .dims = {r->layers * r->directions, r->batch, r->size}};
    const bool has_cell = mxn__rnn_has_cell(p);
    int error = mxn__shape_input(shapes, STATE, &state);
    if (error == 0 && has_cell) {
        error = mxn__shape_input(shapes, CELL, &cell);
    }
    if (error == 0 && p->state_outputs) {
        error = mxn__shape_output(shapes, 1, &state);
    }
    return error != 0 || !has_cell || !p->state_outputs ? error
                                                        : mxn__shape_output(shapes, 2, &cell);
}

static int rnn_shapes(const mxn_shapes *shapes)
{
    const mxn_rnn_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[DATA];
    if (data->ndim >= 0 && data->ndim != 3) {
        return mxn__shape_refused(shapes, DATA, "must be (steps, batch, inputs)");
    }
    if (!mxn_shape_known(data)) {
        return 0;
    }
    const mxn_rnn r = mxn__rnn_of(p, data);
    int error = check_sizes(shapes, &r);
    if (error != 0) {
        return error;
    }
    const mxn_shape lengths = {.ndim = 1, .dims = {r.batch}};
    const mxn_shape parameters = {.ndim = 1, .dims = {mxn__rnn_bias_begin(&r, r.layers, 0)}};
    const mxn_shape result = {.ndim = 3, .dims = {r.steps, r.batch, r.directions * r.width}};
    const mxn_shape kept = {.ndim = 1, .dims = {mxn__rnn_kept(&r)}};
    error = mxn__shape_input(shapes, PARAMETERS, &parameters);
    if (error == 0) {
        error = state_shapes(shapes, &r);
    }
    if (error == 0 && p->use_sequence_length) {
        error = mxn__shape_input(shapes, inputs_of(p) - 1, &lengths);
    }
    if (error == 0) {
        error = mxn__shape_output(shapes, DATA, &result);
    }
    return error != 0 ? error : mxn__shape_output(shapes, visible_of(p), &kept);
}

// Lengths are of any type; what is kept has no less digits than the sums.
static int rnn_types(const mxn_types *types)
{
    const mxn_rnn_params *p = (const void *)types->params->values;
    mxn_params alike = {.op = types->params->op,
                        .input_count = inputs_of(p) - p->use_sequence_length,
                        .output_count = visible_of(p)};
    int error = mxn__types_alike(&(mxn_types){&alike, types->inputs, types->outputs});
    const int32_t dtype = types->inputs[DATA];
    if (error != 0 || dtype == MXN_DTYPE_NONE) {
        return error;
    }
    if (p->use_sequence_length && types->inputs[alike.input_count] == MXN_DTYPE_NONE) {
        types->inputs[alike.input_count] = dtype;
    }
    return mxn__type_merge(types->params, "output", alike.output_count,
                           &types->outputs[alike.output_count],
                           dtype == MXN_FLOAT64 ? MXN_FLOAT64 : MXN_FLOAT32);
}

// ---- gradient -----------------------------------------------------------------------------------
#define STEP(takes_)                                     \
    {                                                    \
        {.op = "_backward_RNN", .takes = (takes_)}, {0}, \
    }

// By whether there is a cell, states are given, there are lengths.
static const mxn_gradient_step *gradient_of(const void *values)
{
    static const mxn_gradient_step steps[2][2][2][2] = {
        {{STEP("g0 i0 i1 o1"), STEP("g0 i0 i1 o1 i3")},
         {STEP("g0 g1 i0 i1 o2"), STEP("g0 g1 i0 i1 o2 i3")}},
        {{STEP("g0 i0 i1 o1"), STEP("g0 i0 i1 o1 i4")},
         {STEP("g0 g1 g2 i0 i1 o3"), STEP("g0 g1 g2 i0 i1 o3 i4")}},
    };
    const mxn_rnn_params *p = values;
    return steps[mxn__rnn_has_cell(p)][p->state_outputs][p->use_sequence_length];
}

// ---- running ------------------------------------------------------------------------------------
static double flops(const mxn_job *job)
{
    const bool back = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_rnn_params *p = mxn__values(job);
    const mxn_rnn r = mxn__rnn_of(p, job->inputs[back ? visible_of(p) : 0].shape);
    return (back ? 4.0 : 2.0) * (double)(r.steps * r.batch) * (double)mxn__rnn_bias_begin(&r, 0, 0);
}

static int forward(mxn_job *job)
{
    int error = mxn__real_type(job, job->inputs[DATA].dtype);
    return error != 0 ? error : mxn__rnn_run(job, mxn__multiply_reference, job->workspace);
}

static int backward(mxn_job *job)
{
    int error = mxn__real_type(job, job->inputs[DATA].dtype);
    return error != 0 ? error : mxn__rnn_run_back(job, mxn__multiply_reference, job->workspace);
}

static const mxn_op_def table[] = {
    {
        .name = "RNN",
        .aliases = "_npx_rnn",
        .inputs = "data parameters state state_cell sequence_length",
        .outputs = "output state_output statecell_output",
        .description = "A recurrent network of several layers over sequences.",
        .fields = fields,
        .params_bytes = sizeof(mxn_rnn_params),
        .check = check,
        .inputs_of = inputs_of,
        .name_of = name_of,
        .outputs_of = outputs_of,
        .visible_of = visible_of,
        .draws = draws,
        .shapes = rnn_shapes,
        .types = rnn_types,
        .flags = MXN_OP_PARALLEL | MXN_OP_RUNS_EMPTY,
        .takes = MXN_TAKES_REALS,
        .gradient_of = gradient_of,
        .forward = forward,
        .workspace = mxn__rnn_workspace,
        .flops = flops,
    },
    {
        .name = "_backward_RNN",
        .inputs_of = backward_inputs,
        .outputs_of = backward_outputs,
        .fields = fields,
        .params_bytes = sizeof(mxn_rnn_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL | MXN_OP_RUNS_EMPTY,
        .types = mxn__types_given,
        .takes = MXN_TAKES_REALS,
        .forward = backward,
        .workspace = mxn__rnn_workspace_back,
        .flops = flops,
    },
};

MXN_FAMILY(rnn, table);
