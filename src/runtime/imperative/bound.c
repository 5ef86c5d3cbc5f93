// SPDX-License-Identifier: Apache-2.0
#include "runtime/imperative/bound.h"

#include "base/fail.h"
#include "runtime/imperative/call_memory.h"
#include "runtime/imperative/invoke_record.h"

void mxn_bound_free(mxn_bound *bound)
{
    if (bound == NULL) {
        return;
    }
    mxn__custom_call_free(bound->custom);
    mxn_call_state_release(bound->job.state);
    mxn_params_release(bound->form.params);
    mxn_prepared_release(bound->prepared);
    mxn__call_give(bound, bound->bytes);
}

// `own_shapes`: for how many operands there is room for shapes.
static mxn_bound *bound_make(mxn_params *params, size_t own_shapes)
{
    enum { RESOURCES = 2 };  // variables beside those of operands
    size_t inputs = params->input_count, operands = inputs + params->output_count;
    size_t vars = 2 * operands + RESOURCES;
    size_t bytes = sizeof(mxn_bound) + operands * sizeof(mxn_operand) + vars * sizeof(mxn_var *) +
                   own_shapes * (sizeof(mxn_shape) + sizeof(mxn_shape *) + sizeof(int32_t));
    mxn_bound *b = mxn__call_take(bytes);
    if (b == NULL) {
        return NULL;
    }
    mxn_params_retain(params);
    *b = (mxn_bound){
        .bytes = bytes,
        .form.params = params,
        .job = {.params = params, .inputs = b->operands, .outputs = b->operands + inputs}};
    b->form.shapes = (mxn_shape *)(b->operands + operands);
    b->shape_pointers = (mxn_shape **)(b->form.shapes + own_shapes);
    b->reads = (mxn_var **)(b->shape_pointers + own_shapes);
    b->writes = b->reads + operands;
    b->form.types = (int32_t *)(b->writes + operands + RESOURCES);
    return b;
}

mxn_bound *mxn__bound_new(mxn_params *params)
{
    return bound_make(params, (size_t)params->input_count + params->output_count);
}

// ---- operands ---------------------------------------------------------------------------------
static void add_operand(mxn_bound *b, uint32_t index, const mxn_array *array, uint32_t request)
{
    const bool used = array != NULL && request != MXN_NULL;
    b->operands[index] =
        (mxn_operand){.memory = used ? mxn_array_memory(array) : (mxn_buffer_ref){0},
                      .shape = &b->form.shapes[index],
                      .dtype = b->form.types[index],
                      .request = used ? request : (uint32_t)MXN_NULL};
}

static void add_operands(mxn_bound *b, const mxn_binding *in)
{
    const mxn_params *params = b->form.params;
    for (uint32_t i = 0; i < params->input_count; i++) {
        add_operand(b, i, in->inputs[i], MXN_WRITE);
        mxn_var *var = mxn_array_var(in->inputs[i]);
        if (mxn_params_mutates(params, i)) {
            b->writes[b->write_count++] = var;
        } else {
            b->reads[b->read_count++] = var;
        }
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        add_operand(b, params->input_count + i, in->outputs[i],
                    mxn__request_of(b->form.requests, i));
        if (b->job.outputs[i].request != MXN_NULL) {
            b->writes[b->write_count++] = mxn_array_var(in->outputs[i]);
        }
    }
}

// ---- what the run needs beside arrays ---------------------------------------------------------
static int add_resources(mxn_bound *b)
{
    uint32_t needs = mxn_job_needs(&b->job);
    int error = MXP_OK;
    if ((needs & MXN_NEEDS_SPACE) != 0) {
        error = mxn_space_get(b->form.context, &b->job.space);
        if (error == MXP_OK) {
            b->writes[b->write_count++] = mxn_space_var(b->job.space);
        }
    }
    if (error == MXP_OK && (needs & MXN_NEEDS_RANDOM) != 0) {
        error = mxn_random_get_parallel(b->form.context, &b->job.random);
        if (error == MXP_OK) {
            b->writes[b->write_count++] = mxn_random_var(b->job.random);
        }
    }
    return error;
}

// The state that is given, or a new one, which whoever has asked for it shares.
static int take_state(mxn_bound *b, mxn_call_state **asked)
{
    mxn_call_state *given = asked == NULL ? NULL : *asked;
    if (given != NULL) {
        mxn_call_state_retain(given);
        b->job.state = given;
        return MXP_OK;
    }
    int error = mxn_job_state(&b->job, b->form.context, &b->job.state);
    if (error == MXP_OK && asked != NULL) {
        mxn_call_state_retain(b->job.state);
        *asked = b->job.state;
    }
    return error;
}

int mxn__bound_take(mxn_bound *bound, const mxn_binding *binding)
{
    uint32_t flags = bound->form.params->op->flags;
    bound->job.training = bound->form.training;
    bound->scope = binding->scope;
    add_operands(bound, binding);
    int error = (flags & MXN_OP_STATE) != 0 ? take_state(bound, binding->state) : MXP_OK;
    if (error == MXP_OK) {
        error = (flags & MXN_OP_CALLBACK) != 0
                    ? mxn__custom_call_new(&bound->job, binding, &bound->custom)
                    : add_resources(bound);
    }
    if (error == MXP_OK) {
        mxn_vars_dedupe(bound->reads, &bound->read_count, bound->writes, &bound->write_count);
    }
    return error;
}

// ---- arrays for a prepared call ---------------------------------------------------------------
static int check_array(const mxn_bound *b, uint32_t index, const mxn_array *array)
{
    const mxn_params *params = b->form.params;
    const bool input = index < params->input_count;
    const char *kind = input ? "input" : "output";
    const uint32_t place = input ? index : index - params->input_count;
    if (array == NULL || mxn_array_is_none(array)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %s %u is missing or has no shape yet",
                         params->op->name, kind, place);
    }
    const mxn_shape *shape = &b->form.shapes[index];
    const int32_t dtype = b->form.types[index];
    char has[MXN_SHAPE_TEXT], wants[MXN_SHAPE_TEXT];
    return array->dtype == dtype && mxn_shape_equal(&array->shape, shape)
               ? MXP_OK
               : mxp__fail(MXP_EINVAL,
                           "Operator %s: %s %u is %s%s, but the call was prepared for %s%s",
                           params->op->name, kind, place, mxn_dtype_name(array->dtype),
                           mxn_shape_text(&array->shape, has), mxn_dtype_name(dtype),
                           mxn_shape_text(shape, wants));
}

static int check_binding(const mxn_bound *b, const mxn_binding *in)
{
    const mxn_params *params = b->form.params;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < params->input_count; i++) {
        error = check_array(b, i, in->inputs[i]);
    }
    for (uint32_t i = 0; error == MXP_OK && i < params->output_count; i++) {
        if (mxn__request_of(b->form.requests, i) != MXN_NULL) {
            error = check_array(b, params->input_count + i, in->outputs[i]);
        }
    }
    return error;
}

int mxn_bind(mxn_prepared *prepared, const mxn_binding *binding, mxn_bound **bound)
{
    mxn_bound *b = bound_make(prepared->form.params, 0);
    if (b == NULL) {
        return MXP_ENOMEM;
    }
    mxn_prepared_retain(prepared);
    b->prepared = prepared;
    b->form = prepared->form;  // the same params, with the reference that bound_make took
    b->job.kernel = &prepared->kernel;
    int error = check_binding(b, binding);
    if (error == MXP_OK) {
        error = mxn__bound_take(b, binding);
    }
    if (error != MXP_OK) {
        mxn_bound_free(b);
        return error;
    }
    *bound = b;
    return MXP_OK;
}

// ---- the push ---------------------------------------------------------------------------------
static int execute(const mxn_run *run, void *argument)
{
    mxn_bound *b = argument;
    return mxn_job_execute(&b->job, run);
}

static void start_custom(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    mxn__custom_call_start(((mxn_bound *)argument)->custom, completion);
}

static void over(void *argument)
{
    mxn_bound_free(argument);
}

static void describe(const mxn_bound *b, mxn_work *work)
{
    if (!mxp_enabled(MXP_CLASS_IMPERATIVE)) {
        return;
    }
    if (b->prepared != NULL) {
        work->shape = b->prepared->shape_text;
        work->flops = b->prepared->flops;
        work->bytes = b->prepared->bytes_moved;
    } else {
        work->shape = mxn__shape_string(&b->job);
        mxn_job_cost(&b->job, &work->flops, &work->bytes);
    }
}

int mxn_bound_push(mxn_bound *bound, uint64_t push_ticks)
{
    const mxn_op *op = bound->form.params->op;
    mxn_work work = {.function.sync = execute,
                     .form = MXN_SYNC,
                     .argument = bound,
                     .deleter = over,
                     .reads = bound->reads,
                     .writes = bound->writes,
                     .read_count = bound->read_count,
                     .write_count = bound->write_count,
                     .device = mxn_context_engine_device(bound->form.context),
                     .flags = (op->flags & MXN_OP_UPDATE) != 0 ? MXP_PHASE_UPDATE : MXP_PHASE_NONE,
                     .name = mxn_op_record_name(op),
                     .scope = bound->scope,
                     .push_ticks = push_ticks};
    work.flags |= (op->flags & MXN_OP_PARALLEL) != 0 ? MXN_WORK_PARALLEL : 0;
    if (bound->custom != NULL) {
        work.function.async = start_custom;
        work.form = MXN_ASYNC_FUNCTION;
        work.property = MXN_ASYNC;
    } else {
        describe(bound, &work);
    }
    return mxn_push(&work);
}
