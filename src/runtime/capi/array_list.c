// SPDX-License-Identifier: Apache-2.0
// Handles that come as a list: each is looked at before any of them is used.
#include "runtime/capi/array_list.h"

#include "runtime/capi/api_call.h"
#include "runtime/tensor/tensor.h"

int mxn__check_arrays(uint32_t count, NDArrayHandle *handles, const char *what, bool may_be_null)
{
    int error = count > 0 ? mxn__check_given(handles, what) : MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        if (handles[i] == NULL && may_be_null) {
            continue;
        }
        error = mxn_array_check(handles[i], what);
        if (error == MXP_OK && mxn_array_is_none(handles[i])) {
            error = mxp__fail(MXP_EINVAL, "%s[%u] has no shape yet", what, i);
        }
    }
    return error;
}
