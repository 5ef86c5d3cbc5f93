// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/shape: operators that move values and compute nothing.
//
// The codes of numpy's reshape in MXNet: -1 is what is left over, -2 copies a dimension, -3 skips
// one of size 1, -4 copies all that remain, -5 joins two, -6 splits one into the two numbers that
// follow. Private to op/.
#ifndef MXN_OP_SHAPE_NUMPY_RESHAPE_H
#define MXN_OP_SHAPE_NUMPY_RESHAPE_H

#include "runtime/op/registry/declare.h"

// What the codes make of the shape of input 0, which is known; whether it has as many elements is
// for the caller to see. `reverse`: dimensions and codes are matched from the right. MXP_EINVAL: a
// code does not fit.
int mxn__numpy_reshape(const mxn_shapes *shapes, const mxn_tuple *codes, bool reverse,
                       mxn_shape *result);

#endif
