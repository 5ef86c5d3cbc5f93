// SPDX-License-Identifier: Apache-2.0
// Cached operators that keep memory and operations between calls (flags static_alloc and
// static_shape). Private to graph/.
//
// The first call with arguments of certain shapes and types makes a program of the network
// (program.h), later ones only push it. On a tape a call is one node, `_CachedOp`; its backward is
// a program too. A call that is recorded has memory of its own until nobody can go back through it
// any more; then the next call has it.
//
//   static op      a network and its flags
//   static plan    its programs for one form of arguments: at most MXN_STATIC_PLANS
//   static run     memory for one plan: of a call that is recorded, or idle
//
// Thread rule: any thread may call one, several at once: they push one after the other. Ownership:
// it has nodes of its own; a tape holds it for as long as it goes back through it. Errors: 0 or a
// negative MXP_E code with the detail set.
#ifndef MXN_GRAPH_STATIC_OP_H
#define MXN_GRAPH_STATIC_OP_H

#include "runtime/graph/cached_flags.h"
#include "runtime/graph/cached_op.h"

enum { MXN_STATIC_PLANS = 16 };

typedef struct mxn_static_op mxn_static_op;

int mxn__static_op_new(const mxn_symbol *symbol, const mxn_cached_flags *flags, mxn_static_op **op);
void mxn__static_op_free(mxn_static_op *op);  // null does nothing

// As mxn_cached_op_call, whose checks have been made. *takes false: the network must be run call by
// call, because one of its operators cannot be prepared or it has been called in too many forms;
// nothing was pushed.
int mxn__static_op_call(mxn_static_op *op, const mxn_cached_call *call, bool *takes);

#endif
