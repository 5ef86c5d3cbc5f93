// SPDX-License-Identifier: Apache-2.0
// Enumerations of element types, as parameters `dtype` have them. Private to op/.
#ifndef MXN_OP_REGISTRY_DTYPE_CHOICES_H
#define MXN_OP_REGISTRY_DTYPE_CHOICES_H

#include "runtime/op/registry/declare.h"

extern const mxn_word mxn__words_all_types[];  // every type
extern const mxn_word mxn__words_none_or_types[];  // 'None' and every type
extern const mxn_word mxn__words_none_or_older[];  // 'None' and those of 1.x without bool
extern const mxn_word mxn__words_none_or_reals[];  // 'None', float16, float32, float64
extern const mxn_word mxn__words_maybe_reals[];  // None (without quotes) and the same
extern const mxn_word mxn__words_maybe_reduced[];  // None and what sums come in
extern const mxn_word mxn__words_maybe_numbers[];  // the same without bool
extern const mxn_word mxn__words_maybe_types[];  // None and every type
extern const mxn_word mxn__words_older[];  // those of 1.x without bool

#endif
