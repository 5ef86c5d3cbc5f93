// SPDX-License-Identifier: Apache-2.0
// MXNet's functions for operators and gradients that the program computes itself.
#include <mxnet/c_api.h>

#include "runtime/autograd/autograd.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/imperative/thread_mode.h"
#include "runtime/op/custom.h"

_Static_assert(sizeof(struct MXCallbackList) == sizeof(mxn_callback_list) &&
                   offsetof(struct MXCallbackList, contexts) ==
                       offsetof(mxn_callback_list, contexts),
               "an MXCallbackList is an mxn_callback_list");

int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator)
{
    MXN_API_CALL();
    int error = mxn__check_given(op_type, "op_type");
    if (error == MXP_OK && creator == NULL) {
        error = mxp__fail(MXP_EINVAL, "Check  notnull: creator");
    }
    if (error == MXP_OK) {
        // The two types differ in how they name one struct.
        error = mxn_custom_register(op_type, (mxn_custom_creator)(void (*)(void))creator);
    }
    return mxn__api_end(&call, error);
}

static int check_list(int count, NDArrayHandle *handles, const char *what)
{
    return count < 0 ? mxp__fail(MXP_EINVAL, "%d %s: the number cannot be negative", count, what)
                     : mxn__check_arrays((uint32_t)count, handles, what, false);
}

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                           NDArrayHandle *outputs, struct MXCallbackList *callbacks)
{
    MXN_API_CALL();
    mxn_params *params = NULL;
    int error = check_list(num_inputs, inputs, "inputs");
    if (error == MXP_OK) {
        error = check_list(num_outputs, outputs, "outputs");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(callbacks, "callbacks");
    }
    if (error == MXP_OK) {
        error =
            mxn_custom_function((uint32_t)num_inputs, (uint32_t)num_outputs,
                                (const mxn_callback_list *)callbacks, mxn_numpy_shape(), &params);
    }
    if (error == MXP_OK) {
        error =
            mxn_autograd_record(params, (mxn_array *const *)inputs, (mxn_array *const *)outputs);
        mxn_params_release(params);
    }
    return mxn__api_end(&call, error);
}
