// SPDX-License-Identifier: Apache-2.0
// What the record of an operator says beyond its times. Private to imperative/.
#ifndef MXN_IMPERATIVE_INVOKE_RECORD_H
#define MXN_IMPERATIVE_INVOKE_RECORD_H

#include "runtime/op/op.h"

// The id of "float32[2,3],float32[3]->float32[2,3]".
uint32_t mxn__shape_string(const mxn_job *job);

// What memory of the operator's outputs is called: its name as a plain string.
mxp_name mxn__output_name(const mxn_op *op);

#endif
