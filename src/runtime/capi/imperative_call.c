// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that run an operator, and the prepared calls of mxnet/invoke.h. The name that
// the record shows is MXImperativeInvoke for these too.
#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/autograd/autograd.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/params_cache.h"
#include "runtime/capi/prepared_slots.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/imperative/imperative.h"
#include "runtime/imperative/thread_mode.h"

// ---- outputs ----------------------------------------------------------------------------------
static int check_output_count(const mxn_params *params, int count)
{
    if (count >= 0 &&
        ((uint32_t)count == params->output_count || (uint32_t)count == params->visible_count)) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EINVAL,
                     "Operator %s expects %u (all) or %u (visible only) outputs, but got %d "
                     "instead.",
                     params->op->name, params->output_count, params->visible_count, count);
}

static int check_given_outputs(const mxn_params *params, int count, NDArrayHandle *handles)
{
    int error = check_output_count(params, count);
    for (int i = 0; error == MXP_OK && i < count; i++) {
        error = mxn_array_check(handles[i], "outputs");
    }
    return error;
}

// Hands out the visible ones of outputs that were made.
static int give_made(const mxn_params *params, NDArrayHandle *all, int *num_outputs,
                     NDArrayHandle **outputs)
{
    uint32_t count = params->visible_count;
    NDArrayHandle *list = mxn__thread_buffer(MXN_BUFFER_OUTPUTS, count * sizeof(NDArrayHandle));
    for (uint32_t i = list == NULL ? 0 : count; i < params->output_count; i++) {
        mxn_array_release(all[i]);
    }
    if (list == NULL) {
        return MXP_ENOMEM;
    }
    memcpy(list, all, count * sizeof(NDArrayHandle));
    *num_outputs = (int)count;
    *outputs = list;
    return MXP_OK;
}

// With the list of outputs in `all`, which has space for every one of them: the thread's buffer may
// be another call's by the time this one returns, because callbacks run inside of it.
static int invoke(mxn_params *params, NDArrayHandle *inputs, int *num_outputs,
                  NDArrayHandle **outputs, uint64_t push_ticks, NDArrayHandle *all)
{
    uint32_t given = *outputs != NULL ? (uint32_t)*num_outputs : 0;
    for (uint32_t i = 0; i < params->output_count; i++) {
        all[i] = i < given ? (*outputs)[i] : NULL;
    }
    const mxn_invocation in = {.params = params,
                               .inputs = (mxn_array *const *)inputs,
                               .outputs = (mxn_array **)all,
                               .category = MXN_MEMORY_OUTPUT,
                               .push_ticks = push_ticks};
    int error = mxn_autograd_invoke(&in);
    if (error != MXP_OK) {
        return error;
    }
    if (*outputs == NULL) {
        return give_made(params, all, num_outputs, outputs);
    }
    // Outputs that nobody asked to see.
    for (uint32_t i = given; i < params->output_count; i++) {
        mxn_array_release(all[i]);
    }
    return MXP_OK;
}

static int run(mxn_params *params, int num_inputs, NDArrayHandle *inputs, int *num_outputs,
               NDArrayHandle **outputs, const int **out_stypes, uint64_t push_ticks)
{
    enum { ON_STACK = 16 };
    int error = mxn_invoke_check_inputs(params, (uint32_t)num_inputs, inputs);
    if (error == MXP_OK && *outputs != NULL) {
        error = check_given_outputs(params, *num_outputs, *outputs);
    }
    if (error == MXP_OK) {
        // Once the operator has run and its outputs are handed out, nothing may fail.
        error = mxn__give_storage_types(params->output_count, out_stypes);
    }
    if (error != MXP_OK) {
        return error;
    }
    NDArrayHandle stack[ON_STACK];
    size_t bytes = params->output_count * sizeof(NDArrayHandle);
    NDArrayHandle *all = params->output_count <= ON_STACK ? stack : mxp__alloc(bytes);
    error = all == NULL ? mxp__fail_memory("an operator's outputs")
                        : invoke(params, inputs, num_outputs, outputs, push_ticks, all);
    if (all != stack) {
        mxp__free(all, bytes);
    }
    return error != MXP_OK ? error : mxn__give_storage_types(params->output_count, out_stypes);
}

static int check_lists(int num_inputs, const void *inputs, const int *num_outputs,
                       const void *outputs)
{
    int error = mxn__check_given(num_outputs, "num_outputs");
    if (error == MXP_OK) {
        error = mxn__check_given(outputs, "outputs");
    }
    if (error == MXP_OK && num_inputs < 0) {
        error = mxp__fail(MXP_EINVAL, "num_inputs is %d: it cannot be negative", num_inputs);
    }
    if (error == MXP_OK && num_inputs > 0) {
        error = mxn__check_given(inputs, "inputs");
    }
    return error;
}

static int parse_and_run(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                         int *num_outputs, NDArrayHandle **outputs, int num_params,
                         const char **param_keys, const char **param_vals, const int **out_stypes,
                         uint64_t push_ticks)
{
    mxn_params *params = NULL;
    int error = mxn_op_check(creator);
    if (error == MXP_OK) {
        error = check_lists(num_inputs, inputs, num_outputs, outputs);
    }
    if (error == MXP_OK) {
        error = mxn__params_get(creator, num_params, param_keys, param_vals, (uint32_t)num_inputs,
                                &params);
    }
    if (error == MXP_OK) {
        error = run(params, num_inputs, inputs, num_outputs, outputs, out_stypes, push_ticks);
        mxn_params_release(params);
    }
    return error;
}

int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                       int *num_outputs, NDArrayHandle **outputs, int num_params,
                       const char **param_keys, const char **param_vals, const int **out_stypes)
{
    MXN_API_CALL();
    return mxn__api_end(&call,
                        parse_and_run(creator, num_inputs, inputs, num_outputs, outputs, num_params,
                                      param_keys, param_vals, out_stypes, call.begin_ticks));
}

int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                         int *num_outputs, NDArrayHandle **outputs, int num_params,
                         const char **param_keys, const char **param_vals, const int **out_stypes)
{
    MXN_API_CALL();
    return mxn__api_end(&call,
                        parse_and_run(creator, num_inputs, inputs, num_outputs, outputs, num_params,
                                      param_keys, param_vals, out_stypes, call.begin_ticks));
}

// ---- prepared calls ---------------------------------------------------------------------------
static int refuse_prepared(MXPreparedHandle handle)
{
    return mxp__fail(MXP_EHANDLE, "prepared: %p is no prepared call, or it was freed", handle);
}

int MXPreparedCreate(AtomicSymbolCreator creator, int num_inputs, int num_params,
                     const char **param_keys, const char **param_vals, MXPreparedHandle *out)
{
    mxn_params *params = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_op_check(creator);
    }
    if (error == MXP_OK && num_inputs < 0) {
        error = mxp__fail(MXP_EINVAL, "num_inputs is %d: it cannot be negative", num_inputs);
    }
    if (error == MXP_OK) {
        error = mxn__params_get(creator, num_params, param_keys, param_vals, (uint32_t)num_inputs,
                                &params);
    }
    if (error == MXP_OK) {
        error = mxn_params_expect(params, (uint32_t)num_inputs);
    }
    void *made = error == MXP_OK ? mxn__prepared_put(params, num_inputs) : NULL;
    if (error == MXP_OK && made == NULL) {
        error = mxp__fail_memory("a prepared call");
    }
    if (error == MXP_OK) {
        *out = made;
    } else {
        mxn_params_release(params);
    }
    return error == MXP_OK ? 0 : -1;
}

int MXPreparedInvoke(MXPreparedHandle handle, NDArrayHandle *inputs, int *num_outputs,
                     NDArrayHandle **outputs)
{
    static mxp_atomic_u32 name;
    const mxn_api_call call = mxn__api_begin(&name, "MXImperativeInvoke");
    const mxn_prepared_slot *p = mxn__prepared_find(handle);
    int error = p == NULL ? refuse_prepared(handle) : MXP_OK;
    if (error == MXP_OK) {
        error = check_lists(p->num_inputs, inputs, num_outputs, outputs);
    }
    mxn_params *params = NULL;
    if (error == MXP_OK) {
        error = mxn_params_under(p->params, mxn_numpy_shape(), &params);
    }
    if (error == MXP_OK) {
        error = run(params, p->num_inputs, inputs, num_outputs, outputs, NULL, call.begin_ticks);
    }
    return mxn__api_end(&call, error);
}

int MXPreparedFree(MXPreparedHandle handle)
{
    mxn_prepared_slot *p = mxn__prepared_find(handle);
    bool freed = p != NULL && mxn__prepared_remove(p, handle);
    return freed || refuse_prepared(handle) == MXP_OK ? 0 : -1;
}
