// SPDX-License-Identifier: Apache-2.0
// Runs operators through the engine, and checks gradients against differences, for tests.
#ifndef TESTS_OP_RUN_H
#define TESTS_OP_RUN_H

#include "runtime/op/op.h"

enum { OP_RUN_MAX = 16 };  // inputs, outputs

// An array of float64 (or `dtype`) with the given values; null values: numbers in 0.5 .. 1.5 that
// depend on `seed` only, no two alike.
mxn_array *op_array(int dtype, int ndim, const int64_t *dims, const double *values, uint64_t seed);
// Its values as doubles; room for all of them.
void op_values(const mxn_array *array, double *values);

// Runs the operator; parameters are key, value, ..., null. Outputs that are null are made; the
// others are written, or added to with `request` MXN_ADD. Gives the error of whatever failed.
int op_run(const char *name, const char *const *parameters, uint32_t count,
           mxn_array *const *inputs, mxn_array **outputs, uint32_t request);
int op_run_params(mxn_params *params, mxn_array *const *inputs, mxn_array **outputs,
                  uint32_t request, bool training);

// Fails the test unless the gradients of the operator are what differences say, for each input
// whose bit is in `mask`; gradients of the other inputs must be zero or absent.
void op_check_gradient(const char *name, const char *const *parameters, uint32_t count,
                       mxn_array *const *inputs, uint32_t mask);

// The same of the gradient itself: that its own gradient, by all its inputs, is what differences
// say. The gradient must be one call.
void op_check_second_gradient(const char *name, const char *const *parameters, uint32_t count,
                              mxn_array *const *inputs);

#endif
