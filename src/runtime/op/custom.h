// SPDX-License-Identifier: Apache-2.0
// Custom operators: operators whose inference, forward and backward are functions of the program.
// `Custom` and `_backward_Custom` run those registered by name, `_backward_CustomFunction` the
// backward of a function whose forward the program has run itself. Who runs an operator with
// MXN_OP_CALLBACK asks here what the program's function is to be given, and calls it through here.
//
//   a creator     registered under a name; makes, from parameters, a
//   property      lists, inference; one for each mxn_params; makes, from shapes and types, an
//   operator      forward and backward; the state of one forward, which its backward is given
//
// All of them are tables of callbacks that return 0 for failure. Each table's delete is called
// once, by whoever lets go of it last.
#ifndef MXN_OP_CUSTOM_H
#define MXN_OP_CUSTOM_H

#include "runtime/op/op.h"

typedef struct mxn_callback_list {  // MXNet's MXCallbackList
    int count;
    int (**functions)(void);
    void **contexts;
} mxn_callback_list;

typedef int (*mxn_custom_creator)(const char *op_type, int count, const char **keys,
                                  const char **values, mxn_callback_list *property);

// Replaces an earlier one of the name; what that has made lives on.
int mxn_custom_register(const char *name, mxn_custom_creator creator);

// Parameters of _CustomFunction, for a node of a recorded graph. `callbacks`: backward and delete;
// copied. They belong to the parameters from the call on, also if it fails.
int mxn_custom_function(uint32_t inputs, uint32_t outputs, const mxn_callback_list *callbacks,
                        bool numpy_shape, mxn_params **params);

// ---- running one ------------------------------------------------------------------------------
// One array the function is given.
typedef struct mxn_custom_slot {
    int32_t operand;  // among inputs and, after them, outputs; -1: an empty array
    int tag;  // 0 input, 1 output, 2 input gradient, 3 output gradient, 4 auxiliary
} mxn_custom_slot;

// `slots` null: only counts.
uint32_t mxn_custom_slots(const mxn_params *params, mxn_custom_slot *slots);

// What records of the operations it pushes begin with: "MyOp", "_backward_MyOp", null for none.
// Lives as long as `params`.
const char *mxn_custom_prefix(const mxn_params *params);

// What the function is given, in the order of the slots. The arrays are the function's from then
// on.
typedef struct mxn_custom_arguments {
    uint32_t count;
    void **arrays;
    int *tags;
    const int *requests;  // of the written ones
    bool training;
} mxn_custom_arguments;

// Calls the function. `state`: the run's, null of a function. False: it has failed, and said
// nothing about it here.
bool mxn_custom_run(const mxn_params *params, const mxn_call_state *state,
                    const mxn_custom_arguments *arguments);

#endif
