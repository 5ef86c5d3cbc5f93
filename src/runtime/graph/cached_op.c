// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/cached_op.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/bulk_limit.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/cached_flags.h"
#include "runtime/graph/open_shapes.h"
#include "runtime/graph/schedule.h"
#include "runtime/graph/static_op.h"
#include "runtime/imperative/thread_mode.h"

struct mxn_cached_op {
    mxn_symbol *symbol;  // with nodes of its own
    mxn_schedule schedule;
    mxn_cached_flags flags;
    mxn_static_op *fixed;  // with static_alloc; else null
    mxn_open_shapes *open;  // null: all shapes are known from the inputs'
    mxn_params *copy;  // of `_copy`
    mxn_cached_op_hook hook;  // null: nobody is told
    void *hook_context;
    int hook_what;  // MXN_TELL_*
};

// ---- making -----------------------------------------------------------------------------------
static int find_copy(mxn_params **params)
{
    const mxn_op *op = NULL;
    int error = mxn_op_require("_copy", &op);
    return error != MXP_OK ? error
                           : mxn_params_parse(op, 0, NULL, NULL, 1, mxn_numpy_shape(), params);
}

static int make(const mxn_symbol *symbol, const void *flags, mxn_cached_op **op)
{
    mxn_cached_op *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a cached operator");
    }
    made->flags = *(const mxn_cached_flags *)flags;
    int error = mxn_symbol_copy(symbol, &made->symbol);
    if (error == MXP_OK) {
        error = mxn__schedule_make(made->symbol, &made->schedule);
    }
    if (error == MXP_OK) {
        error = find_copy(&made->copy);
    }
    if (error == MXP_OK && made->flags.static_alloc) {
        error = mxn__static_op_new(made->symbol, &made->flags, &made->fixed);
    }
    if (error != MXP_OK) {
        mxn_cached_op_free(made);
        return error;
    }
    *op = made;
    return MXP_OK;
}

int mxn_cached_op_new(const mxn_symbol *symbol, uint32_t count, const char *const *keys,
                      const char *const *values, mxn_cached_op **op)
{
    mxn_cached_flags flags;
    mxn_cached_op *made = NULL;
    int error = mxn__cached_flags_parse(count, keys, values, &flags);
    if (error == MXP_OK) {
        error = make(symbol, &flags, &made);
    }
    if (error == MXP_OK) {
        error = mxn__open_shapes_new(made->symbol, &made->open);
    }
    if (error != MXP_OK) {
        mxn_cached_op_free(made);
        return error;
    }
    *op = made;
    return MXP_OK;
}

void mxn_cached_op_free(mxn_cached_op *op)
{
    if (op != NULL) {
        mxn__open_shapes_free(op->open);
        mxn__static_op_free(op->fixed);
        mxn__schedule_fini(&op->schedule);
        mxn_symbol_free(op->symbol);
        mxn_params_release(op->copy);
        mxp__free(op, sizeof *op);
    }
}

uint32_t mxn_cached_op_outputs(const mxn_cached_op *op)
{
    return op->schedule.output_count;
}

const mxn_symbol *mxn_cached_op_symbol(const mxn_cached_op *op)
{
    return op->symbol;
}

void mxn_cached_op_set_hook(mxn_cached_op *op, mxn_cached_op_hook hook, void *context, int what)
{
    op->hook = hook;
    op->hook_context = context;
    op->hook_what = what;
}

// ---- checks -----------------------------------------------------------------------------------
static int check_context(const mxn_cached_op *op, mxn_array *const *inputs, uint32_t index)
{
    mxn_context first = mxn_array_context(inputs[0]), other = mxn_array_context(inputs[index]);
    if (mxn_context_equal(first, other)) {
        return MXP_OK;
    }
    char first_text[32], other_text[32];
    return mxp__fail(MXP_EINVAL,
                     "CachedOp requires all inputs to live on the same context. But %s is on %s "
                     "while %s is on %s",
                     op->schedule.variables[0]->name, mxn_context_text(first, first_text),
                     op->schedule.variables[index]->name, mxn_context_text(other, other_text));
}

static int check(const mxn_cached_op *op, const mxn_cached_call *call)
{
    if (op->flags.static_shape && !op->flags.static_alloc) {
        return mxp__fail(MXP_EINVAL, "static_alloc must be True when static_shape is True");
    }
    if (call->input_count != op->schedule.variable_count) {
        return mxp__fail(
            MXP_EINVAL,
            "Actual number of inputs differs from expected number of inputs: %u given, "
            "%u expected",
            call->input_count, op->schedule.variable_count);
    }
    for (uint32_t i = 0; i < call->input_count; i++) {
        if (mxn_array_is_none(call->inputs[i])) {
            return mxp__fail(MXP_EINVAL, "Input %s of a cached operator has no shape yet",
                             op->schedule.variables[i]->name);
        }
        int error = check_context(op, call->inputs, i);
        if (error != MXP_OK) {
            return error;
        }
    }
    return MXP_OK;
}

// ---- running ----------------------------------------------------------------------------------
// The values of one call. Those of variables and of outputs that the caller has given are borrowed.
typedef struct running {
    const mxn_cached_op *op;
    const mxn_cached_call *call;
    mxn_array **values;
    mxn_array **inputs, **outputs;  // of one step
    bool *is_borrowed;
    void *memory;
    size_t bytes;
} running;

static int running_init(running *run, const mxn_cached_op *op, const mxn_cached_call *call)
{
    const mxn_schedule *s = &op->schedule;
    size_t pointers = (size_t)s->place_count + 2 * (size_t)s->most;
    *run = (running){.op = op, .call = call};
    run->bytes = pointers * sizeof(mxn_array *) + s->place_count + 1;
    run->memory = mxp__alloc(run->bytes);
    if (run->memory == NULL) {
        return mxp__fail_memory("a call of a cached operator");
    }
    run->values = run->memory;
    run->inputs = run->values + s->place_count;
    run->outputs = run->inputs + s->most;
    run->is_borrowed = (bool *)(run->outputs + s->most);
    for (uint32_t i = 0; i < s->variable_count; i++) {
        run->values[i] = call->inputs[i];
        run->is_borrowed[i] = true;
    }
    for (uint32_t i = 0; i < s->output_count; i++) {
        uint32_t place = s->outputs[i].place;
        if (!s->outputs[i].is_copy && call->outputs[i] != NULL) {
            run->values[place] = call->outputs[i];
            run->is_borrowed[place] = true;
        }
    }
    return MXP_OK;
}

static void drop(running *run, uint32_t place)
{
    if (!run->is_borrowed[place]) {
        mxn_array_release(run->values[place]);
        run->values[place] = NULL;
    }
}

static void running_fini(running *run)
{
    for (uint32_t i = 0; run->memory != NULL && i < run->op->schedule.place_count; i++) {
        drop(run, i);
    }
    mxp__free(run->memory, run->bytes);
}

static void tell_one(const running *run, const mxn_graph_node *node, const char *name,
                     mxn_array *array)
{
    mxn_array_retain(array);
    run->op->hook(name, node->op->name, array, run->op->hook_context);
}

static void tell_of(const running *run, const mxn_graph_node *node, const char *operand,
                    mxn_array *array)
{
    mxp_strbuf name = {0};
    mxp__strbuf_printf(&name, "%s_%s", node->name, operand);
    tell_one(run, node, mxp__strbuf_text(&name), array);
    mxp__strbuf_fini(&name);
}

static void tell(const running *run, const mxn_graph_node *node)
{
    char buffer[64];
    int what = run->op->hook_what;
    for (uint32_t i = 0; what != MXN_TELL_OUTPUTS && i < node->input_count; i++) {
        const mxn_graph_node *input = node->inputs[i].node;
        if (what == MXN_TELL_VARIABLES && input->op == NULL) {
            tell_one(run, node, input->name, run->inputs[i]);
        }
        tell_of(run, node, mxn__input_told_name(node->params, i, buffer), run->inputs[i]);
    }
    for (uint32_t i = 0; i < node->params->visible_count; i++) {
        tell_of(run, node, mxn_params_output_name(node->params, i, buffer), run->outputs[i]);
    }
}

static void end_step(running *run, const mxn_schedule_step *step)
{
    if (run->op->hook != NULL) {
        tell(run, step->node);
    }
    for (uint32_t i = 0; i < step->dead_count; i++) {
        drop(run, run->op->schedule.dead[step->first_dead + i]);
    }
}

static int run_step(running *run, const mxn_schedule_step *step)
{
    const mxn_schedule *s = &run->op->schedule;
    mxn_params *params = NULL;
    int error = mxn_params_under(step->node->params, mxn_numpy_shape(), &params);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < params->input_count; i++) {
        run->inputs[i] = run->values[s->operands[step->first_operand + i]];
    }
    memcpy(run->outputs, run->values + step->first_output,
           params->output_count * sizeof(mxn_array *));
    error = mxn_autograd_invoke(&(mxn_invocation){.params = params,
                                                  .inputs = run->inputs,
                                                  .outputs = run->outputs,
                                                  .scope = step->scope,
                                                  .node = step->name,
                                                  .category = MXN_MEMORY_OUTPUT,
                                                  .push_ticks = run->call->push_ticks});
    if (error != MXP_OK) {
        return mxn__graph_node_fail(step->node, error);
    }
    memcpy(run->values + step->first_output, run->outputs,
           params->output_count * sizeof(mxn_array *));
    end_step(run, step);
    return MXP_OK;
}

// A copy of what is another output as well, or the program's own array.
static int copy_value(const mxn_cached_op *op, const mxn_cached_call *call, mxn_array *from,
                      uint32_t output)
{
    return mxn_autograd_invoke(&(mxn_invocation){.params = op->copy,
                                                 .inputs = &from,
                                                 .outputs = &call->outputs[output],
                                                 .category = MXN_MEMORY_OUTPUT,
                                                 .push_ticks = call->push_ticks});
}

static int run_steps(running *run)
{
    const mxn_schedule *s = &run->op->schedule;
    int error = MXP_OK;
    for (uint32_t i = 0; i < s->step_count && error == MXP_OK; i++) {
        error = run_step(run, &s->steps[i]);
    }
    for (uint32_t i = 0; i < s->output_count && error == MXP_OK; i++) {
        error = s->outputs[i].is_copy
                    ? copy_value(run->op, run->call, run->values[s->outputs[i].place], i)
                    : MXP_OK;
    }
    return error;
}

// Made outputs are the caller's from here on.
static void give_outputs(running *run)
{
    const mxn_schedule *s = &run->op->schedule;
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].is_copy) {
            run->call->outputs[i] = run->values[s->outputs[i].place];
            run->is_borrowed[s->outputs[i].place] = true;
        }
    }
}

static void take_back_copies(const running *run, const bool *was_given)
{
    for (uint32_t i = 0; i < run->op->schedule.output_count; i++) {
        if (!was_given[i] && run->call->outputs[i] != NULL) {
            mxn_array_release(run->call->outputs[i]);
            run->call->outputs[i] = NULL;
        }
    }
}

static int run_in_bulks(running *run)
{
    const bool training = mxn_autograd_recording() || mxn_autograd_training();
    const mxn_cached_flags *flags = &run->op->flags;
    const uint32_t size = mxn_bulk_allowed(training) ? flags->forward_bulk_size : 0;
    const bool is_inlined = run->op->schedule.step_count <= flags->inline_limit;
    const int32_t backward_size = is_inlined               ? MXN_BULK_DEFAULT
                                  : mxn_bulk_allowed(true) ? (int32_t)flags->backward_bulk_size
                                                           : 0;
    const int before = mxn_bulk_size_set((int)size);
    const int32_t backward_before = mxn_autograd_bulk_size_set(backward_size);
    int error = run_steps(run);
    mxn_autograd_bulk_size_set(backward_before);
    mxn_bulk_size_set(before);
    return error;
}

static int call_one_by_one(const mxn_cached_op *op, const mxn_cached_call *call)
{
    running run = {0};
    uint32_t count = op->schedule.output_count;
    int error = MXP_OK;
    bool *was_given = mxp__alloc(count + 1);
    for (uint32_t i = 0; was_given != NULL && i < count; i++) {
        was_given[i] = call->outputs[i] != NULL;
    }
    error = was_given == NULL ? mxp__fail_memory("a call of a cached operator")
                              : running_init(&run, op, call);
    if (error == MXP_OK) {
        error = run_in_bulks(&run);
        if (error == MXP_OK) {
            give_outputs(&run);
        } else {
            take_back_copies(&run, was_given);
        }
        running_fini(&run);
    }
    mxp__free(was_given, count + 1);
    return error;
}

// A hook is told of each array, which a prepared network does not have.
static int call_at_once(const mxn_cached_op *op, const mxn_cached_call *call)
{
    bool takes = op->fixed != NULL && op->hook == NULL;
    int error = takes ? mxn__static_op_call(op->fixed, call, &takes) : MXP_OK;
    return takes ? error : call_one_by_one(op, call);
}

// ---- outputs on the memory of others ----------------------------------------------------------
static bool shares_with_any(const mxn_array *array, mxn_array *const *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (others[i] != NULL && (others[i] == array || mxn_array_shares(others[i], array))) {
            return true;
        }
    }
    return false;
}

// Whether writing an output too early could change a value that somebody takes later.
static bool outputs_are_in_the_way(const mxn_cached_op *op, const mxn_cached_call *call)
{
    for (uint32_t i = 0; i < op->schedule.output_count; i++) {
        const mxn_array *output = call->outputs[i];
        if (output != NULL && (shares_with_any(output, call->inputs, call->input_count) ||
                               shares_with_any(output, call->outputs, i))) {
            return true;
        }
    }
    return false;
}

// Outputs are made apart, and copied when all are there.
static int call_apart(const mxn_cached_op *op, const mxn_cached_call *call)
{
    const uint32_t count = op->schedule.output_count;
    mxn_array **made = mxp__alloc(count * sizeof *made + 1);
    if (made == NULL) {
        return mxp__fail_memory("a call of a cached operator");
    }
    mxn_cached_call apart = *call;
    apart.outputs = made;
    int error = call_at_once(op, &apart);
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = call->outputs[i] != NULL ? copy_value(op, call, made[i], i) : MXP_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (error == MXP_OK && call->outputs[i] == NULL) {
            call->outputs[i] = made[i];
        } else {
            mxn_array_release(made[i]);
        }
    }
    mxp__free(made, count * sizeof *made + 1);
    return error;
}

static int call_told(const mxn_cached_op *op, const mxn_cached_call *call)
{
    return outputs_are_in_the_way(op, call) ? call_apart(op, call) : call_at_once(op, call);
}

// The network in which the shapes of these inputs have told what others are.
static int call_open(const mxn_cached_op *op, const mxn_cached_call *call)
{
    mxn_cached_op *told;
    int error =
        mxn__open_shapes_told(op->open, call->inputs, call->input_count, make, &op->flags, &told);
    if (error != MXP_OK) {
        return error;
    }
    if (op->hook == NULL) {
        return call_told(told, call);
    }
    mxn_cached_op heard = *told;  // others may call it meanwhile
    mxn_cached_op_set_hook(&heard, op->hook, op->hook_context, op->hook_what);
    return call_told(&heard, call);
}

int mxn_cached_op_call(const mxn_cached_op *op, const mxn_cached_call *call)
{
    int error = check(op, call);
    if (error != MXP_OK) {
        return error;
    }
    return op->open != NULL && !mxn_numpy_shape() ? call_open(op, call) : call_told(op, call);
}
