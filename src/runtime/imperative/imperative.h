// SPDX-License-Identifier: Apache-2.0
// Folder runtime/imperative: invoking an operator: parameters, inference, outputs, push.
//
// An invocation runs one operator now: checks, inference, outputs, and the push to the engine.
// Calls that run many times are prepared once: prepared.h. Nothing here knows about gradients:
// autograd/ records around it.
//
// Thread rule: any thread may invoke; no other may use an output without a shape meanwhile.
// Ownership: parameters and arrays are the caller's, who may release them once it returns. Order:
// operations on an array run in the order in which they were pushed. Errors: 0 or a negative MXP_E
// code with the detail set, which names the operator; what goes wrong in the kernel surfaces at the
// next wait.
#ifndef MXN_IMPERATIVE_IMPERATIVE_H
#define MXN_IMPERATIVE_IMPERATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/op/op.h"
#include "runtime/tensor/tensor.h"

// What is known of an input or output that is no array yet.
typedef struct mxn_tensor_type {
    const mxn_shape *shape;  // null: unknown
    int32_t dtype;
} mxn_tensor_type;

typedef struct mxn_invocation {
    mxn_params *params;
    mxn_array *const *inputs;  // params->input_count of them
    // params->output_count of them. Null ones are made here, with one reference; `none` ones become
    // what they must be; others must be of the right shape and type.
    mxn_array **outputs;
    const uint32_t *requests;  // MXN_NULL, MXN_WRITE, MXN_ADD for each output; null: MXN_WRITE. An
                               // output of MXN_NULL stays as it is, null too
    const mxn_tensor_type *known_outputs;  // of outputs that are null; null: nothing known
    // Where the state of the run stands (MXN_OP_STATE): if null, that of a forward is put there
    // with a reference, else it is used. Null: nobody keeps it.
    mxn_call_state **state;
    bool training;
    // An error of who wrote an output before ends there, unless it is added to: mxn_work. Else it
    // stays with the output, as in MXNet.
    bool overwrites;
    uint32_t scope;  // 0: the thread's current one
    uint32_t node;  // name id of the graph's node that it is of, for errors; 0: none
    uint32_t category;  // of memory made for outputs: MXN_MEMORY_*
    uint64_t push_ticks;  // 0, or the begin of the caller's API call
} mxn_invocation;

// On failure nothing was pushed and outputs made here are gone again. With NaiveEngine also the
// error of the kernel.
int mxn_invoke(const mxn_invocation *invocation);

// The check of handles from outside: MXP_EHANDLE, or MXP_EINVAL for one without a shape yet; names
// operator, argument and position.
int mxn_invoke_check_inputs(const mxn_params *params, uint32_t count, void *const *handles);

#endif
