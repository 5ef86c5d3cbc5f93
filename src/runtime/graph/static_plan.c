// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/static_plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"

// ---- plans ------------------------------------------------------------------------------------
static int take_form(mxn_static_plan *plan, const mxn_program_form *form)
{
    plan->form = *form;
    plan->form.inputs = NULL;
    plan->shapes = mxp__alloc(plan->input_count * sizeof *plan->shapes + 1);
    plan->types = mxp__alloc(plan->input_count * sizeof *plan->types + 1);
    if (plan->shapes == NULL || plan->types == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    for (uint32_t i = 0; i < plan->input_count; i++) {
        mxn_shape_copy(&plan->shapes[i], form->inputs[i].shape);
        plan->types[i] = form->inputs[i].dtype;
    }
    return MXP_OK;
}

int mxn__static_plan_new(const mxn_schedule *schedule, const mxn_program_form *form,
                         mxn_static_plan **plan)
{
    mxn_static_plan *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    made->input_count = schedule->variable_count;
    made->output_count = schedule->output_count;
    int error = take_form(made, form);
    if (error == MXP_OK) {
        error = mxn__program_forward(schedule, form, &made->forward);
    }
    if (error != MXP_OK) {
        mxn__static_plan_free(made);
        return error;
    }
    *plan = made;
    return MXP_OK;
}

static void run_free(mxn_static_run *run)
{
    const size_t values = run->plan->forward.value_count;
    while (run->backwards != NULL) {
        mxn_backward_run *next = run->backwards->next;
        mxn__program_run_fini(&run->backwards->run);
        mxp__free(run->backwards, sizeof *run->backwards);
        run->backwards = next;
    }
    mxn__program_run_fini(&run->forward);
    mxp__free(run->values, values * sizeof *run->values + 1);
    mxp__free(run, sizeof *run);
}

static void backward_free(const mxn_static_plan *plan, mxn_static_backward *backward)
{
    mxn__program_fini(&backward->program);
    mxp__free(backward->requests, plan->input_count * sizeof *backward->requests + 1);
    mxp__free(backward->heads, plan->output_count + 1);
    mxp__free(backward, sizeof *backward);
}

void mxn__static_plan_free(mxn_static_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    while (plan->idle != NULL) {
        mxn_static_run *next = plan->idle->next;
        run_free(plan->idle);
        plan->idle = next;
    }
    while (plan->backwards != NULL) {
        mxn_static_backward *next = plan->backwards->next;
        backward_free(plan, plan->backwards);
        plan->backwards = next;
    }
    mxn__program_fini(&plan->forward);
    mxp__free(plan->shapes, plan->input_count * sizeof *plan->shapes + 1);
    mxp__free(plan->types, plan->input_count * sizeof *plan->types + 1);
    mxp__free(plan, sizeof *plan);
}

bool mxn__static_plan_fits(const mxn_static_plan *plan, const mxn_program_form *form)
{
    const mxn_program_form *of = &plan->form;
    bool fits = mxn_context_equal(of->context, form->context) && of->training == form->training &&
                of->numpy_shape == form->numpy_shape && of->is_recorded == form->is_recorded;
    for (uint32_t i = 0; i < plan->input_count && fits; i++) {
        fits = plan->types[i] == form->inputs[i].dtype &&
               mxn_shape_equal(&plan->shapes[i], form->inputs[i].shape);
    }
    return fits;
}

// ---- runs -------------------------------------------------------------------------------------
int mxn__static_plan_take(mxn_static_plan *plan, mxn_static_run **run)
{
    mxn_static_run *made = plan->idle;
    if (made != NULL) {
        plan->idle = made->next;
        *run = made;
        return MXP_OK;
    }
    made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    made->plan = plan;
    made->values = mxp__alloc(plan->forward.value_count * sizeof *made->values + 1);
    int error = made->values == NULL ? mxp__fail_memory("a prepared graph")
                                     : mxn__program_run_init(&plan->forward, plan->form.context,
                                                             NULL, &made->forward);
    if (error != MXP_OK) {
        run_free(made);
        return error;
    }
    *run = made;
    return MXP_OK;
}

void mxn__static_plan_give(mxn_static_run *run)
{
    mxn__program_run_let_go(&run->forward, false);
    run->next = run->plan->idle;
    run->plan->idle = run;
}

// ---- backwards --------------------------------------------------------------------------------
static int fill_backward(const mxn_static_plan *plan, const mxn_gradient_form *gradients,
                         mxn_static_backward *backward)
{
    const size_t bytes = plan->input_count * sizeof *gradients->requests;
    backward->requests = mxp__alloc(bytes + 1);
    backward->heads = mxp__alloc(plan->output_count + 1);
    if (backward->requests == NULL || backward->heads == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    memcpy(backward->requests, gradients->requests, bytes);
    memcpy(backward->heads, gradients->heads, plan->output_count);
    mxn_program_form form = plan->form;
    form.training = backward->training;
    return mxn__program_backward(&plan->forward, &form, gradients, &backward->program);
}

static int make_backward(mxn_static_plan *plan, const mxn_gradient_form *gradients, bool training,
                         mxn_static_backward **backward)
{
    mxn_static_backward *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    made->training = training;
    int error = fill_backward(plan, gradients, made);
    if (error != MXP_OK) {
        backward_free(plan, made);
        return error;
    }
    made->next = plan->backwards;
    plan->backwards = made;
    *backward = made;
    return MXP_OK;
}

static int find_backward(mxn_static_plan *plan, const mxn_gradient_form *gradients, bool training,
                         mxn_static_backward **backward)
{
    const size_t bytes = plan->input_count * sizeof *gradients->requests;
    for (mxn_static_backward *at = plan->backwards; at != NULL; at = at->next) {
        if (at->training == training && memcmp(at->requests, gradients->requests, bytes) == 0 &&
            memcmp(at->heads, gradients->heads, plan->output_count) == 0) {
            *backward = at;
            return MXP_OK;
        }
    }
    return make_backward(plan, gradients, training, backward);
}

int mxn__static_run_backward(mxn_static_run *run, const mxn_gradient_form *gradients, bool training,
                             mxn_backward_run **backward)
{
    mxn_static_backward *of = NULL;
    int error = find_backward(run->plan, gradients, training, &of);
    if (error != MXP_OK) {
        return error;
    }
    for (mxn_backward_run *at = run->backwards; at != NULL; at = at->next) {
        if (at->of == of) {
            *backward = at;
            return MXP_OK;
        }
    }
    mxn_backward_run *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    made->of = of;
    error = mxn__program_run_init(&of->program, run->plan->form.context, &run->forward, &made->run);
    if (error != MXP_OK) {
        mxp__free(made, sizeof *made);
        return error;
    }
    made->next = run->backwards;
    run->backwards = made;
    *backward = made;
    return MXP_OK;
}

// ---- values that backward takes ---------------------------------------------------------------
void mxn__static_run_note_values(mxn_static_run *run)
{
    const mxn_program *p = &run->plan->forward;
    for (size_t i = 0; i < p->value_count; i++) {
        if (p->values[i].is_kept && p->values[i].kind != MXN_VALUE_OWN) {
            run->values[i] = mxn_array_values(run->forward.values[i]);
        }
    }
}

int mxn__static_run_check_values(const mxn_static_run *run, const mxn_program *backward)
{
    const mxn_program *p = &run->plan->forward;
    for (size_t i = 0; i < backward->value_count; i++) {
        const mxn_program_value *value = &backward->values[i];
        if (value->kind != MXN_VALUE_FORWARD || !value->is_checked ||
            p->values[value->index].kind == MXN_VALUE_OWN ||
            mxn_array_has_values(run->forward.values[value->index], run->values[value->index])) {
            continue;
        }
        bool checks;
        int error = mxn_autograd_checks_values(&checks);
        if (error != MXP_OK || checks) {
            char shape[MXN_SHAPE_TEXT];
            const mxn_program_value *of = &p->values[value->index];
            return error != MXP_OK
                       ? error
                       : mxp__fail(MXP_ESTATE,
                                   "Operator _CachedOp: %s %u of shape %s was changed after it was "
                                   "recorded: its gradient needs the values that were there. Call "
                                   "backward first, or change a copy; with "
                                   "MXNET_AUTOGRAD_CHECK_VALUES=0 the changed values are taken",
                                   of->kind == MXN_VALUE_INPUT ? "input" : "output", of->index,
                                   mxn_shape_tuple(&of->shape, shape));
        }
    }
    return MXP_OK;
}
