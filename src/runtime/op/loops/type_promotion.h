// SPDX-License-Identifier: Apache-2.0
// The type of two operands. Private to op/.
#ifndef MXN_OP_LOOPS_TYPE_PROMOTION_H
#define MXN_OP_LOOPS_TYPE_PROMOTION_H

#include "runtime/op/registry/declare.h"

// What numpy's operators make of operands of two types, both known: the least type that holds both.
// Whole numbers beside a float take its type, as in MXNet 2.0, where numpy looks for one that holds
// them; uint64 beside a signed type becomes float64, as numpy has it.
int32_t mxn__type_of_two(int32_t a, int32_t b);

// ---- inference for two inputs and an output -----------------------------------------------------
int mxn__types_of_two(const mxn_types *types);  // whole numbers divided are float32
int mxn__types_of_two_float(const mxn_types *types);  // whole numbers become float32
int mxn__types_of_two_whole(const mxn_types *types);  // floats are refused
// Truths, which an output of any type that is there already takes as 0 and 1.
int mxn__types_truth(const mxn_types *types);

#endif
