// SPDX-License-Identifier: Apache-2.0
// Arrays that take each of their dimensions from listed places of the same dimension of another
// one. Private to op/.
#ifndef MXN_OP_AXIS_LISTS_H
#define MXN_OP_AXIS_LISTS_H

#include "op/define.h"

enum { MXN_NOWHERE = -1 };  // a place: what is there is a constant

// Element (i, j, ...) of the large array is element (places[0][i], places[1][j], ...) of the small
// one, or the constant if one of these is MXN_NOWHERE.
typedef struct mxn_axis_lists {
    int32_t ndim;  // of both; ones may stand in front of an array's own dimensions
    int64_t small[MXN_DIMS_MAX];  // the small array's sizes
    int64_t count[MXN_DIMS_MAX];  // the large one's
    const int64_t *places[MXN_DIMS_MAX];
} mxn_axis_lists;

// Fills the large array, of any type. It has elements.
void mxn__lists_copy(const mxn_axis_lists *lists, const mxn_operand *small,
                     const mxn_operand *large, double constant);
// Fills the small array, float32 or float64, with what its elements of the large one add up to.
void mxn__lists_add(const mxn_axis_lists *lists, const mxn_operand *large,
                    const mxn_operand *small);

#endif
