// SPDX-License-Identifier: Apache-2.0
// Whether shapes follow NumPy: rank 0 is a scalar and 0 an empty dimension. Off, rank 0 is what an
// array without a shape shows.
#ifndef MXN_CAPI_NUMPY_MODE_H
#define MXN_CAPI_NUMPY_MODE_H

// 0 off, 1 on for this thread, 2 on for all.
int mxn__numpy_shape(void);

#endif
