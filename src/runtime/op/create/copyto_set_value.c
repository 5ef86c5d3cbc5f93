// SPDX-License-Identifier: Apache-2.0
// Operators that do all by themselves and appear in the profile under other names: copies between
// arrays and filling with one value.
#include "base/fail.h"
#include "runtime/op/registry/declare.h"

static int copy_to(const mxn_direct_call *call)
{
    const mxn_push_options options = {.scope = call->scope};
    return mxn_array_copy(call->inputs[0], call->outputs[0], &options);
}

typedef struct set_params {
    float src;
} set_params;

static const mxn_field set_fields[] = {
    {MXN_FIELD(set_params, src, FLOAT, NULL), .type_text = "real_t"},
    {0},
};

static int set_value(const mxn_direct_call *call)
{
    const mxn_params *params = call->params;
    if (mxn_array_is_none(call->outputs[0])) {
        return mxp__fail(MXP_EINVAL, "Operator %s: it needs an output array to fill",
                         params->op->name);
    }
    const set_params *values = (const void *)params->values;
    const mxn_push_options options = {.scope = call->scope};
    return mxn_array_fill(call->outputs[0], (double)values->src, &options);
}

static const mxn_op_def table[] = {
    {
        .name = "_copyto",
        .aliases = "_npi_copyto",
        .inputs = "data:NDArray",
        .description = "Copies into the output, whatever its device and type.",
        .flags = MXN_OP_DIRECT,
        .gradient = MXN_USES_NONE("_copy"),
        .direct = copy_to,
    },
    {
        .name = "_set_value",
        .description = "Fills the output with one value.",
        .fields = set_fields,
        .params_bytes = sizeof(set_params),
        .flags = MXN_OP_DIRECT,
        .direct = set_value,
    },
};

MXN_FAMILY(copyto_set_value, table);
