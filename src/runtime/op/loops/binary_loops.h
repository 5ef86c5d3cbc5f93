// SPDX-License-Identifier: Apache-2.0
// Functions of two numbers, shared by operators on two arrays and on an array and a number. Private
// to op/.
#ifndef MXN_OP_LOOPS_BINARY_LOOPS_H
#define MXN_OP_LOOPS_BINARY_LOOPS_H

#include "runtime/op/registry/declare.h"

#define WRAPS(name, of_float, of_whole) MXN_##name##_OF,
#define NUMBER(name, of_float, of_double, of_signed, of_unsigned) MXN_##name##_OF,
#define REAL(name, of_float, of_double) MXN_##name##_OF,
#define BITS(name, expression) MXN_##name##_OF,
#define TRUTH(name, expression) MXN_##name##_OF,
enum {
#include "runtime/op/loops/binary_functions.def"
    MXN_BINARY_COUNT,
    MXN_RPOWER_OF = MXN_BINARY_COUNT  // only a gradient, from the output
};
#undef WRAPS
#undef NUMBER
#undef REAL
#undef BITS
#undef TRUTH

// ---- loops of one function ----------------------------------------------------------------------
__extension__ typedef __int128 mxn_wide;  // holds int64 and uint64

// to[i] = function(left[i], right[i]); `to` may be exactly `left` or `right`.
typedef void (*mxn_row_function)(const void *left, const void *right, void *to, int64_t count);

typedef struct mxn_function_rows {
    mxn_row_function of[MXN_DTYPE_COUNT];  // by the type it is computed in; null: there is none
    mxn_row_function of_wide;  // null unless it makes truths, which all its rows then write
} mxn_function_rows;

// ---- rows of any types --------------------------------------------------------------------------
// A row of numbers; step 0 is one number again and again.
typedef struct mxn_row {
    const void *data;
    int64_t step;
    int32_t dtype;
} mxn_row;

// to[i] = function(a[i], b[i]), `to` dense. Computed in the type of both rows, in float64 where
// that is no whole one although both rows are; truths of int64 and uint64 are exact.
void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count);

// MXP_EINVAL if the result is of whole numbers and a power is negative.
int mxn__check_powers(const mxn_job *job, const mxn_operand *powers);

#endif
