// SPDX-License-Identifier: Apache-2.0
// Which axes go, and what that makes of shapes.
#include "runtime/op/loops/reduced_axes.h"

#include "base/fail.h"
#include "runtime/op/registry/infer.h"

int mxn__reduced_axes(const mxn_params *params, const mxn_tuple *axis, bool exclude, bool numpy,
                      int32_t ndim, bool reduced[MXN_DIMS_MAX])
{
    bool all = axis->count == MXN_TUPLE_ABSENT || (axis->count == 0 && !numpy);
    for (int32_t i = 0; i < ndim; i++) {
        reduced[i] = all;
    }
    for (int32_t i = 0; i < axis->count; i++) {
        int32_t at;
        int error = mxn__axis(params, axis->values[i], ndim, &at);
        if (error != 0) {
            return error;
        }
        if (reduced[at]) {
            return mxp__fail(MXP_EINVAL, "Operator %s: axis %d is named twice", params->op->name,
                             at);
        }
        reduced[at] = true;
    }
    for (int32_t i = 0; exclude && !all && i < ndim; i++) {
        reduced[i] = !reduced[i];
    }
    return 0;
}

void mxn__reduced_shape(const mxn_shape *in, const bool *reduced, bool keepdims, mxn_shape *result)
{
    *result = (mxn_shape){.ndim = 0};
    for (int32_t i = 0; i < in->ndim; i++) {
        if (!reduced[i] || keepdims) {
            result->dims[result->ndim++] = reduced[i] ? 1 : in->dims[i];
        }
    }
}

void mxn__reduced_steps(const mxn_shape *in, const bool *reduced, int64_t *steps, int64_t *count)
{
    int64_t step = 1;
    *count = 1;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        steps[i] = reduced[i] ? 0 : step;
        step *= reduced[i] ? 1 : in->dims[i];
        *count *= reduced[i] ? in->dims[i] : 1;
    }
}
