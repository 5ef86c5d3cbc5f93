// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/fail.h"
#include "runtime/imperative/imperative.h"

int mxn_invoke_check_inputs(const mxn_params *params, uint32_t count, void *const *handles)
{
    int error = mxn_params_expect(params, count);
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        error = mxn_array_check(handles[i], "inputs");
        if (error == MXP_OK && mxn_array_is_none(handles[i])) {
            char buffer[64];
            error = mxp__fail(MXP_EINVAL,
                              "Operator %s: input %u (%s) has no shape yet: nothing was written to "
                              "it",
                              params->op->name, i, mxn_params_input_name(params, i, buffer));
        } else if (error != MXP_OK) {
            char buffer[64], detail[160];
            snprintf(detail, sizeof(detail), "%s", mxp_last_error());
            mxp__fail(error, "Operator %s: input %u (%s): %s", params->op->name, i,
                      mxn_params_input_name(params, i, buffer), detail);
        }
    }
    return error;
}
