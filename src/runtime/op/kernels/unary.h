// SPDX-License-Identifier: Apache-2.0
// Functions of one number and their gradients. Private to op/.
#ifndef MXN_OP_KERNELS_UNARY_H
#define MXN_OP_KERNELS_UNARY_H

#include "runtime/op/kernels/kernels.h"

#define REAL(name, of_float, of_double) MXN_UNARY_##name,
#define ROUNDING(name, of_float, of_double) MXN_UNARY_##name,
#define WHOLE(name, of_real, of_whole) MXN_UNARY_##name,
#define PRODUCT(name) MXN_UNARY_##name,
#define GRADIENT(name, expression)
#define WHOLE_GRADIENT(name, of_real, of_whole)
enum {
#include "runtime/op/kernels/unary_functions.def"
    MXN_UNARY_COUNT
};
#undef REAL
#undef ROUNDING
#undef WHOLE
#undef PRODUCT
#undef GRADIENT
#undef WHOLE_GRADIENT

typedef void (*mxn_unary_function)(const void *from, void *to, size_t count);
typedef void (*mxn_unary_gradient)(const void *gradients, const void *values, void *to,
                                   size_t count);

typedef struct mxn_unary_kernels {
    // By the type it is computed in; null: there is none. `to` may be exactly `from`.
    mxn_unary_function of[MXN_UNARY_COUNT][MXN_DTYPE_COUNT];
    mxn_unary_gradient gradients[MXN_UNARY_COUNT][MXN_DTYPE_COUNT];
} mxn_unary_kernels;

MXN_EACH_WIDTH(mxn_unary_kernels, mxn__unary);

#endif
