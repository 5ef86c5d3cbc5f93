// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of deferred compute: checks and forwarding.
#include <mxnet/c_api_deferred.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/capi/symbol_handle.h"
#include "runtime/graph/deferred.h"

int MXNDArraySetIsDeferredCompute(int deferred_compute_enabled, int *prev)
{
    MXN_API_CALL();
    const bool before = mxn_deferred_set(deferred_compute_enabled != 0);
    if (prev != NULL) {
        *prev = before;
    }
    return mxn__api_end(&call, MXP_OK);
}

int MXNDArrayIsDeferredCompute(int *curr)
{
    MXN_API_CALL();
    int error = mxn__check_given(curr, "curr");
    if (error == MXP_OK) {
        *curr = mxn_deferred();
    }
    return mxn__api_end(&call, error);
}

static int check_list(int count, NDArrayHandle *arrays, const char *what)
{
    int error =
        count < 0 ? mxp__fail(MXP_EINVAL, "num is %d: it cannot be negative", count) : MXP_OK;
    if (error == MXP_OK && count > 0) {
        error = mxn__check_given(arrays, what);
    }
    return error != MXP_OK ? error : mxn__check_arrays((uint32_t)count, arrays, what, false);
}

int MXNDArraySetDeferredComputeVariable(NDArrayHandle *arrays, SymbolHandle *variables, int num)
{
    MXN_API_CALL();
    int error = check_list(num, arrays, "arrays");
    if (error == MXP_OK && num > 0) {
        error = mxn__check_given(variables, "variables");
    }
    for (int i = 0; i < num && error == MXP_OK; i++) {
        mxn_symbol *variable = NULL;
        error = mxn__symbol_get(variables[i], &variable);
        error = error != MXP_OK ? error : mxn_deferred_variable(arrays[i], variable);
    }
    return mxn__api_end(&call, error);
}

int MXNDArrayGetDeferredComputeSymbol(NDArrayHandle *output_handles, int num_outputs,
                                      SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *symbol = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = check_list(num_outputs, output_handles, "output_handles");
    }
    if (error == MXP_OK) {
        error =
            mxn_deferred_symbol((uint32_t)num_outputs, (mxn_array *const *)output_handles, &symbol);
    }
    return mxn__api_end(&call, mxn__symbol_hand_out(error, symbol, out));
}

int MXNDArrayClearDeferredCompute(NDArrayHandle *arrays, int num)
{
    MXN_API_CALL();
    int error = check_list(num, arrays, "arrays");
    for (int i = 0; i < num && error == MXP_OK; i++) {
        mxn_deferred_clear(arrays[i]);
    }
    mxn_deferred_forget();
    return mxn__api_end(&call, error);
}
