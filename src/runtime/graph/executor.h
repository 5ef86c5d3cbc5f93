// SPDX-License-Identifier: Apache-2.0
// Executors: a network with arrays for its variables, run forwards and backwards.
//
// Binding checks that the arrays fit, and keeps views of them: what the program writes to them
// later is seen by the next forward. Forward is a call of a cached operator (cached_op.h) with
// these arrays, backward is autograd's of it, into the arrays for gradients; no tape of the
// program's own sees either, and the program's arrays are no variables of it. Outputs are new
// arrays after every forward. Each backward of one forward gives the same gradients.
//
// Thread rule: an executor belongs to one thread at a time. Ownership: it has nodes of its own, and
// shares memory with the arrays it was bound to. Order: as of its operators, pushed in a row; no
// call waits. Errors: 0 or a negative MXP_E code with the detail set, which names operator or
// variable; after a forward that failed there are the outputs of the one before, and no backward.
#ifndef MXN_GRAPH_EXECUTOR_H
#define MXN_GRAPH_EXECUTOR_H

#include "runtime/graph/cached_op.h"

typedef struct mxn_executor mxn_executor;

typedef struct mxn_binding_request {
    const mxn_symbol *symbol;
    mxn_context context;
    uint32_t argument_count;
    mxn_array *const *arguments;  // of MXN_LIST_ARGUMENTS, in that order, none of them `none`
    mxn_array *const *gradients;  // null ones: no gradient is wanted; null: of none
    const uint32_t *requests;  // MXN_NULL, MXN_WRITE, MXN_INPLACE (as write), MXN_ADD
    uint32_t auxiliary_count;
    mxn_array *const *auxiliary;  // of MXN_LIST_AUXILIARY
} mxn_binding_request;

// MXP_EINVAL: another number of arrays than variables, arrays on another device, shapes or types
// that do not fit, a request that is none.
int mxn_executor_bind(const mxn_binding_request *request, mxn_executor **executor);
void mxn_executor_free(mxn_executor *executor);  // null does nothing

// `training`: as autograd's switch.
int mxn_executor_forward(mxn_executor *executor, bool training);
// `count` 0: the gradient of each output is ones; else there is one array for each output, and null
// ones are ones. MXP_ESTATE: no forward has run. MXP_EINVAL: another count; one that does not fit.
int mxn_executor_backward(mxn_executor *executor, uint32_t count, mxn_array *const *head_gradients,
                          bool training);

uint32_t mxn_executor_output_count(const mxn_executor *executor);
// Borrowed until the next forward. Before the first one: of the right shape, with no values.
mxn_array *const *mxn_executor_outputs(const mxn_executor *executor);
const mxn_symbol *mxn_executor_symbol(const mxn_executor *executor);  // borrowed
// For people: the network, and in MXNet's two last lines how much memory it has of its own, which
// is that of its outputs, and that it asks for no workspace. MXP_ENOMEM.
int mxn_executor_describe(const mxn_executor *executor, mxp_strbuf *text);
// As mxn_cached_op_set_hook. Null: nobody is told.
void mxn_executor_set_hook(mxn_executor *executor, mxn_cached_op_hook hook, void *context,
                           bool inputs);

#endif
