// SPDX-License-Identifier: Apache-2.0
// Invoking: what prepared.h describes, for one run with arrays that are there or made here.
#include "runtime/imperative/imperative.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/imperative/bound.h"
#include "runtime/imperative/call_memory.h"
#include "runtime/imperative/invoke_record.h"
#include "runtime/imperative/thread_mode.h"

_Thread_local mxn_thread_mode mxn__mode;

mxp_atomic_bool mxn__numpy_shape_of_all;

// Compiled into an invocation and into what prepared calls share with it.
#define HOT inline __attribute__((always_inline))

// ---- a run -------------------------------------------------------------------------------------
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

static HOT mxn_bound *bound_make(mxn_params *params, size_t own_shapes)
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

mxn_bound *mxn__bound_make(mxn_params *params, size_t own_shapes)
{
    return bound_make(params, own_shapes);
}

static HOT void add_operand(mxn_bound *b, uint32_t index, const mxn_array *array, uint32_t request)
{
    const bool used = array != NULL && request != MXN_NULL;
    b->operands[index] =
        (mxn_operand){.memory = used ? mxn_array_memory(array) : (mxn_buffer_ref){0},
                      .shape = &b->form.shapes[index],
                      .dtype = b->form.types[index],
                      .request = used ? request : (uint32_t)MXN_NULL};
}

static HOT void add_operands(mxn_bound *b, const mxn_binding *in)
{
    const mxn_params *params = b->form.params;
    for (uint32_t i = 0; i < params->input_count; i++) {
        add_operand(b, i, in->inputs[i], MXN_WRITE);
        mxn_var *var = mxn_array_var(in->inputs[i]);
        if (mxn_params_writes(params, i)) {
            b->writes[b->write_count++] = var;
        } else {
            b->reads[b->read_count++] = var;
        }
    }
    b->state_count = b->write_count;
    for (uint32_t i = 0; i < params->output_count; i++) {
        add_operand(b, params->input_count + i, in->outputs[i],
                    mxn__request_of(b->form.requests, i));
        if (b->job.outputs[i].request != MXN_NULL) {
            b->writes[b->write_count++] = mxn_array_var(in->outputs[i]);
        }
    }
}

static HOT int add_resources(mxn_bound *b)
{
    uint32_t needs = mxn_job_needs(&b->job);
    int error = MXP_OK;
    if ((needs & MXN_NEEDS_WORKSPACE) != 0) {
        error = mxn_workspace_get(b->form.context, &b->job.thread_workspace);
        if (error == MXP_OK) {
            b->writes[b->write_count++] = mxn_workspace_var(b->job.thread_workspace);
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

static HOT int bound_take(mxn_bound *bound, const mxn_binding *binding)
{
    uint32_t flags = bound->form.params->op->flags;
    bound->job.training = bound->form.training;
    bound->scope = binding->scope;
    bound->node = binding->node;
    add_operands(bound, binding);
    int error = (flags & MXN_OP_STATE) != 0 ? take_state(bound, binding->state) : MXP_OK;
    if (error == MXP_OK) {
        error = (flags & MXN_OP_CALLBACK) != 0
                    ? mxn__custom_call_new(&bound->job, binding, &bound->custom)
                    : add_resources(bound);
    }
    if (error == MXP_OK) {
        const uint32_t writes = bound->write_count;
        mxn_vars_dedupe(bound->reads, &bound->read_count, bound->writes, &bound->write_count);
        bound->state_count = bound->write_count == writes ? bound->state_count : 0;
    }
    return error;
}

int mxn__bound_take(mxn_bound *bound, const mxn_binding *binding)
{
    return bound_take(bound, binding);
}

// ---- the push ---------------------------------------------------------------------------------
static int fail_in_node(const mxn_bound *b, int error)
{
    char *why = b->node > MXP_NAME_FULL ? mxp__strdup(mxp_last_error()) : NULL;
    if (why != NULL) {
        mxp__fail(error, "%s (node '%s')", why, mxp_name_text(b->node));
    }
    mxp__strfree(why);
    return error;
}

static int execute(const mxn_run *run, void *argument)
{
    mxn_bound *b = argument;
    int error = mxn_job_execute(&b->job, run);
    return __builtin_expect(error == MXP_OK, 1) ? MXP_OK : fail_in_node(b, error);
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
    if (b->prepared != NULL) {
        work->shape = b->prepared->shape_text;
        work->flops = b->prepared->flops;
        work->bytes = b->prepared->bytes_moved;
        work->flags |= b->prepared->kernel.family << MXN_WORK_FAMILY_SHIFT;
    } else {
        work->shape = mxn__shape_string(&b->job);
        mxn_job_cost(&b->job, &work->flops, &work->bytes);
    }
}

// States are the first writes.
static HOT uint64_t kept_of(const mxn_bound *b)
{
    enum { BITS = 64 };
    return b->state_count < BITS ? (UINT64_C(1) << b->state_count) - 1 : UINT64_MAX;
}

// Everything but what only a record says.
static HOT mxn_work work_of(mxn_bound *bound)
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
                     .overwrites = bound->overwrites,
                     .keeps = kept_of(bound)};
    work.flags |= (op->flags & MXN_OP_PARALLEL) != 0 ? MXN_WORK_PARALLEL : 0;
    if (bound->custom != NULL) {
        work.function.async = start_custom;
        work.form = MXN_ASYNC_FUNCTION;
        work.property = MXN_ASYNC;
    }
    return work;
}

static HOT int bound_push(mxn_bound *bound, uint64_t push_ticks)
{
    mxn_work work = work_of(bound);
    work.push_ticks = push_ticks;
    if (bound->custom == NULL && mxp_enabled(MXP_CLASS_IMPERATIVE)) {
        describe(bound, &work);
    }
    return mxn_push(&work);
}

void mxn_bound_work(mxn_bound *bound, mxn_work *work)
{
    *work = work_of(bound);
    if (bound->custom == NULL) {
        describe(bound, work);
    }
}

int mxn_bound_push(mxn_bound *bound, uint64_t push_ticks)
{
    return bound_push(bound, push_ticks);
}

// ---- inference --------------------------------------------------------------------------------
static HOT int check_sizes(const mxn_params *params, const mxn_shape *outputs)
{
    for (uint32_t i = 0; i < params->output_count; i++) {
        if (__builtin_expect(!mxn_shape_countable(&outputs[i]), 0)) {
            return mxn_op_size_refused(params, i, &outputs[i]);
        }
    }
    return MXP_OK;
}

static HOT int form_infer(const mxn_call_form *form, mxn_shape **pointers)
{
    const mxn_params *params = form->params;
    const uint32_t inputs = params->input_count;
    int error =
        mxn_op_infer(params, pointers, form->types, pointers + inputs, form->types + inputs, NULL);
    return error == MXP_OK ? check_sizes(params, form->shapes + inputs) : error;
}

int mxn__form_infer(const mxn_call_form *form, mxn_shape **pointers)
{
    return form_infer(form, pointers);
}

// ---- an invocation ----------------------------------------------------------------------------
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

static void take_shapes(mxn_call_form *form, mxn_shape **pointers, const mxn_invocation *in)
{
    uint32_t inputs = in->params->input_count, outputs = in->params->output_count;
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        mxn_shape *shape = &form->shapes[i];
        pointers[i] = shape;
        const mxn_array *array = i < inputs ? in->inputs[i] : in->outputs[i - inputs];
        const mxn_tensor_type *known =
            in->known_outputs == NULL || i < inputs ? NULL : &in->known_outputs[i - inputs];
        form->types[i] = MXN_DTYPE_NONE;
        shape->ndim = -1;
        if (array != NULL && !mxn_array_is_none(array)) {
            mxn_shape_copy(shape, &array->shape);
            form->types[i] = array->dtype;
        } else if (known != NULL && known->shape != NULL) {
            mxn_shape_copy(shape, known->shape);
            form->types[i] = known->dtype;
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
    take_shapes(form, pointers, in);
    return form_infer(form, pointers);
}

static int bind(mxn_bound *bound, const mxn_invocation *in)
{
    const mxn_binding binding = {in->inputs, in->outputs, in->state, in->scope, in->node};
    return bound_take(bound, &binding);
}

// Whether an output that was there before is written wholly, and nothing of it is taken.
static bool is_overwritten(const mxn_invocation *in, const bool *made, uint32_t output)
{
    const mxn_params *params = in->params;
    const mxn_array *array = in->outputs[output];
    bool is_new = !made[output] && mxn__request_of(in->requests, output) == MXN_WRITE &&
                  mxn_array_is_whole(array);
    for (uint32_t i = 0; i < params->input_count && is_new; i++) {
        is_new = !mxn_array_shares(in->inputs[i], array);
    }
    return is_new;
}

static void note_overwritten(mxn_bound *bound, const mxn_invocation *in, const bool *made)
{
    enum { BITS = 64 };
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        const mxn_var *var = is_overwritten(in, made, i) ? mxn_array_var(in->outputs[i]) : NULL;
        for (uint32_t w = 0; var != NULL && w < bound->write_count && w < BITS; w++) {
            bound->overwrites |= (uint64_t)(bound->writes[w] == var) << w;
        }
    }
}

static int invoke_pushed(const mxn_invocation *in, bool *made)
{
    mxn_bound *bound =
        bound_make(in->params, (size_t)in->params->input_count + in->params->output_count);
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
    if (error == MXP_OK && in->overwrites) {
        note_overwritten(bound, in, made);
    }
    if (error != MXP_OK) {
        mxn_bound_free(bound);
    } else {
        error = bound_push(bound, in->push_ticks);
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
        if (in->outputs[i] == NULL && mxn__request_of(in->requests, i) != MXN_NULL) {
            error = mxn_array_new_none(&in->outputs[i]);
            made[i] = error == MXP_OK;
        }
    }
    if (error == MXP_OK) {
        const mxn_direct_call call = {.params = in->params,
                                      .inputs = in->inputs,
                                      .outputs = in->outputs,
                                      .requests = in->requests,
                                      .state = in->state,
                                      .training = in->training,
                                      .scope = in->scope,
                                      .category = in->category};
        error = mxn_op_direct(&call);
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
