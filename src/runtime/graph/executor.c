// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/executor.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/graph/head_gradients.h"

struct mxn_executor {
    mxn_cached_op *op;
    mxn_context context;
    uint32_t variable_count, output_count;
    const mxn_graph_node **variables;  // in the order of MXN_LIST_INPUTS, borrowed
    bool *is_auxiliary;  // of each variable
    mxn_array **inputs;  // views of the program's arrays, which are autograd's variables
    mxn_array **outputs;
    mxn_array **heads;  // gradients of outputs where none are given: none before the first backward
    bool wants_gradients;
    bool has_run;  // forward, since outputs are there
};

// ---- variables --------------------------------------------------------------------------------
static int take_memory(mxn_executor *e)
{
    e->variables = mxp__alloc(e->variable_count * sizeof *e->variables + 1);
    e->is_auxiliary = mxp__alloc(e->variable_count + 1);
    e->inputs = mxp__alloc(e->variable_count * sizeof *e->inputs + 1);
    e->outputs = mxp__alloc(e->output_count * sizeof *e->outputs + 1);
    e->heads = mxp__alloc(e->output_count * sizeof *e->heads + 1);
    return e->variables != NULL && e->is_auxiliary != NULL && e->inputs != NULL &&
                   e->outputs != NULL && e->heads != NULL
               ? MXP_OK
               : mxp__fail_memory("an executor");
}

static int list_variables(mxn_executor *e, const mxn_walk *walk)
{
    bool *is_auxiliary = mxp__alloc(walk->count + 1);
    if (is_auxiliary == NULL) {
        return mxp__fail_memory("an executor");
    }
    int error = mxn__variables(walk, MXN_LIST_AUXILIARY, is_auxiliary);
    for (size_t i = 0, next = 0; error == MXP_OK && i < walk->count; i++) {
        if (walk->nodes[i]->op == NULL) {
            e->is_auxiliary[next] = is_auxiliary[i];
            e->variables[next++] = walk->nodes[i];
        }
    }
    mxp__free(is_auxiliary, walk->count + 1);
    return error;
}

static int find_variables(mxn_executor *e)
{
    const mxn_symbol *symbol = mxn_cached_op_symbol(e->op);
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    e->output_count = symbol->count;
    for (size_t i = 0; i < walk.count; i++) {
        e->variable_count += walk.nodes[i]->op == NULL;
    }
    error = take_memory(e);
    if (error == MXP_OK) {
        error = list_variables(e, &walk);
    }
    mxn__walk_fini(&walk);
    return error;
}

static int check_array(const mxn_executor *e, const mxn_array *array)
{
    char is[32], wanted[32];
    const mxn_context context = mxn_array_context(array);
    if (mxn_context_equal(context, e->context)) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EINVAL,
                     "Input array is in %s while binding with ctx=%s. All arguments must be in "
                     "global context (%s) unless group2ctx is specified for cross-device graph.",
                     mxn_context_text(context, is), mxn_context_text(e->context, wanted), wanted);
}

static int want_gradient(mxn_executor *e, uint32_t variable, uint32_t request, mxn_array *gradient)
{
    if (gradient == NULL || request == MXN_NULL) {
        return MXP_OK;
    }
    int error = check_array(e, gradient);
    if (error == MXP_OK) {
        error = mxn_autograd_mark(e->inputs[variable],
                                  request == MXN_INPLACE ? (uint32_t)MXN_WRITE : request, gradient);
    }
    e->wants_gradients = true;
    return error != MXP_OK ? mxn__graph_node_fail(e->variables[variable], error) : MXP_OK;
}

static int take_array(mxn_executor *e, uint32_t variable, mxn_array *array)
{
    int error = check_array(e, array);
    return error != MXP_OK ? error : mxn_array_detach(array, &e->inputs[variable]);
}

static int check_counts(const mxn_executor *e, const mxn_binding_request *request)
{
    uint32_t auxiliary = 0;
    for (uint32_t i = 0; i < e->variable_count; i++) {
        auxiliary += e->is_auxiliary[i];
    }
    if (request->auxiliary_count != auxiliary) {
        return mxp__fail(MXP_EINVAL,
                         "Length of aux_states does not match the number of arguments: %u given, "
                         "%u expected",
                         request->auxiliary_count, auxiliary);
    }
    if (request->argument_count != e->variable_count - auxiliary) {
        return mxp__fail(MXP_EINVAL,
                         "Length of args does not match the number of arguments: %u given, %u "
                         "expected",
                         request->argument_count, e->variable_count - auxiliary);
    }
    return MXP_OK;
}

static int take_arrays(mxn_executor *e, const mxn_binding_request *request)
{
    uint32_t argument = 0, auxiliary = 0;
    int error = check_counts(e, request);
    for (uint32_t i = 0; i < e->variable_count && error == MXP_OK; i++) {
        error = take_array(e, i,
                           e->is_auxiliary[i] ? request->auxiliary[auxiliary++]
                                              : request->arguments[argument++]);
    }
    return error;
}

static int want_gradients(mxn_executor *e, const mxn_binding_request *request)
{
    int error = MXP_OK;
    if (request->gradients == NULL) {
        return error;
    }
    for (uint32_t i = 0, argument = 0; i < e->variable_count && error == MXP_OK; i++) {
        if (!e->is_auxiliary[i]) {
            error = want_gradient(e, i, request->requests[argument], request->gradients[argument]);
            argument++;
        }
    }
    return error;
}

// ---- shapes -----------------------------------------------------------------------------------
static int check_auxiliary(const mxn_inferred *inferred, const mxn_binding_request *request)
{
    const uint32_t first = inferred->arguments + inferred->outputs;
    for (uint32_t i = 0; i < inferred->auxiliary; i++) {
        const mxn_array *array = request->auxiliary[i];
        if (!mxn_shape_equal(&array->shape, &inferred->shapes[first + i]) ||
            array->dtype != inferred->types[first + i]) {
            char is[MXN_SHAPE_TEXT], wanted[MXN_SHAPE_TEXT];
            return mxp__fail(MXP_EINVAL,
                             "Auxiliary state %u is %s%s, and the network's arguments want %s%s", i,
                             mxn_dtype_name(array->dtype), mxn_shape_tuple(&array->shape, is),
                             mxn_dtype_name(inferred->types[first + i]),
                             mxn_shape_tuple(&inferred->shapes[first + i], wanted));
        }
    }
    return MXP_OK;
}

static int make_outputs(mxn_executor *e, const mxn_inferred *inferred)
{
    int error =
        inferred->shapes_complete && inferred->types_complete
            ? MXP_OK
            : mxp__fail(MXP_EINVAL, "The shapes and types of the arguments do not say those "
                                    "of all operators of the network");
    for (uint32_t i = 0; i < e->output_count && error == MXP_OK; i++) {
        const uint32_t place = inferred->arguments + i;
        error = mxn_array_new(&inferred->shapes[place], inferred->types[place], e->context, NULL,
                              true, &e->outputs[i]);
    }
    return error;
}

static int infer(mxn_executor *e, const mxn_binding_request *request)
{
    const uint32_t count = request->argument_count;
    mxn_shape *shapes = mxp__alloc(count * sizeof *shapes + 1);
    int32_t *types = mxp__alloc(count * sizeof *types + 1);
    mxn_inferred inferred = {0};
    int error = shapes != NULL && types != NULL ? MXP_OK : mxp__fail_memory("an executor");
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        mxn_shape_copy(&shapes[i], &request->arguments[i]->shape);
        types[i] = request->arguments[i]->dtype;
    }
    if (error == MXP_OK) {
        error = mxn_symbol_infer(mxn_cached_op_symbol(e->op),
                                 &(mxn_known){count, NULL, shapes, types}, &inferred);
    }
    if (error == MXP_OK) {
        error = make_outputs(e, &inferred);
    }
    if (error == MXP_OK) {
        error = check_auxiliary(&inferred, request);
    }
    mxn_inferred_fini(&inferred);
    mxp__free(shapes, count * sizeof *shapes + 1);
    mxp__free(types, count * sizeof *types + 1);
    return error;
}

// ---- binding ----------------------------------------------------------------------------------
// The arrays stay the same, so the engine's operations may.
static int make_op(const mxn_symbol *symbol, mxn_cached_op **op)
{
    const char *const keys[] = {"static_alloc", "static_shape"};
    const char *const values[] = {"1", "1"};
    return mxn_cached_op_new(symbol, 2, keys, values, op);
}

int mxn_executor_bind(const mxn_binding_request *request, mxn_executor **executor)
{
    mxn_executor *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("an executor");
    }
    made->context = request->context;
    int error = mxn_context_check(request->context);
    if (error == MXP_OK) {
        error = make_op(request->symbol, &made->op);
    }
    if (error == MXP_OK) {
        error = find_variables(made);
    }
    if (error == MXP_OK) {
        error = take_arrays(made, request);
    }
    if (error == MXP_OK) {
        error = infer(made, request);
    }
    if (error == MXP_OK) {
        error = want_gradients(made, request);
    }
    if (error != MXP_OK) {
        mxn_executor_free(made);
        return error;
    }
    *executor = made;
    return MXP_OK;
}

static void release_all(mxn_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; arrays != NULL && i < count; i++) {
        mxn_array_release(arrays[i]);
        arrays[i] = NULL;
    }
}

void mxn_executor_free(mxn_executor *e)
{
    if (e == NULL) {
        return;
    }
    release_all(e->outputs, e->output_count);
    release_all(e->heads, e->output_count);
    release_all(e->inputs, e->variable_count);
    mxp__free(e->variables, e->variable_count * sizeof *e->variables + 1);
    mxp__free(e->inputs, e->variable_count * sizeof *e->inputs + 1);
    mxp__free(e->outputs, e->output_count * sizeof *e->outputs + 1);
    mxp__free(e->heads, e->output_count * sizeof *e->heads + 1);
    mxp__free(e->is_auxiliary, e->variable_count + 1);
    mxn_cached_op_free(e->op);
    mxp__free(e, sizeof *e);
}

// ---- running ----------------------------------------------------------------------------------
static int forward_into(mxn_executor *e, bool training, mxn_array **outputs)
{
    const bool was_recording = mxn_autograd_recording(), was_training = mxn_autograd_training();
    const uint32_t phase = mxn_phase();
    mxn_autograd_recording_set(e->wants_gradients);
    mxn_autograd_training_set(training);
    mxn_phase_set(MXP_PHASE_FORWARD);
    int error = mxn_cached_op_call(e->op, &(mxn_cached_call){.inputs = e->inputs,
                                                             .input_count = e->variable_count,
                                                             .outputs = outputs});
    mxn_autograd_recording_set(was_recording);
    mxn_autograd_training_set(was_training);
    mxn_phase_set(phase);
    return error;
}

int mxn_executor_forward(mxn_executor *e, bool training)
{
    mxn_array **outputs = mxp__alloc(e->output_count * sizeof *outputs + 1);
    if (outputs == NULL) {
        return mxp__fail_memory("the outputs of an executor");
    }
    int error = forward_into(e, training, outputs);
    e->has_run = error == MXP_OK;
    if (error == MXP_OK) {
        release_all(e->outputs, e->output_count);
        mxp__free(e->outputs, e->output_count * sizeof *outputs + 1);
        e->outputs = outputs;
    } else {
        mxp__free(outputs, e->output_count * sizeof *outputs + 1);
    }
    return error;
}

// Those outputs alone that depend on a variable with a gradient.
static int backward_from(const mxn_executor *e, mxn_array *const *heads, bool training,
                         mxn_array **arrays)
{
    mxn_array **gradients = arrays + e->output_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->output_count; i++) {
        if (mxn_autograd_recorded(e->outputs[i])) {
            arrays[count] = e->outputs[i];
            gradients[count++] = heads[i];
        }
    }
    return count == 0 ? MXP_OK
                      : mxn_autograd_backward(&(mxn_backward_request){.outputs = arrays,
                                                                      .head_gradients = gradients,
                                                                      .output_count = count,
                                                                      .retain_graph = true,
                                                                      .training = training});
}

int mxn_executor_backward(mxn_executor *e, uint32_t count, mxn_array *const *head_gradients,
                          bool training)
{
    if (!e->has_run) {
        return mxp__fail(MXP_ESTATE, "There is nothing to go backward from: run forward first");
    }
    if (count != 0 && count != e->output_count) {
        return mxp__fail(MXP_EINVAL,
                         "%u head gradients are given, and the network has %u outputs: give one "
                         "for each, or none",
                         count, e->output_count);
    }
    const size_t bytes = 2 * e->output_count * sizeof(mxn_array *) + 1;
    mxn_array **arrays = mxp__alloc(bytes);
    if (arrays == NULL) {
        return mxp__fail_memory("the gradients of an executor");
    }
    int error = count == 0 ? mxn__head_gradients(mxn_cached_op_symbol(e->op), e->outputs, e->heads)
                           : MXP_OK;
    if (error == MXP_OK) {
        error = backward_from(e, count != 0 ? head_gradients : e->heads, training, arrays);
    }
    mxp__free(arrays, bytes);
    return error;
}

// ---- asking -----------------------------------------------------------------------------------
uint32_t mxn_executor_output_count(const mxn_executor *e)
{
    return e->output_count;
}

mxn_array *const *mxn_executor_outputs(const mxn_executor *e)
{
    return e->outputs;
}

const mxn_symbol *mxn_executor_symbol(const mxn_executor *e)
{
    return mxn_cached_op_symbol(e->op);
}

int mxn_executor_describe(const mxn_executor *e, mxp_strbuf *text)
{
    enum { MIB_BITS = 20 };
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->output_count; i++) {
        bytes += mxn_array_size(e->outputs[i]) * mxn_dtype_size(e->outputs[i]->dtype);
    }
    const int error = mxn_symbol_describe(mxn_executor_symbol(e), text);
    mxp__strbuf_printf(text, "Total %llu MB allocated\nTotal 0 TempSpace resource requested\n",
                       (unsigned long long)(bytes >> MIB_BITS));
    return error;
}

void mxn_executor_set_hook(mxn_executor *e, mxn_cached_op_hook hook, void *context, bool inputs)
{
    mxn_cached_op_set_hook(e->op, hook, context, inputs ? MXN_TELL_VARIABLES : MXN_TELL_OUTPUTS);
}
