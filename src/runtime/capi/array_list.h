// SPDX-License-Identifier: Apache-2.0
// The check of arrays that come as a list.
#ifndef MXN_CAPI_ARRAY_LIST_H
#define MXN_CAPI_ARRAY_LIST_H

#include <mxnet/c_types.h>

// Every handle is an array with a shape; null ones are fine if `may_be_null`. The error names the
// list and the position.
int mxn__check_arrays(uint32_t count, NDArrayHandle *handles, const char *what, bool may_be_null);

#endif
