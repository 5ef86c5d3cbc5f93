// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that make, free, fill, read and wait for arrays: argument checks and forwarding
// to tensor/. A handle is an mxn_array with one reference of its own.
#include <limits.h>
#include <mxnet/c_api.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/package_call.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/deferred.h"
#include "runtime/tensor/tensor.h"

static const char *const handle_name = "handle";

// ---- making and freeing -----------------------------------------------------------------------
static int make(const mxn_shape *shape, int dev_type, int dev_id, int delay_alloc, int dtype,
                NDArrayHandle *out)
{
    mxn_array *array = NULL;
    int error = mxn_array_new(shape, dtype, (mxn_context){dev_type, dev_id}, NULL, delay_alloc != 0,
                              &array);
    if (error == MXP_OK) {
        *out = array;
    }
    return error;
}

static int make32(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                  int dtype, NDArrayHandle *out)
{
    mxn_shape wide;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK && ndim > 0) {
        error = mxn__check_given(shape, "shape");
    }
    if (error == MXP_OK) {
        error =
            mxn_shape_set32(&wide, ndim > INT_MAX ? INT_MAX : (int)ndim, shape, "the new array");
    }
    return error != MXP_OK ? error : make(&wide, dev_type, dev_id, delay_alloc, dtype, out);
}

static int make64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                  int dtype, NDArrayHandle *out)
{
    mxn_shape wide;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK && ndim > 0) {
        error = mxn__check_given(shape, "shape");
    }
    if (error == MXP_OK) {
        error = mxn_shape_set(&wide, ndim, shape, "the new array");
    }
    return error != MXP_OK ? error : make(&wide, dev_type, dev_id, delay_alloc, dtype, out);
}

int MXNDArrayCreateNone(NDArrayHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    mxn_array *array = NULL;
    if (error == MXP_OK) {
        error = mxn_array_new_none(&array);
    }
    if (error == MXP_OK) {
        *out = array;
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                    int dtype, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, make32(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out));
}

int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                      int delay_alloc, int dtype, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, make32(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out));
}

int MXNDArrayCreate64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                      int dtype, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, make64(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out));
}

int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                        int dtype, NDArrayHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, make64(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out));
}

int MXNDArrayNameMemory(NDArrayHandle handle, const char *name)
{
    int error = mxn_array_check(handle, handle_name);
    if (error == MXP_OK) {
        error = mxn__check_given(name, "name");
    }
    if (error == MXP_OK) {
        error = mxn_array_name_memory(handle, mxp_string(name));
    }
    return error == MXP_OK ? 0 : -1;
}

int MXNDArrayFree(NDArrayHandle handle)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, handle_name);
    if (error == MXP_OK) {
        mxn_array_release(handle);
    }
    return mxn__api_end(&call, error);
}

int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_array_check(src, "src");
    }
    if (error == MXP_OK) {
        mxn_array_retain(src);
        *out = src;
    }
    return mxn__api_end(&call, error);
}

// ---- values -----------------------------------------------------------------------------------
int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, handle_name);
    if (error == MXP_OK && size > 0) {
        error = mxn__check_given(data, "data");
    }
    if (error == MXP_OK) {
        mxn_deferred_touch(handle, "changes values");
    }
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_array_copy_in(handle, data, size));
}

int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, handle_name);
    if (error == MXP_OK && size > 0) {
        error = mxn__check_given(data, "data");
    }
    if (error == MXP_OK) {
        mxn_deferred_touch(handle, "reads values");
    }
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_array_copy_out(handle, data, size));
}

int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src,
                                 const int i)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle_dst, "handle_dst");
    if (error == MXP_OK) {
        error = mxn_array_check(handle_src, "handle_src");
    }
    if (error == MXP_OK && i != -1) {
        error =
            mxp__fail(MXP_EINVAL,
                      "i is %d: only sparse arrays have auxiliary data; pass -1 for the values", i);
    }
    if (error == MXP_OK) {
        mxn_deferred_touch(handle_src, "copies values");
        mxn_deferred_touch(handle_dst, "changes values");
    }
    return mxn__api_end(&call,
                        error != MXP_OK ? error : mxn_array_copy_wait(handle_src, handle_dst));
}

int MXNDArrayWaitToRead(NDArrayHandle handle)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, handle_name);
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_array_wait_read(handle));
}

int MXNDArrayWaitToWrite(NDArrayHandle handle)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, handle_name);
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_array_wait_write(handle));
}

int MXNDArrayWaitAll(void)
{
    MXN_API_CALL();
    return mxn__api_end(&call, mxn_wait_all());
}

int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata)
{
    MXN_API_CALL();
    int error = mxn__check_given(out_pdata, "out_pdata");
    if (error == MXP_OK) {
        error = mxn_array_check(handle, handle_name);
    }
    if (error == MXP_OK && mxn_array_is_none(handle)) {
        *out_pdata = NULL;
    } else if (error == MXP_OK) {
        mxn_deferred_touch(handle, "reads values");
        error = mxn_array_data_exposed(handle, out_pdata);
    }
    return mxn__api_end(&call, error);
}
