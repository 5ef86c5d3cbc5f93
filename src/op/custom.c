// SPDX-License-Identifier: Apache-2.0
// The family of custom operators: counts, inference and gradients as the property says, and the
// calls of its functions. They have no kernels: who runs them looks at MXN_OP_CALLBACK.
#include "op/custom.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "op/custom_property.h"
#include "op/gradient.h"
#include "op/infer.h"

enum { FORWARD, BACKWARD, FUNCTION, FUNCTION_BACKWARD };  // variants
enum { TAG_IN = 0, TAG_OUT = 1, TAG_IN_GRADIENT = 2, TAG_OUT_GRADIENT = 3, TAG_STATE = 4 };

typedef int (*shapes_function)(int count, int *ndims, int **shapes, void *state);
typedef int (*types_function)(int count, int *types, void *state);
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

// The states come last, forward and backward.
static bool is_state(const mxn_params *params, uint32_t index)
{
    return index + custom_of(params)->states >= params->input_count;
}

// ---- inference --------------------------------------------------------------------------------
// What an inference is about, in the order of the callbacks: arguments, outputs, states.
static uint32_t input_at(const mxn_custom *custom, uint32_t position)
{
    return position < custom->arguments ? position : position - custom->outputs;
}

static bool is_output(const mxn_custom *custom, uint32_t position)
{
    return position >= custom->arguments && position < custom->arguments + custom->outputs;
}

static uint32_t total_of(const mxn_custom *custom)
{
    return custom->arguments + custom->outputs + custom->states;
}

typedef struct shape_lists {
    int **shapes;  // may be replaced by the callback
    int *ndims, *types, *dims;
    size_t bytes;
} shape_lists;

static int shape_lists_init(shape_lists *lists, uint32_t count)
{
    lists->bytes = count * (sizeof(int *) + sizeof(int) * (2 + MXN_DIMS_MAX));
    lists->shapes = mxp__alloc(lists->bytes);
    if (lists->shapes == NULL) {
        return mxp__fail_memory("the shapes of a custom operator");
    }
    lists->ndims = (int *)(lists->shapes + count);
    lists->types = lists->ndims + count;
    lists->dims = lists->types + count;
    for (uint32_t i = 0; i < count; i++) {
        lists->shapes[i] = lists->dims + (size_t)i * MXN_DIMS_MAX;
    }
    return 0;
}

static void put_shape(shape_lists *lists, uint32_t at, const mxn_shape *shape)
{
    lists->ndims[at] = shape->ndim;
    for (int32_t i = 0; i < shape->ndim; i++) {
        lists->shapes[at][i] = (int)shape->dims[i];
    }
}

static int take_shape(const mxn_shapes *shapes, const mxn_custom *custom, const shape_lists *lists,
                      uint32_t at)
{
    int64_t wide[MXN_DIMS_MAX];
    mxn_shape shape;
    for (int i = 0; i < lists->ndims[at] && i < MXN_DIMS_MAX; i++) {
        wide[i] = lists->shapes[at][i];
    }
    int error = mxn_shape_set(&shape, lists->ndims[at], wide, custom->name);
    if (error != 0) {
        return error;
    }
    if (is_output(custom, at)) {
        uint32_t output = at - custom->arguments;
        return mxn__shape_merge(shapes->params, "output", output, shapes->outputs[output], &shape);
    }
    uint32_t input = input_at(custom, at);
    return mxn__shape_merge(shapes->params, "input", input, shapes->inputs[input], &shape);
}

static int ask_shapes(const mxn_shapes *shapes, const mxn_custom *custom, shape_lists *lists)
{
    void *context;
    uint32_t total = total_of(custom);
    shapes_function function =
        (shapes_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_SHAPES, &context);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        put_shape(lists, i, shapes->inputs[i]);
    }
    if (function == NULL || function((int)total, lists->ndims, lists->shapes, context) == 0) {
        return mxn__custom_failed(custom, "inference of shapes");
    }
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < total; i++) {
        error = take_shape(shapes, custom, lists, i);
    }
    return error;
}

static int infer_shapes(const mxn_shapes *shapes)
{
    const mxn_custom *custom = custom_of(shapes->params);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        if (!mxn_shape_known(shapes->inputs[i])) {
            return 0;
        }
    }
    shape_lists lists = {0};
    int error = shape_lists_init(&lists, total_of(custom));
    if (error == 0) {
        error = ask_shapes(shapes, custom, &lists);
        mxp__free(lists.shapes, lists.bytes);
    }
    return error;
}

static int take_types(const mxn_types *types, const mxn_custom *custom, const int *list)
{
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < total_of(custom); i++) {
        uint32_t output = i - custom->arguments, input = input_at(custom, i);
        error = mxn_dtype_check(list[i]);
        if (error == 0) {
            error = is_output(custom, i) ? mxn__type_merge(types->params, "output", output,
                                                           &types->outputs[output], list[i])
                                         : mxn__type_merge(types->params, "input", input,
                                                           &types->inputs[input], list[i]);
        }
    }
    return error;
}

static int infer_types(const mxn_types *types)
{
    const mxn_custom *custom = custom_of(types->params);
    void *context;
    types_function function =
        (types_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_TYPES, &context);
    if (function == NULL) {
        return mxn__types_alike(types);
    }
    uint32_t total = total_of(custom);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        if (types->inputs[i] == MXN_DTYPE_NONE) {
            return 0;
        }
    }
    int *list = mxp__alloc(total * sizeof(int));
    if (list == NULL) {
        return mxp__fail_memory("the types of a custom operator");
    }
    for (uint32_t i = 0; i < total; i++) {
        list[i] = i < custom->arguments ? types->inputs[i] : MXN_DTYPE_NONE;
    }
    int error = function((int)total, list, context) == 0
                    ? mxn__custom_failed(custom, "inference of types")
                    : take_types(types, custom, list);
    mxp__free(list, total * sizeof(int));
    return error;
}

// ---- gradients --------------------------------------------------------------------------------
static const mxn_gradient_step *gradient_of(const void *values)
{
    return custom_in(values)->steps;
}

int mxn_custom_function(uint32_t inputs, uint32_t outputs, const mxn_callback_list *callbacks,
                        mxn_params **params)
{
    const mxn_op *op = NULL;
    mxn_custom_params values = {.op_type = ""};
    int error = mxn__custom_of_function(inputs, outputs, callbacks, &values.custom);
    error = error != 0 ? error : mxn_op_require("_CustomFunction", &op);
    error = error != 0 ? error : mxn__params_of(op, &values, inputs, params);
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
        add_slots(&list, custom->arguments, (int32_t)custom->outputs, TAG_IN_GRADIENT);
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
static int ask_operator(const mxn_job *job, mxn_context context, const shape_lists *lists,
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

static int operator_new(const mxn_job *job, mxn_context context, mxn_custom_operator **op)
{
    uint32_t inputs = job->params->input_count;
    mxn_callback_list made = {0};
    shape_lists lists = {0};
    int error = inputs == 0 ? 0 : shape_lists_init(&lists, inputs);
    for (uint32_t i = 0; error == 0 && i < inputs; i++) {
        put_shape(&lists, i, job->inputs[i].shape);
        lists.types[i] = job->inputs[i].dtype;
    }
    error = error != 0 ? error : ask_operator(job, context, &lists, &made);
    mxp__free(lists.shapes, lists.bytes);
    return error != 0 ? error : mxn__custom_operator_new(&made, op);
}

static int next_operator(const mxn_job *job, mxn_context context, mxn_custom_operator **op)
{
    mxn_custom *custom = custom_of(job->params);
    int error = operator_new(job, context, op);
    if (error != 0) {
        return error;
    }
    __atomic_fetch_add(&(*op)->refs, 1u, __ATOMIC_RELAXED);
    mxp__lock(&custom->lock);
    mxn_custom_operator *before = custom->current;
    custom->current = *op;
    mxp__unlock(&custom->lock);
    mxn_custom_operator_release(before);
    return 0;
}

int mxn_custom_operator_get(const mxn_job *job, mxn_context context, mxn_custom_operator **op)
{
    *op = NULL;
    mxn_custom *custom = custom_of(job->params);
    int variant = job->params->op->def->variant;
    if (variant == FORWARD) {
        return next_operator(job, context, op);
    }
    if (variant == BACKWARD) {
        mxp__lock(&custom->lock);
        *op = custom->current;
        __atomic_fetch_add(&(*op)->refs, 1u, __ATOMIC_RELAXED);
        mxp__unlock(&custom->lock);
    }
    return 0;
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

bool mxn_custom_run(const mxn_params *params, mxn_custom_operator *op,
                    const mxn_custom_arguments *arguments)
{
    return op == NULL ? call_function(custom_of(params), arguments)
                      : call_operator(op, params->op->def->variant == BACKWARD, arguments);
}

// ---- the family -------------------------------------------------------------------------------
static const mxn_field fields[] = {
    {MXN_FIELD(mxn_custom_params, op_type, STRING, ""), .type_text = "string"},
    {0},
};

// Their parameters are those of a forward.
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
        .flags = MXN_OP_CALLBACK | MXN_OP_ADDS,
        .variant = FORWARD,
        .make = mxn__custom_make,
        .inputs_of = forward_inputs,
        .outputs_of = forward_outputs,
        .mutates_of = is_state,
        .shapes = infer_shapes,
        .types = infer_types,
        .gradient_of = gradient_of,
        SHARED,
    },
    {
        .name = "_backward_Custom",
        .description = "Runs the backward of an operator registered by the program.",
        .flags = MXN_OP_CALLBACK | MXN_OP_ADDS | MXN_OP_BACKWARD | MXN_OP_SILENT,
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
        .inputs_of = forward_outputs,
        .outputs_of = backward_outputs,
        SHARED,
    },
};

MXN_FAMILY(custom, table);
