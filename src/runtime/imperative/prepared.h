// SPDX-License-Identifier: Apache-2.0
// Calls of operators that are made ready once and run many times: what a graph keeps of its nodes.
//
//   mxn_prepare     params, shapes, types -> prepared call: all shapes and types, the kernel and
//   its
//                   workspace, cost and shape text of the record
//   mxn_bind        prepared call, arrays -> bound call: one run, with its memory and variables
//   mxn_bound_push  bound call -> engine
//
// Neither binding nor pushing infers or looks for a kernel. mxn_invoke (imperative.h) is the three
// in a row for one run, but that the worker chooses the kernel, so that the program need not wait.
//
// What a prepared call holds for: the number of threads that kernels had then. A run under another
// number (mxn_thread_pool_resize) chooses a kernel anew inside its operation: values are right,
// only the preparation is lost. NumPy's switch is the parameters' (mxn_params.numpy_shape), never
// the thread's: under the other switch it is another call, of mxn_params_under. Preparing runs
// nothing, starts no thread, and leaves the calling thread's number of OpenMP threads as it is.
//
// What cannot be prepared: an operator without an operation of its own (MXN_OP_DIRECT), such as a
// copy between devices. When its turn comes a graph invokes it (mxn_invoke) with its planned
// arrays, requests and scope; it pushes there and then, so order is that of all pushes.
//
// A bound call has no priority: the engine runs kernels in the order in which they become ready.
// What must overtake others, such as a store's copies, is pushed with mxn_push_options.priority.
//
// Ownership: a prepared call holds its parameters and is reference-counted; a bound call holds its
// prepared one. The arrays are the caller's: until the push they must stay as they were bound, from
// then on they may be released. Thread rule: a prepared call is immutable, any thread may bind it,
// several at once; a bound call is one thread's. Order: a bound call counts its arrays' variables
// from the push on. Errors: 0 or a negative MXP_E code with the detail set, which names the
// operator; what goes wrong in the kernel surfaces at the next wait.
#ifndef MXN_IMPERATIVE_PREPARED_H
#define MXN_IMPERATIVE_PREPARED_H

#include "runtime/imperative/imperative.h"

typedef struct mxn_prepared mxn_prepared;
typedef struct mxn_bound mxn_bound;

// What is known of a call before it has arrays.
typedef struct mxn_signature {
    mxn_params *params;
    const mxn_tensor_type *inputs;  // params->input_count of them, all known
    const mxn_tensor_type
        *outputs;  // params->output_count, shape null where unknown; null: none known
    const uint32_t *requests;  // as in mxn_invocation
    mxn_context context;
    bool training;
} mxn_signature;

// One reference. MXP_EINVAL: inference refuses the inputs. MXP_ENOTSUP: the operator has no
// operation of its own (MXN_OP_DIRECT), or is part of recorded graphs only.
int mxn_prepare(const mxn_signature *signature, mxn_prepared **prepared);
void mxn_prepared_retain(mxn_prepared *prepared);
void mxn_prepared_release(mxn_prepared *prepared);  // null does nothing

// Shape and type of an output, which live as long as the prepared call.
mxn_tensor_type mxn_prepared_output(const mxn_prepared *prepared, uint32_t index);
uint64_t mxn_prepared_workspace(const mxn_prepared *prepared);  // bytes
bool mxn_prepared_adds(const mxn_prepared *prepared);  // whether a request is MXN_ADD

typedef struct mxn_binding {
    mxn_array *const *inputs;
    mxn_array *const *outputs;  // null only where the request is MXN_NULL
    mxn_call_state **state;  // as in mxn_invocation
    uint32_t scope;  // 0: the pushing thread's current one
    uint32_t node;  // as in mxn_invocation
} mxn_binding;

// MXP_EINVAL: an array is not of the shape or type that the call was prepared for, or has none yet.
// The same arrays may be bound again, outputs may share memory with inputs.
int mxn_bind(mxn_prepared *prepared, const mxn_binding *binding, mxn_bound **bound);
// Takes `bound` over, whatever comes of it. `push_ticks`: 0, or the begin of the caller's API call.
int mxn_bound_push(mxn_bound *bound, uint64_t push_ticks);
// The push as work, for who pushes it otherwise: in a bulk template, or with more flags. The work
// takes `bound` over: its deleter frees it. Templates may run it as often as they are pushed,
// because the next run of a bound call that writes something waits for the one before.
void mxn_bound_work(mxn_bound *bound, mxn_work *work);
void mxn_bound_free(mxn_bound *bound);  // one that is not pushed after all; null does nothing

#endif
