// SPDX-License-Identifier: Apache-2.0
// Arrays that share memory with one that a recorded operator has written to. What is recorded of an
// array says nothing of others on its memory. So the operator leaves its node's number with memory
// that several arrays show. An array that knows of no node so new has values whose gradients would
// be lost, and is refused as an input. Private to autograd/.
#ifndef MXN_AUTOGRAD_OTHER_ARRAYS_H
#define MXN_AUTOGRAD_OTHER_ARRAYS_H

#include "runtime/autograd/tape.h"

// `node` has written to an array that was there before.
void mxn__others_note(const mxn_array *output, const mxn_node *node);
// MXP_EINVAL: an input has values that were written through another array while recording.
int mxn__others_check(const mxn_params *params, mxn_array *const *inputs);
// The same for outputs that are given, none of which is part of a graph itself.
int mxn__others_check_outputs(const mxn_params *params, mxn_array *const *inputs,
                              mxn_array *const *outputs);
// A graph was forgotten: what was written so far are values without a past.
void mxn__others_forget(void);

#endif
