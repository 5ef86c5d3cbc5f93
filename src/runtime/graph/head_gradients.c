// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/head_gradients.h"

#include "base/fail.h"

static bool takes(const mxn_gradient_call *call, uint32_t output)
{
    for (uint32_t i = 0; i < call->params->input_count; i++) {
        if (call->takes[i].kind == MXN_FROM_GRADIENT && call->takes[i].index == output) {
            return true;
        }
    }
    return false;
}

// A gradient that cannot be told is an error of the backward, not of this question.
static bool is_read(const mxn_graph_output *head)
{
    const mxn_gradient *gradient;
    if (head->node->op == NULL || mxn_params_gradient(head->node->params, &gradient) != MXP_OK) {
        return true;
    }
    for (uint32_t i = 0; i < gradient->count; i++) {
        if (takes(&gradient->calls[i], head->index)) {
            return true;
        }
    }
    return gradient->count == 0;
}

int mxn__head_gradients(const mxn_symbol *symbol, mxn_array *const *outputs, mxn_array **heads)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < symbol->count && heads[i] == NULL && error == MXP_OK; i++) {
        const mxn_array *like = outputs[i];
        const mxn_tag tag = {mxp_string("head_grad"), 0, MXN_MEMORY_GRADIENT};
        error = mxn_array_new(&like->shape, like->dtype, mxn_array_context(like), &tag, true,
                              &heads[i]);
        if (error == MXP_OK && is_read(&symbol->outputs[i])) {
            error = mxn_array_fill(heads[i], 1.0, NULL);
        }
    }
    for (uint32_t i = 0; i < symbol->count && error != MXP_OK; i++) {
        mxn_array_release(heads[i]);
        heads[i] = NULL;
    }
    return error;
}
