// SPDX-License-Identifier: Apache-2.0
// Arrays that take each of their dimensions from pieces of the same dimension of another one.
// Private to op/.
#ifndef MXN_OP_LOOPS_AXIS_PIECES_H
#define MXN_OP_LOOPS_AXIS_PIECES_H

#include "runtime/op/registry/declare.h"

enum { MXN_NOWHERE = -1 };  // a place: what is there is a constant

// `count` elements along an axis of the large array: those at `place`, place + step, ... of the
// small one's axis. Of a constant the step is 0.
typedef struct mxn_piece {
    int64_t place, step, count;
} mxn_piece;

typedef struct mxn_axis_pieces {
    int32_t ndim;  // of both; ones may precede an array's own dimensions
    int64_t small[MXN_DIMS_MAX];  // the small array's sizes
    int64_t count[MXN_DIMS_MAX];  // the large one's
    const void *layout;
    // The piece of an axis from element i on, and `before`, if it is not null, the one that ends
    // there.
    mxn_piece (*piece)(const void *layout, int32_t axis, int64_t i, const mxn_piece *before);
} mxn_axis_pieces;

// Fills the large array, of any type. It has elements.
void mxn__pieces_copy(const mxn_axis_pieces *pieces, const mxn_operand *small,
                      const mxn_operand *large, const mxn_number *constant);
// Fills the small array with what its elements of the large one, of the same type, add up to.
// MXP_EINVAL: its type has no sums.
int mxn__pieces_add(const mxn_job *job, const mxn_axis_pieces *pieces, const mxn_operand *large,
                    const mxn_operand *small);

#endif
