// SPDX-License-Identifier: Apache-2.0
// Folder runtime/imperative/custom: calls of the program's own operators and functions.
//
// One run of an operator whose function is the program's: what it is given, the thread it runs on,
// and when it is over.
#ifndef MXN_IMPERATIVE_CUSTOM_CALL_H
#define MXN_IMPERATIVE_CUSTOM_CALL_H

#include "runtime/imperative/prepared.h"

typedef struct mxn_custom_call mxn_custom_call;

// At the push, when the outputs are there; `job` outlives the call, which takes its state over.
int mxn__custom_call_new(mxn_job *job, const mxn_binding *in, mxn_custom_call **call);
void mxn__custom_call_free(mxn_custom_call *call);  // null does nothing

// Inside the operation, which it completes when all the function has pushed on its arrays is over.
// `call` may be freed by then.
void mxn__custom_call_start(mxn_custom_call *call, mxn_completion *completion);

#endif
