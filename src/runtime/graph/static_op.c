// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/static_op.h"

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/bulk_limit.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/static_plan.h"
#include "runtime/imperative/thread_mode.h"
#include "runtime/op/subgraph.h"

struct mxn_static_op {
    mxn_subgraph face;  // first: what parameters hold
    mxp_refs refs;
    mxn_symbol *symbol;  // with nodes of its own
    mxn_schedule schedule;
    mxn_cached_flags flags;
    mxp_lock lock;  // over what follows, and over pushes
    mxn_static_plan *plans;
    uint32_t plan_count;
    mxp_atomic_bool is_refused;  // an operator cannot be prepared
};

// ---- life -------------------------------------------------------------------------------------
static mxn_static_op *op_of(mxn_subgraph *face)
{
    return (mxn_static_op *)face;
}

static void retain(mxn_subgraph *face)
{
    mxp__refs_take(&op_of(face)->refs);
}

static void release(mxn_subgraph *face)
{
    mxn_static_op *op = op_of(face);
    if (!mxp__refs_drop(&op->refs)) {
        return;
    }
    while (op->plans != NULL) {
        mxn_static_plan *next = op->plans->next;
        mxn__static_plan_free(op->plans);
        op->plans = next;
    }
    mxn__schedule_fini(&op->schedule);
    mxn_symbol_free(op->symbol);
    mxp__free(op, sizeof *op);
}

void mxn__static_op_free(mxn_static_op *op)
{
    if (op != NULL) {
        release(&op->face);
    }
}

static int forward(mxn_subgraph *face, const mxn_direct_call *call);
static int backward(mxn_subgraph *face, const mxn_direct_call *call);

int mxn__static_op_new(const mxn_symbol *symbol, const mxn_cached_flags *flags, mxn_static_op **op)
{
    mxn_static_op *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a cached operator");
    }
    made->face = (mxn_subgraph){forward, backward, retain, release};
    made->flags = *flags;
    mxp__refs_init(&made->refs);
    made->lock = (mxp_lock)MXP__LOCK_INIT;
    int error = mxn_symbol_copy(symbol, &made->symbol);
    if (error == MXP_OK) {
        error = mxn__schedule_make(made->symbol, &made->schedule);
    }
    if (error != MXP_OK) {
        mxn__static_op_free(made);
        return error;
    }
    *op = made;
    return MXP_OK;
}

// Nobody can go back through the call any more.
static void run_is_over(mxn_call_state *state)
{
    mxn_static_run *run = (mxn_static_run *)state;
    mxn_static_op *op = run->plan->owner;
    mxp__lock(&op->lock);
    mxn__static_plan_give(run);
    mxp__unlock(&op->lock);
    release(&op->face);
}

// ---- pushing ----------------------------------------------------------------------------------
// The scope of a backward is that of its forward.
static bool enter_scope(uint32_t scope)
{
    const bool enters = scope != 0 && scope != mxp_scope_current();
    if (enters) {
        mxp_scope_push(mxp_name_text(scope));
    }
    return enters;
}

// `segment_size`: the most steps of a segment; `bulk_size`: of those outside of segments.
static int push(const mxn_static_op *op, mxn_program_run *run, uint32_t segment_size,
                uint32_t bulk_size, uint32_t scope)
{
    const bool entered = enter_scope(scope);
    const int before = mxn_bulk_size_set((int)bulk_size);
    int error = mxn__program_run_push(run, &(mxn_program_push){.is_static = op->flags.static_shape,
                                                               .segment_size = segment_size});
    mxn_bulk_size_set(before);
    if (entered) {
        mxp_scope_pop();
    }
    return error;
}

// Segments of inference are as long as they can be.
static int push_forward(const mxn_static_op *op, mxn_program_run *run, const mxn_program_form *form,
                        uint32_t scope)
{
    enum { WHOLE = 4096 };
    const bool trains = form->training || form->is_recorded;
    const uint32_t size = op->flags.forward_bulk_size;
    return mxn_bulk_allowed(trains) ? push(op, run, trains ? size : WHOLE, size, scope)
                                    : push(op, run, 0, 0, scope);
}

static int init_array(const mxn_static_run *run, const mxn_program_value *value,
                      const mxn_direct_call *call, uint32_t category, mxn_array *array)
{
    if (!mxn_array_is_none(array)) {
        return MXP_OK;
    }
    const mxn_tag tag = {mxn_op_record_name(call->params->op),
                         call->scope != 0 ? call->scope : mxp_scope_current(), category};
    return mxn_array_init(array, &value->shape, value->dtype, run->plan->form.context, &tag);
}

// ---- forward ----------------------------------------------------------------------------------
static int give_forward(mxn_static_run *run, const mxn_direct_call *call)
{
    const mxn_program *p = &run->plan->forward;
    int error = MXP_OK;
    for (uint32_t i = 0; i < p->value_count && error == MXP_OK; i++) {
        const mxn_program_value *value = &p->values[i];
        if (value->kind == MXN_VALUE_INPUT) {
            error = mxn__program_run_give(&run->forward, i, call->inputs[value->index], true);
        } else if (value->kind == MXN_VALUE_OUTPUT) {
            mxn_array *output = call->outputs[value->index];
            error = init_array(run, value, call, MXN_MEMORY_OUTPUT, output);
            error =
                error != MXP_OK ? error : mxn__program_run_give(&run->forward, i, output, false);
        }
    }
    return error;
}

static void hand_over(mxn_static_op *op, mxn_static_run *run, mxn_call_state **state)
{
    mxn__static_run_note_values(run);
    mxn__program_run_let_go(&run->forward, true);
    mxp__refs_init(&run->state.refs);
    run->state.destroy = run_is_over;
    retain(&op->face);
    *state = &run->state;
}

static int run_forward(mxn_static_op *op, mxn_static_plan *plan, const mxn_direct_call *call)
{
    mxn_static_run *run = NULL;
    int error = mxn__static_plan_take(plan, &run);
    if (error != MXP_OK) {
        return error;
    }
    error = give_forward(run, call);
    if (error == MXP_OK) {
        error = push_forward(op, &run->forward, &plan->form, call->scope);
    }
    if (error == MXP_OK && plan->form.is_recorded) {
        hand_over(op, run, call->state);
    } else {
        mxn__static_plan_give(run);
    }
    return error;
}

static int make_plan(mxn_static_op *op, const mxn_program_form *form, mxn_static_plan **plan)
{
    if (op->plan_count == MXN_STATIC_PLANS) {
        return mxp__fail(MXP_ENOTSUP, "a cached operator was called with too many shapes");
    }
    int error = mxn__static_plan_new(&op->schedule, form, plan);
    if (error == MXP_ENOTSUP) {
        mxp_atomic_store(&op->is_refused, true);
    }
    if (error == MXP_OK) {
        (*plan)->owner = op;
        (*plan)->next = op->plans;
        op->plans = *plan;
        op->plan_count++;
    }
    return error;
}

static int find_plan(mxn_static_op *op, const mxn_program_form *form, mxn_static_plan **plan)
{
    for (mxn_static_plan *at = op->plans; at != NULL; at = at->next) {
        if (mxn__static_plan_fits(at, form)) {
            *plan = at;
            return MXP_OK;
        }
    }
    return make_plan(op, form, plan);
}

static int forward(mxn_subgraph *face, const mxn_direct_call *call)
{
    mxn_static_op *op = op_of(face);
    const uint32_t inputs = call->params->input_count;
    mxn_tensor_type *types = mxp__alloc(inputs * sizeof *types + 1);
    if (types == NULL) {
        return mxp__fail_memory("a call of a cached operator");
    }
    for (uint32_t i = 0; i < inputs; i++) {
        types[i] = (mxn_tensor_type){&call->inputs[i]->shape, call->inputs[i]->dtype};
    }
    const mxn_program_form form = {.inputs = types,
                                   .context = inputs == 0 ? (mxn_context){MXN_CPU, 0}
                                                          : mxn_array_context(call->inputs[0]),
                                   .training = call->training,
                                   .numpy_shape = call->params->numpy_shape,
                                   .is_recorded = call->state != NULL};
    mxn_static_plan *plan = NULL;
    mxp__lock(&op->lock);
    int error = find_plan(op, &form, &plan);
    if (error == MXP_OK) {
        error = run_forward(op, plan, call);
    }
    mxp__unlock(&op->lock);
    mxp__free(types, inputs * sizeof *types + 1);
    return error;
}

// ---- backward ---------------------------------------------------------------------------------
static int give_backward(const mxn_static_run *run, mxn_backward_run *to,
                         const mxn_direct_call *call)
{
    const mxn_program *p = &to->of->program;
    int error = MXP_OK;
    for (uint32_t i = 0; i < p->value_count && error == MXP_OK; i++) {
        const mxn_program_value *value = &p->values[i];
        mxn_array *array;
        switch (value->kind) {
        case MXN_VALUE_FORWARD:
            error = mxn__program_run_give(&to->run, i, run->forward.values[value->index],
                                          run->forward.is_still[value->index]);
            break;
        case MXN_VALUE_HEAD:
            error = mxn__program_run_give(&to->run, i, call->inputs[value->index], false);
            break;
        case MXN_VALUE_GRADIENT:
            array = call->outputs[value->index];
            const bool is_given = !mxn_array_is_none(array);
            error = init_array(run, value, call, MXN_MEMORY_GRADIENT, array);
            error = error != MXP_OK ? error : mxn__program_run_give(&to->run, i, array, is_given);
            break;
        default:
            break;
        }
    }
    return error;
}

static int run_backward(const mxn_static_op *op, mxn_static_run *run,
                        const mxn_gradient_form *gradients, const mxn_direct_call *call)
{
    mxn_backward_run *to = NULL;
    int error = mxn__static_run_backward(run, gradients, call->training, &to);
    if (error == MXP_OK) {
        error = mxn__static_run_check_values(run, &to->of->program);
    }
    if (error == MXP_OK) {
        error = give_backward(run, to, call);
    }
    if (error == MXP_OK) {
        const uint32_t size = mxn_bulk_allowed(true) ? op->flags.backward_bulk_size : 0;
        error = push(op, &to->run, size, size, call->scope);
    }
    if (to != NULL) {
        mxn__program_run_let_go(&to->run, false);
    }
    return error;
}

static int backward(mxn_subgraph *face, const mxn_direct_call *call)
{
    mxn_static_op *op = op_of(face);
    mxn_static_run *run = (mxn_static_run *)*call->state;
    if (mxn_autograd_recording()) {
        return mxp__fail(MXP_ENOTSUP, "Operator _CachedOp: a network with static_alloc has no "
                                      "second gradients: create_graph needs one without it");
    }
    const uint32_t inputs = call->params->output_count, outputs = call->params->input_count;
    const size_t bytes = inputs * sizeof(uint32_t) + outputs;
    uint32_t *requests = mxp__alloc(bytes + 1);
    if (requests == NULL) {
        return mxp__fail_memory("a backward of a cached operator");
    }
    bool *heads = (bool *)(requests + inputs);
    for (uint32_t i = 0; i < inputs; i++) {
        requests[i] = call->outputs[i] == NULL ? (uint32_t)MXN_NULL
                      : call->requests == NULL ? (uint32_t)MXN_WRITE
                                               : call->requests[i];
    }
    for (uint32_t i = 0; i < outputs; i++) {
        heads[i] = call->inputs[i] != NULL;
    }
    mxp__lock(&op->lock);
    int error = run_backward(op, run, &(mxn_gradient_form){requests, heads}, call);
    mxp__unlock(&op->lock);
    mxp__free(requests, bytes + 1);
    return error;
}

// ---- calls ------------------------------------------------------------------------------------
int mxn__static_op_call(mxn_static_op *op, const mxn_cached_call *call, bool *takes)
{
    *takes = call->input_count > 0 && !mxp_atomic_load(&op->is_refused);
    if (!*takes) {
        return MXP_OK;
    }
    mxn_params *params = NULL;
    int error = mxn_subgraph_params(&op->face, call->input_count, op->schedule.output_count,
                                    mxn_numpy_shape(), &params);
    if (error == MXP_OK) {
        error = mxn_autograd_invoke(&(mxn_invocation){.params = params,
                                                      .inputs = call->inputs,
                                                      .outputs = call->outputs,
                                                      .category = MXN_MEMORY_OUTPUT,
                                                      .push_ticks = call->push_ticks});
    }
    mxn_params_release(params);
    *takes = error != MXP_ENOTSUP;
    return *takes ? error : MXP_OK;
}
