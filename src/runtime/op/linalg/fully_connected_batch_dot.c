// SPDX-License-Identifier: Apache-2.0
// Products of lists of matrices, and FullyConnected. multiply.c has the plain product.
#include "runtime/op/linalg/product.h"

#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// ---- batch_dot --------------------------------------------------------------------------------
static int batch_shapes(const mxn_shapes *shapes)
{
    const mxn_dot_params params = mxn__dot_params_of(shapes->params);
    const mxn_shape *a = shapes->inputs[0], *b = shapes->inputs[1];
    if (!mxn_shape_known(a) || !mxn_shape_known(b)) {
        return 0;
    }
    bool fits = a->ndim == b->ndim && a->ndim >= 3;
    for (int32_t i = 0; fits && i < a->ndim - 2; i++) {
        fits = a->dims[i] == b->dims[i];
    }
    const int64_t *at = a->dims + (fits ? a->ndim - 2 : 0),
                  *bt = b->dims + (fits ? b->ndim - 2 : 0);
    if (!fits || at[params.transpose_a ? 0 : 1] != bt[params.transpose_b ? 1 : 0]) {
        char other[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "does not match shape %s of input 1",
                                  mxn_shape_tuple(b, other));
    }
    mxn_shape result;
    mxn_shape_copy(&result, a);
    result.dims[a->ndim - 2] = at[params.transpose_a ? 1 : 0];
    result.dims[a->ndim - 1] = bt[params.transpose_b ? 0 : 1];
    return mxn__shape_output(shapes, 0, &result);
}

int mxn__batch_dot_run(mxn_job *job, mxn_multiplier multiply)
{
    const mxn_dot_params params = mxn__dot_params_of(job->params);
    const mxn_shape *a = job->inputs[0].shape, *out = job->outputs[0].shape;
    int64_t batches = mxn__dims_product(a, 0, a->ndim - 2);
    int64_t m = out->dims[out->ndim - 2], n = out->dims[out->ndim - 1];
    int64_t k = a->dims[a->ndim - (params.transpose_a ? 2 : 1)];
    size_t size = mxn_dtype_size(job->outputs[0].dtype);
    int error = 0;
    for (int64_t i = 0; error == 0 && i < batches; i++) {
        const mxn_product p = {(const char *)job->inputs[0].data + (size_t)(i * m * k) * size,
                               (const char *)job->inputs[1].data + (size_t)(i * k * n) * size,
                               (char *)job->outputs[0].data + (size_t)(i * m * n) * size,
                               m,
                               n,
                               k,
                               params.transpose_a,
                               params.transpose_b,
                               false};
        error = multiply(job, job->outputs[0].dtype, &p);
    }
    return error;
}

static double batch_flops(const mxn_job *job)
{
    const mxn_dot_params params = mxn__dot_params_of(job->params);
    const mxn_shape *a = job->inputs[0].shape;
    return 2.0 * (double)mxn_shape_size(job->outputs[0].shape) *
           (double)a->dims[a->ndim - (params.transpose_a ? 2 : 1)];
}

// The gradients are products themselves.
static void plain(void *values)
{
    *(mxn_dot_params *)values = (mxn_dot_params){.forward_stype = -1};
}
static void first_transposed(void *values)
{
    *(mxn_dot_params *)values = (mxn_dot_params){.transpose_a = true, .forward_stype = -1};
}
static void second_transposed(void *values)
{
    *(mxn_dot_params *)values = (mxn_dot_params){.transpose_b = true, .forward_stype = -1};
}
static void both_transposed(void *values)
{
    *(mxn_dot_params *)values = (mxn_dot_params){true, true, -1};
}

static const mxn_gradient_step *batch_gradient(const void *values)
{
    const mxn_dot_params *params = values;
    static const mxn_gradient_step steps[2][2][3] = {
        {{{.op = "batch_dot", .takes = "g0 i1", .gives = "0", .adjust = second_transposed},
          {.op = "batch_dot", .takes = "i0 g0", .gives = "1", .adjust = first_transposed}},
         {{.op = "batch_dot", .takes = "g0 i1", .gives = "0", .adjust = plain},
          {.op = "batch_dot", .takes = "g0 i0", .gives = "1", .adjust = first_transposed}}},
        {{{.op = "batch_dot", .takes = "i1 g0", .gives = "0", .adjust = second_transposed},
          {.op = "batch_dot", .takes = "i0 g0", .gives = "1", .adjust = plain}},
         {{.op = "batch_dot", .takes = "i1 g0", .gives = "0", .adjust = both_transposed},
          {.op = "batch_dot", .takes = "g0 i0", .gives = "1", .adjust = both_transposed}}},
    };
    return steps[params->transpose_a][params->transpose_b];
}

// ---- FullyConnected ---------------------------------------------------------------------------
typedef struct fc_params {
    int32_t num_hidden;
    bool no_bias, flatten;
} fc_params;

static const mxn_field fc_fields[] = {
    {MXN_FIELD(fc_params, num_hidden, INT, NULL), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(fc_params, no_bias, BOOL, "0")},
    {MXN_FIELD(fc_params, flatten, BOOL, "1")},
    {0},
};

static bool fc_cuts(const void *values, bool training)
{
    (void)values;
    (void)training;
    return true;
}

static uint32_t fc_inputs(const void *values)
{
    return ((const fc_params *)values)->no_bias ? 2 : 3;
}

static uint32_t fc_backward_inputs(const void *values)
{
    (void)values;
    return 3;
}

// Of the data as a matrix; -1 if a size that they are made of is not known.
static int fc_columns(const mxn_shapes *shapes, int64_t *columns)
{
    const fc_params *params = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    int32_t first = params->flatten ? 1 : data->ndim - 1;
    int error = 0;
    *columns = 1;
    for (int32_t i = first; error == 0 && i < data->ndim; i++) {
        if (data->dims[i] < 0) {
            *columns = -1;
            return 0;
        }
        error = mxn__dim_mul(shapes->params, *columns, data->dims[i], columns);
    }
    return error;
}

static int fc_shapes(const mxn_shapes *shapes)
{
    const fc_params *params = (const void *)shapes->params->values;
    mxn_shape *data = shapes->inputs[0];
    mxn_shape bias = {.ndim = 1, .dims = {params->num_hidden}};
    int error = params->no_bias ? 0 : mxn__shape_input(shapes, 2, &bias);
    if (error != 0 || data->ndim < 0) {
        return error;
    }
    if (data->ndim == 0) {
        return mxn__shape_refused(shapes, 0, "must have a dimension");
    }
    mxn_shape weight = {.ndim = 2, .dims = {params->num_hidden}};
    error = fc_columns(shapes, &weight.dims[1]);
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = 2, .dims = {data->dims[0], params->num_hidden}};
    if (!params->flatten) {
        mxn_shape_copy(&result, data);
        result.dims[result.ndim - 1] = params->num_hidden;
    }
    error = mxn__shape_input(shapes, 1, &weight);
    if (error == 0) {
        error = mxn__shape_output(shapes, 0, &result);
    }
    const mxn_shape *out = shapes->outputs[0];
    for (int32_t i = 0; error == 0 && i < out->ndim - 1; i++) {  // rows that only the result has
        data->dims[i] = data->dims[i] < 0 ? out->dims[i] : data->dims[i];
    }
    return error;
}

#define TEMPLATE "runtime/op/linalg/bias_kernels.h"
#include "runtime/op/kernels/each_real.h"

int mxn__fully_connected_run(mxn_job *job, mxn_multiplier multiply)
{
    const fc_params *params = mxn__values(job);
    const mxn_operand *data = &job->inputs[0], *weight = &job->inputs[1];
    mxn_operand *out = &job->outputs[0];
    int64_t n = params->num_hidden, k = weight->shape->dims[1];
    int64_t m = (int64_t)mxn_shape_size(out->shape) / n;
    if (!params->no_bias && out->dtype == MXN_FLOAT32) {
        add_bias_float(out->data, job->inputs[2].data, m, n);
    } else if (!params->no_bias && out->dtype == MXN_FLOAT64) {
        add_bias_double(out->data, job->inputs[2].data, m, n);
    }
    const mxn_product p = {data->data, weight->data, out->data,       m, n, k,
                           false,      true,         !params->no_bias};
    return multiply(job, out->dtype, &p);
}

int mxn__fully_connected_run_back(mxn_job *job, mxn_multiplier multiply)
{
    const fc_params *params = mxn__values(job);
    const mxn_operand *g = &job->inputs[0], *data = &job->inputs[1], *weight = &job->inputs[2];
    int64_t n = params->num_hidden, k = weight->shape->dims[1];
    int64_t m = (int64_t)mxn_shape_size(g->shape) / n;
    int error = 0;
    if (job->outputs[0].data != NULL) {
        const mxn_product p = {g->data, weight->data, job->outputs[0].data, m, k, n, false,
                               false,   false};
        error = multiply(job, g->dtype, &p);
    }
    if (error == 0 && job->outputs[1].data != NULL) {
        const mxn_product p = {g->data, data->data, job->outputs[1].data, n, k, m, true,
                               false,   false};
        error = multiply(job, g->dtype, &p);
    }
    void *bias = params->no_bias ? NULL : job->outputs[2].data;
    if (error == 0 && bias != NULL && g->dtype == MXN_FLOAT32) {
        sum_bias_float(bias, g->data, m, n);
    } else if (error == 0 && bias != NULL) {
        sum_bias_double(bias, g->data, m, n);
    }
    return error;
}

static double fc_flops(const mxn_job *job)
{
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_shape *out = backward ? job->inputs[0].shape : job->outputs[0].shape;
    const mxn_shape *weight = job->inputs[backward ? 2 : 1].shape;
    return (backward ? 4.0 : 2.0) * (double)mxn_shape_size(out) * (double)weight->dims[1];
}

#define BY_REFERENCE(name, run)                   \
    static int name##_reference(mxn_job *job)     \
    {                                             \
        return run(job, mxn__multiply_reference); \
    }
BY_REFERENCE(batch_forward, mxn__batch_dot_run)
BY_REFERENCE(fc_forward, mxn__fully_connected_run)
BY_REFERENCE(fc_backward, mxn__fully_connected_run_back)

// The gradient of the gradient. h0, h1 and h2 are what comes to it for the gradients of x, w and
// the bias: g gets h0 w' + x h1' + h2; x and w get what the gradient of the layer without a bias
// makes of g, h0 and h1.
static void leave_bias(void *values)
{
    ((fc_params *)values)->no_bias = true;
}

#define FC_AGAIN(takes_, adjust_)                                                           \
    {                                                                                       \
        {.op = "FullyConnected", .takes = "g0 i2", .gives = "-", .adjust = leave_bias},     \
            {.op = "FullyConnected", .takes = (takes_), .gives = "-", .adjust = (adjust_)}, \
            {.op = "elemwise_add", .takes = "s0 s1", .gives = "0"},                         \
            {.op = "_backward_FullyConnected",                                              \
             .takes = "i0 g0 g1",                                                           \
             .gives = "1 2",                                                                \
             .adjust = leave_bias},                                                         \
        {                                                                                   \
            0                                                                               \
        }                                                                                   \
    }

static const mxn_gradient_step *fc_gradient_again(const void *values)
{
    static const mxn_gradient_step with_bias[] = FC_AGAIN("i1 g1 g2", NULL);
    static const mxn_gradient_step without[] = FC_AGAIN("i1 g1", leave_bias);
    return ((const fc_params *)values)->no_bias ? without : with_bias;
}

// ---- the table --------------------------------------------------------------------------------
static const mxn_op_def table[] = {
    {
        .name = "batch_dot",
        .aliases = "_npx_batch_dot",
        .inputs = "lhs rhs",
        .description = "Products of two lists of matrices.",
        .fields = mxn__dot_fields,
        .params_bytes = sizeof(mxn_dot_params),
        .flags = MXN_OP_PARALLEL,
        .shapes = batch_shapes,
        .gradient_of = batch_gradient,
        .forward = batch_forward_reference,
        .flops = batch_flops,
    },
    {
        .name = "FullyConnected",
        .aliases = "_npx_fully_connected _sparse_FullyConnected",
        .description = "The product of the data and the weight transposed, plus the bias.",
        .inputs = "data weight bias",
        .fields = fc_fields,
        .params_bytes = sizeof(fc_params),
        .inputs_of = fc_inputs,
        .cuts = fc_cuts,
        .flags = MXN_OP_PARALLEL,
        .shapes = fc_shapes,
        .forward = fc_forward_reference,
        .flops = fc_flops,
        .gradient = MXN_GRADIENT({.op = "_backward_FullyConnected", .takes = "g0 i0 i1"}),
    },
    {
        .name = "_backward_FullyConnected",
        .inputs_of = fc_backward_inputs,
        .outputs_of = fc_inputs,
        .fields = fc_fields,
        .params_bytes = sizeof(fc_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL,
        .reads = MXN_READS_OTHER,
        .gradient_of = fc_gradient_again,
        .forward = fc_backward_reference,
        .flops = fc_flops,
    },
};

MXN_FAMILY(fully_connected_batch_dot, table);
