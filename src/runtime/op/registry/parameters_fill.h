// SPDX-License-Identifier: Apache-2.0
// The struct of an operator's parameters, filled from its defaults and from the text of a call. For
// parameters.c.
#ifndef MXN_OP_REGISTRY_PARAMETERS_FILL_H
#define MXN_OP_REGISTRY_PARAMETERS_FILL_H

#include "runtime/op/op.h"

typedef struct mxn_pairs {
    uint32_t count;
    const char *const *keys, *const *values;
} mxn_pairs;

static inline size_t mxn__params_values_bytes(const mxn_op *op)
{
    return (op->params_bytes + 7u) & ~7u;
}

// What lies after the struct: strings and lists that are given.
size_t mxn__params_extra_bytes(const mxn_op *op, const mxn_pairs *given);

// `params` has its operator, its number of inputs (or MXN_INPUTS_UNKNOWN), and space for struct and
// extra bytes. MXP_EINVAL: an unknown, ill-formed or missing parameter, which is named.
int mxn__params_fill(const mxn_op *op, const mxn_pairs *given, mxn_params *params);
// Numbers of inputs and outputs, of a struct that is filled. MXP_EINVAL: too many.
int mxn__params_fill_counts(const mxn_op *op, mxn_params *params);

#endif
