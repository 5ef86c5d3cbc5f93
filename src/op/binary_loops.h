// SPDX-License-Identifier: Apache-2.0
// Functions of two numbers, shared by operators on two arrays and on an array and a number. Private
// to op/.
#ifndef MXN_OP_BINARY_LOOPS_H
#define MXN_OP_BINARY_LOOPS_H

#include "op/define.h"

enum {
    MXN_ADD_OF,
    MXN_SUB_OF,
    MXN_MUL_OF,
    MXN_DIV_OF,
    MXN_MOD_OF,  // 0 where the divisor is
    MXN_REMAINDER_OF,  // as numpy has it
    MXN_POWER_OF,
    MXN_MAXIMUM_OF,
    MXN_MINIMUM_OF,
    MXN_HYPOT_OF,
    MXN_ARCTAN2_OF,
    MXN_FMAX_OF,
    MXN_FMIN_OF,
    MXN_LOGADDEXP_OF,
    MXN_RPOWER_OF,  // only a gradient, from the output
    MXN_FLOOR_DIVIDE_OF,
    MXN_EQUAL_OF,
    MXN_NOT_EQUAL_OF,
    MXN_GREATER_OF,
    MXN_GREATER_EQUAL_OF,
    MXN_LESSER_OF,
    MXN_LESSER_EQUAL_OF,
    MXN_LOGICAL_AND_OF,
    MXN_LOGICAL_OR_OF,
    MXN_LOGICAL_XOR_OF,
    MXN_BITWISE_AND_OF,
    MXN_BITWISE_OR_OF,
    MXN_BITWISE_XOR_OF,
    MXN_BINARY_COUNT
};

// A row of numbers; step 0 is one number again and again.
typedef struct mxn_row {
    const void *data;
    int64_t step;
    int32_t dtype;
} mxn_row;

// to[i] = function(a[i], b[i]), `to` dense. Computed in the type of both rows, in float64 where that
// is no whole one although both rows are; truths of int64 and uint64 are exact.
void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count);

// MXP_EINVAL if the result is of whole numbers and a power is negative.
int mxn__check_powers(const mxn_job *job, const mxn_operand *powers);

// ---- gradients ----------------------------------------------------------------------------------
// A row of g, a and b of one type, float32 or float64. The gradient of a (side 0) or b (side 1)
// goes to `to`, or is added to `sums` where that input was repeated.
typedef struct mxn_gradient_row {
    const void *g, *a, *b;
    int64_t a_step, b_step, to_step;
    void *to;
    double *sums;
    int64_t count;
} mxn_gradient_row;

void mxn__binary_gradient(int function, uint32_t side, int32_t dtype, const mxn_gradient_row *row);

#endif
