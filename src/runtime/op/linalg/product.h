// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/linalg: products of matrices.
//
// Products of matrices as kernels see them: the operators that are made of them say which, a kernel
// computes one at a time. Private to op/ and its backends.
#ifndef MXN_OP_LINALG_PRODUCT_H
#define MXN_OP_LINALG_PRODUCT_H

#include "runtime/op/registry/declare.h"

// c (m x n) = or += a (m x k) b (k x n); a and b may lie transposed: then a is k x m, b is n x k.
typedef struct mxn_product {
    const void *a, *b;
    void *c;
    int64_t m, n, k;
    bool a_transposed, b_transposed;
    bool adds;
} mxn_product;

typedef int (*mxn_multiplier)(const mxn_job *job, int32_t dtype, const mxn_product *product);

// The plain C reference, of every type but the narrow floats, which become float32 before.
int mxn__multiply_reference(const mxn_job *job, int32_t dtype, const mxn_product *product);

// Parameters of dot and batch_dot; NumPy's operators have none, then all are false.
typedef struct mxn_dot_params {
    bool transpose_a, transpose_b;
    int32_t forward_stype;
} mxn_dot_params;

extern const mxn_field mxn__dot_fields[];
mxn_dot_params mxn__dot_params_of(const mxn_params *params);

// Of dimensions begin .. end - 1.
static inline int64_t mxn__dims_product(const mxn_shape *shape, int32_t begin, int32_t end)
{
    int64_t size = 1;
    for (int32_t i = begin; i < end; i++) {
        size *= shape->dims[i];
    }
    return size;
}

// Run a job of an operator, and of its gradient; every product goes to `multiply`.
int mxn__dot_run(mxn_job *job, mxn_multiplier multiply);
int mxn__dot_run_back(mxn_job *job, mxn_multiplier multiply);
int mxn__batch_dot_run(mxn_job *job, mxn_multiplier multiply);
int mxn__fully_connected_run(mxn_job *job, mxn_multiplier multiply);
int mxn__fully_connected_run_back(mxn_job *job, mxn_multiplier multiply);

#endif
