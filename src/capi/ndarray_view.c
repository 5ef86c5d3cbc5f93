// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that give further handles to an array's memory.
#include <mxnet/c_api.h>

#include "capi/api_call.h"
#include "capi/numpy_mode.h"
#include "tensor/tensor.h"

static int check(NDArrayHandle handle, const NDArrayHandle *out)
{
    int error = mxn__check_given(out, "out");
    return error != MXP_OK ? error : mxn_array_check(handle, "handle");
}

static int give(int error, mxn_array *made, NDArrayHandle *out)
{
    if (error == MXP_OK) {
        *out = made;
    }
    return error;
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
    return give(error, made, out);
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
    return mxn__api_end(&call, give(error, made, out));
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_array *made = NULL;
    int error = check(handle, out);
    if (error == MXP_OK) {
        error = mxn_array_detach(handle, &made);
    }
    return mxn__api_end(&call, give(error, made, out));
}
