// SPDX-License-Identifier: Apache-2.0
// What the logarithm of a softmax needs of rows of floats, in vectors. Private to op/.
#ifndef MXN_OP_EXP_SUM_H
#define MXN_OP_EXP_SUM_H

#include <stdint.h>

// The largest of `count` numbers, of which there is at least one.
float mxn__largest(const float *x, int64_t count);
// The sum of exp((x - most) * scale), of which none is above 1, with 12 right digits.
double mxn__exp_sum(const float *x, int64_t count, float most, double scale);

#endif
