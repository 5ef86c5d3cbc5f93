// SPDX-License-Identifier: Apache-2.0
// What kernels elsewhere must know of softmax and log_softmax. Private to op/ and its backends.
#ifndef MXN_OP_SOFTMAX_H
#define MXN_OP_SOFTMAX_H

#include "op/define.h"

// The sizes before, along and behind the axis. False: more than a plain softmax of a whole axis is
// asked for, or there are no elements.
bool mxn__softmax_describe(const mxn_job *job, int64_t sizes[3], bool *logarithm);

#endif
