// SPDX-License-Identifier: Apache-2.0
// One invocation is one block of memory: the job, its operands and the shapes they point to, and
// what inference and the push need for a moment. It lives until the operation is over.
//
//     | call | operands: inputs, outputs | shapes | shape pointers | variables | types |
//
// The kernel's side (the job) keeps places and copies of shapes, never arrays: these may be freed
// or take another shape before the operation runs.
#include "runtime/imperative/imperative.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/imperative/call_memory.h"
#include "runtime/imperative/custom/custom_call.h"
#include "runtime/imperative/invoke_record.h"
#include "runtime/imperative/thread_mode.h"

_Thread_local mxn_thread_mode mxn__mode;
mxp_atomic_bool mxn__numpy_shape_of_all;

typedef struct call {
    mxn_job job;
    size_t bytes;
    mxn_shape *shapes;
    mxn_shape **shape_pointers;
    mxn_var **reads, **writes;
    uint32_t read_count, write_count;
    int32_t *types;
    mxn_context context;
    mxn_custom_call *custom;  // null: the operator has a kernel
    mxn_operand operands[];
} call;

static void call_free(void *argument)
{
    call *c = argument;
    mxn__custom_call_free(c->custom);
    mxn_call_state_release(c->job.state);
    mxn_params_release((mxn_params *)c->job.params);
    mxn__call_give(c, c->bytes);
}

static call *call_new(mxn_params *params)
{
    enum { RESOURCES = 2 };  // variables beside those of operands
    size_t inputs = params->input_count, operands = inputs + params->output_count;
    size_t vars = 2 * operands + RESOURCES;
    size_t bytes = sizeof(call) + vars * sizeof(mxn_var *) +
                   operands * (sizeof(mxn_operand) + sizeof(mxn_shape) + sizeof(mxn_shape *) +
                               sizeof(int32_t));
    call *c = mxn__call_take(bytes);
    if (c == NULL) {
        return NULL;
    }
    mxn_params_retain(params);
    *c = (call){.bytes = bytes,
                .job = {.params = params, .inputs = c->operands, .outputs = c->operands + inputs}};
    c->shapes = (mxn_shape *)(c->operands + operands);
    c->shape_pointers = (mxn_shape **)(c->shapes + operands);
    c->reads = (mxn_var **)(c->shape_pointers + operands);
    c->writes = c->reads + operands;
    c->types = (int32_t *)(c->writes + operands + RESOURCES);
    return c;
}

static int execute(const mxn_run *run, void *argument)
{
    call *c = argument;
    return mxn_job_execute(&c->job, run);
}

static void start_custom(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    mxn__custom_call_start(((call *)argument)->custom, completion);
}

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

static uint32_t request_of(const mxn_invocation *in, uint32_t output)
{
    return in->requests == NULL ? (uint32_t)MXN_WRITE : in->requests[output];
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

static void take_shapes(call *c, const mxn_invocation *in)
{
    uint32_t inputs = in->params->input_count, outputs = in->params->output_count;
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        mxn_shape *shape = &c->shapes[i];
        c->shape_pointers[i] = shape;
        const mxn_array *array = i < inputs ? in->inputs[i] : in->outputs[i - inputs];
        const mxn_like *like = in->likes == NULL || i < inputs ? NULL : &in->likes[i - inputs];
        c->types[i] = MXN_DTYPE_NONE;
        shape->ndim = -1;
        if (array != NULL && !mxn_array_is_none(array)) {
            mxn_shape_copy(shape, &array->shape);
            c->types[i] = array->dtype;
        } else if (like != NULL && like->shape != NULL) {
            mxn_shape_copy(shape, like->shape);
            c->types[i] = like->dtype;
        }
    }
}

static int check_sizes(const mxn_op *op, const mxn_shape *outputs, uint32_t count)
{
    char text[MXN_SHAPE_TEXT];
    for (uint32_t i = 0; i < count; i++) {
        if (!mxn_shape_countable(&outputs[i])) {
            return mxp__fail(MXP_EINVAL,
                             "Operator %s: output %u would be of shape %s, which has too many "
                             "elements",
                             op->name, i, mxn_shape_tuple(&outputs[i], text));
        }
    }
    return MXP_OK;
}

static int infer(call *c, const mxn_invocation *in)
{
    const mxn_params *params = in->params;
    uint32_t inputs = params->input_count;
    take_shapes(c, in);
    int error = mxn_op_infer(params, c->shape_pointers, c->types, c->shape_pointers + inputs,
                             c->types + inputs, NULL);
    return error == MXP_OK ? check_sizes(params->op, c->shapes + inputs, params->output_count)
                           : error;
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

static int make_outputs(call *c, const mxn_invocation *in, bool *made)
{
    uint32_t inputs = in->params->input_count;
    const mxn_tag tag = {mxn__output_name(in->params->op),
                         in->scope != 0 ? in->scope : mxp_scope_current(), in->category};
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        const mxn_shape *shape = &c->shapes[inputs + i];
        int32_t dtype = c->types[inputs + i];
        int error = MXP_OK;
        if (in->outputs[i] == NULL && request_of(in, i) != MXN_NULL) {
            error = mxn_array_new(shape, dtype, c->context, &tag, true, &in->outputs[i]);
            made[i] = error == MXP_OK;
        } else if (in->outputs[i] != NULL && mxn_array_is_none(in->outputs[i])) {
            error = mxn_array_init(in->outputs[i], shape, dtype, c->context, &tag);
        }
        if (error != MXP_OK) {
            unmake_outputs(in, made);
            return error;
        }
    }
    return MXP_OK;
}

// ---- the push ---------------------------------------------------------------------------------
static void add_operand(call *c, uint32_t index, const mxn_array *array, uint32_t request)
{
    const bool used = array != NULL && request != MXN_NULL;
    c->operands[index] =
        (mxn_operand){.memory = used ? mxn_array_memory(array) : (mxn_buffer_ref){0},
                      .shape = &c->shapes[index],
                      .dtype = c->types[index],
                      .request = used ? request : (uint32_t)MXN_NULL};
}

static void add_operands(call *c, const mxn_invocation *in)
{
    const mxn_params *params = in->params;
    for (uint32_t i = 0; i < params->input_count; i++) {
        add_operand(c, i, in->inputs[i], MXN_WRITE);
        mxn_var *var = mxn_array_var(in->inputs[i]);
        if (mxn_params_mutates(params, i)) {
            c->writes[c->write_count++] = var;
        } else {
            c->reads[c->read_count++] = var;
        }
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        add_operand(c, params->input_count + i, in->outputs[i], request_of(in, i));
        if (c->job.outputs[i].request != MXN_NULL) {
            c->writes[c->write_count++] = mxn_array_var(in->outputs[i]);
        }
    }
}

static int add_resources(call *c)
{
    uint32_t needs = mxn_job_needs(&c->job);
    int error = MXP_OK;
    if ((needs & MXN_NEEDS_SPACE) != 0) {
        error = mxn_space_get(c->context, &c->job.space);
        if (error == MXP_OK) {
            c->writes[c->write_count++] = mxn_space_var(c->job.space);
        }
    }
    if (error == MXP_OK && (needs & MXN_NEEDS_RANDOM) != 0) {
        error = mxn_random_get_parallel(c->context, &c->job.random);
        if (error == MXP_OK) {
            c->writes[c->write_count++] = mxn_random_var(c->job.random);
        }
    }
    return error;
}

// The state that is given, or a new one, which whoever has asked for it shares.
static int take_state(call *c, const mxn_invocation *in)
{
    mxn_call_state *given = in->state == NULL ? NULL : *in->state;
    if (given != NULL) {
        mxn_call_state_retain(given);
        c->job.state = given;
        return MXP_OK;
    }
    int error = mxn_job_state(&c->job, c->context, &c->job.state);
    if (error == MXP_OK && in->state != NULL) {
        mxn_call_state_retain(c->job.state);
        *in->state = c->job.state;
    }
    return error;
}

static int add_needs(call *c, const mxn_invocation *in)
{
    uint32_t flags = in->params->op->flags;
    int error = (flags & MXN_OP_STATE) != 0 ? take_state(c, in) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    return (flags & MXN_OP_CALLBACK) != 0 ? mxn__custom_call_new(&c->job, in, &c->custom)
                                          : add_resources(c);
}

static void describe(const call *c, mxn_work *work)
{
    if (mxp_enabled(MXP_CLASS_IMPERATIVE)) {
        work->shape = mxn__shape_string(&c->job);
        mxn_job_cost(&c->job, &work->flops, &work->bytes);
    }
}

// Takes `c` over, whatever comes of it.
static int push(call *c, const mxn_invocation *in)
{
    const mxn_op *op = in->params->op;
    c->job.training = in->training;
    add_operands(c, in);
    int error = add_needs(c, in);
    if (error != MXP_OK) {
        call_free(c);
        return error;
    }
    mxn_vars_dedupe(c->reads, &c->read_count, c->writes, &c->write_count);
    mxn_work work = {.function.sync = execute,
                     .form = MXN_SYNC,
                     .argument = c,
                     .deleter = call_free,
                     .reads = c->reads,
                     .writes = c->writes,
                     .read_count = c->read_count,
                     .write_count = c->write_count,
                     .device = mxn_context_engine_device(c->context),
                     .flags = (op->flags & MXN_OP_UPDATE) != 0 ? MXP_PHASE_UPDATE : MXP_PHASE_NONE,
                     .name = mxn_op_record_name(op),
                     .scope = in->scope,
                     .push_ticks = in->push_ticks};
    work.flags |= (op->flags & MXN_OP_PARALLEL) != 0 ? MXN_WORK_PARALLEL : 0;
    if (c->custom != NULL) {
        work.function.async = start_custom;
        work.form = MXN_ASYNC_FUNCTION;
        work.property = MXN_ASYNC;
    } else {
        describe(c, &work);
    }
    return mxn_push(&work);
}

// ---- all of it --------------------------------------------------------------------------------
static int invoke_pushed(const mxn_invocation *in, bool *made)
{
    call *c = call_new(in->params);
    if (c == NULL) {
        return MXP_ENOMEM;
    }
    c->context = choose_context(in);
    int error = mxn_context_check(c->context);
    if (error == MXP_OK) {
        error = infer(c, in);
    }
    if (error == MXP_OK) {
        error = make_outputs(c, in, made);
    }
    if (error != MXP_OK) {
        call_free(c);
        return error;
    }
    error = push(c, in);
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
