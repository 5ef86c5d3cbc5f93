// SPDX-License-Identifier: Apache-2.0
// What a network does with arguments of certain shapes and types, made ready: its operators as
// prepared calls in their order, the values they take and give, and the memory these share. Private
// to graph/.
//
// A forward program is made from a schedule, a backward program from a forward one. Neither knows
// arrays: program_run.h gives it some and pushes it.
//
// What a backward takes of a forward stays in its memory until a later run of the forward writes
// it; no value of a backward shares memory with it. So one forward may have several backwards.
//
// Thread rule: immutable once made. Errors: 0 or a negative MXP_E code with the detail set.
// MXP_ENOTSUP: an operator cannot be prepared; the network has to be run call by call.
#ifndef MXN_GRAPH_PROGRAM_H
#define MXN_GRAPH_PROGRAM_H

#include "runtime/graph/memory_plan.h"
#include "runtime/graph/schedule.h"
#include "runtime/imperative/fusion.h"

#define MXN_NO_VALUE UINT32_MAX

enum {
    MXN_VALUE_OWN,  // in planned memory
    MXN_VALUE_INPUT,  // of the network: its variable `index`
    MXN_VALUE_OUTPUT,  // of the network
    MXN_VALUE_INNER,  // of fused steps, which alone see it
    // Of backwards:
    MXN_VALUE_FORWARD,  // what the forward has in its value `index`
    MXN_VALUE_HEAD,  // the gradient of output `index`
    MXN_VALUE_GRADIENT  // the gradient of input `index`
};

typedef struct mxn_program_value {
    mxn_shape shape;
    int32_t dtype;
    uint8_t kind;
    bool is_kept;  // of a forward: for its backward
    bool is_checked;  // of a forward's value: the backward takes what it was then
    uint32_t index;
    uint32_t tenant;  // of an own value
    bool is_first;  // likewise: written wholly, over nothing that its step takes
} mxn_program_value;

typedef struct mxn_program_step {
    mxn_prepared *call;
    mxn_params *params;  // of the call
    const mxn_graph_node *node;  // that it runs, or goes back through; null: none. Borrowed
    uint32_t scope, name;  // of that node; 0: none
    uint32_t first_operand;
    // Of the first of steps that run as one (fusion.h): how many, and the values in the fusion's
    // order. Of others 1.
    uint32_t run_count;
    mxn_fusion *fusion;  // a reference
    uint32_t first_fused, fused_count;  // among `fused`
} mxn_program_step;

typedef struct mxn_program {
    mxn_program_value *values;
    mxn_program_step *steps;
    uint32_t *operands;  // of all steps, inputs before outputs: values, or MXN_NO_VALUE
    uint32_t *fused;  // values of all fusions
    mxn_tenant *tenants;  // of a backward: those of its forward come first
    mxn_slots slots;  // likewise
    size_t value_count, step_count, operand_count, tenant_count, fused_count;
    size_t value_capacity, step_capacity, operand_capacity, tenant_capacity, fused_capacity;
} mxn_program;

// What programs are made for.
typedef struct mxn_program_form {
    const mxn_tensor_type *inputs;  // of the network's variables
    mxn_context context;
    bool training, numpy_shape;
    bool is_recorded;  // a backward will follow
} mxn_program_form;

// On failure *program is empty.
int mxn__program_forward(const mxn_schedule *schedule, const mxn_program_form *form,
                         mxn_program *program);

typedef struct mxn_gradient_form {
    const uint32_t *requests;  // how the gradient of each input is written: MXN_NULL, WRITE, ADD
    const bool *heads;  // whether there is a gradient of each output
} mxn_gradient_form;

int mxn__program_backward(const mxn_program *forward, const mxn_program_form *form,
                          const mxn_gradient_form *gradients, mxn_program *program);
void mxn__program_fini(mxn_program *program);  // an empty one is fine

// ---- making -----------------------------------------------------------------------------------
// *id: the new value's number.
int mxn__program_add_value(mxn_program *program, const mxn_program_value *value, uint32_t *id);

typedef struct mxn_program_call {
    mxn_params *params;
    const mxn_graph_node *node;
    uint32_t scope;
    const uint32_t *inputs;
    uint32_t *outputs;  // MXN_NO_VALUE: a new own value, whose number is filled in
    const uint32_t *requests;  // of outputs; one of MXN_NULL stays without a value; null: MXN_WRITE
    const mxn_tensor_type *known_outputs;  // null: none
} mxn_program_call;

// Appends a step. Outputs that are values already get their shapes and types if they have none.
int mxn__program_add_step(mxn_program *program, const mxn_program_form *form,
                          const mxn_program_call *call);
// Gives own values their tenants and these their slots; the steps count from `first_step`.
int mxn__program_plan_memory(mxn_program *program, uint32_t first_step);

static inline const uint32_t *mxn__step_inputs(const mxn_program *program, size_t step)
{
    return program->operands + program->steps[step].first_operand;
}
static inline const uint32_t *mxn__step_outputs(const mxn_program *program, size_t step)
{
    return mxn__step_inputs(program, step) + program->steps[step].params->input_count;
}

#endif
