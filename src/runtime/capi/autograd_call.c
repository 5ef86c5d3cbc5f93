// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of recording and gradients.
#include <mxnet/c_api.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/autograd/autograd.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/capi/package_call.h"
#include "runtime/capi/thread_buffer.h"

// ---- switches ---------------------------------------------------------------------------------
int MXAutogradSetIsRecording(int is_recording, int *prev)
{
    MXN_API_CALL();
    bool before = mxn_autograd_recording_set(is_recording != 0);
    if (prev != NULL) {
        *prev = before;
    }
    return mxn__api_end(&call, MXP_OK);
}

int MXAutogradSetIsTraining(int is_training, int *prev)
{
    MXN_API_CALL();
    bool before = mxn_autograd_training_set(is_training != 0);
    if (prev != NULL) {
        *prev = before;
    }
    return mxn__api_end(&call, MXP_OK);
}

int MXAutogradIsRecording(bool *curr)
{
    MXN_API_CALL();
    int error = mxn__check_given(curr, "curr");
    if (error == MXP_OK) {
        *curr = mxn_autograd_recording();
    }
    return mxn__api_end(&call, error);
}

int MXAutogradIsTraining(bool *curr)
{
    MXN_API_CALL();
    int error = mxn__check_given(curr, "curr");
    if (error == MXP_OK) {
        *curr = mxn_autograd_training();
    }
    return mxn__api_end(&call, error);
}

// ---- variables --------------------------------------------------------------------------------
int MXAutogradMarkVariables(mx_uint num_var, NDArrayHandle *var_handles, mx_uint *reqs_array,
                            NDArrayHandle *grad_handles)
{
    MXN_API_CALL();
    int error = mxn__check_arrays(num_var, var_handles, "var_handles", false);
    if (error == MXP_OK) {
        error = mxn__check_arrays(num_var, grad_handles, "grad_handles", false);
    }
    if (error == MXP_OK && num_var > 0) {
        error = mxn__check_given(reqs_array, "reqs_array");
    }
    for (mx_uint i = 0; error == MXP_OK && i < num_var; i++) {
        error = mxn_autograd_mark(var_handles[i], reqs_array[i], grad_handles[i]);
    }
    return mxn__api_end(&call, error);
}

// Recorded under the name of the call of MXNet 2.0 that does the same.
int MXAutogradAttachGradient(NDArrayHandle handle, mx_uint req, NDArrayHandle gradient)
{
    static mxp_atomic_u32 name;
    const mxn_api_call call = mxn__api_begin(&name, "MXAutogradMarkVariables");
    int error = mxn_array_check(handle, "handle");
    if (error == MXP_OK) {
        error = mxn_array_check(gradient, "gradient");
    }
    return mxn__api_end(&call,
                        error != MXP_OK ? error : mxn_autograd_attach(handle, req, gradient));
}

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_array_check(handle, "handle");
    }
    if (error == MXP_OK) {
        error = mxn_autograd_gradient(handle, (mxn_array **)out);
    }
    return mxn__api_end(&call, error);
}

int MXNDArraySetGradState(NDArrayHandle handle, int state)
{
    MXN_API_CALL();
    int error = mxn_array_check(handle, "handle");
    return mxn__api_end(&call,
                        error != MXP_OK ? error : mxn_autograd_fresh_set(handle, state != 0));
}

int MXNDArrayGetGradState(NDArrayHandle handle, int *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_array_check(handle, "handle");
    }
    if (error == MXP_OK) {
        *out = mxn_autograd_fresh(handle);
    }
    return mxn__api_end(&call, error);
}

// ---- backward ---------------------------------------------------------------------------------
// Space for what backward hands out when it was given variables: after it nothing may fail.
static int prepare_results(size_t count, NDArrayHandle **grad_handles)
{
    int error = count > 0 ? mxn__check_given(grad_handles, "grad_handles") : MXP_OK;
    if (error == MXP_OK && count > 0 &&
        (mxn__thread_buffer(MXN_BUFFER_GRADIENTS, count * sizeof(NDArrayHandle)) == NULL ||
         mxn__thread_buffer(MXN_BUFFER_GRADIENT_STYPES, count * sizeof(int)) == NULL)) {
        error = MXP_ENOMEM;
    }
    return error;
}

static void give_results(size_t count, const NDArrayHandle *made, NDArrayHandle **grad_handles,
                         int **grad_stypes)
{
    *grad_handles = mxn__thread_buffer(MXN_BUFFER_GRADIENTS, count * sizeof(*made));
    memcpy(*grad_handles, made, count * sizeof(*made));
    if (grad_stypes != NULL) {
        *grad_stypes = mxn__thread_buffer(MXN_BUFFER_GRADIENT_STYPES, count * sizeof(int));
        memset(*grad_stypes, 0, count * sizeof(int));
    }
}

// The thread's buffers may be another call's meanwhile: with NaiveEngine a function of the program
// runs inside of backward, and may ask for gradients itself.
static int run_backward(mxn_backward_request *request, NDArrayHandle **grad_handles,
                        int **grad_stypes)
{
    enum { ON_STACK = 32 };
    size_t count = request->variable_count;
    int error = prepare_results(count, grad_handles);
    if (error != MXP_OK) {
        return error;
    }
    NDArrayHandle stack[ON_STACK];
    NDArrayHandle *made = count <= ON_STACK ? stack : mxp__alloc(count * sizeof(*made));
    if (made == NULL) {
        return mxp__fail_memory("the gradients of variables");
    }
    request->gradients = (mxn_array **)made;
    error = mxn_autograd_backward(request);
    if (error == MXP_OK && count > 0) {
        give_results(count, made, grad_handles, grad_stypes);
    }
    if (made != stack) {
        mxp__free(made, count * sizeof(*made));
    }
    return error;
}

int MXAutogradBackwardEx(mx_uint num_output, NDArrayHandle *output_handles,
                         NDArrayHandle *ograd_handles, mx_uint num_variables,
                         NDArrayHandle *var_handles, int retain_graph, int create_graph,
                         int is_train, NDArrayHandle **grad_handles, int **grad_stypes)
{
    MXN_API_CALL();
    int error = mxn__check_arrays(num_output, output_handles, "output_handles", false);
    if (error == MXP_OK && ograd_handles != NULL) {
        error = mxn__check_arrays(num_output, ograd_handles, "ograd_handles", true);
    }
    if (error == MXP_OK) {
        error = mxn__check_arrays(num_variables, var_handles, "var_handles", false);
    }
    mxn_backward_request request = {.outputs = (mxn_array *const *)output_handles,
                                    .head_gradients = (mxn_array *const *)ograd_handles,
                                    .output_count = num_output,
                                    .variables = (mxn_array *const *)var_handles,
                                    .variable_count = num_variables,
                                    .retain_graph = retain_graph != 0,
                                    .create_graph = create_graph != 0,
                                    .training = is_train != 0};
    if (error == MXP_OK) {
        error = run_backward(&request, grad_handles, grad_stypes);
    }
    return mxn__api_end(&call, error);
}

int MXAutogradBackward(mx_uint num_output, NDArrayHandle *output_handles,
                       NDArrayHandle *ograd_handles, int retain_graph)
{
    return MXAutogradBackwardEx(num_output, output_handles, ograd_handles, 0, NULL, retain_graph, 0,
                                1, NULL, NULL);
}

int MXAutogradComputeGradient(mx_uint num_output, NDArrayHandle *output_handles)
{
    return MXAutogradBackwardEx(num_output, output_handles, NULL, 0, NULL, 0, 0, 1, NULL, NULL);
}

int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_array_check(handle, "handle");
    }
    if (error == MXP_OK) {
        error = mxp__fail(MXP_ENOTSUP, "MXAutogradGetSymbol: the graph of a tape is no symbol yet");
    }
    return mxn__api_end(&call, error);
}
