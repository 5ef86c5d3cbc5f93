// SPDX-License-Identifier: Apache-2.0
// The plain product of two matrices: whole numbers wrap in their type, of truths it says whether
// any pair is true.
#include <string.h>

#include "runtime/op/linalg/product.h"
#include "runtime/op/loops/loops.h"

// ADDS(sum, a, b) adds the product of a and b to the sum.
#define MULTIPLY(name, type, ADDS)                                                             \
    static void multiply_##name(const mxn_product *p)                                          \
    {                                                                                          \
        const type *a = p->a, *b = p->b;                                                       \
        for (int64_t i = 0; i < p->m; i++) {                                                   \
            type *restrict row = (type *)p->c + i * p->n;                                      \
            if (!p->adds) {                                                                    \
                memset(row, 0, (size_t)p->n * sizeof(type));                                   \
            }                                                                                  \
            for (int64_t l = 0; l < p->k && !p->b_transposed; l++) {                           \
                const type factor = p->a_transposed ? a[l * p->m + i] : a[i * p->k + l];       \
                const type *restrict from = b + l * p->n;                                      \
                for (int64_t j = 0; j < p->n; j++) {                                           \
                    ADDS(row[j], factor, from[j]);                                             \
                }                                                                              \
            }                                                                                  \
            for (int64_t j = 0; j < p->n && p->b_transposed; j++) {                            \
                const type *from = b + j * p->k;                                               \
                type sum = 0;                                                                  \
                for (int64_t l = 0; l < p->k; l++) {                                           \
                    ADDS(sum, (p->a_transposed ? a[l * p->m + i] : a[i * p->k + l]), from[l]); \
                }                                                                              \
                row[j] += sum;                                                                 \
            }                                                                                  \
        }                                                                                      \
    }
#define ADDS_REAL(sum, a, b) sum += a * b
#define ADDS_WHOLE(sum, a, b) sum += 1u * a * b
#define ADDS_TRUTH(sum, a, b) sum |= a & b
MULTIPLY(float, float, ADDS_REAL)
MULTIPLY(double, double, ADDS_REAL)
MULTIPLY(8, uint8_t, ADDS_WHOLE)
MULTIPLY(16, uint16_t, ADDS_WHOLE)
MULTIPLY(32, uint32_t, ADDS_WHOLE)
MULTIPLY(64, uint64_t, ADDS_WHOLE)
MULTIPLY(truths, bool, ADDS_TRUTH)

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
