// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/cached_run.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/bulk_limit.h"
#include "runtime/engine/engine.h"
#include "runtime/imperative/thread_mode.h"

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

int mxn__cached_copy(const mxn_cached_op *op, const mxn_cached_call *call, mxn_array *from,
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
                    ? mxn__cached_copy(run->op, run->call, run->values[s->outputs[i].place], i)
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

int mxn__cached_run(const mxn_cached_op *op, const mxn_cached_call *call)
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
