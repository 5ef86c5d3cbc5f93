// SPDX-License-Identifier: Apache-2.0
// BatchNorm: each channel less its mean, divided by its deviation, scaled and shifted. Outputs
// beside the result: the mean and the inverse deviation that were used, which the gradient takes.
// The moving statistics follow in the backward operation, as in MXNet, so that they move once a
// training step however often the forward ran.
#include <math.h>
#include <string.h>

#include "runtime/op/registry/infer.h"
#include "runtime/op/loops/loops.h"

typedef struct batch_params {
    double eps;
    double momentum;
    bool fix_gamma, use_global_stats, output_mean_var, cudnn_off;
    int32_t axis;
    mxn_maybe_double min_calib_range, max_calib_range;
} batch_params;

static const mxn_field fields[] = {
    {MXN_FIELD(batch_params, eps, DOUBLE, "0.0010000000474974513"), .min = 0, .max = 1e30},
    {MXN_FIELD(batch_params, momentum, WIDE_FLOAT, "0.899999976")},
    {MXN_FIELD(batch_params, fix_gamma, BOOL, "1")},
    {MXN_FIELD(batch_params, use_global_stats, BOOL, "0")},
    {MXN_FIELD(batch_params, output_mean_var, BOOL, "0")},
    {MXN_FIELD(batch_params, axis, INT, "1")},
    {MXN_FIELD(batch_params, cudnn_off, BOOL, "0")},
    {MXN_FIELD(batch_params, min_calib_range, MAYBE_FLOAT, "None")},
    {MXN_FIELD(batch_params, max_calib_range, MAYBE_FLOAT, "None")},
    {0},
};

enum { DATA, GAMMA, BETA, MOVING_MEAN, MOVING_VAR };  // inputs; outputs: OUT, MEAN, DEVIATION
enum { OUT, MEAN, INVERSE };
// Inputs of the gradient.
enum { B_GRADIENT, B_DATA, B_GAMMA, B_MEAN, B_INVERSE, B_MOVING_MEAN, B_MOVING_VAR };

static uint32_t visible(const void *values)
{
    return ((const batch_params *)values)->output_mean_var ? 3 : 1;
}

static int batch_shapes(const mxn_shapes *shapes)
{
    const batch_params *params = (const void *)shapes->params->values;
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
    const mxn_shape channels = {.ndim = 1, .dims = {data->dims[axis]}};
    for (uint32_t i = GAMMA; error == 0 && i <= MOVING_VAR; i++) {
        error = mxn__shape_input(shapes, i, &channels);
    }
    error = error != 0 ? error : mxn__shape_output(shapes, MEAN, &channels);
    return error != 0 ? error : mxn__shape_output(shapes, INVERSE, &channels);
}

static bool uses_batch(const mxn_job *job)
{
    return job->training && !((const batch_params *)mxn__values(job))->use_global_stats;
}

static int stretch_of(const mxn_job *job, const mxn_shape *data, mxn_stretch *s)
{
    const batch_params *params = mxn__values(job);
    return mxn__stretch_along(job->params, params->axis, data, s);
}

// What one channel needs: sums over all its elements, which lie in `outer` rows of `inner`.
#define CHANNEL(type)                                                                            \
    static void moments_##type(const type *x, int64_t first, const mxn_stretch *s, double *mean, \
                               double *var)                                                      \
    {                                                                                            \
        const double count = (double)(s->outer * s->inner);                                      \
        double sum = 0, squares = 0;                                                             \
        for (int64_t row = 0; row < s->outer; row++) {                                           \
            const int64_t at = first + row * s->count * s->inner;                                \
            for (int64_t i = 0; i < s->inner; i++) {                                             \
                sum += (double)x[at + i];                                                        \
            }                                                                                    \
        }                                                                                        \
        *mean = count > 0 ? sum / count : 0;                                                     \
        for (int64_t row = 0; row < s->outer; row++) {                                           \
            const int64_t at = first + row * s->count * s->inner;                                \
            for (int64_t i = 0; i < s->inner; i++) {                                             \
                const double distance = (double)x[at + i] - *mean;                               \
                squares += distance * distance;                                                  \
            }                                                                                    \
        }                                                                                        \
        *var = count > 0 ? squares / count : 0;                                                  \
    }                                                                                            \
    static void scale_##type(const type *x, type *to, int64_t first, const mxn_stretch *s,       \
                             double factor, double shift)                                        \
    {                                                                                            \
        const type a = (type)factor, b = (type)shift;                                            \
        for (int64_t row = 0; row < s->outer; row++) {                                           \
            const int64_t at = first + row * s->count * s->inner;                                \
            for (int64_t i = 0; i < s->inner; i++) {                                             \
                to[at + i] = x[at + i] * a + b;                                                  \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
    static void forward_##type(const mxn_job *job, const mxn_stretch *s)                         \
    {                                                                                            \
        const batch_params *p = mxn__values(job);                                                \
        const type *x = job->inputs[DATA].data, *gamma = job->inputs[GAMMA].data;                \
        const type *beta = job->inputs[BETA].data;                                               \
        type *means = job->outputs[MEAN].data, *inverses = job->outputs[INVERSE].data;           \
        type *to = job->outputs[OUT].data;                                                       \
        for (int64_t c = 0; c < s->count; c++) {                                                 \
            double mean = (double)((const type *)job->inputs[MOVING_MEAN].data)[c];              \
            double var = (double)((const type *)job->inputs[MOVING_VAR].data)[c];                \
            if (uses_batch(job)) {                                                               \
                moments_##type(x, c * s->inner, s, &mean, &var);                                 \
            }                                                                                    \
            const double inverse = 1 / sqrt(var + p->eps);                                       \
            const double factor = inverse * (p->fix_gamma ? 1.0 : (double)gamma[c]);             \
            if (means != NULL) {                                                                 \
                means[c] = (type)mean;                                                           \
            }                                                                                    \
            if (inverses != NULL) {                                                              \
                inverses[c] = (type)inverse;                                                     \
            }                                                                                    \
            if (to != NULL) {                                                                    \
                scale_##type(x, to, c * s->inner, s, factor, (double)beta[c] - mean * factor);   \
            }                                                                                    \
        }                                                                                        \
    }
CHANNEL(float)
CHANNEL(double)

static int batch_forward(mxn_job *job)
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
// With n the elements of a channel, y' the normalised input and s the scale:
//   d beta = sum(g), d gamma = sum(g y'), dx = s / deviation (g - sum(g) / n - y' sum(g y') / n),
// of which the last two terms are those of the batch's own statistics.
#define BACKWARD(type)                                                                         \
    static void gradient_sums_##type(const type *g, const type *x, int64_t first,              \
                                     const mxn_stretch *s, double mean, double *sum,           \
                                     double *product)                                          \
    {                                                                                          \
        *sum = *product = 0;                                                                   \
        for (int64_t row = 0; row < s->outer; row++) {                                         \
            const int64_t at = first + row * s->count * s->inner;                              \
            for (int64_t i = 0; i < s->inner; i++) {                                           \
                *sum += (double)g[at + i];                                                     \
                *product += (double)g[at + i] * ((double)x[at + i] - mean);                    \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
    static void spread_##type(const type *g, const type *x, type *to, int64_t first,           \
                              const mxn_stretch *s, double of_g, double of_x, double constant) \
    {                                                                                          \
        const type a = (type)of_g, b = (type)of_x, c = (type)constant;                         \
        for (int64_t row = 0; row < s->outer; row++) {                                         \
            const int64_t at = first + row * s->count * s->inner;                              \
            for (int64_t i = 0; i < s->inner; i++) {                                           \
                to[at + i] = g[at + i] * a + x[at + i] * b + c;                                \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
    static void move_##type(const mxn_job *job, int64_t c, double mean, double inverse)        \
    {                                                                                          \
        const batch_params *p = mxn__values(job);                                              \
        const double keep = p->momentum;                                                       \
        type *moving_mean = (type *)job->inputs[B_MOVING_MEAN].data + c;                       \
        type *moving_var = (type *)job->inputs[B_MOVING_VAR].data + c;                         \
        const double var = 1 / (inverse * inverse) - p->eps;                                   \
        *moving_mean = (type)(keep * (double)*moving_mean + (1 - keep) * mean);                \
        *moving_var = (type)(keep * (double)*moving_var + (1 - keep) * var);                   \
    }                                                                                          \
    static void backward_##type(const mxn_job *job, const mxn_stretch *s)                      \
    {                                                                                          \
        const batch_params *p = mxn__values(job);                                              \
        const type *g = job->inputs[B_GRADIENT].data, *x = job->inputs[B_DATA].data;           \
        const type *gamma = job->inputs[B_GAMMA].data;                                         \
        type *to = job->outputs[DATA].data;                                                    \
        const double count = (double)(s->outer * s->inner);                                    \
        for (int64_t c = 0; c < s->count; c++) {                                               \
            const double mean = (double)((const type *)job->inputs[B_MEAN].data)[c];           \
            const double inverse = (double)((const type *)job->inputs[B_INVERSE].data)[c];     \
            double sum, product;                                                               \
            const int64_t first = c * s->inner;                                                \
            gradient_sums_##type(g, x, first, s, mean, &sum, &product);                        \
            const double scale = inverse * (p->fix_gamma ? 1.0 : (double)gamma[c]);            \
            const double of_x =                                                                \
                uses_batch(job) ? -scale * inverse * inverse * product / count : 0;            \
            const double constant = uses_batch(job) ? -of_x * mean - scale * sum / count : 0;  \
            if (to != NULL) {                                                                  \
                spread_##type(g, x, to, first, s, scale, of_x, constant);                      \
            }                                                                                  \
            if (job->outputs[GAMMA].data != NULL) {                                            \
                type *d = job->outputs[GAMMA].data;                                            \
                d[c] = (type)(p->fix_gamma ? 0 : product * inverse);                           \
            }                                                                                  \
            if (job->outputs[BETA].data != NULL) {                                             \
                ((type *)job->outputs[BETA].data)[c] = (type)sum;                              \
            }                                                                                  \
            if (uses_batch(job)) {                                                             \
                move_##type(job, c, mean, inverse);                                            \
            }                                                                                  \
        }                                                                                      \
    }
BACKWARD(float)
BACKWARD(double)

static int batch_backward(mxn_job *job)
{
    mxn_stretch s;
    int error = stretch_of(job, job->inputs[B_DATA].shape, &s);
    error = error != 0 ? error : mxn__real_type(job, job->inputs[B_DATA].dtype);
    if (error == 0) {
        (job->inputs[B_DATA].dtype == MXN_FLOAT32 ? backward_float : backward_double)(job, &s);
    }
    return error;
}

static const mxn_op_def table[] = {
    {
        .name = "BatchNorm",
        .aliases = "_npx_batch_norm",
        .inputs = "data gamma beta moving_mean moving_var",
        .output_count = 3,
        .description = "Channels with mean 0 and deviation 1, scaled and shifted.",
        .fields = fields,
        .params_bytes = sizeof(batch_params),
        .mutates = 1 << MOVING_MEAN | 1 << MOVING_VAR,
        .visible_of = visible,
        .shapes = batch_shapes,
        .gradient = MXN_GRADIENT({.op = "_backward_BatchNorm", .takes = "g0 i0 i1 o1 o2 i3 i4"}),
        .takes = MXN_TAKES_REALS,
        .forward = batch_forward,
        .flops_each = 8,
    },
    {
        .name = "_backward_BatchNorm",
        .input_count = 7,
        .output_count = 3,
        .fields = fields,
        .params_bytes = sizeof(batch_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .mutates = 1 << B_MOVING_MEAN | 1 << B_MOVING_VAR,
        .takes = MXN_TAKES_REALS,
        .forward = batch_backward,
        .flops_each = 12,
    },
};

MXN_FAMILY(batch_norm, table);
