// SPDX-License-Identifier: Apache-2.0
// Reductions that are no plain sum or extreme: norms, variances, truths of all or any, sums that
// pass over NaN. Made as doubles whatever the type of the array.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/reduced_axes.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

typedef struct statistic_params {
    int32_t ord, ddof, dtype;
    mxn_tuple axis;
    bool keepdims, exclude;
} statistic_params;

enum { NORM, VARIANCE, DEVIATION, ALL, ANY, NANSUM, KIND_MASK = 0xff, NUMPY = 1 << 8 };

static const mxn_field norm_fields[] = {
    {MXN_FIELD(statistic_params, ord, INT, "2"), .min = 1, .max = 2},
    {MXN_FIELD(statistic_params, axis, MAYBE_TUPLE, "None")},
    {.name = "out_dtype",
     .kind = MXN_FIELD_ENUM,
     .offset = offsetof(statistic_params, dtype),
     .value = "None",
     .words = mxn__words_maybe_numbers},
    {MXN_FIELD(statistic_params, keepdims, BOOL, "0")},
    {0},
};

static const mxn_field variance_fields[] = {
    {MXN_FIELD(statistic_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(statistic_params, dtype, ENUM, "None"), .words = mxn__words_maybe_numbers},
    {MXN_FIELD(statistic_params, keepdims, BOOL, "0")},
    {MXN_FIELD(statistic_params, ddof, INT, "0")},
    {0},
};

static const mxn_field truth_fields[] = {
    {MXN_FIELD(statistic_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(statistic_params, keepdims, BOOL, "0")},
    {0},
};

static const mxn_field sum_fields[] = {
    {MXN_FIELD(statistic_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(statistic_params, keepdims, BOOL, "0")},
    {MXN_FIELD(statistic_params, exclude, BOOL, "0")},
    {0},
};

static int kind_of(const mxn_params *params)
{
    return params->op->def->variant & KIND_MASK;
}

static int mark_axes(const mxn_params *params, int32_t ndim, bool *reduced)
{
    const statistic_params *values = (const void *)params->values;
    bool numpy = (params->op->def->variant & NUMPY) != 0;
    return mxn__reduced_axes(params, &values->axis, values->exclude, numpy, ndim, reduced);
}

static int statistic_shapes(const mxn_shapes *shapes)
{
    const statistic_params *params = (const void *)shapes->params->values;
    if (!mxn_shape_known(shapes->inputs[0])) {
        return 0;
    }
    bool reduced[MXN_DIMS_MAX];
    mxn_shape result;
    int error = mark_axes(shapes->params, shapes->inputs[0]->ndim, reduced);
    if (error != 0) {
        return error;
    }
    mxn__reduced_shape(shapes->inputs[0], reduced, params->keepdims, &result);
    mxn__shape_settle(shapes->params, &result, (shapes->params->op->def->variant & NUMPY) != 0);
    return mxn__shape_output(shapes, 0, &result);
}

// Whole numbers have no whole norm or variance: float32, unless another type is asked for.
static int real_types(const mxn_types *types)
{
    int32_t in = types->inputs[0];
    int32_t dtype = ((const statistic_params *)(const void *)types->params->values)->dtype;
    if (dtype == MXN_DTYPE_NONE && in != MXN_DTYPE_NONE) {
        dtype = mxn_dtype_is_float(in) ? in : MXN_FLOAT32;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], dtype);
}

// ---- forward ------------------------------------------------------------------------------------
enum { CHUNK = 256, PLAIN_SUM, ABSOLUTE_SUM, SQUARE_SUM, SUM_OF_NUMBERS, ALL_TRUE, ANY_TRUE };

static inline double plain_sum(double sum, double x)
{
    return sum + x;
}

static inline double absolute_sum(double sum, double x)
{
    return sum + fabs(x);
}

static inline double square_sum(double sum, double x)
{
    return sum + x * x;
}

static inline double sum_of_numbers(double sum, double x)
{
    return x != x ? sum : sum + x;
}

static inline double all_true(double sum, double x)
{
    return sum != 0 && x != 0;
}

static inline double any_true(double sum, double x)
{
    return sum != 0 || x != 0;
}

// `means` are taken off first; a row of zeros for none.
MXN_LOOP_OF void combine_each(double (*function)(double sum, double x), const double *from,
                              const double *means, double *sums, int64_t step, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = from[i] - means[i * step];
        double *sum = sums + i * step;
        *sum = function(*sum, x);
    }
}

static void combine(int how, const double *from, const double *means, double *sums, int64_t step,
                    int64_t count)
{
    switch (how) {
    case ABSOLUTE_SUM:
        combine_each(absolute_sum, from, means, sums, step, count);
        break;
    case SQUARE_SUM:
        combine_each(square_sum, from, means, sums, step, count);
        break;
    case SUM_OF_NUMBERS:
        combine_each(sum_of_numbers, from, means, sums, step, count);
        break;
    case ALL_TRUE:
        combine_each(all_true, from, means, sums, step, count);
        break;
    case ANY_TRUE:
        combine_each(any_true, from, means, sums, step, count);
        break;
    default:
        combine_each(plain_sum, from, means, sums, step, count);
    }
}

static void gather(int how, const mxn_operand *in, mxn_iterator it, const double *means,
                   double *sums)
{
    const char *from = in->data;
    size_t size = mxn_dtype_size(in->dtype);
    double buffer[CHUNK];
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t done = 0, n; done < it.count; done += n, from += (size_t)n * size) {
            n = it.count - done < CHUNK ? it.count - done : CHUNK;
            int64_t at = it.at[0] + done * it.step[0];
            mxn_cast(buffer, MXN_FLOAT64, from, in->dtype, (size_t)n);
            combine(how, buffer, means + at, sums + at, it.step[0], n);
        }
    }
}

static int sum_kind(const mxn_job *job)
{
    switch (kind_of(job->params)) {
    case NORM:
        return ((const statistic_params *)mxn__values(job))->ord == 1 ? ABSOLUTE_SUM : SQUARE_SUM;
    case ALL:
        return ALL_TRUE;
    case ANY:
        return ANY_TRUE;
    case NANSUM:
        return SUM_OF_NUMBERS;
    default:
        return SQUARE_SUM;
    }
}

// Of the sums what was asked for.
static void finish(const mxn_job *job, double *sums, size_t size, int64_t count)
{
    const statistic_params *params = mxn__values(job);
    int kind = kind_of(job->params);
    bool roots = kind == DEVIATION || (kind == NORM && params->ord == 2);
    int64_t freedom = count > params->ddof ? count - params->ddof : 0;  // as NumPy counts it
    double divisor = kind == VARIANCE || kind == DEVIATION ? (double)freedom : 1;
    for (size_t i = 0; i < size; i++) {
        sums[i] = roots ? sqrt(sums[i] / divisor) : sums[i] / divisor;
    }
}

// Two rows as long as the result: means, sums.
static uint64_t statistic_workspace(const mxn_job *job)
{
    return 2 * mxn_shape_size(job->outputs[0].shape) * sizeof(double);
}

static int statistic_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int kind = kind_of(job->params);
    bool reduced[MXN_DIMS_MAX];
    int64_t steps[MXN_DIMS_MAX], count;
    int error = mark_axes(job->params, in->shape->ndim, reduced);
    if (error != 0) {
        return error;
    }
    mxn__reduced_steps(in->shape, reduced, steps, &count);
    mxn_iterator it;
    mxn__iterator_init(&it, in->shape->ndim, in->shape->dims,
                       (const int64_t *const[]){steps, NULL, NULL});
    size_t size = mxn_shape_size(out->shape);
    double *means = job->workspace, *sums = means + size;
    memset(means, 0, 2 * size * sizeof *means);
    if (kind == VARIANCE || kind == DEVIATION) {
        gather(PLAIN_SUM, in, it, sums, means);
        for (size_t i = 0; i < size; i++) {
            means[i] /= (double)count;
        }
    }
    mxn_fill(sums, MXN_FLOAT64, kind == ALL ? 1 : 0, size);
    gather(sum_kind(job), in, it, means, sums);
    finish(job, sums, size, count);
    mxn_cast(out->data, out->dtype, sums, MXN_FLOAT64, size);
    return 0;
}

// ---- gradient -----------------------------------------------------------------------------------
// Inputs: gradient, input, and for norms the output. Of |x| it is the sign, of the root of squares
// x over the norm, 0 where that is 0.
#define TEMPLATE "runtime/op/reduce/norm_kernels.h"
#include "runtime/op/kernels/each_real.h"

static int statistic_backward(mxn_job *job)
{
    const mxn_operand *x = &job->inputs[1];
    bool reduced[MXN_DIMS_MAX];
    int64_t steps[MXN_DIMS_MAX], count;
    int error = mark_axes(job->params, x->shape->ndim, reduced);
    if (error != 0) {
        return error;
    }
    mxn__reduced_steps(x->shape, reduced, steps, &count);
    mxn_iterator it;
    mxn__iterator_init(&it, x->shape->ndim, x->shape->dims,
                       (const int64_t *const[]){steps, NULL, NULL});
    bool one = ((const statistic_params *)mxn__values(job))->ord == 1;
    if (x->dtype == MXN_FLOAT32 && job->inputs[0].dtype == MXN_FLOAT32) {
        backward_float(job, one, &it);
    } else if (x->dtype == MXN_FLOAT64 && job->inputs[0].dtype == MXN_FLOAT64) {
        backward_double(job, one, &it);
    } else {
        return mxn__type_refused(job, x->dtype);
    }
    return 0;
}

static double statistic_flops(const mxn_job *job)
{
    return 2 * (double)mxn_shape_size(job->inputs[0].shape);
}

#define STATISTIC(name_, aliases_, input_, fields_, variant_, types_, gradient_, text)           \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .description = (text),       \
        .fields = (fields_), .params_bytes = sizeof(statistic_params), .variant = (variant_),    \
        .shapes = statistic_shapes, .types = (types_), .gradient = (gradient_),                  \
        .forward = statistic_forward, .workspace = statistic_workspace, .flops = statistic_flops \
    }
#define BACK(name_, inputs_, fields_, variant_)                             \
    {                                                                       \
        .name = (name_), .input_count = (inputs_), .fields = (fields_),     \
        .params_bytes = sizeof(statistic_params), .variant = (variant_),    \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, .takes = MXN_TAKES_REALS, \
        .forward = statistic_backward                                       \
    }

static const mxn_op_def table[] = {
    STATISTIC("norm", "_npx_norm _sparse_norm", "data", norm_fields, NORM, real_types,
              MXN_USES_ALL("_backward_norm"), "The sum of sizes, or the root of that of squares."),
    STATISTIC("nansum", NULL, "data", sum_fields, NANSUM, NULL, MXN_USES_IN("_backward_nansum"),
              "The sum of what is a number."),
    STATISTIC("_npi_var", NULL, "a", variance_fields, VARIANCE | NUMPY, real_types, NULL,
              "The mean of the squares of distances from the mean."),
    STATISTIC("_npi_std", NULL, "a", variance_fields, DEVIATION | NUMPY, real_types, NULL,
              "The root of the variance."),
    STATISTIC("_npi_all", "_np_all", "data", truth_fields, ALL | NUMPY, mxn__types_bool,
              MXN_GRADIENT_ZERO, "Whether all are true."),
    STATISTIC("_npi_any", "_np_any _np_sometrue", "data", truth_fields, ANY | NUMPY,
              mxn__types_bool, MXN_GRADIENT_ZERO, "Whether one is true."),
    BACK("_backward_norm", 3, norm_fields, NORM),
    BACK("_backward_nansum", 2, sum_fields, NANSUM),
};

MXN_FAMILY(norm_variance_any, table);
