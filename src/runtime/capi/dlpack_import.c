// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that make arrays of other libraries' memory. Nothing of what is given is
// trusted before it is checked; who owns it is told when the last operation on it is over.
#include <inttypes.h>
#include <mxnet/c_api.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/dlpack.h"
#include "runtime/capi/package_call.h"
#include "runtime/tensor/tensor.h"

// ---- what is given -----------------------------------------------------------------------------
static int dtype_of(mxn_dl_type type, int *dtype)
{
    static const struct {
        mxn_dl_type type;
        int dtype;
    } known[] = {
        {{MXN_DL_FLOAT, 32, 1}, MXN_FLOAT32}, {{MXN_DL_FLOAT, 64, 1}, MXN_FLOAT64},
        {{MXN_DL_FLOAT, 16, 1}, MXN_FLOAT16}, {{MXN_DL_BFLOAT, 16, 1}, MXN_BFLOAT16},
        {{MXN_DL_INT, 8, 1}, MXN_INT8},       {{MXN_DL_INT, 16, 1}, MXN_INT16},
        {{MXN_DL_INT, 32, 1}, MXN_INT32},     {{MXN_DL_INT, 64, 1}, MXN_INT64},
        {{MXN_DL_UINT, 8, 1}, MXN_UINT8},     {{MXN_DL_UINT, 16, 1}, MXN_UINT16},
        {{MXN_DL_UINT, 32, 1}, MXN_UINT32},   {{MXN_DL_UINT, 64, 1}, MXN_UINT64},
        {{MXN_DL_BOOL, 8, 1}, MXN_BOOL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].type.code == type.code && known[i].type.bits == type.bits && type.lanes == 1) {
            *dtype = known[i].dtype;
            return MXP_OK;
        }
    }
    return mxp__fail(MXP_EINVAL,
                     "DLPack: elements of code %u with %u bits and %u lanes have no type here: "
                     "integers and floats of up to 64 bits, bool and bfloat16 have",
                     type.code, type.bits, type.lanes);
}

static int device_of(const mxn_dl_tensor *tensor, mxn_context *context)
{
    if (tensor->device_type != MXN_DL_CPU && tensor->device_type != MXN_DL_CUDA_HOST) {
        return mxp__fail(MXP_EINVAL,
                         "DLPack: the memory is on a device of type %d, id %d: only the CPU's (1) "
                         "and memory pinned for a GPU (3) can be shared",
                         tensor->device_type, tensor->device_id);
    }
    const bool is_pinned = tensor->device_type == MXN_DL_CUDA_HOST;
    *context =
        is_pinned ? (mxn_context){MXN_CPU_PINNED, 0} : (mxn_context){MXN_CPU, tensor->device_id};
    return mxn_context_check(*context);
}

static int shape_of(const mxn_dl_tensor *tensor, mxn_shape *shape)
{
    if (tensor->ndim < 0 || tensor->ndim > MXN_DIMS_MAX) {
        return mxp__fail(MXP_EINVAL, "DLPack: a tensor of %d dimensions; arrays have 0 to %d",
                         tensor->ndim, MXN_DIMS_MAX);
    }
    if (tensor->ndim > 0 && tensor->shape == NULL) {
        return mxp__fail(MXP_EINVAL, "DLPack: a tensor of %d dimensions whose shape is null",
                         tensor->ndim);
    }
    shape->ndim = tensor->ndim;
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 0) {
            return mxp__fail(MXP_EINVAL, "DLPack: dimension %d of the tensor is %" PRId64, i,
                             tensor->shape[i]);
        }
        shape->dims[i] = tensor->shape[i];
    }
    return MXP_OK;
}

// A dimension of 1 has no step; without elements there is nothing to step over.
static int check_dense(const mxn_dl_tensor *tensor, const mxn_shape *shape)
{
    int64_t step = 1;
    for (int32_t i = tensor->ndim; tensor->strides != NULL && i-- > 0;) {
        if (tensor->strides[i] != step && shape->dims[i] != 1) {
            char text[MXN_SHAPE_TEXT];
            return mxp__fail(MXP_EINVAL,
                             "DLPack: the tensor of shape %s is not row-major: dimension %d has "
                             "stride %" PRId64 ", not %" PRId64 "; share a contiguous copy of it",
                             mxn_shape_tuple(shape, text), i, tensor->strides[i], step);
        }
        step *= shape->dims[i];
    }
    return MXP_OK;
}

static int address_of(const mxn_dl_tensor *tensor, int dtype, void **data)
{
    if (tensor->data == NULL) {
        return mxp__fail(MXP_EINVAL, "DLPack: the tensor has elements, and its data is null");
    }
    *data = (char *)tensor->data + tensor->byte_offset;
    if ((uintptr_t)*data % mxn_dtype_size(dtype) != 0) {
        return mxp__fail(MXP_EINVAL, "DLPack: the values at %p are not aligned to their type, %s",
                         *data, mxn_dtype_name(dtype));
    }
    return MXP_OK;
}

static int take(const mxn_dl_tensor *tensor, mxn_attachment owner, NDArrayHandle *out)
{
    int dtype = MXN_DTYPE_NONE;
    mxn_context context = {0, 0};
    mxn_shape shape = {0};
    void *data = NULL;
    int error = dtype_of(tensor->type, &dtype);
    if (error == MXP_OK) {
        error = device_of(tensor, &context);
    }
    if (error == MXP_OK) {
        error = shape_of(tensor, &shape);
    }
    // One with too many elements to count is refused with the array.
    const bool has_elements =
        error == MXP_OK && mxn_shape_countable(&shape) && mxn_shape_size(&shape) > 0;
    if (has_elements) {
        error = check_dense(tensor, &shape);
    }
    if (error == MXP_OK && has_elements) {
        error = address_of(tensor, dtype, &data);
    }
    mxn_array *made = NULL;
    if (error == MXP_OK) {
        error = mxn_array_new_foreign(&shape, dtype, context, data, owner, &made);
    }
    *out = made;
    return error;
}

// ---- who owns it -------------------------------------------------------------------------------
static void release_managed(void *data)
{
    mxn_dl_managed *managed = data;
    if (managed->deleter != NULL) {
        managed->deleter(managed);
    }
}

static void release_copy(void *data)
{
    release_managed(data);
    mxp__free(data, sizeof(mxn_dl_managed));
}

static void release_versioned(void *data)
{
    mxn_dl_versioned *versioned = data;
    if (versioned->deleter != NULL) {
        versioned->deleter(versioned);
    }
}

static int from_copy(const mxn_dl_managed *managed, NDArrayHandle *out)
{
    mxn_dl_managed *copy = mxp__alloc(sizeof *copy);
    if (copy == NULL) {
        return mxp__fail_memory("an array of other memory");
    }
    *copy = *managed;
    int error = take(&copy->tensor, (mxn_attachment){copy, release_copy}, out);
    if (error != MXP_OK) {
        mxp__free(copy, sizeof *copy);
    }
    return error;
}

// An array that comes back is a view of itself, so that the engine orders both.
static int from_own(mxn_array *own, mxn_attachment owner, NDArrayHandle *out)
{
    mxn_array *view = NULL;
    int error = mxn_array_detach(own, &view);
    if (error == MXP_OK) {
        owner.release(owner.data);
        *out = view;
    }
    return error;
}

static int check(const void *dlpack, NDArrayHandle *out)
{
    int error = mxn__check_given(out, "out_handle");
    if (error == MXP_OK) {
        *out = NULL;
        error = mxn__check_given(dlpack, "dlpack");
    }
    return error;
}

static int from_managed(mxn_dl_managed *managed, bool transient, NDArrayHandle *out)
{
    int error = check(managed, out);
    if (error != MXP_OK) {
        return error;
    }
    const mxn_attachment owner = {managed, release_managed};
    mxn_array *own = mxn__dlpack_managed_array(managed);
    if (own != NULL) {
        return from_own(own, owner, out);
    }
    return transient ? from_copy(managed, out) : take(&managed->tensor, owner, out);
}

static int from_versioned(mxn_dl_versioned *versioned, NDArrayHandle *out)
{
    int error = check(versioned, out);
    if (error == MXP_OK && versioned->major != MXN_DL_MAJOR) {
        error = mxp__fail(
            MXP_EINVAL, "DLPack: a tensor of version %" PRIu32 ".%" PRIu32 "; version %d is known",
            versioned->major, versioned->minor, MXN_DL_MAJOR);
    }
    if (error == MXP_OK && (versioned->flags & MXN_DL_READ_ONLY) != 0) {
        error = mxp__fail(MXP_EINVAL, "DLPack: the memory is read-only, and arrays can be written "
                                      "to; share a copy of it");
    }
    if (error != MXP_OK) {
        return error;
    }
    const mxn_attachment owner = {versioned, release_versioned};
    mxn_array *own = mxn__dlpack_versioned_array(versioned);
    return own != NULL ? from_own(own, owner, out) : take(&versioned->tensor, owner, out);
}

int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, const bool transient_handle,
                        NDArrayHandle *out_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, from_managed(dlpack, transient_handle, out_handle));
}

int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle,
                          NDArrayHandle *out_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, from_managed(dlpack, transient_handle, out_handle));
}

int MXNDArrayFromDLPackVersioned(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, from_versioned(dlpack, out_handle));
}
