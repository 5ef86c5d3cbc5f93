// SPDX-License-Identifier: Apache-2.0
// dot, and NumPy's dot and matmul: one product of two matrices, or, where NumPy's take more than
// two dimensions, one after the other.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/linalg/product.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

enum { DOT, NUMPY_DOT, NUMPY_MATMUL };  // variants

static const mxn_word storage_words[] = {
    {MXN_NONE_WORD, -1}, {"csr", 2}, {"default", 0}, {"row_sparse", 1}, {0}};

const mxn_field mxn__dot_fields[] = {
    {MXN_FIELD(mxn_dot_params, transpose_a, BOOL, "0")},
    {MXN_FIELD(mxn_dot_params, transpose_b, BOOL, "0")},
    {MXN_FIELD(mxn_dot_params, forward_stype, ENUM, "None"), .words = storage_words},
    {0},
};

mxn_dot_params mxn__dot_params_of(const mxn_params *params)
{
    return params->op->def->fields == NULL ? (mxn_dot_params){0}
                                           : *(const mxn_dot_params *)(const void *)params->values;
}

// ---- shapes -------------------------------------------------------------------------------------
// The axes that are summed over, and the axes of the operands one after the other.
static int joined_shape(const mxn_shapes *shapes, int32_t a_axis, int32_t b_axis, mxn_shape *result)
{
    const mxn_shape *a = shapes->inputs[0], *b = shapes->inputs[1];
    if (a->dims[a_axis] != b->dims[b_axis]) {
        char other[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "dimension %d does not match dimension %d of %s",
                                  a_axis, b_axis, mxn_shape_tuple(b, other));
    }
    if (a->ndim + b->ndim - 2 > MXN_DIMS_MAX) {
        return mxn__shape_refused(shapes, 0, "the result would have more than %d dimensions",
                                  MXN_DIMS_MAX);
    }
    for (int32_t i = 0; i < a->ndim; i++) {
        if (i != a_axis) {
            result->dims[result->ndim++] = a->dims[i];
        }
    }
    for (int32_t i = 0; i < b->ndim; i++) {
        if (i != b_axis) {
            result->dims[result->ndim++] = b->dims[i];
        }
    }
    return 0;
}

static int dot_shapes(const mxn_shapes *shapes)
{
    const mxn_dot_params params = mxn__dot_params_of(shapes->params);
    const mxn_shape *a = shapes->inputs[0], *b = shapes->inputs[1];
    bool numpy = shapes->params->op->def->variant == NUMPY_DOT;
    if (!mxn_shape_known(a) || !mxn_shape_known(b)) {
        return 0;
    }
    if (a->ndim == 0 || b->ndim == 0) {
        return numpy ? mxn__shape_output(shapes, 0, a->ndim == 0 ? b : a)
                     : mxn__shape_refused(shapes, a->ndim == 0 ? 0 : 1, "is a scalar");
    }
    int32_t a_axis = a->ndim == 1 || params.transpose_a ? 0 : a->ndim - 1;
    int32_t b_axis = 0;
    if (b->ndim > 1 && numpy) {
        b_axis = b->ndim - 2;
    } else if (b->ndim > 1 && params.transpose_b) {
        b_axis = b->ndim - 1;
    }
    mxn_shape result = {.ndim = 0};
    int error = joined_shape(shapes, a_axis, b_axis, &result);
    if (error != 0) {
        return error;
    }
    mxn__shape_settle(shapes->params, &result, numpy);
    return mxn__shape_output(shapes, 0, &result);
}

// The dimensions before a matrix.
static mxn_shape batch_of(const mxn_shape *shape)
{
    mxn_shape batch;
    mxn_shape_copy(&batch, shape);
    batch.ndim = shape->ndim > 2 ? shape->ndim - 2 : 0;
    return batch;
}

// Of two lists of matrices seen as one list; false if they do not fit.
static bool common_batch(const mxn_shape *a, const mxn_shape *b, mxn_shape *batch)
{
    const mxn_shape *longer = a->ndim >= b->ndim ? a : b, *other = longer == a ? b : a;
    *batch = batch_of(longer);
    const mxn_shape rest = batch_of(other);
    for (int32_t i = 0; i < rest.ndim; i++) {
        int64_t *dim = &batch->dims[batch->ndim - 1 - i];
        int64_t second = rest.dims[rest.ndim - 1 - i];
        if (*dim != second && *dim != 1 && second != 1) {
            return false;
        }
        *dim = *dim == 1 ? second : *dim;
    }
    return true;
}

static int matmul_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *a = shapes->inputs[0], *b = shapes->inputs[1];
    mxn_shape result;
    if (!mxn_shape_known(a) || !mxn_shape_known(b)) {
        return 0;
    }
    if (a->ndim == 0 || b->ndim == 0) {
        return mxn__shape_refused(shapes, a->ndim == 0 ? 0 : 1, "is a scalar");
    }
    if (a->dims[a->ndim - 1] != b->dims[b->ndim > 1 ? b->ndim - 2 : 0] ||
        !common_batch(a, b, &result)) {
        char other[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "does not match shape %s of input 1",
                                  mxn_shape_tuple(b, other));
    }
    if (a->ndim > 1) {
        result.dims[result.ndim++] = a->dims[a->ndim - 2];
    }
    if (b->ndim > 1) {
        result.dims[result.ndim++] = b->dims[b->ndim - 1];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// ---- which products -----------------------------------------------------------------------------
// All of one size (m x k by k x n), over `dims`; each result comes after the one before.
typedef struct products {
    int64_t m, n, k;
    bool a_transposed, b_transposed;
    int32_t ndim;
    int64_t dims[MXN_DIMS_MAX], a_steps[MXN_DIMS_MAX], b_steps[MXN_DIMS_MAX];
} products;

// One product: a's last dimension (its first, transposed) against b's first (its last).
static void one_product(products *p, const mxn_shape *a, const mxn_shape *b,
                        const mxn_dot_params *params)
{
    p->a_transposed = params->transpose_a && a->ndim > 1;
    p->b_transposed = params->transpose_b && b->ndim > 1;
    int32_t a_axis = p->a_transposed ? 0 : a->ndim - 1, b_axis = p->b_transposed ? b->ndim - 1 : 0;
    p->k = a->dims[a_axis];
    p->m = mxn__dims_product(a, 0, a_axis) * mxn__dims_product(a, a_axis + 1, a->ndim);
    p->n = mxn__dims_product(b, 0, b_axis) * mxn__dims_product(b, b_axis + 1, b->ndim);
}

// dot of NumPy: each row of a with each matrix of b.
static void rows_and_matrices(products *p, const mxn_shape *a, const mxn_shape *b)
{
    p->m = 1;
    p->k = a->dims[a->ndim - 1];
    p->n = b->dims[b->ndim - 1];
    p->ndim = 2;
    p->dims[0] = mxn__dims_product(a, 0, a->ndim - 1);
    p->dims[1] = mxn__dims_product(b, 0, b->ndim - 2);
    p->a_steps[0] = p->k;
    p->b_steps[1] = p->k * p->n;
}

// matmul of NumPy: lists of matrices, broadcast.
static void broadcast_matrices(products *p, const mxn_shape *a, const mxn_shape *b)
{
    p->m = a->ndim > 1 ? a->dims[a->ndim - 2] : 1;
    p->k = a->dims[a->ndim - 1];
    p->n = b->dims[b->ndim - 1];
    const mxn_shape a_batch = batch_of(a), b_batch = batch_of(b);
    mxn_shape batch;
    common_batch(a, b, &batch);
    p->ndim = batch.ndim;
    mxn__broadcast_steps(&a_batch, &batch, p->a_steps);
    mxn__broadcast_steps(&b_batch, &batch, p->b_steps);
    for (int32_t i = 0; i < batch.ndim; i++) {
        p->dims[i] = batch.dims[i];
        p->a_steps[i] *= p->m * p->k;
        p->b_steps[i] *= p->k * p->n;
    }
}

static products products_of(const mxn_job *job, const mxn_shape *a, const mxn_shape *b)
{
    const mxn_dot_params params = mxn__dot_params_of(job->params);
    int variant = job->params->op->def->variant;
    products p = {.k = 1};
    if (a->ndim == 0 || b->ndim == 0) {
        p.m = (int64_t)mxn_shape_size(a);
        p.n = (int64_t)mxn_shape_size(b);
    } else if (variant == DOT || b->ndim <= 2) {
        one_product(&p, a, b, &params);
    } else if (variant == NUMPY_DOT) {
        rows_and_matrices(&p, a, b);
    } else {
        broadcast_matrices(&p, a, b);
    }
    return p;
}

// ---- running ------------------------------------------------------------------------------------
typedef int (*each_product)(const mxn_job *job, const products *p, const int64_t at[3],
                            mxn_multiplier multiply);

// `at`: where each product's a, b and result begin.
static int for_each(const mxn_job *job, const products *p, each_product run,
                    mxn_multiplier multiply)
{
    mxn_iterator it;
    mxn__iterator_init(&it, p->ndim, p->dims,
                       (const int64_t *const[]){p->a_steps, p->b_steps, NULL});
    int64_t at[3] = {0};
    int error = 0;
    for (bool more = it.total > 0; more && error == 0; more = mxn__iterator_next(&it)) {
        for (int64_t i = 0; i < it.count && error == 0; i++, at[2] += p->m * p->n) {
            at[0] = it.at[0] + i * it.step[0];
            at[1] = it.at[1] + i * it.step[1];
            error = run(job, p, at, multiply);
        }
    }
    return error;
}

// An operand without elements has no address to add to.
static void *element(const mxn_operand *operand, int64_t at)
{
    return at == 0 ? operand->data
                   : (char *)operand->data + (size_t)at * mxn_dtype_size(operand->dtype);
}

static int forward_one(const mxn_job *job, const products *p, const int64_t at[3],
                       mxn_multiplier multiply)
{
    const mxn_product product = {element(&job->inputs[0], at[0]),
                                 element(&job->inputs[1], at[1]),
                                 element(&job->outputs[0], at[2]),
                                 p->m,
                                 p->n,
                                 p->k,
                                 p->a_transposed,
                                 p->b_transposed,
                                 false};
    return multiply(job, job->inputs[0].dtype, &product);
}

// c = a b: da = g b', db = a' g; where a or b lies transposed, so does its gradient.
static int backward_one(const mxn_job *job, const products *p, const int64_t at[3],
                        mxn_multiplier multiply)
{
    const mxn_operand *outputs = job->outputs;
    const void *g = element(&job->inputs[0], at[2]), *a = element(&job->inputs[1], at[0]);
    const void *b = element(&job->inputs[2], at[1]);
    bool ta = p->a_transposed, tb = p->b_transposed, adds = p->ndim > 0;
    int error = 0;
    if (outputs[0].data != NULL) {
        void *to = element(&outputs[0], at[0]);
        const mxn_product product =
            ta ? (mxn_product){b, g, to, p->k, p->m, p->n, tb, true, adds}
               : (mxn_product){g, b, to, p->m, p->k, p->n, false, !tb, adds};
        error = multiply(job, job->inputs[0].dtype, &product);
    }
    if (error == 0 && outputs[1].data != NULL) {
        void *to = element(&outputs[1], at[1]);
        const mxn_product product =
            tb ? (mxn_product){g, a, to, p->n, p->k, p->m, true, ta, adds}
               : (mxn_product){a, g, to, p->k, p->n, p->m, !ta, false, adds};
        error = multiply(job, job->inputs[0].dtype, &product);
    }
    return error;
}

int mxn__dot_run(mxn_job *job, mxn_multiplier multiply)
{
    const products p = products_of(job, job->inputs[0].shape, job->inputs[1].shape);
    return for_each(job, &p, forward_one, multiply);
}

int mxn__dot_run_back(mxn_job *job, mxn_multiplier multiply)
{
    const products p = products_of(job, job->inputs[1].shape, job->inputs[2].shape);
    for (uint32_t i = 0; p.ndim > 0 && i < 2; i++) {
        const mxn_operand *out = &job->outputs[i];
        if (out->data != NULL) {
            memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
        }
    }
    return for_each(job, &p, backward_one, multiply);
}

static int dot_forward(mxn_job *job)
{
    return mxn__dot_run(job, mxn__multiply_reference);
}

static int dot_backward(mxn_job *job)
{
    return mxn__dot_run_back(job, mxn__multiply_reference);
}

static double dot_flops(const mxn_job *job)
{
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_operand *a = &job->inputs[backward ? 1 : 0];
    const products p = products_of(job, a->shape, a[1].shape);
    double count = 1;
    for (int32_t i = 0; i < p.ndim; i++) {
        count *= (double)p.dims[i];
    }
    return (backward ? 4.0 : 2.0) * count * (double)p.m * (double)p.n * (double)p.k;
}

// ---- the table ----------------------------------------------------------------------------------
#define NUMPY(name_, variant_, shapes_, gradient_)                                         \
    {                                                                                      \
        .name = (name_), .inputs = "a b", .variant = (variant_), .flags = MXN_OP_PARALLEL, \
        .description = "The product of two matrices.", .shapes = (shapes_),                \
        .gradient = MXN_GRADIENT({.op = (gradient_), .takes = "g0 i0 i1"}),                \
        .forward = dot_forward, .flops = dot_flops                                         \
    }
// The gradient of the gradient, with h0 and h1 for its own: to g goes h0 b + a h1, and to a and b
// what the gradient of the product makes of g, h0 and h1.
#define AGAIN(name_, product_)                                           \
    MXN_GRADIENT({.op = (product_), .takes = "g0 i2", .gives = "-"},     \
                 {.op = (product_), .takes = "i1 g1", .gives = "-"},     \
                 {.op = "elemwise_add", .takes = "s0 s1", .gives = "0"}, \
                 {.op = (name_), .takes = "i0 g0 g1", .gives = "1 2"})
#define NUMPY_BACKWARD(name_, variant_, again_)                                                  \
    {                                                                                            \
        .name = (name_), .input_count = 3, .output_count = 2, .variant = (variant_),             \
        .flags = MXN_OP_BACKWARD | MXN_OP_PARALLEL, .forward = dot_backward, .flops = dot_flops, \
        .reads = MXN_READS_OTHER, .gradient = AGAIN(name_, again_)                               \
    }

static const mxn_op_def table[] = {
    {
        .name = "dot",
        .aliases = "_sparse_dot",
        .inputs = "lhs rhs",
        .fields = mxn__dot_fields,
        .description = "The product of two matrices.",
        .params_bytes = sizeof(mxn_dot_params),
        .flags = MXN_OP_PARALLEL,
        .shapes = dot_shapes,
        .gradient = MXN_GRADIENT({.op = "_backward_dot", .takes = "g0 i0 i1"}),
        .forward = dot_forward,
        .flops = dot_flops,
    },
    {
        .name = "_backward_dot",
        .input_count = 3,
        .output_count = 2,
        .fields = mxn__dot_fields,
        .params_bytes = sizeof(mxn_dot_params),
        .reads = MXN_READS_OTHER,
        .gradient = AGAIN("_backward_dot", "dot"),
        .flags = MXN_OP_BACKWARD | MXN_OP_PARALLEL,
        .forward = dot_backward,
        .flops = dot_flops,
    },
    NUMPY("_npi_dot", NUMPY_DOT, dot_shapes, "_backward_npi_dot"),
    NUMPY_BACKWARD("_backward_npi_dot", NUMPY_DOT, "_npi_dot"),
    NUMPY("_np_dot", NUMPY_DOT, dot_shapes, "_backward_np_dot"),
    NUMPY_BACKWARD("_backward_np_dot", NUMPY_DOT, "_np_dot"),
    NUMPY("_npi_matmul", NUMPY_MATMUL, matmul_shapes, "_backward_np_matmul"),
    NUMPY_BACKWARD("_backward_np_matmul", NUMPY_MATMUL, "_npi_matmul"),
};

MXN_FAMILY(dot, table);
