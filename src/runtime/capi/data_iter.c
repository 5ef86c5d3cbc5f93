// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of data iterators: checks and forwarding.
#include <mxnet/c_api_data_iter.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/object.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/io/data_iter.h"

// ---- kinds ------------------------------------------------------------------------------------
int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array)
{
    MXN_API_CALL();
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_array, "out_array");
    }
    if (error == MXP_OK) {
        const mxn_iter_kind *const *kinds;
        *out_size = mxn_iter_kinds(&kinds);
        *out_array = (DataIterCreator *)(void *)kinds;
    }
    return mxn__api_end(&call, error);
}

// Names, types and descriptions of a kind's parameters, one after the other.
static int list_parameters(const mxn_iter_kind *kind, const char ***lists)
{
    const char **texts = mxn__thread_buffer(MXN_BUFFER_TEXTS, 3 * kind->count * sizeof *texts);
    if (texts == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < kind->count; i++) {
        texts[i] = kind->parameters[i].name;
        texts[kind->count + i] = kind->parameters[i].type_text;
        texts[2 * kind->count + i] = kind->parameters[i].description;
    }
    *lists = texts;
    return MXP_OK;
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description,
                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                          const char ***arg_descriptions)
{
    const void *const outs[] = {name,      description,    num_args,
                                arg_names, arg_type_infos, arg_descriptions};
    // What MXNet's profiler calls all questions about an entry of a list.
    static mxp_atomic_u32 name_of_call;
    const mxn_api_call call = mxn__api_begin(&name_of_call, "MXAPIGetFunctionRegInfo");
    int error = mxn_iter_kind_check(creator);
    for (size_t i = 0; i < sizeof outs / sizeof *outs && error == MXP_OK; i++) {
        error = mxn__check_given(outs[i], "an output parameter of MXDataIterGetIterInfo");
    }
    const char **lists = NULL;
    const mxn_iter_kind *kind = creator;
    if (error == MXP_OK) {
        error = list_parameters(kind, &lists);
    }
    if (error == MXP_OK) {
        *name = kind->name;
        *description = kind->description;
        *num_args = kind->count;
        *arg_names = lists;
        *arg_type_infos = lists + kind->count;
        *arg_descriptions = lists + 2 * (size_t)kind->count;
    }
    return mxn__api_end(&call, error);
}

// ---- iterators --------------------------------------------------------------------------------
static int get(const void *handle, const void *out, mxn_data_iter **iter)
{
    void *object = NULL;
    int error = mxn__object_get(MXN_OBJECT_DATA_ITER, handle, "data iterator", &object);
    *iter = object;
    return error == MXP_OK ? mxn__check_given(out, "out") : error;
}

// The same for what a current batch gives.
static int get_batch(const void *handle, const void *out, mxn_data_iter **iter)
{
    int error = get(handle, out, iter);
    return error == MXP_OK ? mxn_data_iter_check(*iter) : error;
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                         const char **vals, DataIterHandle *out)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = mxn_iter_kind_check(handle);
    if (error == MXP_OK) {
        error = mxn__check_given(out, "out");
    }
    if (error == MXP_OK) {
        error = mxn__check_texts(num_param, keys, "keys");
    }
    if (error == MXP_OK) {
        error = mxn__check_texts(num_param, vals, "vals");
    }
    if (error == MXP_OK) {
        error = mxn_data_iter_new(handle, num_param, keys, vals, &iter);
    }
    if (error == MXP_OK) {
        error = mxn__object_new(MXN_OBJECT_DATA_ITER, iter, out);
    }
    if (error != MXP_OK) {
        mxn_data_iter_free(iter);
    }
    return mxn__api_end(&call, error);
}

int MXDataIterFree(DataIterHandle handle)
{
    MXN_API_CALL();
    void *object = NULL;
    int error = mxn__object_take(MXN_OBJECT_DATA_ITER, handle, "data iterator", &object);
    if (error == MXP_OK) {
        mxn_data_iter_free(object);
    }
    return mxn__api_end(&call, error);
}

int MXDataIterBeforeFirst(DataIterHandle handle)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = get(handle, &iter, &iter);
    if (error == MXP_OK) {
        mxn_data_iter_rewind(iter);
    }
    return mxn__api_end(&call, error);
}

int MXDataIterNext(DataIterHandle handle, int *out)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    bool has = false;
    int error = get(handle, out, &iter);
    if (error == MXP_OK) {
        error = mxn_data_iter_next(iter, &has);
    }
    if (error == MXP_OK) {
        *out = has;
    }
    return mxn__api_end(&call, error);
}

int MXDataIterGetLenHint(DataIterHandle handle, int64_t *len)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = get(handle, len, &iter);
    if (error == MXP_OK) {
        *len = (int64_t)mxn_data_iter_batches(iter);
    }
    return mxn__api_end(&call, error);
}

// ---- the current batch ------------------------------------------------------------------------
static NDArrayHandle share(mxn_array *array)
{
    mxn_array_retain(array);
    return array;
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = get_batch(handle, out, &iter);
    if (error == MXP_OK) {
        *out = share(mxn_data_iter_data(iter));
    }
    return mxn__api_end(&call, error);
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = get_batch(handle, out, &iter);
    if (error == MXP_OK) {
        *out = share(mxn_data_iter_label(iter));
    }
    return mxn__api_end(&call, error);
}

int MXDataIterGetItems(DataIterHandle handle, int *num_outputs, NDArrayHandle **outputs)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    NDArrayHandle *list = NULL;
    int error = mxn__check_given(num_outputs, "num_outputs");
    if (error == MXP_OK) {
        error = get_batch(handle, outputs, &iter);
    }
    if (error == MXP_OK) {
        list = mxn__thread_buffer(MXN_BUFFER_OUTPUTS, 2 * sizeof *list);
        error = list == NULL ? MXP_ENOMEM : MXP_OK;
    }
    if (error == MXP_OK) {
        list[0] = share(mxn_data_iter_data(iter));
        list[1] = share(mxn_data_iter_label(iter));
        *num_outputs = 2;
        *outputs = list;
    }
    return mxn__api_end(&call, error);
}

int MXDataIterGetPadNum(DataIterHandle handle, int *pad)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = get_batch(handle, pad, &iter);
    if (error == MXP_OK) {
        *pad = (int)mxn_data_iter_pad(iter);
    }
    return mxn__api_end(&call, error);
}

int MXDataIterGetIndex(DataIterHandle handle, uint64_t **out_index, uint64_t *out_size)
{
    MXN_API_CALL();
    mxn_data_iter *iter = NULL;
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = get_batch(handle, out_index, &iter);
    }
    if (error == MXP_OK) {
        *out_index = (uint64_t *)(uintptr_t)mxn_data_iter_index(iter, out_size);
    }
    return mxn__api_end(&call, error);
}
