// SPDX-License-Identifier: Apache-2.0
// The switches of a thread, variables, and what an invocation leaves behind while recording.
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/other_arrays.h"
#include "runtime/autograd/tape.h"
#include "runtime/imperative/thread_mode.h"

// ---- switches ---------------------------------------------------------------------------------
bool mxn_autograd_recording(void)
{
    return mxn__mode.recording;
}

bool mxn_autograd_training(void)
{
    return mxn__mode.training;
}

bool mxn_autograd_recording_set(bool on)
{
    bool before = mxn__mode.recording;
    mxn__mode.recording = on;
    mxn_phase_set(on ? MXP_PHASE_FORWARD : MXP_PHASE_NONE);
    return before;
}

bool mxn_autograd_training_set(bool on)
{
    bool before = mxn__mode.training;
    mxn__mode.training = on;
    return before;
}

static _Thread_local mxn_autograd_watcher watcher_of_thread;

void mxn_autograd_watch(mxn_autograd_watcher watcher)
{
    watcher_of_thread = watcher;
    mxn__mode.deferred = watcher != NULL;
}

// ---- variables --------------------------------------------------------------------------------
static int check_mark(const mxn_array *array, uint32_t request, const mxn_array *gradient)
{
    if (request != MXN_NULL && request != MXN_WRITE && request != MXN_ADD) {
        return mxp__fail(MXP_EINVAL,
                         "Invalid gradient request %u, valid values are 0 (null), 1 (write), 3 "
                         "(add)",
                         request);
    }
    char first[MXN_SHAPE_TEXT], second[MXN_SHAPE_TEXT];
    if (!mxn_shape_equal(&array->shape, &gradient->shape) || array->dtype != gradient->dtype) {
        return mxp__fail(MXP_EINVAL, "The gradient's array is %s%s and the variable is %s%s",
                         mxn_dtype_name(gradient->dtype), mxn_shape_tuple(&gradient->shape, first),
                         mxn_dtype_name(array->dtype), mxn_shape_tuple(&array->shape, second));
    }
    return MXP_OK;
}

// The gradient is a view: the program may record what it writes to its own array.
static int make_variable(const mxn_array *array, uint32_t request, mxn_array *gradient,
                         mxn_node **variable)
{
    int error = check_mark(array, request, gradient);
    mxn_node *node = error == MXP_OK ? mxn__node_new(NULL) : NULL;
    if (node == NULL) {
        return error != MXP_OK ? error : MXP_ENOMEM;
    }
    node->request = request;
    mxn__saved_describe(&node->outputs[0], array);
    if (request != MXN_NULL) {
        error = mxn_array_detach(gradient, &node->gradient);
    }
    if (error != MXP_OK) {
        mxn__node_release(node);
        return error;
    }
    *variable = node;
    return MXP_OK;
}

int mxn_autograd_mark(mxn_array *array, uint32_t request, mxn_array *gradient)
{
    mxn_node *variable = NULL;
    int error = make_variable(array, request, gradient, &variable);
    if (error == MXP_OK) {
        mxn__entry_attach(array, variable, 0);
        mxn__node_release(variable);
    }
    return error;
}

int mxn_autograd_attach(mxn_array *array, uint32_t request, mxn_array *gradient)
{
    mxn_entry entry = mxn__entry_of(array);
    if (entry.node == NULL || entry.node->params == NULL) {
        return mxn_autograd_mark(array, request, gradient);
    }
    mxn_node *variable = NULL;
    int error = make_variable(array, request, gradient, &variable);
    if (error == MXP_OK) {
        mxn__node_set_beside(entry.node, entry.index, variable);
    }
    return error;
}

int mxn_autograd_gradient(const mxn_array *array, mxn_array **gradient)
{
    const mxn_node *variable = mxn__variable_of(array);
    *gradient = NULL;
    return variable == NULL || variable->gradient == NULL
               ? MXP_OK
               : mxn_array_detach(variable->gradient, gradient);
}

bool mxn_autograd_fresh(const mxn_array *array)
{
    const mxn_node *variable = mxn__variable_of(array);
    return variable != NULL && mxp_atomic_load(&variable->fresh);
}

bool mxn_autograd_recorded(const mxn_array *array)
{
    return mxn__entry_of(array).node != NULL;
}

int mxn_autograd_fresh_set(mxn_array *array, bool fresh)
{
    mxn_node *variable = mxn__variable_of(array);
    if (variable == NULL) {
        return mxp__fail(MXP_EINVAL,
                         "the array is no variable: attach a gradient with MXAutogradMarkVariables "
                         "first");
    }
    mxp_atomic_store(&variable->fresh, fresh);
    return MXP_OK;
}

// ---- recording --------------------------------------------------------------------------------
static int check_outputs(const mxn_params *params, mxn_array *const *outputs)
{
    for (uint32_t i = 0; i < params->output_count; i++) {
        if (outputs[i] != NULL && mxn__entry_of(outputs[i]).node != NULL) {
            return mxp__fail(
                MXP_EINVAL,
                "Operator %s, output %u: Assigning to NDArrays that are already in a computational "
                "graph will cause undefined behavior when evaluating gradients. Please call "
                "backward first to clear the graph or do this out side of a record section. Also "
                "note that you cannot use inplace operations like +=, *=, relu(x, out=x), "
                "y[idx]=x, etc inside a record section. Inplace operations (+=, -=, x[:]=, etc) "
                "are not supported when recording with autograd.",
                params->op->name, i);
        }
    }
    return MXP_OK;
}

static bool depends(const mxn_params *params, mxn_array *const *inputs)
{
    for (uint32_t i = 0; i < params->input_count; i++) {
        if (mxn__entry_of(inputs[i]).node != NULL) {
            return true;
        }
    }
    return false;
}

// Saves those operands of one kind that the gradient takes. An operator without one is found out by
// backward.
static int save_operands(mxn_node *node, uint32_t kind, mxn_saved *saved, mxn_array *const *arrays)
{
    const mxn_gradient *gradient = NULL;
    int error = mxn_params_gradient(node->params, &gradient);
    if (error != MXP_OK) {
        return error == MXP_ENOMEM ? error : MXP_OK;
    }
    for (uint32_t i = 0; i < gradient->count; i++) {
        const mxn_gradient_call *call = &gradient->calls[i];
        for (uint32_t j = 0; error == MXP_OK && j < call->params->input_count; j++) {
            uint32_t index = call->takes[j].index;
            if (call->takes[j].kind == kind && saved[index].array == NULL) {
                error = mxn__saved_take(&saved[index], arrays[index]);
            }
        }
    }
    return error;
}

// Before the operator runs, because it may write over its inputs and their attachments.
static int note_inputs(mxn_node *node, mxn_array *const *inputs)
{
    for (uint32_t i = 0; i < node->params->input_count; i++) {
        mxn__saved_describe(&node->inputs[i], inputs[i]);
        node->inputs[i].written = mxn_params_mutates(node->params, i);
        mxn_entry from = mxn__entry_of(inputs[i]);
        if (from.node != NULL) {
            mxn__node_retain(from.node);
            node->inputs[i].from = from;
        }
    }
    return save_operands(node, MXN_FROM_INPUT, node->inputs, inputs);
}

// What an output that was not asked for would have been: its gradient may be asked for, as zeros.
static void describe_unmade(mxn_node *node, const mxn_invocation *in)
{
    for (uint32_t i = 0; in->known_outputs != NULL && i < node->params->output_count; i++) {
        mxn_saved *output = &node->outputs[i];
        if (in->outputs[i] == NULL && in->known_outputs[i].shape != NULL &&
            node->params->input_count > 0) {
            mxn_shape_copy(&output->shape, in->known_outputs[i].shape);
            output->dtype = in->known_outputs[i].dtype;
            output->context = node->inputs[0].context;
        }
    }
}

static int note_outputs(mxn_node *node, mxn_array *const *outputs)
{
    int error = save_operands(node, MXN_FROM_OUTPUT, node->outputs, outputs);
    for (uint32_t i = 0; error == MXP_OK && i < node->params->output_count; i++) {
        if (outputs[i] != NULL) {
            mxn__saved_describe(&node->outputs[i], outputs[i]);
            mxn__entry_attach(outputs[i], node, i);
            if (node->outputs[i].given) {
                mxn__others_note(outputs[i], node);
            }
        }
    }
    return error;
}

static int record_made(mxn_params *params, mxn_array *const *inputs, mxn_array *const *outputs)
{
    int error = mxn__mode.recording ? mxn__others_check(params, inputs) : MXP_OK;
    if (error != MXP_OK || !mxn__mode.recording || !depends(params, inputs)) {
        return error;
    }
    mxn_node *node = mxn__node_new(params);
    if (node == NULL) {
        return MXP_ENOMEM;
    }
    node->scope = mxp_scope_current();
    error = note_inputs(node, inputs);
    if (error == MXP_OK) {
        error = note_outputs(node, outputs);
    }
    mxn__node_release(node);
    return error;
}

int mxn_autograd_record(mxn_params *params, mxn_array *const *inputs, mxn_array *const *outputs)
{
    int error = record_made(params, inputs, outputs);
    if (error == MXP_OK && mxn__mode.deferred) {
        watcher_of_thread(params, inputs, outputs, false);
    }
    return error;
}

// The node keeps the state of the run, also one it was given.
static int invoke_keeping_state(const mxn_invocation *invocation, mxn_node *node)
{
    mxn_invocation in = *invocation;
    if (in.state != NULL && *in.state != NULL) {
        mxn_call_state_retain(*in.state);
        node->state = *in.state;
    }
    in.state = &node->state;
    return mxn_invoke(&in);
}

static int invoke_recorded(const mxn_invocation *in)
{
    mxn_node *node = mxn__node_new(in->params);
    if (node == NULL) {
        return MXP_ENOMEM;
    }
    uint32_t outputs = in->params->output_count;
    node->scope = in->scope != 0 ? in->scope : mxp_scope_current();
    int error = note_inputs(node, in->inputs);
    for (uint32_t i = 0; i < outputs; i++) {
        node->outputs[i].given = in->outputs[i] != NULL;
    }
    if (error == MXP_OK) {
        error = invoke_keeping_state(in, node);
    }
    if (error == MXP_OK) {
        describe_unmade(node, in);
        error = note_outputs(node, in->outputs);
        for (uint32_t i = 0; error != MXP_OK && i < outputs; i++) {
            if (!node->outputs[i].given) {
                mxn_array_release(in->outputs[i]);
                in->outputs[i] = NULL;
            }
        }
    }
    mxn__node_release(node);
    return error;
}

static int invoke_recording(const mxn_invocation *in)
{
    int error = check_outputs(in->params, in->outputs);
    if (error == MXP_OK) {
        error = mxn__others_check(in->params, in->inputs);
    }
    if (error == MXP_OK) {
        error = mxn__others_check_outputs(in->params, in->inputs, in->outputs);
    }
    if (error != MXP_OK) {
        return error;
    }
    return depends(in->params, in->inputs) ? invoke_recorded(in) : mxn_invoke(in);
}

static int invoke_watched(const mxn_invocation *in)
{
    bool writes = false;
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        writes = writes || (in->outputs[i] != NULL && !mxn_array_is_none(in->outputs[i]));
    }
    int error = mxn__mode.recording ? invoke_recording(in) : mxn_invoke(in);
    if (error == MXP_OK && mxn__mode.deferred) {
        watcher_of_thread(in->params, in->inputs, in->outputs, writes);
    }
    return error;
}

int mxn_autograd_invoke(const mxn_invocation *invocation)
{
    mxn_invocation in = *invocation;
    in.training = mxn__mode.training;
    return mxn__mode.watched == 0 ? mxn_invoke(&in) : invoke_watched(&in);
}
