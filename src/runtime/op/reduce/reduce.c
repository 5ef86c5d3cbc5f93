// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, and their gradients. Values become those of the result's type first. Whole
// numbers and truths are combined in that type, floats as doubles, means as doubles too.
#include <math.h>

#include "base/fail.h"
#include "runtime/op/kernels/reduce.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/reduced_axes.h"
#include "runtime/op/reduce/reduce.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

static const mxn_field reduce_fields[] = {
    {MXN_FIELD(mxn_reduce_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(mxn_reduce_params, keepdims, BOOL, "0")},
    {MXN_FIELD(mxn_reduce_params, exclude, BOOL, "0")},
    {0},
};

static const mxn_field numpy_sum_fields[] = {
    {MXN_FIELD(mxn_reduce_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(mxn_reduce_params, dtype, ENUM, "None"), .words = mxn__words_maybe_reduced},
    {MXN_FIELD(mxn_reduce_params, keepdims, BOOL, "0")},
    {MXN_FIELD(mxn_reduce_params, initial, MAYBE_NUMBER, "None")},
    {0},
};

// The original names the input of this one last.
static const mxn_field numpy_prod_fields[] = {
    {MXN_FIELD(mxn_reduce_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(mxn_reduce_params, dtype, ENUM, "None"), .words = mxn__words_maybe_reduced},
    {MXN_FIELD(mxn_reduce_params, keepdims, BOOL, "0")},
    {MXN_FIELD(mxn_reduce_params, initial, MAYBE_NUMBER, "None")},
    {.name = "a", .kind = MXN_FIELD_INPUT},
    {0},
};

static const mxn_field numpy_max_fields[] = {
    {MXN_FIELD(mxn_reduce_params, axis, MAYBE_TUPLE, "None")},
    {MXN_FIELD(mxn_reduce_params, keepdims, BOOL, "0")},
    {MXN_FIELD(mxn_reduce_params, initial, MAYBE_NUMBER, "None")},
    {0},
};

enum {
    SUM = MXN_REDUCE_SUM,
    MEAN = MXN_REDUCE_MEAN,
    PROD = MXN_REDUCE_PROD,
    MAX = MXN_REDUCE_MAX,
    MIN = MXN_REDUCE_MIN,
    KIND_MASK = MXN_REDUCE_KIND,
    NUMPY = MXN_REDUCE_NUMPY
};

// ---- inference --------------------------------------------------------------------------------
static int mark_axes(const mxn_params *params, int32_t ndim, bool reduced[MXN_DIMS_MAX])
{
    const mxn_reduce_params *values = (const void *)params->values;
    bool numpy = (params->op->def->variant & NUMPY) != 0;
    return mxn__reduced_axes(params, &values->axis, values->exclude, numpy, ndim, reduced);
}

int mxn__reduce_steps(const mxn_params *params, const mxn_shape *big, int64_t *steps,
                      int64_t *reduced_count)
{
    bool reduced[MXN_DIMS_MAX];
    int error = mark_axes(params, big->ndim, reduced);
    if (error == 0) {
        mxn__reduced_steps(big, reduced, steps, reduced_count);
    }
    return error;
}

static int reduce_shapes(const mxn_shapes *shapes)
{
    const mxn_reduce_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    bool reduced[MXN_DIMS_MAX];
    mxn_shape result;
    int error = mark_axes(shapes->params, in->ndim, reduced);
    if (error != 0) {
        return error;
    }
    mxn__reduced_shape(in, reduced, params->keepdims, &result);
    mxn__shape_settle(shapes->params, &result, (shapes->params->op->def->variant & NUMPY) != 0);
    int kind = shapes->params->op->def->variant & KIND_MASK;
    if ((kind == MAX || kind == MIN) && mxn_shape_size(in) == 0 && mxn_shape_size(&result) > 0 &&
        !params->initial.has) {
        return mxn__shape_refused(shapes, 0, "has no element to take the %s of",
                                  kind == MAX ? "maximum" : "minimum");
    }
    return mxn__shape_output(shapes, 0, &result);
}

// The sum of truth values is an int64, the mean of whole numbers a float32. Sums of whole numbers
// keep their type, as in MXNet, where NumPy has int64.
static int numpy_sum_types(const mxn_types *types)
{
    const mxn_reduce_params *params = (const void *)types->params->values;
    int32_t in = types->inputs[0];
    if (params->dtype != MXN_DTYPE_NONE) {
        return mxn__type_merge(types->params, "output", 0, &types->outputs[0], params->dtype);
    }
    bool mean = (types->params->op->def->variant & KIND_MASK) == MEAN;
    if (in == MXN_DTYPE_NONE || mxn_dtype_is_float(in) || (!mean && in != MXN_BOOL)) {
        return mxn__types_alike(types);
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           mean ? MXN_FLOAT32 : MXN_INT64);
}

// ---- forward ------------------------------------------------------------------------------------
static double start_of(const mxn_job *job, int kind)
{
    const mxn_reduce_params *params = mxn__values(job);
    if (params->initial.has) {
        return params->initial.number.real;
    }
    return kind == PROD ? 1 : kind == MAX ? -INFINITY : kind == MIN ? INFINITY : 0;
}

static inline double plain_sum(double sum, double x)
{
    return sum + x;
}

static inline double product(double sum, double x)
{
    return sum * x;
}

static inline double larger(double sum, double x)
{
    return x > sum || x != x ? x : sum;
}

static inline double smaller(double sum, double x)
{
    return x < sum || x != x ? x : sum;
}

MXN_LOOP_OF void combine_each(double (*function)(double sum, double x), const double *from,
                              double *sums, int64_t step, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double *sum = sums + i * step;
        *sum = function(*sum, from[i]);
    }
}

static void combine(int kind, const double *from, double *sums, int64_t step, int64_t count)
{
    switch (kind) {
    case PROD:
        combine_each(product, from, sums, step, count);
        break;
    case MAX:
        combine_each(larger, from, sums, step, count);
        break;
    case MIN:
        combine_each(smaller, from, sums, step, count);
        break;
    default:
        combine_each(plain_sum, from, sums, step, count);
    }
}

enum { CHUNK = 256, FEW_RESULTS = 64 };

// `dtype`: of the result; what is wider than it is cut to it before it is combined.
static void reduce_row(int kind, const mxn_operand *in, int32_t dtype, uint64_t at, double *sums,
                       int64_t step, int64_t count)
{
    const char *from = (const char *)in->data + at * mxn_dtype_size(in->dtype);
    bool cut = mxn_dtype_is_float(in->dtype) &&
               (!mxn_dtype_is_float(dtype) || (in->dtype == MXN_FLOAT64 && dtype == MXN_FLOAT32));
    bool adds = (kind == SUM || kind == MEAN) && step == 0 && !cut;
    if (adds && (in->dtype == MXN_FLOAT32 || in->dtype == MXN_FLOAT64)) {
        *sums += MXN_WIDEST(mxn__reduce)->sum_row[in->dtype == MXN_FLOAT64](from, count);
        return;
    }
    double buffer[CHUNK], whole[CHUNK];
    size_t size = mxn_dtype_size(in->dtype);
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t n = count - done < CHUNK ? count - done : CHUNK;
        mxn_cast(cut ? whole : buffer, cut ? dtype : MXN_FLOAT64, from + (size_t)done * size,
                 in->dtype, (size_t)n);
        if (cut) {
            mxn_cast(buffer, MXN_FLOAT64, whole, dtype, (size_t)n);
        }
        combine(kind, buffer, sums + done * step, step, n);
    }
}

// Combines what `in` holds from element `at` on with `to`, as numbers of type `dtype`.
static void reduce_whole_row(int kind, const mxn_operand *in, uint64_t at, int32_t dtype, char *to,
                             int64_t step, int64_t count)
{
    size_t size = mxn_dtype_size(in->dtype), result_size = mxn_dtype_size(dtype);
    const char *from = (const char *)in->data + at * size;
    if (in->dtype == dtype) {
        mxn__reduce_row(kind, dtype, from, to, step, count);
        return;
    }
    uint64_t buffer[CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t n = count - done < CHUNK ? count - done : CHUNK;
        mxn_cast(buffer, dtype, from + (size_t)done * size, in->dtype, (size_t)n);
        mxn__reduce_row(kind, dtype, buffer, to + (size_t)(done * step) * result_size, step, n);
    }
}

static void reduce_whole(const mxn_job *job, int kind, mxn_iterator *it)
{
    const mxn_reduce_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    if (params->initial.has) {
        mxn_number_fill(out->data, out->dtype, &params->initial.number, count);
    } else {
        mxn__reduce_begin(kind, out->dtype, out->data, count);
    }
    uint64_t at = 0;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        char *to = (char *)out->data + (size_t)it->at[0] * mxn_dtype_size(out->dtype);
        reduce_whole_row(kind, in, at, out->dtype, to, it->step[0], it->count);
        at += (uint64_t)it->count;
    }
}

static void reduce_real(const mxn_job *job, int kind, mxn_iterator *it, int64_t reduced_count)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    size_t size = mxn_shape_size(out->shape);
    double few[FEW_RESULTS], *sums = size <= FEW_RESULTS ? few : job->workspace;
    mxn_fill(sums, MXN_FLOAT64, start_of(job, kind), size);
    uint64_t at = 0;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        reduce_row(kind, in, out->dtype, at, sums + it->at[0], it->step[0], it->count);
        at += (uint64_t)it->count;
    }
    for (size_t i = 0; kind == MEAN && i < size; i++) {
        sums[i] /= (double)reduced_count;
    }
    mxn_cast(out->data, out->dtype, sums, MXN_FLOAT64, size);
}

// Whether the result is made in its own type.
static bool in_whole(int32_t dtype, int kind)
{
    return kind != MEAN && !mxn_dtype_is_float(dtype);
}

static int reduce_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int kind = job->params->op->def->variant & KIND_MASK;
    int64_t steps[MXN_DIMS_MAX], reduced_count;
    int error = mxn__reduce_steps(job->params, in->shape, steps, &reduced_count);
    if (error != 0) {
        return error;
    }
    mxn_iterator it;
    mxn__iterator_init(&it, in->shape->ndim, in->shape->dims,
                       (const int64_t *const[]){steps, NULL, NULL});
    if (in_whole(out->dtype, kind)) {
        reduce_whole(job, kind, &it);
    } else {
        reduce_real(job, kind, &it, reduced_count);
    }
    return 0;
}

// As in MXNet, a small array needs no workspace.
static uint64_t reduce_workspace(const mxn_job *job)
{
    uint64_t size = mxn_shape_size(job->outputs[0].shape);
    bool whole = in_whole(job->outputs[0].dtype, job->params->op->def->variant & KIND_MASK);
    return size <= FEW_RESULTS || whole ? 0 : size * sizeof(double);
}

static double reduce_flops(const mxn_job *job)
{
    return (double)mxn_shape_size(job->inputs[0].shape);
}

// ---- the table --------------------------------------------------------------------------------
#define ENTRY(name_, aliases_, input_, fields_, kind_, types_, gradient_)                       \
    {                                                                                           \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .fields = (fields_),        \
        .params_bytes = sizeof(mxn_reduce_params), .variant = (kind_), .shapes = reduce_shapes, \
        .types = (types_), .gradient = (gradient_), .forward = reduce_forward,                  \
        .workspace = reduce_workspace, .flops = reduce_flops                                    \
    }
#define OLD(name, aliases, kind, gradient) \
    ENTRY(name, aliases, "data", reduce_fields, kind, NULL, gradient)
#define BACKWARD(name_, fields_, kind_, inputs_, again_)                             \
    {                                                                                \
        .name = (name_), .input_count = (inputs_), .fields = (fields_),              \
        .params_bytes = sizeof(mxn_reduce_params), .variant = (kind_),               \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, .gradient = (again_),              \
        .forward = mxn__reduce_backward, .workspace = mxn__reduce_backward_workspace \
    }

static const mxn_op_def table[] = {
    OLD("sum", "_sparse_sum sum_axis", SUM, MXN_USES_NONE("_backward_sum")),
    OLD("mean", "_sparse_mean", MEAN, MXN_USES_NONE("_backward_mean")),
    OLD("prod", NULL, PROD, MXN_USES_ALL("_backward_prod")),
    OLD("max", "max_axis", MAX, MXN_USES_ALL("_backward_max")),
    OLD("min", "min_axis", MIN, MXN_USES_ALL("_backward_min")),
    ENTRY("_npi_sum", NULL, "a", numpy_sum_fields, SUM | NUMPY, numpy_sum_types,
          MXN_USES_NONE("_backward_npi_sum")),
    ENTRY("_npi_mean", NULL, "a", numpy_sum_fields, MEAN | NUMPY, numpy_sum_types,
          MXN_USES_NONE("_backward_np_mean")),
    ENTRY("_npi_prod", "_np_prod _np_product", "a", numpy_prod_fields, PROD | NUMPY,
          numpy_sum_types, MXN_USES_ALL("_backward_npi_prod")),
    ENTRY("_npi_max", "_npi_amax", "a", numpy_max_fields, MAX | NUMPY, NULL,
          MXN_USES_ALL("_backward_npi_max")),
    ENTRY("_npi_min", "_npi_amin", "a", numpy_max_fields, MIN | NUMPY, NULL,
          MXN_USES_ALL("_backward_npi_min")),
    // Names of the 1.x line.
    ENTRY("_np_sum", NULL, "a", numpy_sum_fields, SUM | NUMPY, numpy_sum_types,
          MXN_USES_NONE("_backward_np_sum")),
    ENTRY("_np_max", "_np_amax", "a", numpy_max_fields, MAX | NUMPY, NULL,
          MXN_USES_ALL("_backward_np_max")),
    ENTRY("_np_min", "_np_amin", "a", numpy_max_fields, MIN | NUMPY, NULL,
          MXN_USES_ALL("_backward_np_min")),
    BACKWARD("_backward_np_sum", numpy_sum_fields, SUM | NUMPY, 1, MXN_USES_NONE("_np_sum")),
    BACKWARD("_backward_np_max", numpy_max_fields, MAX | NUMPY, 3, NULL),
    BACKWARD("_backward_np_min", numpy_max_fields, MIN | NUMPY, 3, NULL),
    BACKWARD("_backward_sum", reduce_fields, SUM, 1, MXN_USES_NONE("sum")),
    BACKWARD("_backward_mean", reduce_fields, MEAN, 1, MXN_USES_NONE("mean")),
    BACKWARD("_backward_prod", reduce_fields, PROD, 3, NULL),
    BACKWARD("_backward_max", reduce_fields, MAX, 3, NULL),
    BACKWARD("_backward_min", reduce_fields, MIN, 3, NULL),
    BACKWARD("_backward_npi_sum", numpy_sum_fields, SUM | NUMPY, 1, MXN_USES_NONE("_npi_sum")),
    BACKWARD("_backward_np_mean", numpy_sum_fields, MEAN | NUMPY, 1, MXN_USES_NONE("_npi_mean")),
    BACKWARD("_backward_npi_prod", numpy_prod_fields, PROD | NUMPY, 3, NULL),
    BACKWARD("_backward_npi_max", numpy_max_fields, MAX | NUMPY, 3, NULL),
    BACKWARD("_backward_npi_min", numpy_max_fields, MIN | NUMPY, 3, NULL),
};

MXN_FAMILY(reduce, table);
