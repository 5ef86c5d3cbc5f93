// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that give further handles to an array's memory.
#include <mxnet/c_api.h>
#include <stdio.h>

#include "runtime/autograd/autograd.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/numpy_mode.h"
#include "runtime/graph/deferred.h"
#include "runtime/imperative/thread_mode.h"
#include "runtime/tensor/tensor.h"

static int check(NDArrayHandle handle, const NDArrayHandle *out)
{
    int error = mxn__check_given(out, "out");
    return error != MXP_OK ? error : mxn_array_check(handle, "handle");
}

// Hands `made` over, or releases it.
static int give(int error, mxn_array *made, NDArrayHandle *out)
{
    if (error == MXP_OK) {
        *out = made;
    } else {
        mxn_array_release(made);
    }
    return error;
}

// A view of an array is a node of a recorded or deferred graph, as if the operator had been run.
static bool is_recorded(void)
{
    return mxn_autograd_recording() || mxn_deferred();
}

static int record(const char *name, uint32_t count, const char *const *keys,
                  const char *const *values, mxn_array *array, mxn_array *view)
{
    if (!is_recorded()) {
        return MXP_OK;
    }
    const mxn_op *op = NULL;
    mxn_params *params = NULL;
    int error = mxn_op_require(name, &op);
    if (error == MXP_OK) {
        error = mxn_params_parse(op, count, keys, values, 1, mxn_numpy_shape(), &params);
    }
    if (error == MXP_OK) {
        error = mxn_autograd_record(params, &array, &view);
    }
    mxn_params_release(params);
    return error;
}

static int record_reshape(mxn_array *array, mxn_array *view)
{
    char shape[MXN_SHAPE_TEXT];
    const char *const key = "shape", *const value = mxn_shape_tuple(&view->shape, shape);
    return record("Reshape", 1, &key, &value, array, view);
}

static int record_slice(mxn_array *array, int64_t begin, int64_t end, mxn_array *view)
{
    char begins[32], ends[32];
    snprintf(begins, sizeof(begins), "(%lld,)", (long long)begin);
    snprintf(ends, sizeof(ends), "(%lld,)", (long long)end);
    const char *const keys[] = {"begin", "end"}, *const values[] = {begins, ends};
    return record("slice", 2, keys, values, array, view);
}

static int slice(NDArrayHandle handle, int64_t begin, int64_t end, NDArrayHandle *out)
{
    mxn_array *made = NULL;
    int error = check(handle, out);
    if (error == MXP_OK && (begin < 0 || end < begin)) {
        error = mxp__fail(MXP_EINVAL,
                          "cannot slice from %lld to %lld: both must be at least 0, in this order",
                          (long long)begin, (long long)end);
    }
    if (error == MXP_OK) {
        error = mxn_array_slice(handle, (uint64_t)begin, (uint64_t)end, &made);
    }
    if (error == MXP_OK) {
        error = record_slice(handle, begin, end, made);
    }
    return give(error, made, out);
}

// Of a recorded array: a slice, and what is left of its shape, as MXNet does it.
static int record_at(mxn_array *array, int64_t index, mxn_array *view)
{
    mxn_array *row = NULL;
    int error = mxn_array_slice(array, (uint64_t)index, (uint64_t)index + 1, &row);
    if (error == MXP_OK) {
        error = record_slice(array, index, index + 1, row);
    }
    if (error == MXP_OK) {
        error = record_reshape(row, view);
    }
    mxn_array_release(row);
    return error;
}

static int at(NDArrayHandle handle, int64_t index, NDArrayHandle *out)
{
    mxn_array *made = NULL;
    int error = check(handle, out);
    if (error == MXP_OK && index < 0) {
        error = mxp__fail(MXP_EINVAL, "cannot take element %lld: indices count from 0",
                          (long long)index);
    }
    if (error == MXP_OK) {
        error = mxn_array_at(handle, (uint64_t)index, mxn__numpy_shape() != 0, &made);
    }
    if (error == MXP_OK && is_recorded()) {
        error = record_at(handle, index, made);
    }
    return give(error, made, out);
}

int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                   NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, slice(handle, slice_begin, slice_end, out));
}

int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                     NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, slice(handle, slice_begin, slice_end, out));
}

int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, at(handle, idx, out));
}

int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, at(handle, idx, out));
}

static int check_codes(NDArrayHandle handle, int ndim, const void *dims, const NDArrayHandle *out)
{
    int error = check(handle, out);
    if (error == MXP_OK && ndim < 0) {
        error =
            mxp__fail(MXP_EINVAL, "ndim is %d: the number of dimensions cannot be negative", ndim);
    }
    if (error == MXP_OK && ndim > 0) {
        error = mxn__check_given(dims, "dims");
    }
    return error;
}

int MXNDArrayReshape(NDArrayHandle handle, int ndim, int *dims, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_array *made = NULL;
    int64_t codes[MXN_DIMS_MAX];
    int error = check_codes(handle, ndim, dims, out);
    if (error == MXP_OK && ndim > MXN_DIMS_MAX) {
        error = mxp__fail(MXP_EINVAL, "ndim is %d: arrays have at most %d dimensions", ndim,
                          MXN_DIMS_MAX);
    }
    for (int i = 0; error == MXP_OK && i < ndim; i++) {
        codes[i] = dims[i];
    }
    if (error == MXP_OK) {
        error = mxn_array_reshape(handle, ndim, codes, false, &made);
    }
    if (error == MXP_OK) {
        error = record_reshape(handle, made);
    }
    return mxn__api_end(&call, give(error, made, out));
}

int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t *dims, bool reverse,
                       NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_array *made = NULL;
    int error = check_codes(handle, ndim, dims, out);
    if (error == MXP_OK) {
        error = mxn_array_reshape(handle, ndim, dims, reverse, &made);
    }
    if (error == MXP_OK) {
        error = record_reshape(handle, made);
    }
    return mxn__api_end(&call, give(error, made, out));
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_array *made = NULL;
    int error = check(handle, out);
    if (error == MXP_OK) {
        mxn_deferred_touch(handle, "detaches values");
        error = mxn_array_detach(handle, &made);
    }
    return mxn__api_end(&call, give(error, made, out));
}
