// SPDX-License-Identifier: Apache-2.0
// What a backward runs beside the graph's own calls: gradients of zeros, and sums of several
// contributions.
#include <stdio.h>

#include "base/fail.h"
#include "runtime/autograd/plan_run.h"

// ---- single operators -------------------------------------------------------------------------
// Runs an operator that the graph itself does not name, on `inputs`. *output null: it is made.
// Shapes are known here, so () is a scalar: NumPy's.
int mxn__plan_run(const char *name, uint32_t count, const char *const *keys,
                  const char *const *values, mxn_array *const *inputs, uint32_t input_count,
                  uint32_t request, uint32_t scope, mxn_array **output)
{
    const mxn_op *op = NULL;
    mxn_params *params = NULL;
    int error = mxn_op_require(name, &op);
    if (error == MXP_OK) {
        error = mxn_params_parse(op, count, keys, values, input_count, true, &params);
    }
    if (error == MXP_OK) {
        const mxn_invocation in = {.params = params,
                                   .inputs = inputs,
                                   .outputs = output,
                                   .requests = &request,
                                   .scope = scope,
                                   .category = MXN_MEMORY_GRADIENT};
        error = mxn_autograd_invoke(&in);
    }
    mxn_params_release(params);
    return error;
}

// *array null: a new one.
int mxn__plan_zeros(const mxn_kept *like, uint32_t scope, mxn_array **array)
{
    char shape[MXN_SHAPE_TEXT], context[32], dtype[16];
    snprintf(dtype, sizeof(dtype), "%d", like->dtype);
    const char *const keys[] = {"shape", "dtype", "ctx"};
    const char *const values[] = {mxn_shape_tuple(&like->shape, shape), dtype,
                                  mxn_context_text(like->context, context)};
    return mxn__plan_run("_zeros_without_dtype", 3, keys, values, NULL, 0, MXN_WRITE, scope, array);
}

// ---- contributions ----------------------------------------------------------------------------
// One operator after the other: *sum null makes a new array, else it is written as `request` says.
static int add_one_by_one(mxn_array *const *items, uint32_t count, uint32_t scope, uint32_t request,
                          mxn_array **sum)
{
    mxn_array *partial = NULL;
    int error = MXP_OK;
    for (uint32_t i = 1; error == MXP_OK && i < count; i++) {
        bool last = i + 1 == count;
        mxn_array *pair[] = {partial == NULL ? items[0] : partial, items[i]};
        mxn_array *next = NULL;
        error = mxn__plan_run("_grad_add", 0, NULL, NULL, pair, 2, last ? request : MXN_WRITE,
                              scope, last ? sum : &next);
        mxn_array_release(partial);
        partial = next;
    }
    return error;
}

// The same at once. MXNet does so below MXNET_EXEC_INPLACE_GRAD_SUM_CAP's default.
int mxn__plan_add_up(const mxn_diff_pending *pending, uint32_t scope, uint32_t request,
                     mxn_array **sum)
{
    enum { AT_ONCE_BELOW = 8 };
    mxn_array *const *items = (mxn_array *const *)pending->items;
    if (pending->count >= AT_ONCE_BELOW) {
        return add_one_by_one(items, pending->count, scope, request, sum);
    }
    char number[16];
    snprintf(number, sizeof(number), "%u", pending->count);
    const char *const key = "num_args", *const value = number;
    return mxn__plan_run("add_n", 1, &key, &value, items, pending->count, request, scope, sum);
}

// Afterwards the gradient is one array, or none at all.
int mxn__plan_settle(const mxn_backward *backward, mxn_diff_pending *pending, uint32_t scope)
{
    if (pending->count < 2) {
        return MXP_OK;
    }
    mxn_array *sum = NULL;
    int error = mxn__plan_add_up(pending, scope, MXN_WRITE, &sum);
    if (error == MXP_OK) {
        mxn_diff_settle(&backward->plan, pending, sum);
    }
    return error;
}
