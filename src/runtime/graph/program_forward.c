// SPDX-License-Identifier: Apache-2.0
// A schedule made ready: its places are the first values, then those of the steps that copy what is
// two outputs, or an input too.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/fusion.h"

typedef struct making {
    const mxn_schedule *schedule;
    const mxn_program_form *form;
    mxn_program *program;
    uint32_t *outputs;  // of one step
} making;

// ---- values -----------------------------------------------------------------------------------
static int add_place(const making *of, uint32_t place)
{
    mxn_program_value value = {.kind = MXN_VALUE_OWN, .dtype = MXN_DTYPE_NONE};
    uint32_t id;
    if (place < of->schedule->variable_count) {
        value.kind = MXN_VALUE_INPUT;
        value.index = place;
        value.dtype = of->form->inputs[place].dtype;
        mxn_shape_copy(&value.shape, of->form->inputs[place].shape);
    }
    return mxn__program_add_value(of->program, &value, &id);
}

static int add_places(const making *of)
{
    const mxn_schedule *schedule = of->schedule;
    int error = MXP_OK;
    for (uint32_t i = 0; i < schedule->place_count && error == MXP_OK; i++) {
        error = add_place(of, i);
    }
    for (uint32_t i = 0; i < schedule->output_count && error == MXP_OK; i++) {
        if (!schedule->outputs[i].is_copy) {
            mxn_program_value *value = &of->program->values[schedule->outputs[i].place];
            value->kind = MXN_VALUE_OUTPUT;
            value->index = i;
        }
    }
    return error;
}

// ---- steps ------------------------------------------------------------------------------------
static int add_step(const making *of, const mxn_schedule_step *step)
{
    mxn_params *params = NULL;
    int error = mxn_params_under(step->node->params, of->form->numpy_shape, &params);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        of->outputs[i] = step->first_output + i;
    }
    return mxn__program_add_step(
        of->program, of->form,
        &(mxn_program_call){.params = params,
                            .node = step->node,
                            .scope = step->scope,
                            .inputs = of->schedule->operands + step->first_operand,
                            .outputs = of->outputs});
}

static int add_copy(const making *of, mxn_params *copy, uint32_t output)
{
    const mxn_program_value value = {
        .kind = MXN_VALUE_OUTPUT, .index = output, .dtype = MXN_DTYPE_NONE};
    uint32_t id;
    int error = mxn__program_add_value(of->program, &value, &id);
    if (error != MXP_OK) {
        return error;
    }
    return mxn__program_add_step(of->program, of->form,
                                 &(mxn_program_call){.params = copy,
                                                     .inputs = &of->schedule->outputs[output].place,
                                                     .outputs = &id});
}

static int add_copies(const making *of)
{
    const mxn_op *op = NULL;
    mxn_params *copy = NULL;
    int error = mxn_op_require("_copy", &op);
    if (error == MXP_OK) {
        error = mxn_params_parse(op, 0, NULL, NULL, 1, of->form->numpy_shape, &copy);
    }
    for (uint32_t i = 0; i < of->schedule->output_count && error == MXP_OK; i++) {
        error = of->schedule->outputs[i].is_copy ? add_copy(of, copy, i) : MXP_OK;
    }
    mxn_params_release(copy);  // prepared calls hold it
    return error;
}

// ---- what gradients take ----------------------------------------------------------------------
static int keep_for(mxn_program *p, size_t step)
{
    const mxn_gradient *gradient = NULL;
    int error = mxn_params_gradient(p->steps[step].params, &gradient);
    if (error != MXP_OK) {
        return error == MXP_ENOMEM ? error : MXP_OK;  // a backward will say so
    }
    for (uint32_t i = 0; i < gradient->count; i++) {
        const mxn_gradient_call *call = &gradient->calls[i];
        for (uint32_t j = 0; j < call->params->input_count; j++) {
            const mxn_source *from = &call->takes[j];
            if (from->kind == MXN_FROM_INPUT) {
                p->values[mxn__step_inputs(p, step)[from->index]].is_kept = true;
            } else if (from->kind == MXN_FROM_OUTPUT) {
                p->values[mxn__step_outputs(p, step)[from->index]].is_kept = true;
            }
        }
    }
    return MXP_OK;
}

static int make(const making *of)
{
    mxn_program *p = of->program;
    int error = add_places(of);
    for (uint32_t i = 0; i < of->schedule->step_count && error == MXP_OK; i++) {
        error = add_step(of, &of->schedule->steps[i]);
    }
    if (error == MXP_OK) {
        error = add_copies(of);
    }
    for (size_t i = 0; of->form->is_recorded && i < p->step_count && error == MXP_OK; i++) {
        error = keep_for(p, i);
    }
    if (error == MXP_OK) {
        error = mxn__program_fuse(p, of->form);
    }
    return error != MXP_OK ? error : mxn__program_plan_memory(p, 0);
}

int mxn__program_forward(const mxn_schedule *schedule, const mxn_program_form *form,
                         mxn_program *program)
{
    *program = (mxn_program){0};
    const size_t bytes = (schedule->most + 1) * sizeof(uint32_t);
    making of = {schedule, form, program, mxp__alloc(bytes)};
    int error = of.outputs == NULL ? mxp__fail_memory("a prepared graph") : make(&of);
    mxp__free(of.outputs, bytes);
    if (error != MXP_OK) {
        mxn__program_fini(program);
    }
    return error;
}
