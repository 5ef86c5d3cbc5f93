// SPDX-License-Identifier: Apache-2.0
// What operators and their arguments mean, in words. Private to op/.
#ifndef MXN_OP_REGISTRY_TEXTS_H
#define MXN_OP_REGISTRY_TEXTS_H

// Of an operator's argument, or of what it returns ("return"), or of the operator itself (""). Null
// if there is none.
const char *mxn__op_text(const char *op, const char *argument);

#endif
