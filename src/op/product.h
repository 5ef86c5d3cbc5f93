// SPDX-License-Identifier: Apache-2.0
// Products of matrices as kernels see them: the operators that are made of them say which, a kernel
// computes one at a time. Private to op/ and its backends.
#ifndef MXN_OP_PRODUCT_H
#define MXN_OP_PRODUCT_H

#include "op/define.h"

// c (m x n) = or += a (m x k) b (k x n); a and b may lie transposed: then a is k x m, b is n x k.
typedef struct mxn_product {
    const void *a, *b;
    void *c;
    int64_t m, n, k;
    bool a_transposed, b_transposed;
    bool adds;
} mxn_product;

typedef int (*mxn_multiplier)(const mxn_job *job, int32_t dtype, const mxn_product *product);

// Run a job of an operator, and of its gradient; every product goes to `multiply`.
int mxn__dot_run(mxn_job *job, mxn_multiplier multiply);
int mxn__dot_run_back(mxn_job *job, mxn_multiplier multiply);
int mxn__batch_dot_run(mxn_job *job, mxn_multiplier multiply);
int mxn__fully_connected_run(mxn_job *job, mxn_multiplier multiply);
int mxn__fully_connected_run_back(mxn_job *job, mxn_multiplier multiply);

#endif
