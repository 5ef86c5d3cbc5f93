// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that show an array's memory to other libraries. What is handed out is one
// block: the structure, which begins it, a view of the array, and the sizes that both point to.
#include <assert.h>
#include <mxnet/c_api.h>
#include <stddef.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/dlpack.h"
#include "runtime/capi/package_call.h"
#include "runtime/graph/deferred.h"
#include "runtime/tensor/tensor.h"

typedef struct exported {
    union {
        mxn_dl_managed managed;
        mxn_dl_versioned versioned;
    } as;
    mxn_array *view;
    int64_t shape[MXN_DIMS_MAX], strides[MXN_DIMS_MAX];
} exported;
static_assert(offsetof(exported, as) == 0, "a structure is where its block is");

static void end_exported(exported *given)
{
    mxn_array_release(given->view);
    mxp__free(given, sizeof *given);
}

static void delete_managed(mxn_dl_managed *self)
{
    end_exported(self->context);
}

static void delete_versioned(mxn_dl_versioned *self)
{
    end_exported(self->context);
}

mxn_array *mxn__dlpack_managed_array(const mxn_dl_managed *managed)
{
    return managed->deleter == delete_managed ? ((exported *)managed->context)->view : NULL;
}

mxn_array *mxn__dlpack_versioned_array(const mxn_dl_versioned *versioned)
{
    return versioned->deleter == delete_versioned ? ((exported *)versioned->context)->view : NULL;
}

static mxn_dl_type type_of(int dtype)
{
    const uint8_t bits = (uint8_t)(8 * mxn_dtype_size(dtype));
    switch (dtype) {
    case MXN_BFLOAT16:
        return (mxn_dl_type){MXN_DL_BFLOAT, bits, 1};
    case MXN_BOOL:
        return (mxn_dl_type){MXN_DL_BOOL, bits, 1};
    case MXN_INT8:
    case MXN_INT16:
    case MXN_INT32:
    case MXN_INT64:
        return (mxn_dl_type){MXN_DL_INT, bits, 1};
    default:
        return (mxn_dl_type){mxn_dtype_is_float(dtype) ? MXN_DL_FLOAT : MXN_DL_UINT, bits, 1};
    }
}

static void describe(exported *given, void *data, mxn_dl_tensor *tensor)
{
    const mxn_shape *shape = &given->view->shape;
    int64_t step = 1;
    for (int32_t i = shape->ndim; i-- > 0;) {
        given->shape[i] = shape->dims[i];
        given->strides[i] = step;
        step *= shape->dims[i] > 0 ? shape->dims[i] : 1;
    }
    *tensor = (mxn_dl_tensor){
        .data = data,
        .device_type = MXN_DL_CPU,
        .device_id = mxn_array_context(given->view).id,
        .ndim = shape->ndim,
        .type = type_of(given->view->dtype),
        .shape = given->shape,
        .strides = given->strides,
    };
}

static int check(NDArrayHandle handle, const DLManagedTensorHandle *out)
{
    int error = mxn__check_given(out, "out_dlpack");
    if (error == MXP_OK) {
        *(DLManagedTensorHandle *)out = NULL;
        error = mxn_array_check(handle, "handle");
    }
    if (error == MXP_OK && mxn_array_is_none(handle)) {
        error = mxp__fail(MXP_ESTATE, "the array is empty: it has no values to show");
    }
    return error;
}

// The values are there when this returns.
static int make(NDArrayHandle handle, exported **made, void **data)
{
    exported *given = mxp__alloc(sizeof *given);
    if (given == NULL) {
        return mxp__fail_memory("a tensor for another library");
    }
    mxn_deferred_touch(handle, "exports values");
    int error = mxn_array_detach(handle, &given->view);
    if (error == MXP_OK) {
        error = mxn_array_wait_read(given->view);
    }
    if (error == MXP_OK) {
        error = mxn_array_data_exposed(given->view, data);
    }
    if (error != MXP_OK) {
        end_exported(given);
        return error;
    }
    *made = given;
    return MXP_OK;
}

int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack)
{
    MXN_API_CALL();
    exported *given = NULL;
    void *data = NULL;
    int error = check(handle, out_dlpack);
    if (error == MXP_OK) {
        error = make(handle, &given, &data);
    }
    if (error == MXP_OK) {
        given->as.managed = (mxn_dl_managed){.context = given, .deleter = delete_managed};
        describe(given, data, &given->as.managed.tensor);
        *out_dlpack = given;
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayToDLPackVersioned(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack)
{
    MXN_API_CALL();
    exported *given = NULL;
    void *data = NULL;
    int error = check(handle, out_dlpack);
    if (error == MXP_OK) {
        error = make(handle, &given, &data);
    }
    if (error == MXP_OK) {
        given->as.versioned = (mxn_dl_versioned){
            .major = MXN_DL_MAJOR, .context = given, .deleter = delete_versioned};
        describe(given, data, &given->as.versioned.tensor);
        *out_dlpack = given;
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack)
{
    MXN_API_CALL();
    mxn_dl_managed *managed = dlpack;
    int error = mxn__check_given(dlpack, "dlpack");
    if (error == MXP_OK && managed->deleter != NULL) {
        managed->deleter(managed);
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayCallDLPackDeleterVersioned(DLManagedTensorHandle dlpack)
{
    MXN_API_CALL();
    mxn_dl_versioned *versioned = dlpack;
    int error = mxn__check_given(dlpack, "dlpack");
    if (error == MXP_OK && versioned->deleter != NULL) {
        versioned->deleter(versioned);
    }
    return mxn__api_end(&call, error);
}
