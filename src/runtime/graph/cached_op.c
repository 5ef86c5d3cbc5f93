// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/cached_op.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/cached_run.h"
#include "runtime/imperative/thread_mode.h"

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

// ---- calls -------------------------------------------------------------------------------------
// A hook is told of each array, which a prepared network does not have.
static int call_at_once(const mxn_cached_op *op, const mxn_cached_call *call)
{
    bool takes = op->fixed != NULL && op->hook == NULL;
    int error = takes ? mxn__static_op_call(op->fixed, call, &takes) : MXP_OK;
    return takes ? error : mxn__cached_run(op, call);
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
        error = call->outputs[i] != NULL ? mxn__cached_copy(op, call, made[i], i) : MXP_OK;
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
