// SPDX-License-Identifier: Apache-2.0
// Parameters that a thread has parsed lately, by what they were parsed from: a program gives the
// same texts over and over.
#ifndef MXN_CAPI_PARAMS_CACHE_H
#define MXN_CAPI_PARAMS_CACHE_H

#include "runtime/op/op.h"

// mxn_params_parse under the thread's switch of NumPy's shapes, with one reference.
int mxn__params_get(const mxn_op *op, int count, const char **keys, const char **values,
                    uint32_t inputs, mxn_params **params);

#endif
