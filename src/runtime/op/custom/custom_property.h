// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/custom: operators of the program's own, as the registry sees them.
//
// What is kept with the parameters of a custom operator. Private to op/.
#ifndef MXN_OP_CUSTOM_CUSTOM_PROPERTY_H
#define MXN_OP_CUSTOM_CUSTOM_PROPERTY_H

#include "runtime/op/custom.h"
#include "runtime/op/registry/declare.h"

// Positions in MXNet's tables of callbacks.
enum {
    MXN__PROPERTY_DELETE = 0,
    MXN__PROPERTY_ARGUMENTS = 1,
    MXN__PROPERTY_OUTPUTS = 2,
    MXN__PROPERTY_STATES = 3,
    MXN__PROPERTY_SHAPES = 4,
    MXN__PROPERTY_NEEDS = 5,
    MXN__PROPERTY_OPERATOR = 6,
    MXN__PROPERTY_TYPES = 7,
    MXN__OPERATOR_DELETE = 0,
    MXN__OPERATOR_FORWARD = 1,
    MXN__OPERATOR_BACKWARD = 2,
    MXN__FUNCTION_BACKWARD = 0,
    MXN__FUNCTION_DELETE = 1,
    MXN__FUNCTION_DEPENDS = 2
};

// The state of a run: the program's operator.
typedef struct mxn_custom_operator {
    mxn_call_state state;  // first: the state is the operator
    mxn_callback_list callbacks;  // a copy
} mxn_custom_operator;

typedef struct mxn_custom {
    mxp_refs refs;  // structs of parameters
    uint32_t arguments, outputs, states;
    bool depends;  // of a function: its gradient takes the inputs, to be recorded with them
    int delete_index;
    mxn_callback_list callbacks;  // a copy; of a function its own
    char *name, *backward_prefix;
    int *needs;  // positions in (output gradients, arguments, outputs) that backward takes
    uint32_t need_count;
    char *takes;  // the same and the states, as a step of a gradient says it
    mxn_gradient_step steps[2];
} mxn_custom;

// The struct of the family's parameters.
typedef struct mxn_custom_params {
    const char *op_type;
    mxn_custom *custom;
} mxn_custom_params;

// Hooks of mxn_op_def.
int mxn__custom_make(mxn_params *params, uint32_t count, const char *const *keys,
                     const char *const *values);
void mxn__custom_share(void *values);
void mxn__custom_release(void *values);

// One that stands for a function; owns `callbacks`, also on failure.
int mxn__custom_of_function(uint32_t inputs, uint32_t outputs, const mxn_callback_list *callbacks,
                            mxn_custom **custom);

// With one reference; owns `callbacks`, also on failure.
int mxn__custom_operator_new(const mxn_callback_list *callbacks, mxn_call_state **state);

// A callback of the table by position, null if it has none, and its context.
typedef void (*mxn_any_function)(void);
mxn_any_function mxn__callback_at(const mxn_callback_list *list, int index, void **context);

// MXP_ESTATE: "Custom operator NAME: its CALLBACK has failed".
int mxn__custom_failed(const mxn_custom *custom, const char *callback);

// ---- inference --------------------------------------------------------------------------------
// Shapes and types as callbacks take them.
typedef struct mxn_shape_lists {
    int **shapes;  // may be replaced by the callback
    int *ndims, *types, *dims;
    size_t bytes;
} mxn_shape_lists;

int mxn__shape_lists_init(mxn_shape_lists *lists, uint32_t count);
void mxn__shape_lists_fini(mxn_shape_lists *lists);
void mxn__shape_lists_put(mxn_shape_lists *lists, uint32_t at, const mxn_shape *shape);

int mxn__custom_shapes(const mxn_shapes *shapes);
int mxn__custom_types(const mxn_types *types);

#endif
