// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that tell what an array is.
#include <mxnet/c_api.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/numpy_mode.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/tensor/tensor.h"

// Checks the arguments of a query: the handle, and two parameters to fill.
static int check(NDArrayHandle handle, const void *out, const char *out_name)
{
    int error = mxn__check_given(out, out_name);
    return error != MXP_OK ? error : mxn_array_check(handle, "handle");
}

// The rank as MXNet tells it.
static int rank_of(const mxn_array *array)
{
    return array->shape.ndim < 0 && mxn__numpy_shape() == 0 ? 0 : array->shape.ndim;
}

static int shape32(NDArrayHandle handle, int *out_dim, const int **out_pdata)
{
    int error = check(handle, out_dim, "out_dim");
    if (error == MXP_OK) {
        error = mxn__check_given(out_pdata, "out_pdata");
    }
    int *dims = NULL;
    if (error == MXP_OK) {
        dims = mxn__thread_buffer(MXN_BUFFER_DIMS, MXN_DIMS_MAX * sizeof(int));
        error = dims == NULL ? MXP_ENOMEM : MXP_OK;
    }
    const mxn_array *array = handle;
    for (int i = 0; error == MXP_OK && i < array->shape.ndim; i++) {
        int64_t dim = array->shape.dims[i];
        dims[i] = (int)dim;
        if (dim != dims[i]) {
            error = mxp__fail(MXP_EINVAL,
                              "dimension %d is %lld, beyond 32 bits: ask MXNDArrayGetShape64", i,
                              (long long)dim);
        }
    }
    if (error == MXP_OK) {
        *out_dim = rank_of(array);
        *out_pdata = dims;
    }
    return error;
}

static int shape64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata)
{
    int error = check(handle, out_dim, "out_dim");
    if (error == MXP_OK) {
        error = mxn__check_given(out_pdata, "out_pdata");
    }
    int64_t *dims = NULL;
    if (error == MXP_OK) {
        dims = mxn__thread_buffer(MXN_BUFFER_DIMS64, MXN_DIMS_MAX * sizeof(int64_t));
        error = dims == NULL ? MXP_ENOMEM : MXP_OK;
    }
    if (error == MXP_OK) {
        const mxn_array *array = handle;
        for (int i = 0; i < array->shape.ndim; i++) {
            dims[i] = array->shape.dims[i];
        }
        *out_dim = rank_of(array);
        *out_pdata = dims;
    }
    return error;
}

int MXNDArrayGetShape(NDArrayHandle handle, int *out_dim, const int **out_pdata)
{
    MXN_API_CALL();
    return mxn__api_end(&call, shape32(handle, out_dim, out_pdata));
}

int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata)
{
    MXN_API_CALL();
    return mxn__api_end(&call, shape32(handle, out_dim, out_pdata));
}

int MXNDArrayGetShape64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata)
{
    MXN_API_CALL();
    return mxn__api_end(&call, shape64(handle, out_dim, out_pdata));
}

int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata)
{
    MXN_API_CALL();
    return mxn__api_end(&call, shape64(handle, out_dim, out_pdata));
}

int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype)
{
    MXN_API_CALL();
    int error = check(handle, out_dtype, "out_dtype");
    if (error == MXP_OK) {
        const mxn_array *array = handle;
        *out_dtype = mxn_array_is_none(array) ? MXN_DTYPE_NONE : array->dtype;
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type)
{
    enum { UNDEFINED = -1, DENSE = 0 };
    MXN_API_CALL();
    int error = check(handle, out_storage_type, "out_storage_type");
    if (error == MXP_OK) {
        *out_storage_type = mxn_array_is_none(handle) ? UNDEFINED : DENSE;
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id)
{
    MXN_API_CALL();
    int error = check(handle, out_dev_type, "out_dev_type");
    if (error == MXP_OK) {
        error = mxn__check_given(out_dev_id, "out_dev_id");
    }
    if (error == MXP_OK) {
        mxn_context context = mxn_array_context(handle);
        *out_dev_type = context.type;
        *out_dev_id = context.id;
    }
    return mxn__api_end(&call, error);
}
