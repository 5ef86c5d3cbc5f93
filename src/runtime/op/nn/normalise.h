// SPDX-License-Identifier: Apache-2.0
// What operators that normalise along an axis have in common. Private to op/nn.
#ifndef MXN_OP_NN_NORMALISE_H
#define MXN_OP_NN_NORMALISE_H

#include "runtime/op/loops/loops.h"

// Inference of input 0 and output 0, which are alike. Of an input with a shape: *axis is the axis
// counted from the front, and `along` the shape of one number for each place on it; else *axis
// is -1.
int mxn__normalised_shapes(const mxn_shapes *shapes, int32_t wanted, int32_t *axis,
                           mxn_shape *along);
// An input of a job seen along the axis; refused unless it is float32 or float64.
int mxn__normalised_view(const mxn_job *job, uint32_t input, int32_t axis, mxn_axis_view *view);

#endif
