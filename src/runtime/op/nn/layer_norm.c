// SPDX-License-Identifier: Apache-2.0
// LayerNorm: each row along an axis less its mean, divided by its deviation, scaled and shifted
// element by element. Outputs beside the result: mean and deviation of the rows.
#include <math.h>
#include <string.h>

#include "runtime/op/registry/infer.h"
#include "runtime/op/loops/loops.h"

typedef struct layer_params {
    int32_t axis;
    double eps;
    bool output_mean_var;
} layer_params;

static const mxn_field fields[] = {
    {MXN_FIELD(layer_params, axis, INT, "-1")},
    {MXN_FIELD(layer_params, eps, WIDE_FLOAT, "9.99999975e-06")},
    {MXN_FIELD(layer_params, output_mean_var, BOOL, "0")},
    {0},
};

enum { DATA, GAMMA, BETA };  // inputs
enum { OUT, MEAN, DEVIATION };  // outputs
enum { B_GRADIENT, B_DATA, B_GAMMA, B_MEAN, B_DEVIATION };  // inputs of the gradient

static uint32_t visible(const void *values)
{
    return ((const layer_params *)values)->output_mean_var ? 3 : 1;
}

static int layer_shapes(const mxn_shapes *shapes)
{
    const layer_params *params = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[DATA];
    int error = mxn__shape_output(shapes, OUT, data);
    if (error != 0 || data->ndim < 0) {
        return error;
    }
    int32_t axis;
    error = mxn__axis(shapes->params, params->axis, data->ndim, &axis);
    if (error != 0) {
        return error;
    }
    const mxn_shape row = {.ndim = 1, .dims = {data->dims[axis]}};
    mxn_shape moments;
    mxn_shape_copy(&moments, data);
    moments.dims[axis] = 1;
    error = mxn__shape_input(shapes, GAMMA, &row);
    error = error != 0 ? error : mxn__shape_input(shapes, BETA, &row);
    error = error != 0 ? error : mxn__shape_output(shapes, MEAN, &moments);
    return error != 0 ? error : mxn__shape_output(shapes, DEVIATION, &moments);
}

static int stretch_of(const mxn_job *job, const mxn_shape *data, mxn_stretch *s)
{
    const layer_params *params = mxn__values(job);
    return mxn__stretch_along(job->params, params->axis, data, s);
}

#define FORWARD(type)                                                                           \
    static void forward_##type(const mxn_job *job, const mxn_stretch *s)                        \
    {                                                                                           \
        const double eps = ((const layer_params *)mxn__values(job))->eps;                       \
        const type *gamma = job->inputs[GAMMA].data, *beta = job->inputs[BETA].data;            \
        type *means = job->outputs[MEAN].data, *deviations = job->outputs[DEVIATION].data;      \
        for (int64_t row = 0; row < s->outer * s->inner; row++) {                               \
            const int64_t first = mxn__stretch_at(s, row), step = s->inner;                     \
            const type *x = (const type *)job->inputs[DATA].data + first;                       \
            type *to =                                                                          \
                job->outputs[OUT].data == NULL ? NULL : (type *)job->outputs[OUT].data + first; \
            double sum = 0, squares = 0;                                                        \
            for (int64_t i = 0; i < s->count; i++) {                                            \
                sum += (double)x[i * step];                                                     \
            }                                                                                   \
            const double mean = sum / (double)s->count;                                         \
            for (int64_t i = 0; i < s->count; i++) {                                            \
                squares += ((double)x[i * step] - mean) * ((double)x[i * step] - mean);         \
            }                                                                                   \
            const double deviation = sqrt(squares / (double)s->count + eps);                    \
            const type middle = (type)mean, factor = (type)(1 / deviation);                     \
            for (int64_t i = 0; to != NULL && i < s->count; i++) {                              \
                to[i * step] = (x[i * step] - middle) * factor * gamma[i] + beta[i];            \
            }                                                                                   \
            if (means != NULL) {                                                                \
                means[row] = (type)mean;                                                        \
            }                                                                                   \
            if (deviations != NULL) {                                                           \
                deviations[row] = (type)deviation;                                              \
            }                                                                                   \
        }                                                                                       \
    }
FORWARD(float)
FORWARD(double)

static int layer_forward(mxn_job *job)
{
    mxn_stretch s;
    int error = stretch_of(job, job->inputs[DATA].shape, &s);
    error = error != 0 ? error : mxn__real_type(job, job->inputs[DATA].dtype);
    if (error == 0) {
        (job->inputs[DATA].dtype == MXN_FLOAT32 ? forward_float : forward_double)(job, &s);
    }
    return error;
}

// ---- gradient -----------------------------------------------------------------------------------
// With y' the normalised row and h = g gamma: dx = (h - mean(h) - y' mean(h y')) / deviation;
// d gamma = sum over rows of g y', d beta = sum over rows of g, made as doubles in `sums`.
#define BACKWARD(type)                                                                        \
    static void backward_row_##type(const mxn_job *job, const mxn_stretch *s, int64_t row,    \
                                    double *sums)                                             \
    {                                                                                         \
        const int64_t first = mxn__stretch_at(s, row), step = s->inner;                       \
        const type *g = (const type *)job->inputs[B_GRADIENT].data + first;                   \
        const type *x = (const type *)job->inputs[B_DATA].data + first;                       \
        const type *gamma = job->inputs[B_GAMMA].data;                                        \
        const double mean = (double)((const type *)job->inputs[B_MEAN].data)[row];            \
        const double factor = 1 / (double)((const type *)job->inputs[B_DEVIATION].data)[row]; \
        double sum = 0, product = 0;                                                          \
        for (int64_t i = 0; i < s->count; i++) {                                              \
            const double gi = (double)g[i * step];                                            \
            const double normal = ((double)x[i * step] - mean) * factor;                      \
            sums[i] += gi * normal;                                                           \
            sums[s->count + i] += gi;                                                         \
            sum += gi * (double)gamma[i];                                                     \
            product += gi * (double)gamma[i] * normal;                                        \
        }                                                                                     \
        sum /= (double)s->count;                                                              \
        product /= (double)s->count;                                                          \
        type *to = job->outputs[DATA].data;                                                   \
        for (int64_t i = 0; to != NULL && i < s->count; i++) {                                \
            const double normal = ((double)x[i * step] - mean) * factor;                      \
            const double h = (double)g[i * step] * (double)gamma[i];                          \
            to[first + i * step] = (type)((h - sum - normal * product) * factor);             \
        }                                                                                     \
    }
BACKWARD(float)
BACKWARD(double)

static uint64_t backward_workspace(const mxn_job *job)
{
    return 2 * mxn_shape_size(job->inputs[B_GAMMA].shape) * sizeof(double);
}

static int layer_backward(mxn_job *job)
{
    int32_t dtype = job->inputs[B_DATA].dtype;
    mxn_stretch s;
    int error = stretch_of(job, job->inputs[B_DATA].shape, &s);
    if (error != 0) {
        return error;
    }
    if (dtype != MXN_FLOAT32 && dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, dtype);
    }
    double *sums = job->workspace;
    memset(sums, 0, 2 * (size_t)s.count * sizeof *sums);
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        dtype == MXN_FLOAT32 ? backward_row_float(job, &s, row, sums)
                             : backward_row_double(job, &s, row, sums);
    }
    for (int i = GAMMA; i <= BETA; i++) {
        if (job->outputs[i].data != NULL) {
            mxn_cast(job->outputs[i].data, dtype, sums + (i - GAMMA) * s.count, MXN_FLOAT64,
                     (size_t)s.count);
        }
    }
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "LayerNorm",
        .aliases = "_npx_layer_norm",
        .inputs = "data gamma beta",
        .output_count = 3,
        .description = "Rows with mean 0 and deviation 1, scaled and shifted.",
        .fields = fields,
        .params_bytes = sizeof(layer_params),
        .visible_of = visible,
        .shapes = layer_shapes,
        .gradient = MXN_GRADIENT({.op = "_backward_LayerNorm", .takes = "g0 i0 i1 o1 o2"}),
        .takes = MXN_TAKES_REALS,
        .forward = layer_forward,
        .flops_each = 8,
    },
    {
        .name = "_backward_LayerNorm",
        .input_count = 5,
        .output_count = 3,
        .fields = fields,
        .params_bytes = sizeof(layer_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .takes = MXN_TAKES_REALS,
        .forward = layer_backward,
        .workspace = backward_workspace,
        .flops_each = 12,
    },
};

MXN_FAMILY(layer_norm, table);
