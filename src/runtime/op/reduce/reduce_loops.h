// SPDX-License-Identifier: Apache-2.0
// Sums, products and extremes of whole numbers and truths, in loops of each type: what does not fit
// wraps, nothing is rounded. Private to op/.
#ifndef MXN_OP_REDUCE_REDUCE_LOOPS_H
#define MXN_OP_REDUCE_REDUCE_LOOPS_H

#include "runtime/op/kernels/reduce_whole.h"
#include "runtime/op/registry/declare.h"

// What a reduction of one type begins with where it is told nothing: 0, 1, the type's least and
// greatest number.
void mxn__reduce_begin(int kind, int32_t dtype, void *to, size_t count);

// Combines `count` numbers of `from` with those of `to`, one with each, or with `step` 0 all with
// the first one. Both have type `dtype`, which is no float. A sum of truths is whether one is true,
// a product whether all are.
void mxn__reduce_row(int kind, int32_t dtype, const void *from, void *to, int64_t step,
                     int64_t count);

#endif
