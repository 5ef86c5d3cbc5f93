// SPDX-License-Identifier: Apache-2.0
// Cached operators: a network that is called like one operator.
//
// A call runs the network's operators on arrays, one after the other, as if the program had called
// each: where the thread records, each is on its tape, and backward is the tape's. Up to
// `forward_bulk_size` of them become one operation of the engine, in which each member is timed,
// unless the environment forbids bulks (mxn_bulk_allowed). Values that nobody takes any more are
// released on the way.
//
// With `static_alloc` what the first call with arguments of certain shapes has found out is kept:
// shapes, kernels, and the memory of all values between inputs and outputs, which values that are
// not needed at the same time share. With `static_shape` the engine's operations are kept too, in
// bulks of class symbolic; operators on arrays that change from call to call are pushed one by one.
// On a tape such a call is one node, `_CachedOp`; its gradients have none of their own. Networks
// with an operator that cannot be prepared (custom ones, copies between devices) run as without the
// flags. None of them changes a result. `inline_limit` has no effect.
//
// Thread rule: a cached operator is immutable but for its hook; any thread may call it, several at
// once. Ownership: it has nodes of its own; arrays are the caller's. Errors: 0 or a negative MXP_E
// code with the detail set, which names operator or variable; operators before the one that fails
// have been pushed.
#ifndef MXN_GRAPH_CACHED_OP_H
#define MXN_GRAPH_CACHED_OP_H

#include "runtime/graph/graph.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_cached_op mxn_cached_op;

// Keys: static_alloc, static_shape, is_dynamic (booleans), inline_limit, forward_bulk_size,
// backward_bulk_size (whole numbers), data_indices, param_indices (lists of whole numbers),
// subgraph. MXP_EINVAL: an unknown key (lists the valid ones), a value that is none.
// MXP_EVALUE: MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN or its kin is ill-formed.
int mxn_cached_op_new(const mxn_symbol *symbol, uint32_t count, const char *const *keys,
                      const char *const *values, mxn_cached_op **op);
void mxn_cached_op_free(mxn_cached_op *op);  // no call may be under way; null does nothing

uint32_t mxn_cached_op_outputs(const mxn_cached_op *op);
const mxn_symbol *mxn_cached_op_symbol(const mxn_cached_op *op);  // borrowed

// Told of each array as soon as it is pushed: "fc_output" and the operator's name. With
// MXN_TELL_INPUTS also of what the operator takes: "fc_data" and so on, "relu_input0" where MXNet
// has no better name; with MXN_TELL_VARIABLES of each variable among them before that, by its own
// name. The array comes with a reference.
enum { MXN_TELL_OUTPUTS, MXN_TELL_INPUTS, MXN_TELL_VARIABLES };
typedef void (*mxn_cached_op_hook)(const char *name, const char *op, mxn_array *array,
                                   void *context);
void mxn_cached_op_set_hook(mxn_cached_op *op, mxn_cached_op_hook hook, void *context, int what);

typedef struct mxn_cached_call {
    mxn_array *const *inputs;  // of MXN_LIST_INPUTS, in that order
    uint32_t input_count;
    // mxn_cached_op_outputs() of them; null ones are made, with one reference. One that shares
    // memory with an input, or with another output, is written when all values are there.
    mxn_array **outputs;
    uint64_t push_ticks;  // 0, or the begin of the caller's API call
} mxn_cached_call;

// MXP_EINVAL: another number of inputs, inputs on several devices, an input without a shape; or
// static_shape without static_alloc. On failure outputs made here are gone again.
int mxn_cached_op_call(const mxn_cached_op *op, const mxn_cached_call *call);

#endif
