// SPDX-License-Identifier: Apache-2.0
// MXNet's switches of NumPy's conventions.
#include "runtime/capi/numpy_mode.h"

#include <mxnet/c_api.h>

#include "runtime/capi/api_call.h"
#include "runtime/imperative/thread_mode.h"

enum { OFF = 0, THREAD = 1, GLOBAL = 2 };

static _Thread_local bool default_dtype;

int mxn__numpy_shape(void)
{
    return mxp_atomic_load(&mxn__numpy_shape_of_all) ? GLOBAL
           : mxn__mode.numpy_shape                   ? THREAD
                                                     : OFF;
}

int MXIsNumpyShape(int *curr)
{
    MXN_API_CALL();
    int error = mxn__check_given(curr, "curr");
    if (error == MXP_OK) {
        *curr = mxn__numpy_shape();
    }
    return mxn__api_end(&call, error);
}

int MXSetIsNumpyShape(int is_np_shape, int *prev)
{
    MXN_API_CALL();
    if (is_np_shape < OFF || is_np_shape > GLOBAL) {
        return mxn__api_end(&call,
                            mxp__fail(MXP_EINVAL,
                                      "Invalid value for parameter is_np_shape: %d, valid values "
                                      "are 0 (off), 1 (this thread), 2 (all threads)",
                                      is_np_shape));
    }
    if (prev != NULL) {
        *prev = mxn__numpy_shape();
    }
    // Turning it on for one thread leaves the others as they are; off is off for all.
    mxn__mode.numpy_shape = is_np_shape != OFF;
    if (is_np_shape != THREAD) {
        mxp_atomic_store(&mxn__numpy_shape_of_all, is_np_shape == GLOBAL);
    }
    return mxn__api_end(&call, MXP_OK);
}

int MXIsNumpyDefaultDtype(bool *curr)
{
    MXN_API_CALL();
    int error = mxn__check_given(curr, "curr");
    if (error == MXP_OK) {
        *curr = default_dtype;
    }
    return mxn__api_end(&call, error);
}

int MXSetIsNumpyDefaultDtype(bool dtype_flag, bool *prev)
{
    MXN_API_CALL();
    if (prev != NULL) {
        *prev = default_dtype;
    }
    default_dtype = dtype_flag;
    return mxn__api_end(&call, MXP_OK);
}
