// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of recording and gradients.
#include <mxnet/c_api.h>
#include <string.h>

#include "autograd/autograd.h"
#include "capi/api_call.h"
#include "capi/array_list.h"
#include "capi/thread_buffer.h"

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

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_array_check(handle, "handle");
    }
    if (error == MXP_OK) {
        mxn_array *gradient = mxn_autograd_gradient(handle);
        if (gradient != NULL) {
            mxn_array_retain(gradient);
        }
        *out = gradient;
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
// Room for what backward hands out when it was given variables.
static int prepare_results(mxn_backward_request *request, NDArrayHandle **grad_handles,
                           int **grad_stypes)
{
    size_t count = request->variable_count;
    if (count == 0) {
        return MXP_OK;
    }
    int error = mxn__check_given(grad_handles, "grad_handles");
    if (error != MXP_OK) {
        return error;
    }
    NDArrayHandle *handles = mxn__thread_buffer(MXN_BUFFER_GRADIENTS, count * sizeof(*handles));
    int *types = mxn__thread_buffer(MXN_BUFFER_GRADIENT_STYPES, count * sizeof(int));
    if (handles == NULL || types == NULL) {
        return MXP_ENOMEM;
    }
    memset(types, 0, count * sizeof(int));
    request->gradients = (mxn_array **)handles;
    *grad_handles = handles;
    if (grad_stypes != NULL) {
        *grad_stypes = types;
    }
    return MXP_OK;
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
        error = prepare_results(&request, grad_handles, grad_stypes);
    }
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_autograd_backward(&request));
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
        error = mxp__fail(MXP_ENOTSUP, "MXAutogradGetSymbol: this library has no symbols yet");
    }
    return mxn__api_end(&call, error);
}
