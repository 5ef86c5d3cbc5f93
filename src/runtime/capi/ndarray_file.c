// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that save and load arrays. What a load gives out is in two buffers of the
// thread; the handles become the caller's.
#include <mxnet/c_api.h>
#include <string.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/numpy_mode.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/tensor/tensor.h"

static int save(const char *fname, uint32_t num_args, NDArrayHandle *args, const char **keys)
{
    int error = mxn__check_given(fname, "fname");
    if (error == MXP_OK && num_args > 0) {
        error = mxn__check_given(args, "args");
    }
    for (uint32_t i = 0; error == MXP_OK && i < num_args; i++) {
        error = mxn_array_check(args[i], "args");
        if (error == MXP_OK && keys != NULL) {
            error = mxn__check_given(keys[i], "keys[i]");
        }
    }
    return error != MXP_OK ? error
                           : mxn_arrays_save(fname, num_args, (mxn_array *const *)args, keys,
                                             mxn__numpy_shape() != 0);
}

int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle *args, const char **keys)
{
    MXN_API_CALL();
    return mxn__api_end(&call, save(fname, num_args, args, keys));
}

int MXNDArrayLegacySave(const char *fname, uint32_t num_args, NDArrayHandle *args,
                        const char **keys)
{
    MXN_API_CALL();
    return mxn__api_end(&call, save(fname, num_args, args, keys));
}

// The names, followed by their characters, in one buffer.
static const char **copy_names(const mxn_array_list *list)
{
    size_t count = list->names == NULL ? 0 : list->count;
    size_t bytes = count * sizeof(char *);
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(list->names[i]) + 1;
    }
    const char **names = mxn__thread_buffer(MXN_BUFFER_NAMES, bytes);
    char *at = (char *)(names + count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        size_t length = strlen(list->names[i]) + 1;
        memcpy(at, list->names[i], length);
        names[i] = at;
        at += length;
    }
    return names;
}

// Hands the arrays of `list` over to the caller.
static int give(mxn_array_list *list, uint32_t *out_size, NDArrayHandle **out_arr,
                uint32_t *out_name_size, const char ***out_names)
{
    if (list->count > UINT32_MAX) {
        return mxp__fail(MXP_EFORMAT, "the file holds %llu arrays, more than can be handed out",
                         (unsigned long long)list->count);
    }
    NDArrayHandle *handles =
        mxn__thread_buffer(MXN_BUFFER_LOADED, list->count * sizeof(NDArrayHandle));
    const char **names = copy_names(list);
    if (handles == NULL || names == NULL) {
        return MXP_ENOMEM;
    }
    for (uint64_t i = 0; i < list->count; i++) {
        if (list->arrays[i] == NULL) {
            int error = mxn_array_new_none(&list->arrays[i]);
            if (error != MXP_OK) {
                return error;
            }
        }
    }
    for (uint64_t i = 0; i < list->count; i++) {
        handles[i] = list->arrays[i];
        list->arrays[i] = NULL;
    }
    *out_size = (uint32_t)list->count;
    *out_arr = handles;
    *out_name_size = list->names == NULL ? 0 : (uint32_t)list->count;
    *out_names = names;
    return MXP_OK;
}

static int check_outs(const void *out_size, const void *out_arr, const void *out_name_size,
                      const void *out_names)
{
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_arr, "out_arr");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(out_name_size, "out_name_size");
    }
    return error != MXP_OK ? error : mxn__check_given(out_names, "out_names");
}

int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr,
                  uint32_t *out_name_size, const char ***out_names)
{
    MXN_API_CALL();
    mxn_array_list list = {0};
    int error = mxn__check_given(fname, "fname");
    if (error == MXP_OK) {
        error = check_outs(out_size, out_arr, out_name_size, out_names);
    }
    if (error == MXP_OK) {
        error = mxn_arrays_load(fname, &list);
    }
    if (error == MXP_OK) {
        error = give(&list, out_size, out_arr, out_name_size, out_names);
        mxn_array_list_fini(&list);
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size,
                            NDArrayHandle **out_arr, uint32_t *out_name_size,
                            const char ***out_names)
{
    MXN_API_CALL();
    mxn_array_list list = {0};
    int error = mxn__check_given(ndarray_buffer, "ndarray_buffer");
    if (error == MXP_OK) {
        error = check_outs(out_size, out_arr, out_name_size, out_names);
    }
    if (error == MXP_OK) {
        error = mxn_arrays_load_bytes(ndarray_buffer, size, &list);
    }
    if (error == MXP_OK) {
        error = give(&list, out_size, out_arr, out_name_size, out_names);
        mxn_array_list_fini(&list);
    }
    return mxn__api_end(&call, error);
}

// ---- one array --------------------------------------------------------------------------------
static int save_raw(NDArrayHandle handle, size_t *out_size, const char **out_buf)
{
    mxp_strbuf bytes = {0};
    int error = mxn_array_save_bytes(handle, mxn__numpy_shape() != 0, &bytes);
    char *memory = error == MXP_OK ? mxn__thread_buffer(MXN_BUFFER_RAW, bytes.length) : NULL;
    if (memory != NULL) {
        memcpy(memory, bytes.data, bytes.length);
        *out_size = bytes.length;
        *out_buf = memory;
    } else if (error == MXP_OK) {
        error = MXP_ENOMEM;
    }
    mxp__strbuf_fini(&bytes);
    return error;
}

int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, "handle");
    if (error == MXP_OK) {
        error = mxn__check_given(out_size, "out_size");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(out_buf, "out_buf");
    }
    return mxn__api_end(&call, error == MXP_OK ? save_raw(handle, out_size, out_buf) : error);
}

int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_array *array = NULL;
    int error = mxn__check_given(buf, "buf");
    if (error == MXP_OK) {
        error = mxn__check_given(out, "out");
    }
    if (error == MXP_OK) {
        error = mxn_array_load_bytes(buf, size, &array);
    }
    if (error == MXP_OK) {
        *out = array;
    }
    return mxn__api_end(&call, error);
}
