// SPDX-License-Identifier: Apache-2.0
// Gradients of reductions.
#include "runtime/op/loops/loops.h"
#include "runtime/op/reduce/reduce.h"

enum { CHUNK = 256, FEW_RESULTS = 64 };

// Of sums and means: the gradient of the result, repeated. What is repeated has the input's type;
// `few` serves where it is short.
static int spread_sum(const mxn_job *job, mxn_iterator *it, double scale)
{
    const mxn_operand *g = &job->inputs[0], *to = &job->outputs[0];
    const void *from = g->data;
    size_t count = mxn_shape_size(g->shape);
    double few[2 * FEW_RESULTS], *wide = count <= FEW_RESULTS ? few : job->workspace;
    void *converted = wide + count;
    if (scale != 1) {
        mxn_cast(wide, MXN_FLOAT64, g->data, g->dtype, count);
        for (size_t i = 0; i < count; i++) {
            wide[i] *= scale;
        }
        mxn_cast(converted, to->dtype, wide, MXN_FLOAT64, count);
        from = converted;
    } else if (g->dtype != to->dtype) {
        mxn_cast(converted, to->dtype, g->data, g->dtype, count);
        from = converted;
    }
    mxn__iterator_copy(it, from, to->data, mxn_dtype_size(to->dtype));
    return 0;
}

// Elements equal to the extreme one get the gradient, all of them where several are.
#define TEMPLATE "runtime/op/reduce/spread_extreme_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/reduce/spread_extreme_kernels.h"
#include "runtime/op/kernels/each_whole.h"

typedef void (*spread_function)(const mxn_job *job, mxn_iterator *it);

static const spread_function spreads[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(spread_extreme),
    [MXN_BOOL] = spread_extreme_uint8,
};

static int spread_extreme(const mxn_job *job, mxn_iterator *it)
{
    int32_t dtype = job->outputs[0].dtype;
    if (spreads[dtype] == NULL) {
        return mxn__type_refused(job, dtype);
    }
    spreads[dtype](job, it);
    return 0;
}

// Of a product it is the product of the others, which is not the result over the element where that
// is 0: so of what is not 0 the product is made anew, and what is 0 is counted.
typedef struct product_rows {
    double *g, *products, *zeros;  // as long as the result
} product_rows;

static void multiply_row(const product_rows *rows, const double *x, int64_t at, int64_t step,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        rows->zeros[at + i * step] += x[i] == 0;
        rows->products[at + i * step] *= x[i] == 0 ? 1 : x[i];
    }
}

static void product_gradient_row(const product_rows *rows, double *x, int64_t at, int64_t step,
                                 int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = at + i * step;
        const double all = rows->g[k] * rows->products[k];
        x[i] = rows->zeros[k] == 0 ? all / x[i] : rows->zeros[k] == 1 && x[i] == 0 ? all : 0;
    }
}

// Over all rows of the input as doubles: first what they multiply to, then the gradient.
static void iterate_products(const mxn_job *job, const product_rows *rows, mxn_iterator it,
                             bool gradient)
{
    const mxn_operand *in = &job->inputs[1], *to = &job->outputs[0];
    const char *from = in->data;
    char *target = to->data;
    size_t size = mxn_dtype_size(in->dtype), target_size = mxn_dtype_size(to->dtype);
    double x[CHUNK];
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t done = 0, n; done < it.count; done += n, from += (size_t)n * size) {
            n = it.count - done < CHUNK ? it.count - done : CHUNK;
            int64_t at = it.at[0] + done * it.step[0];
            mxn_cast(x, MXN_FLOAT64, from, in->dtype, (size_t)n);
            if (gradient) {
                product_gradient_row(rows, x, at, it.step[0], n);
                mxn_cast(target, to->dtype, x, MXN_FLOAT64, (size_t)n);
                target += (size_t)n * target_size;
            } else {
                multiply_row(rows, x, at, it.step[0], n);
            }
        }
    }
}

static int spread_product(const mxn_job *job, const mxn_iterator *it)
{
    const mxn_operand *g = &job->inputs[0];
    size_t count = mxn_shape_size(g->shape);
    double few[3 * FEW_RESULTS], *space = count <= FEW_RESULTS ? few : job->workspace;
    const product_rows rows = {space, space + count, space + 2 * count};
    mxn_cast(rows.g, MXN_FLOAT64, g->data, g->dtype, count);
    mxn_fill(rows.products, MXN_FLOAT64, 1, count);
    mxn_fill(rows.zeros, MXN_FLOAT64, 0, count);
    iterate_products(job, &rows, *it, false);
    iterate_products(job, &rows, *it, true);
    return 0;
}

// The rows above; a sum's gradient may be needed as doubles and then in another type.
uint64_t mxn__reduce_backward_workspace(const mxn_job *job)
{
    uint64_t count = mxn_shape_size(job->inputs[0].shape);
    int kind = job->params->op->def->variant & MXN_REDUCE_KIND;
    bool none = kind == MXN_REDUCE_MAX || kind == MXN_REDUCE_MIN ||
                (kind == MXN_REDUCE_SUM && job->inputs[0].dtype == job->outputs[0].dtype);
    return count <= FEW_RESULTS || none
               ? 0
               : (kind == MXN_REDUCE_PROD ? 3 : 2) * count * sizeof(double);
}

int mxn__reduce_backward(mxn_job *job)
{
    const mxn_operand *to = &job->outputs[0];
    int kind = job->params->op->def->variant & MXN_REDUCE_KIND;
    int64_t steps[MXN_DIMS_MAX], rows[MXN_DIMS_MAX], reduced_count;
    int error = mxn__reduce_steps(job->params, to->shape, steps, &reduced_count);
    if (error != 0) {
        return error;
    }
    mxn_iterator it;
    mxn__row_steps(to->shape, rows);
    mxn__iterator_init(
        &it, to->shape->ndim, to->shape->dims,
        (const int64_t *const[]){
            steps, kind == MXN_REDUCE_SUM || kind == MXN_REDUCE_MEAN ? rows : NULL, NULL});
    switch (kind) {
    case MXN_REDUCE_PROD:
        return spread_product(job, &it);
    case MXN_REDUCE_MAX:
    case MXN_REDUCE_MIN:
        return spread_extreme(job, &it);
    default:
        return spread_sum(job, &it, kind == MXN_REDUCE_MEAN ? 1.0 / (double)reduced_count : 1.0);
    }
}
