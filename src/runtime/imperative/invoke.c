// SPDX-License-Identifier: Apache-2.0
// Invoking: what prepared.h describes, for one run with arrays that are there or made here.
#include "runtime/imperative/imperative.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/imperative/bound.h"
#include "runtime/imperative/invoke_record.h"
#include "runtime/imperative/thread_mode.h"

_Thread_local mxn_thread_mode mxn__mode;
mxp_atomic_bool mxn__numpy_shape_of_all;

// ---- arguments --------------------------------------------------------------------------------
int mxn_invoke_check_inputs(const mxn_params *params, uint32_t count, void *const *handles)
{
    int error = mxn_params_expect(params, count);
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        error = mxn_array_check(handles[i], "inputs");
        if (error == MXP_OK && mxn_array_is_none(handles[i])) {
            char buffer[64];
            error = mxp__fail(MXP_EINVAL,
                              "Operator %s: input %u (%s) has no shape yet: nothing was written to "
                              "it",
                              params->op->name, i, mxn_params_input_name(params, i, buffer));
        } else if (error != MXP_OK) {
            char buffer[64], detail[160];
            snprintf(detail, sizeof(detail), "%s", mxp_last_error());
            mxp__fail(error, "Operator %s: input %u (%s): %s", params->op->name, i,
                      mxn_params_input_name(params, i, buffer), detail);
        }
    }
    return error;
}

// The first input's device, else that of an output, else parameter `ctx`, else cpu(0).
static mxn_context choose_context(const mxn_invocation *in)
{
    const mxn_params *params = in->params;
    if (params->input_count > 0) {
        return mxn_array_context(in->inputs[0]);
    }
    if (params->output_count > 0 && in->outputs[0] != NULL && !mxn_array_is_none(in->outputs[0])) {
        return mxn_array_context(in->outputs[0]);
    }
    return params->context.type != 0 ? params->context : (mxn_context){MXN_CPU, 0};
}

static void take_shapes(mxn_call_form *form, const mxn_invocation *in)
{
    uint32_t inputs = in->params->input_count, outputs = in->params->output_count;
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        mxn_shape *shape = &form->shapes[i];
        const mxn_array *array = i < inputs ? in->inputs[i] : in->outputs[i - inputs];
        const mxn_like *like = in->likes == NULL || i < inputs ? NULL : &in->likes[i - inputs];
        form->types[i] = MXN_DTYPE_NONE;
        shape->ndim = -1;
        if (array != NULL && !mxn_array_is_none(array)) {
            mxn_shape_copy(shape, &array->shape);
            form->types[i] = array->dtype;
        } else if (like != NULL && like->shape != NULL) {
            mxn_shape_copy(shape, like->shape);
            form->types[i] = like->dtype;
        }
    }
}

// ---- outputs ----------------------------------------------------------------------------------
// Releases what make_outputs has made; `made` has the outputs as they were given.
static void unmake_outputs(const mxn_invocation *in, const bool *made)
{
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        if (made[i]) {
            mxn_array_release(in->outputs[i]);
            in->outputs[i] = NULL;
        }
    }
}

static int make_outputs(const mxn_call_form *form, const mxn_invocation *in, bool *made)
{
    uint32_t inputs = in->params->input_count;
    const mxn_tag tag = {mxn__output_name(in->params->op),
                         in->scope != 0 ? in->scope : mxp_scope_current(), in->category};
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        const mxn_shape *shape = &form->shapes[inputs + i];
        int32_t dtype = form->types[inputs + i];
        int error = MXP_OK;
        if (in->outputs[i] == NULL && mxn__request_of(in->requests, i) != MXN_NULL) {
            error = mxn_array_new(shape, dtype, form->context, &tag, true, &in->outputs[i]);
            made[i] = error == MXP_OK;
        } else if (in->outputs[i] != NULL && mxn_array_is_none(in->outputs[i])) {
            error = mxn_array_init(in->outputs[i], shape, dtype, form->context, &tag);
        }
        if (error != MXP_OK) {
            return error;
        }
    }
    return MXP_OK;
}

// ---- all of it --------------------------------------------------------------------------------
static int prepare(mxn_call_form *form, mxn_shape **pointers, const mxn_invocation *in)
{
    form->context = choose_context(in);
    form->training = in->training;
    form->requests = in->requests;
    int error = mxn_context_check(form->context);
    if (error != MXP_OK) {
        return error;
    }
    take_shapes(form, in);
    return mxn__form_infer(form, pointers);
}

static int bind(mxn_bound *bound, const mxn_invocation *in)
{
    const mxn_binding binding = {in->inputs, in->outputs, in->state, in->scope};
    return mxn__bound_take(bound, &binding);
}

static int invoke_pushed(const mxn_invocation *in, bool *made)
{
    mxn_bound *bound = mxn__bound_new(in->params);
    if (bound == NULL) {
        return MXP_ENOMEM;
    }
    int error = prepare(&bound->form, bound->shape_pointers, in);
    if (error == MXP_OK) {
        error = make_outputs(&bound->form, in, made);
    }
    if (error == MXP_OK) {
        error = bind(bound, in);
    }
    if (error != MXP_OK) {
        mxn_bound_free(bound);
    } else {
        error = mxn_bound_push(bound, in->push_ticks);
    }
    if (error != MXP_OK) {
        unmake_outputs(in, made);
    }
    return error;
}

// Operators that push others in their stead make what they need of `none` arrays themselves.
static int invoke_direct(const mxn_invocation *in, bool *made)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < in->params->output_count; i++) {
        if (in->outputs[i] == NULL) {
            error = mxn_array_new_none(&in->outputs[i]);
            made[i] = error == MXP_OK;
        }
    }
    if (error == MXP_OK) {
        error = mxn_op_direct(in->params, in->inputs, in->outputs);
    }
    if (error != MXP_OK) {
        unmake_outputs(in, made);
    }
    return error;
}

int mxn_invoke(const mxn_invocation *in)
{
    enum { ON_STACK = 16 };
    const mxn_op *op = in->params->op;
    if ((op->flags & MXN_OP_NOT_EAGER) != 0) {
        return mxp__fail(MXP_ENOTSUP,
                         "Operator %s cannot be run by itself: it is part of recorded graphs only",
                         op->name);
    }
    bool stack_made[ON_STACK] = {false};
    uint32_t outputs = in->params->output_count;
    bool *made = outputs <= ON_STACK ? stack_made : mxp__alloc(outputs * sizeof(bool));
    if (made == NULL) {
        return mxp__fail_memory("an operator's outputs");
    }
    int error =
        (op->flags & MXN_OP_DIRECT) != 0 ? invoke_direct(in, made) : invoke_pushed(in, made);
    if (made != stack_made) {
        mxp__free(made, outputs * sizeof(bool));
    }
    return error;
}
