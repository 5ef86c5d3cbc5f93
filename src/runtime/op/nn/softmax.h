// SPDX-License-Identifier: Apache-2.0
// What kernels and operators elsewhere must know of softmax and log_softmax. Private to op/ and its
// backends.
#ifndef MXN_OP_NN_SOFTMAX_H
#define MXN_OP_NN_SOFTMAX_H

#include "runtime/op/loops/loops.h"

// softmax of the first input, stored in the first output; both are float32 or float64.
int mxn__softmax_along(const mxn_job *job, mxn_axis_view view);

// The sizes before, along and after the axis. False: more than a plain softmax of a whole axis is
// asked for, or there are no elements. There is none for the logarithm: what oneDNN makes of it has
// five right digits.
bool mxn__softmax_describe(const mxn_job *job, int64_t sizes[3]);

#endif
