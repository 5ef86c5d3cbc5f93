// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: arrays. A handle is one reference to an array: each one given out is freed once,
// with MXNDArrayFree. Null and freed handles are errors. Device types: 1 cpu, 3 pinned, 5 shared.
// Element types: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6 int64, 7 bool, 8
// int16, 9 uint16, 10 uint32, 11 uint64, 12 bfloat16. The rules of mxnet/c_api.h hold.
#ifndef MXNET_C_API_NDARRAY_H_
#define MXNET_C_API_NDARRAY_H_

#include <mxnet/c_types.h>

// ---- making and freeing -----------------------------------------------------------------------
// An array without shape and memory, for an operator to fill.
MXNET_DLL int MXNDArrayCreateNone(NDArrayHandle *out);
// Contents are undefined. Memory is taken at once, with `delay_alloc` at the first use.
MXNET_DLL int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                              int delay_alloc, int dtype, NDArrayHandle *out);
MXNET_DLL int MXNDArrayCreate64(const int64_t *shape, int ndim, int dev_type, int dev_id,
                                int delay_alloc, int dtype, NDArrayHandle *out);
// Drops the handle. Operations already pushed keep the memory until they are done.
MXNET_DLL int MXNDArrayFree(NDArrayHandle handle);
// A second handle to the same array; one to the same memory, outside of any recorded graph.
MXNET_DLL int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out);
MXNET_DLL int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out);

// ---- values -----------------------------------------------------------------------------------
// `size` counts elements and must be the array's. They wait for pending operations on the array and
// fail with the error of a failed one.
MXNET_DLL int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size);
MXNET_DLL int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size);
// `i` is -1: the values. Auxiliary data exist for sparse arrays only.
MXNET_DLL int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src,
                                           const int i);
// For pending writes; for everything pending on the array; for everything. Errors of operations
// surface here.
MXNET_DLL int MXNDArrayWaitToRead(NDArrayHandle handle);
MXNET_DLL int MXNDArrayWaitToWrite(NDArrayHandle handle);
MXNET_DLL int MXNDArrayWaitAll(void);
// The address of the values, without waiting.
MXNET_DLL int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata);

// ---- views: new handles to the same memory ----------------------------------------------------
MXNET_DLL int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                             NDArrayHandle *out);  // of axis 0
MXNET_DLL int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                               NDArrayHandle *out);
MXNET_DLL int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out);  // of axis 0
MXNET_DLL int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out);
// 0 copies a dimension, -1 is what is left over; Reshape64 has -2, -3 and -4 too, and `reverse`
// matches from the right.
MXNET_DLL int MXNDArrayReshape(NDArrayHandle handle, int ndim, int *dims, NDArrayHandle *out);
MXNET_DLL int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t *dims, bool reverse,
                                 NDArrayHandle *out);

// ---- what an array is -------------------------------------------------------------------------
// The dimensions live until this thread's next call of the same function. An array that has no
// shape yet has rank -1; without NumPy's shapes, 0.
MXNET_DLL int MXNDArrayGetShape(NDArrayHandle handle, int *out_dim, const int **out_pdata);
MXNET_DLL int MXNDArrayGetShape64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata);
MXNET_DLL int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype);
MXNET_DLL int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type);  // 0 dense
// 0, 0 for an array that has no shape yet.
MXNET_DLL int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id);
// A new handle to the array of its gradient, null if it has none.
MXNET_DLL int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out);
// Whether the array holds a gradient that backward has written since the mark was last cleared.
MXNET_DLL int MXNDArraySetGradState(NDArrayHandle handle, int state);
MXNET_DLL int MXNDArrayGetGradState(NDArrayHandle handle, int *out);

// ---- files ------------------------------------------------------------------------------------
// `keys` may be null. What Load gives out lives until this thread's next load; the handles in it
// are the caller's to free.
MXNET_DLL int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle *args,
                            const char **keys);
MXNET_DLL int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr,
                            uint32_t *out_name_size, const char ***out_names);
MXNET_DLL int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size,
                                      NDArrayHandle **out_arr, uint32_t *out_name_size,
                                      const char ***out_names);

// Always MXNDArraySave's file: that of 1.x.
MXNET_DLL int MXNDArrayLegacySave(const char *fname, uint32_t num_args, NDArrayHandle *args,
                                  const char **keys);
// One array as it stands in such a file, for pickles. The bytes live until this thread's next call.
MXNET_DLL int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf);
// The array is the caller's to free. Bytes that follow it are not looked at.
MXNET_DLL int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out);

// ---- DLPack: the same memory in other libraries -----------------------------------------------
// Waits for pending writes. The memory stays until the tensor's deleter is called, whatever becomes
// of `handle`. What is pushed later is not ordered with who reads or writes there by the tensor.
MXNET_DLL int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack);
// The array owns the tensor and calls its deleter, on any thread, after the last operation on it;
// on failure the tensor is still the caller's. `transient_handle`: the struct is copied, and may go
// once this returns; the deleter is given the copy. Taken is dense row-major memory of the CPU. A
// tensor that MXNDArrayToDLPack made gives another view of its array.
MXNET_DLL int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, const bool transient_handle,
                                  NDArrayHandle *out_handle);
// Calls the deleter of a tensor that nobody has taken. Null is an error.
MXNET_DLL int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);

// ---- names of the 1.x line --------------------------------------------------------------------
MXNET_DLL int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                                int delay_alloc, int dtype, NDArrayHandle *out);
MXNET_DLL int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id,
                                  int delay_alloc, int dtype, NDArrayHandle *out);
MXNET_DLL int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle,
                                    NDArrayHandle *out_handle);
MXNET_DLL int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata);
MXNET_DLL int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata);

#endif
