// SPDX-License-Identifier: Apache-2.0
// Axes that go in a reduction, for the families that reduce. Private to op/.
#ifndef MXN_OP_LOOPS_REDUCED_AXES_H
#define MXN_OP_LOOPS_REDUCED_AXES_H

#include "runtime/op/registry/declare.h"

// Marks them: those of `axis`, or all but those; none given is all (in NumPy's, an empty tuple is
// none). MXP_EINVAL: out of range, or named twice.
int mxn__reduced_axes(const mxn_params *params, const mxn_tuple *axis, bool exclude, bool numpy,
                      int32_t ndim, bool reduced[MXN_DIMS_MAX]);
void mxn__reduced_shape(const mxn_shape *in, const bool *reduced, bool keepdims, mxn_shape *result);
// The steps of the result along the input's dimensions, 0 where it is reduced, and how many
// elements go into one.
void mxn__reduced_steps(const mxn_shape *in, const bool *reduced, int64_t *steps, int64_t *count);

#endif
