// SPDX-License-Identifier: Apache-2.0
// Sums of values of any element type. Narrow floats (float16, bfloat16) are summed in float32 and
// rounded once at the end; whole numbers wrap; bools are or-ed. Private to kvstore/.
#ifndef MXN_KVSTORE_SUMS_H
#define MXN_KVSTORE_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/tensor/dtype.h"

// Whether the sum is made in another type than that of the values.
static inline bool mxn__sum_is_wide(int dtype)
{
    return dtype == MXN_FLOAT16 || dtype == MXN_BFLOAT16;
}
// Bytes of an element of the sum while it is made.
static inline size_t mxn__sum_size(int dtype)
{
    return mxn__sum_is_wide(dtype) ? sizeof(float) : mxn_dtype_size(dtype);
}

// The sum is the first value. The ranges do not overlap.
void mxn__sum_begin(int dtype, void *sum, const void *value, size_t count);
void mxn__sum_add(int dtype, void *sum, const void *value, size_t count);
// The value of a wide sum, rounded once.
void mxn__sum_round(int dtype, void *value, const void *sum, size_t count);

#endif
