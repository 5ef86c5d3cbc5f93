// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of cached operators: checks, and what a program gets.
#include <mxnet/c_api_cached_op.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/capi/symbol_handle.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/graph/cached_op.h"

enum { CPU = 1 };

static int get(const void *handle, mxn_cached_op **op)
{
    void *object = NULL;
    int error = mxn__object_get(MXN_OBJECT_CACHED_OP, handle, "cached operator", &object);
    *op = object;
    return error;
}

// ---- making -----------------------------------------------------------------------------------
static int create(SymbolHandle handle, int count, const char **keys, const char **values,
                  CachedOpHandle *out)
{
    mxn_symbol *symbol = NULL;
    mxn_cached_op *op = NULL;
    int error = mxn__symbol_get_for(handle, out, &symbol);
    if (error == MXP_OK && count < 0) {
        error = mxp__fail(MXP_EINVAL, "num_flags is %d: it cannot be negative", count);
    }
    if (error == MXP_OK) {
        error = mxn__check_texts((uint32_t)count, keys, "keys");
    }
    if (error == MXP_OK) {
        error = mxn__check_texts((uint32_t)count, values, "vals");
    }
    if (error == MXP_OK) {
        error = mxn_cached_op_new(symbol, (uint32_t)count, keys, values, &op);
    }
    if (error == MXP_OK) {
        error = mxn__object_new(MXN_OBJECT_CACHED_OP, op, out);
    }
    if (error != MXP_OK) {
        mxn_cached_op_free(op);
    }
    return error;
}

int MXCreateCachedOp(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                     CachedOpHandle *out, bool thread_safe)
{
    MXN_API_CALL();
    (void)thread_safe;
    return mxn__api_end(&call, create(handle, num_flags, keys, vals, out));
}

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out, bool thread_safe)
{
    MXN_API_CALL();
    (void)thread_safe;
    return mxn__api_end(&call, create(handle, num_flags, keys, vals, out));
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, create(handle, num_flags, keys, vals, out));
}

int MXFreeCachedOp(CachedOpHandle handle)
{
    MXN_API_CALL();
    void *op = NULL;
    int error = mxn__object_take(MXN_OBJECT_CACHED_OP, handle, "cached operator", &op);
    if (error == MXP_OK) {
        mxn_cached_op_free(op);
    }
    return mxn__api_end(&call, error);
}

int MXCachedOpGetOptimizedSymbol(CachedOpHandle handle, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_cached_op *op;
    mxn_symbol *symbol = NULL;
    int error = get(handle, &op);
    if (error == MXP_OK) {
        error = mxn__check_given(out, "out");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_copy(mxn_cached_op_symbol(op), &symbol);
        error = mxn__symbol_hand_out(error, symbol, out);
    }
    return mxn__api_end(&call, error);
}

// ---- calling ----------------------------------------------------------------------------------
static int check_lists(const mxn_cached_op *op, int num_inputs, NDArrayHandle *inputs,
                       const int *num_outputs, NDArrayHandle **outputs)
{
    int error = mxn__check_given(num_outputs, "num_outputs");
    if (error == MXP_OK) {
        error = mxn__check_given(outputs, "outputs");
    }
    if (error == MXP_OK && num_inputs < 0) {
        error = mxp__fail(MXP_EINVAL, "num_inputs is %d: it cannot be negative", num_inputs);
    }
    if (error == MXP_OK) {
        error = mxn__check_arrays((uint32_t)num_inputs, inputs, "inputs", false);
    }
    if (error != MXP_OK || *outputs == NULL) {
        return error;
    }
    uint32_t count = mxn_cached_op_outputs(op);
    if (*num_outputs < 0 || (uint32_t)*num_outputs != count) {
        return mxp__fail(MXP_EINVAL, "A cached operator has %u outputs, but got %d", count,
                         *num_outputs);
    }
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        error = mxn_array_check((*outputs)[i], "outputs");
    }
    return error;
}

static void release_made(NDArrayHandle *all, uint32_t count, bool were_given)
{
    for (uint32_t i = 0; !were_given && i < count; i++) {
        mxn_array_release(all[i]);
    }
}

// With the list of outputs in `all`: the thread's buffer may be another call's by the time this one
// returns, because callbacks run inside of it.
static int call_with(const mxn_cached_op *op, const mxn_cached_call *in, int *num_outputs,
                     NDArrayHandle **outputs, const int **out_stypes)
{
    uint32_t count = mxn_cached_op_outputs(op);
    bool were_given = *outputs != NULL;
    NDArrayHandle *all = (NDArrayHandle *)in->outputs;
    if (were_given) {
        memcpy(all, *outputs, count * sizeof(NDArrayHandle));
    }
    int error = mxn_cached_op_call(op, in);
    if (error != MXP_OK) {
        return error;
    }
    error = mxn__give_storage_types(count, out_stypes);
    if (error == MXP_OK && !were_given) {
        NDArrayHandle *list = mxn__thread_buffer(MXN_BUFFER_OUTPUTS, count * sizeof(NDArrayHandle));
        error = list == NULL ? MXP_ENOMEM : MXP_OK;
        if (error == MXP_OK) {
            memcpy(list, all, count * sizeof(NDArrayHandle));
            *num_outputs = (int)count;
            *outputs = list;
        }
    }
    if (error != MXP_OK) {
        release_made(all, count, were_given);
    }
    return error;
}

static int invoke(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs, int *num_outputs,
                  NDArrayHandle **outputs, const int **out_stypes, uint64_t push_ticks)
{
    mxn_cached_op *op;
    int error = get(handle, &op);
    if (error == MXP_OK) {
        error = check_lists(op, num_inputs, inputs, num_outputs, outputs);
    }
    if (error != MXP_OK) {
        return error;
    }
    size_t bytes = mxn_cached_op_outputs(op) * sizeof(mxn_array *) + 1;
    mxn_array **all = mxp__alloc(bytes);
    if (all == NULL) {
        return mxp__fail_memory("the outputs of a cached operator");
    }
    const mxn_cached_call in = {.inputs = (mxn_array *const *)inputs,
                                .input_count = (uint32_t)num_inputs,
                                .outputs = all,
                                .push_ticks = push_ticks};
    error = call_with(op, &in, num_outputs, outputs, out_stypes);
    mxp__free(all, bytes);
    return error;
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                     int default_dev_type, int default_dev_id, int *num_outputs,
                     NDArrayHandle **outputs, const int **out_stypes)
{
    MXN_API_CALL();
    int error = MXP_OK;
    if (num_inputs == 0 && (default_dev_type != CPU || default_dev_id != 0)) {
        error =
            mxp__fail(MXP_ENOTSUP, "A network without inputs runs on cpu(0), not on device %d(%d)",
                      default_dev_type, default_dev_id);
    }
    if (error == MXP_OK) {
        error =
            invoke(handle, num_inputs, inputs, num_outputs, outputs, out_stypes, call.begin_ticks);
    }
    return mxn__api_end(&call, error);
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                       int *num_outputs, NDArrayHandle **outputs, const int **out_stypes)
{
    MXN_API_CALL();
    return mxn__api_end(&call, invoke(handle, num_inputs, inputs, num_outputs, outputs, out_stypes,
                                      call.begin_ticks));
}

// ---- the hook ---------------------------------------------------------------------------------
static void tell(const char *name, const char *op, mxn_array *array, void *context)
{
    CachedOpMonitorCallback callback;
    memcpy(&callback, &context, sizeof callback);
    callback(name, op, array);
}

int MXCachedOpRegisterOpHook(CachedOpHandle handle, CachedOpMonitorCallback callback,
                             bool monitor_all)
{
    MXN_API_CALL();
    mxn_cached_op *op;
    int error = get(handle, &op);
    if (error == MXP_OK) {
        void *context;
        memcpy(&context, &callback, sizeof context);
        mxn_cached_op_set_hook(op, callback != NULL ? tell : NULL, context,
                               monitor_all ? MXN_TELL_INPUTS : MXN_TELL_OUTPUTS);
    }
    return mxn__api_end(&call, error);
}
