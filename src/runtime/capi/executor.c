// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of executors: checks, and what a program gets.
#include <mxnet/c_api_executor.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/capi/executor_handle.h"
#include "runtime/capi/symbol_handle.h"
#include "runtime/capi/thread_buffer.h"

typedef mxn_bound_executor bound;

int mxn__executor_get(ExecutorHandle handle, mxn_bound_executor **found)
{
    void *object = NULL;
    int error = mxn__object_get(MXN_OBJECT_EXECUTOR, handle, "executor", &object);
    *found = object;
    return error;
}

// ---- making -----------------------------------------------------------------------------------
// What the three functions have in common.
typedef struct wanted {
    SymbolHandle symbol;
    mxn_context context;
    mx_uint group_count;
    const int *group_types, *group_ids;
    mx_uint count;
    NDArrayHandle *arguments, *gradients;
    mx_uint *requests;
    mx_uint auxiliary_count;
    NDArrayHandle *auxiliary;
    ExecutorHandle shared;
} wanted;

int mxn__executor_check_groups(mxn_context context, mx_uint count, const int *types, const int *ids)
{
    int error = MXP_OK;
    if (count > 0) {
        error = mxn__check_given(types, "map_dev_types");
    }
    if (count > 0 && error == MXP_OK) {
        error = mxn__check_given(ids, "map_dev_ids");
    }
    for (mx_uint i = 0; i < count && error == MXP_OK; i++) {
        if (types[i] != context.type || ids[i] != context.id) {
            error = mxp__fail(MXP_ENOTSUP,
                              "group2ctx: an executor runs on one device, and group %u is mapped "
                              "to another one",
                              i);
        }
    }
    return error;
}

static int check_requests(const wanted *w)
{
    int error = w->gradients != NULL && w->count > 0
                    ? mxn__check_given(w->requests, "grad_req_type")
                    : MXP_OK;
    for (mx_uint i = 0; w->gradients != NULL && i < w->count && error == MXP_OK; i++) {
        if (w->requests[i] > MXN_ADD) {
            error = mxp__fail(MXP_EINVAL,
                              "grad_req_type[%u] is %u, valid values are 0 (null), 1 (write), 2 "
                              "(in place), 3 (add)",
                              i, w->requests[i]);
        }
    }
    return error;
}

static int check(const wanted *w)
{
    bound *shared = NULL;
    int error = w->shared != NULL ? mxn__executor_get(w->shared, &shared) : MXP_OK;
    if (error == MXP_OK) {
        error =
            mxn__executor_check_groups(w->context, w->group_count, w->group_types, w->group_ids);
    }
    if (error == MXP_OK) {
        error = mxn__check_arrays(w->count, w->arguments, "in_args", false);
    }
    if (error == MXP_OK && w->gradients != NULL) {
        error = mxn__check_arrays(w->count, w->gradients, "arg_grad_store", true);
    }
    if (error == MXP_OK) {
        error = check_requests(w);
    }
    return error == MXP_OK
               ? mxn__check_arrays(w->auxiliary_count, w->auxiliary, "aux_states", false)
               : error;
}

static void free_bound(bound *b)
{
    const size_t count = mxn__bound_arrays(b);
    for (size_t i = 0; b->arrays != NULL && i < count; i++) {
        mxn_array_release(b->arrays[i]);
    }
    mxp__free(b->arrays, count * sizeof *b->arrays + 1);
    mxp__free(b->requests, b->argument_count * sizeof *b->requests + 1);
    mxn_executor_free(b->executor);
    mxp__free(b, sizeof *b);
}

static void keep(mxn_array **to, mxn_array *const *from, uint32_t count)
{
    for (uint32_t i = 0; from != NULL && i < count; i++) {
        to[i] = from[i];
        if (from[i] != NULL) {
            mxn_array_retain(from[i]);
        }
    }
}

static int keep_arrays(bound *b, const mxn_binding_request *request)
{
    const uint32_t count = request->argument_count;
    b->argument_count = count;
    b->auxiliary_count = request->auxiliary_count;
    b->arrays = mxp__alloc(mxn__bound_arrays(b) * sizeof *b->arrays + 1);
    b->requests = mxp__alloc(count * sizeof *b->requests + 1);
    if (b->arrays == NULL || b->requests == NULL) {
        return mxp__fail_memory("an executor");
    }
    if (request->gradients != NULL) {
        memcpy(b->requests, request->requests, count * sizeof *b->requests);
    }
    keep(b->arrays, request->arguments, count);
    keep(b->arrays + count, request->gradients, count);
    keep(b->arrays + 2 * (size_t)count, request->auxiliary, request->auxiliary_count);
    return MXP_OK;
}

int mxn__executor_make(const mxn_binding_request *request, ExecutorHandle *out)
{
    bound *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("an executor");
    }
    int error = mxn_executor_bind(request, &made->executor);
    if (error == MXP_OK) {
        error = keep_arrays(made, request);
    }
    if (error == MXP_OK) {
        error = mxn__object_new(MXN_OBJECT_EXECUTOR, made, out);
    }
    if (error != MXP_OK) {
        free_bound(made);
    }
    return error;
}

static int make(const mxn_symbol *symbol, const wanted *w, ExecutorHandle *out)
{
    const mxn_binding_request request = {.symbol = symbol,
                                         .context = w->context,
                                         .argument_count = w->count,
                                         .arguments = (mxn_array *const *)w->arguments,
                                         .gradients = (mxn_array *const *)w->gradients,
                                         .requests = w->requests,
                                         .auxiliary_count = w->auxiliary_count,
                                         .auxiliary = (mxn_array *const *)w->auxiliary};
    return mxn__executor_make(&request, out);
}

static int bind_all(const wanted *w, ExecutorHandle *out)
{
    mxn_symbol *symbol = NULL;
    int error = mxn__symbol_get_for(w->symbol, out, &symbol);
    if (error == MXP_OK) {
        error = check(w);
    }
    return error == MXP_OK ? make(symbol, w, out) : error;
}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, mx_uint len,
                   NDArrayHandle *in_args, NDArrayHandle *arg_grad_store, mx_uint *grad_req_type,
                   mx_uint aux_states_len, NDArrayHandle *aux_states, ExecutorHandle *out)
{
    MXN_API_CALL();
    const wanted w = {.symbol = symbol_handle,
                      .context = {dev_type, dev_id},
                      .count = len,
                      .arguments = in_args,
                      .gradients = arg_grad_store,
                      .requests = grad_req_type,
                      .auxiliary_count = aux_states_len,
                      .auxiliary = aux_states};
    return mxn__api_end(&call, bind_all(&w, out));
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, mx_uint num_map_keys,
                    const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                    mx_uint len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                    mx_uint *grad_req_type, mx_uint aux_states_len, NDArrayHandle *aux_states,
                    ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)map_keys;
    const wanted w = {.symbol = symbol_handle,
                      .context = {dev_type, dev_id},
                      .group_count = num_map_keys,
                      .group_types = map_dev_types,
                      .group_ids = map_dev_ids,
                      .count = len,
                      .arguments = in_args,
                      .gradients = arg_grad_store,
                      .requests = grad_req_type,
                      .auxiliary_count = aux_states_len,
                      .auxiliary = aux_states};
    return mxn__api_end(&call, bind_all(&w, out));
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, mx_uint num_map_keys,
                     const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                     mx_uint len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                     mx_uint *grad_req_type, mx_uint aux_states_len, NDArrayHandle *aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)map_keys;
    const wanted w = {.symbol = symbol_handle,
                      .context = {dev_type, dev_id},
                      .group_count = num_map_keys,
                      .group_types = map_dev_types,
                      .group_ids = map_dev_ids,
                      .count = len,
                      .arguments = in_args,
                      .gradients = arg_grad_store,
                      .requests = grad_req_type,
                      .auxiliary_count = aux_states_len,
                      .auxiliary = aux_states,
                      .shared = shared_exec};
    return mxn__api_end(&call, bind_all(&w, out));
}

int MXExecutorFree(ExecutorHandle handle)
{
    MXN_API_CALL();
    void *object = NULL;
    int error = mxn__object_take(MXN_OBJECT_EXECUTOR, handle, "executor", &object);
    if (error == MXP_OK) {
        free_bound(object);
    }
    return mxn__api_end(&call, error);
}

// ---- running ----------------------------------------------------------------------------------
int MXExecutorForward(ExecutorHandle handle, int is_train)
{
    MXN_API_CALL();
    bound *b;
    int error = mxn__executor_get(handle, &b);
    return mxn__api_end(&call,
                        error == MXP_OK ? mxn_executor_forward(b->executor, is_train != 0) : error);
}

static int backward(ExecutorHandle handle, mx_uint len, NDArrayHandle *head_grads, bool training)
{
    bound *b;
    int error = mxn__executor_get(handle, &b);
    if (error == MXP_OK) {
        error = mxn__check_arrays(len, head_grads, "head_grads", true);
    }
    return error == MXP_OK
               ? mxn_executor_backward(b->executor, len, (mxn_array *const *)head_grads, training)
               : error;
}

int MXExecutorBackward(ExecutorHandle handle, mx_uint len, NDArrayHandle *head_grads)
{
    MXN_API_CALL();
    return mxn__api_end(&call, backward(handle, len, head_grads, true));
}

int MXExecutorBackwardEx(ExecutorHandle handle, mx_uint len, NDArrayHandle *head_grads,
                         int is_train)
{
    MXN_API_CALL();
    return mxn__api_end(&call, backward(handle, len, head_grads, is_train != 0));
}

// ---- asking -----------------------------------------------------------------------------------
static int get_for(ExecutorHandle handle, const void *out, bound **found)
{
    int error = mxn__executor_get(handle, found);
    return error == MXP_OK ? mxn__check_given(out, "out") : error;
}

static int give_outputs(const mxn_executor *executor, mx_uint *size, NDArrayHandle **out)
{
    const uint32_t count = mxn_executor_output_count(executor);
    mxn_array *const *outputs = mxn_executor_outputs(executor);
    NDArrayHandle *list = mxn__thread_buffer(MXN_BUFFER_OUTPUTS, count * sizeof *list);
    if (list == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        mxn_array_retain(outputs[i]);
        list[i] = outputs[i];
    }
    *size = count;
    *out = list;
    return MXP_OK;
}

int MXExecutorOutputs(ExecutorHandle handle, mx_uint *out_size, NDArrayHandle **out)
{
    MXN_API_CALL();
    bound *b;
    int error = get_for(handle, out, &b);
    if (error == MXP_OK) {
        error = mxn__check_given(out_size, "out_size");
    }
    return mxn__api_end(&call, error == MXP_OK ? give_outputs(b->executor, out_size, out) : error);
}

static int give_text(const mxn_executor *executor, const char **out)
{
    mxp_strbuf text = {0};
    int error = mxn_executor_describe(executor, &text);
    char *copy = error == MXP_OK ? mxn__thread_buffer(MXN_BUFFER_TEXT, text.length + 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, mxp__strbuf_text(&text), text.length + 1);
        *out = copy;
    } else if (error == MXP_OK) {
        error = MXP_ENOMEM;
    }
    mxp__strbuf_fini(&text);
    return error;
}

int MXExecutorPrint(ExecutorHandle handle, const char **out_str)
{
    MXN_API_CALL();
    bound *b;
    int error = get_for(handle, out_str, &b);
    return mxn__api_end(&call, error == MXP_OK ? give_text(b->executor, out_str) : error);
}

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out)
{
    MXN_API_CALL();
    bound *b;
    mxn_symbol *copy = NULL;
    int error = get_for(handle, out, &b);
    if (error == MXP_OK) {
        error = mxn_symbol_copy(mxn_executor_symbol(b->executor), &copy);
        error = mxn__symbol_hand_out(error, copy, out);
    }
    return mxn__api_end(&call, error);
}

// ---- the monitor ------------------------------------------------------------------------------
static void tell(const char *name, const char *op, mxn_array *array, void *context)
{
    const bound *b = context;
    (void)op;
    b->callback(name, array, b->callback_handle);
}

static int set_monitor(ExecutorHandle handle, ExecutorMonitorCallback callback,
                       void *callback_handle, bool inputs)
{
    bound *b;
    int error = mxn__executor_get(handle, &b);
    if (error == MXP_OK) {
        b->callback = callback;
        b->callback_handle = callback_handle;
        mxn_executor_set_hook(b->executor, callback != NULL ? tell : NULL, b, inputs);
    }
    return error;
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                 void *callback_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, set_monitor(handle, callback, callback_handle, false));
}

int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                   void *callback_handle, bool monitor_all)
{
    MXN_API_CALL();
    return mxn__api_end(&call, set_monitor(handle, callback, callback_handle, monitor_all));
}
