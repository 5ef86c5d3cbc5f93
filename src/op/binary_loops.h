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
    MXN_MOD_OF,
    MXN_POWER_OF,
    MXN_MAXIMUM_OF,
    MXN_MINIMUM_OF,
    MXN_HYPOT_OF,
    MXN_EQUAL_OF,
    MXN_NOT_EQUAL_OF,
    MXN_GREATER_OF,
    MXN_GREATER_EQUAL_OF,
    MXN_LESSER_OF,
    MXN_LESSER_EQUAL_OF,
    MXN_LOGICAL_AND_OF,
    MXN_LOGICAL_OR_OF,
    MXN_LOGICAL_XOR_OF,
    MXN_BINARY_COUNT
};

// A row of numbers; step 0 is one number again and again.
typedef struct mxn_row {
    const void *data;
    int64_t step;
    int32_t dtype;
} mxn_row;

// to[i] = function(a[i], b[i]), `to` dense.
void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count);

#endif
