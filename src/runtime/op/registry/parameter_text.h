// SPDX-License-Identifier: Apache-2.0
// Single parameters: from text into the operator's struct, and how their types are called. Private
// to op/.
#ifndef MXN_OP_REGISTRY_PARAMETER_TEXT_H
#define MXN_OP_REGISTRY_PARAMETER_TEXT_H

#include "base/strbuf.h"
#include "runtime/op/registry/declare.h"

// Bytes beside the struct that parsing `text` may take.
size_t mxn__field_extra(const mxn_field *field, const char *text);
// Parses into `values` at the field's place; what does not fit there goes to `*extra`, which moves
// on. MXP_EINVAL names the operator, the parameter, the type and the value.
int mxn__field_parse(const mxn_op *op, const mxn_field *field, const char *text, void *values,
                     char **extra);
// "int, optional, default='1'"
void mxn__field_type(const mxn_field *field, mxp_strbuf *text);

#endif
