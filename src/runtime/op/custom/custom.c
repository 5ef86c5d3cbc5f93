// SPDX-License-Identifier: Apache-2.0
// The family of custom operators: counts and gradients as the property says, and the calls of its
// functions. They have no kernels: who runs them looks at MXN_OP_CALLBACK.
#include "runtime/op/custom.h"

#include "base/fail.h"
#include "runtime/op/custom/custom_property.h"
#include "runtime/op/registry/gradient.h"

enum { FORWARD, BACKWARD, FUNCTION, FUNCTION_BACKWARD };  // variants
enum { TAG_IN = 0, TAG_OUT = 1, TAG_IN_GRADIENT = 2, TAG_OUT_GRADIENT = 3, TAG_STATE = 4 };

typedef int (*create_function)(const char *context, int count, unsigned **shapes, const int *ndims,
                               const int *dtypes, mxn_callback_list *op, void *state);
typedef int (*run_function)(int count, void **arrays, int *tags, const int *requests, int training,
                            void *state);
typedef int (*gradient_function)(int gradients, int inputs, void **arrays, const int *requests,
                                 int training, void *state);

static mxn_custom *custom_of(const mxn_params *params)
{
    return ((const mxn_custom_params *)(const void *)params->values)->custom;
}

static const mxn_custom *custom_in(const void *values)
{
    return ((const mxn_custom_params *)values)->custom;
}

// ---- counts -----------------------------------------------------------------------------------
static uint32_t forward_inputs(const void *values)
{
    return custom_in(values)->arguments + custom_in(values)->states;
}

static uint32_t forward_outputs(const void *values)
{
    return custom_in(values)->outputs;
}

static uint32_t backward_inputs(const void *values)
{
    return custom_in(values)->need_count + custom_in(values)->states;
}

static uint32_t backward_outputs(const void *values)
{
    return custom_in(values)->arguments;
}

static uint32_t function_backward_inputs(const void *values)
{
    const mxn_custom *custom = custom_in(values);
    return custom->outputs + (custom->depends ? custom->arguments : 0);
}

// The states come last, forward and backward.
static bool is_state(const mxn_params *params, uint32_t index)
{
    return index + custom_of(params)->states >= params->input_count;
}

// ---- gradients --------------------------------------------------------------------------------
static const mxn_gradient_step *gradient_of(const void *values)
{
    return custom_in(values)->steps;
}

int mxn_custom_function(uint32_t inputs, uint32_t outputs, const mxn_callback_list *callbacks,
                        bool numpy_shape, mxn_params **params)
{
    const mxn_op *op = NULL;
    mxn_custom_params values = {.op_type = ""};
    int error = mxn__custom_of_function(inputs, outputs, callbacks, &values.custom);
    if (error != 0) {
        goto out;
    }
    error = mxn_op_require("_CustomFunction", &op);
    if (error != 0) {
        goto out;
    }
    error = mxn__params_of(op, &values, inputs, numpy_shape, params);
out:
    mxn__custom_release(&values);  // the parameters have a share of their own
    return error;
}

// ---- what functions are given -----------------------------------------------------------------
typedef struct slot_list {
    mxn_custom_slot *slots;  // null: only counts
    uint32_t count;
} slot_list;

static void add_slots(slot_list *list, uint32_t count, int32_t first_operand, int tag)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list->slots != NULL) {
            int32_t operand = first_operand < 0 ? -1 : first_operand + (int32_t)i;
            list->slots[list->count] = (mxn_custom_slot){operand, tag};
        }
        list->count++;
    }
}

static void add_forward(slot_list *list, const mxn_custom *custom, const mxn_params *params)
{
    add_slots(list, custom->arguments, 0, TAG_IN);
    add_slots(list, custom->outputs, (int32_t)params->input_count, TAG_OUT);
    add_slots(list, custom->states, (int32_t)custom->arguments, TAG_STATE);
}

// What backward has not asked for is there, but empty.
static void add_backward(slot_list *list, const mxn_custom *custom, const mxn_params *params)
{
    add_slots(list, custom->outputs, -1, TAG_OUT_GRADIENT);
    add_slots(list, custom->arguments, -1, TAG_IN);
    add_slots(list, custom->outputs, -1, TAG_OUT);
    for (uint32_t i = 0; list->slots != NULL && i < custom->need_count; i++) {
        list->slots[custom->needs[i]].operand = (int32_t)i;
    }
    add_slots(list, custom->arguments, (int32_t)params->input_count, TAG_IN_GRADIENT);
    add_slots(list, custom->states, (int32_t)custom->need_count, TAG_STATE);
}

uint32_t mxn_custom_slots(const mxn_params *params, mxn_custom_slot *slots)
{
    const mxn_custom *custom = custom_of(params);
    slot_list list = {.slots = slots};
    switch (params->op->def->variant) {
    case FORWARD:
        add_forward(&list, custom, params);
        break;
    case BACKWARD:
        add_backward(&list, custom, params);
        break;
    default:
        add_slots(&list, custom->outputs, 0, TAG_OUT_GRADIENT);
        add_slots(&list, custom->arguments, (int32_t)params->input_count, TAG_IN_GRADIENT);
    }
    return list.count;
}

const char *mxn_custom_prefix(const mxn_params *params)
{
    const mxn_custom *custom = custom_of(params);
    return params->op->def->variant == FORWARD    ? custom->name
           : params->op->def->variant == BACKWARD ? custom->backward_prefix
                                                  : NULL;
}

// ---- calls ------------------------------------------------------------------------------------
static int ask_operator(const mxn_job *job, mxn_context context, const mxn_shape_lists *lists,
                        mxn_callback_list *made)
{
    const mxn_custom *custom = custom_of(job->params);
    void *state;
    create_function function =
        (create_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_OPERATOR, &state);
    char device[32];
    if (function == NULL ||
        function(mxn_context_text(context, device), (int)job->params->input_count,
                 (unsigned **)(void *)lists->shapes, lists->ndims, lists->types, made,
                 state) == 0) {
        return mxn__custom_failed(custom, "making of an operator");
    }
    return 0;
}

static int make_operator(const mxn_job *job, mxn_context context, mxn_call_state **state)
{
    uint32_t inputs = job->params->input_count;
    mxn_callback_list made = {0};
    mxn_shape_lists lists = {0};
    int error = inputs == 0 ? 0 : mxn__shape_lists_init(&lists, inputs);
    for (uint32_t i = 0; error == 0 && i < inputs; i++) {
        mxn__shape_lists_put(&lists, i, job->inputs[i].shape);
        lists.types[i] = job->inputs[i].dtype;
    }
    if (error == 0) {
        error = ask_operator(job, context, &lists, &made);
    }
    mxn__shape_lists_fini(&lists);
    return error != 0 ? error : mxn__custom_operator_new(&made, state);
}

static bool call_operator(const mxn_custom_operator *op, bool backward,
                          const mxn_custom_arguments *in)
{
    void *state;
    run_function function = (run_function)mxn__callback_at(
        &op->callbacks, backward ? MXN__OPERATOR_BACKWARD : MXN__OPERATOR_FORWARD, &state);
    return function != NULL && function((int)in->count, in->arrays, in->tags, in->requests,
                                        backward || in->training, state) != 0;
}

static bool call_function(const mxn_custom *custom, const mxn_custom_arguments *in)
{
    void *state;
    gradient_function function =
        (gradient_function)mxn__callback_at(&custom->callbacks, MXN__FUNCTION_BACKWARD, &state);
    return function != NULL && function((int)custom->outputs, (int)custom->arguments, in->arrays,
                                        in->requests, in->training, state) != 0;
}

bool mxn_custom_run(const mxn_params *params, const mxn_call_state *state,
                    const mxn_custom_arguments *arguments)
{
    int variant = params->op->def->variant;
    return variant == FUNCTION_BACKWARD
               ? call_function(custom_of(params), arguments)
               : call_operator((const mxn_custom_operator *)state, variant == BACKWARD, arguments);
}

// ---- the family -------------------------------------------------------------------------------
static const mxn_field fields[] = {
    {MXN_FIELD(mxn_custom_params, op_type, STRING, ""), .type_text = "string"},
    {0},
};

// For operators that a program cannot call: their parameters come from the recorded forward.
static int refuse(mxn_params *params, uint32_t count, const char *const *keys,
                  const char *const *values)
{
    (void)count;
    (void)keys;
    (void)values;
    return mxp__fail(MXP_ENOTSUP, "Operator %s is part of recorded graphs only", params->op->name);
}

#define SHARED                                                                               \
    .fields = fields, .params_bytes = sizeof(mxn_custom_params), .share = mxn__custom_share, \
    .release = mxn__custom_release

static const mxn_op_def table[] = {
    {
        .name = "Custom",
        .aliases = "_npi_Custom",
        .description = "Runs an operator registered by the program.",
        .inputs = "data[]",
        .flags = MXN_OP_CALLBACK | MXN_OP_STATE | MXN_OP_ADDS,
        .variant = FORWARD,
        .make = mxn__custom_make,
        .inputs_of = forward_inputs,
        .outputs_of = forward_outputs,
        .mutates_of = is_state,
        .make_state = make_operator,
        .shapes = mxn__custom_shapes,
        .types = mxn__custom_types,
        .gradient_of = gradient_of,
        SHARED,
    },
    {
        .name = "_backward_Custom",
        .description = "Runs the backward of an operator registered by the program.",
        .flags = MXN_OP_CALLBACK | MXN_OP_STATE | MXN_OP_ADDS | MXN_OP_BACKWARD | MXN_OP_SILENT,
        .variant = BACKWARD,
        .make = refuse,
        .inputs_of = backward_inputs,
        .outputs_of = backward_outputs,
        .mutates_of = is_state,
        SHARED,
    },
    {
        .name = "_CustomFunction",
        .description = "What a program has computed itself and has a backward for.",
        .flags = MXN_OP_NOT_EAGER | MXN_OP_SILENT,
        .variant = FUNCTION,
        .make = refuse,
        .inputs_of = backward_outputs,
        .outputs_of = forward_outputs,
        .gradient_of = gradient_of,
        SHARED,
    },
    {
        .name = "_backward_CustomFunction",
        .description = "Runs the backward that a program has for a function.",
        .flags = MXN_OP_CALLBACK | MXN_OP_ADDS | MXN_OP_BACKWARD | MXN_OP_SILENT,
        .variant = FUNCTION_BACKWARD,
        .make = refuse,
        .inputs_of = function_backward_inputs,
        .outputs_of = backward_outputs,
        SHARED,
    },
};

MXN_FAMILY(custom, table);
