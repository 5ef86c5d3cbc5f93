// SPDX-License-Identifier: Apache-2.0
// The plain product of two matrices: whole numbers wrap in their type, of truths it says whether
// any pair is true.
#include <string.h>

#include "runtime/op/linalg/product.h"
#include "runtime/op/loops/loops.h"

#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))
#define T float
#define NAME(x) x##_float
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_double
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#undef MULTIPLY_ADD

// Unsigned, also where both are narrow.
#define MULTIPLY_ADD(sum, a, b) ((sum) + 1u * (a) * (b))
#define T uint8_t
#define NAME(x) x##_8
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#define T uint16_t
#define NAME(x) x##_16
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#define T uint32_t
#define NAME(x) x##_32
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#define T uint64_t
#define NAME(x) x##_64
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#undef MULTIPLY_ADD

#define MULTIPLY_ADD(sum, a, b) ((sum) | ((a) & (b)))
#define T bool
#define NAME(x) x##_truths
#include "runtime/op/linalg/multiply_kernels.h"
#undef T
#undef NAME
#undef MULTIPLY_ADD

int mxn__multiply_reference(const mxn_job *job, int32_t dtype, const mxn_product *p)
{
    static void (*const functions[MXN_DTYPE_COUNT])(const mxn_product *p) = {
        [MXN_FLOAT32] = multiply_float, [MXN_FLOAT64] = multiply_double,
        [MXN_BOOL] = multiply_truths,   [MXN_UINT8] = multiply_8,
        [MXN_INT8] = multiply_8,        [MXN_UINT16] = multiply_16,
        [MXN_INT16] = multiply_16,      [MXN_UINT32] = multiply_32,
        [MXN_INT32] = multiply_32,      [MXN_UINT64] = multiply_64,
        [MXN_INT64] = multiply_64,
    };
    if (functions[dtype] == NULL) {
        return mxn__type_refused(job, dtype);
    }
    functions[dtype](p);
    return 0;
}
