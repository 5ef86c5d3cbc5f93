// SPDX-License-Identifier: Apache-2.0
// Runs an operator and its gradients twice: with float32, which fast kernels take, and with
// float64, which only the plain C reference takes. Both must agree.
#ifndef TESTS_KERNEL_CHECK_H
#define TESTS_KERNEL_CHECK_H

#include <stdint.h>

typedef struct kernel_case {
    const char *op;
    const char *const *params;  // key, value, ..., null
    int ndim;  // of the first input; shapes of the others follow from it
    const int64_t *dims;
    double tolerance;  // of a number around 1; 0: 1e-4
} kernel_case;

// Write and add requests, memory that is aligned and memory that is not.
void kernel_check(const kernel_case *one);

#endif
