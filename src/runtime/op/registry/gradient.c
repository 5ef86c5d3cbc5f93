// SPDX-License-Identifier: Apache-2.0
// Gradients: the steps of a declaration made into calls with parameters, sources and results. A
// call has the forward's parameters if its operator has the same fields, or the step adjusts the
// struct, which is then the same; else those of the step.
#include "runtime/op/registry/gradient.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/op/registry/declare.h"
#include "runtime/op/registry/operator_state.h"

enum { STEP_PAIRS_MAX = 8 };

typedef struct builder {
    mxn_params *forward;
    mxn_gradient *gradient;
    size_t capacity;
    uint32_t results;  // of the calls so far
} builder;

static uint32_t range_of(const builder *b, char kind)
{
    return kind == 'i'   ? b->forward->input_count
           : kind == 's' ? b->results
                         : b->forward->output_count;
}

static uint32_t kind_of(char letter)
{
    return letter == 'g'   ? MXN_FROM_GRADIENT
           : letter == 'i' ? MXN_FROM_INPUT
           : letter == 'o' ? MXN_FROM_OUTPUT
                           : MXN_FROM_RESULT;
}

// Reads "g0 i* s1" into `sources`, or only counts if that is null.
static uint32_t read_sources(const builder *b, const char *text, mxn_source *sources)
{
    uint32_t count = 0;
    for (const char *at = text; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        bool all = at[1] == '*';
        uint32_t index = all ? 0 : (uint32_t)strtoul(at + 1, NULL, 10);
        uint32_t end = all ? range_of(b, *at) : index + 1;
        assert(end <= range_of(b, *at) && "a step of a gradient takes what is not there");
        for (; index < end; index++, count++) {
            if (sources != NULL) {
                sources[count] = (mxn_source){kind_of(*at), index};
            }
        }
    }
    return count;
}

// "0 - 2": what each output of the call is the gradient of.
static void read_gives(const builder *b, const char *text, mxn_gradient_call *call)
{
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        call->gives[i] = text == NULL && i < b->forward->input_count ? (int32_t)i : -1;
        if (text != NULL && *text != '\0') {
            call->gives[i] = *text == '-' ? -1 : (int32_t)strtol(text, NULL, 10);
            text += strcspn(text, " ");
            text += *text == ' ';
        }
        assert(call->gives[i] < (int32_t)b->forward->input_count &&
               "a step of a gradient gives one of an input that is not there");
    }
    assert((text == NULL || *text == '\0') && "a step of a gradient gives more than its outputs");
}

static int step_params(const builder *b, const mxn_op *op, const mxn_gradient_step *step,
                       uint32_t inputs, mxn_params **params)
{
    const mxn_field *fields = b->forward->op->def->fields;
    if (fields != NULL && (op->def->fields == fields || step->adjust != NULL)) {
        return mxn__params_share(b->forward, op, inputs, step->adjust, params);
    }
    const char *keys[STEP_PAIRS_MAX];
    const char *values[STEP_PAIRS_MAX];
    uint32_t count = 0;
    for (const char *const *at = step->params; at != NULL && *at != NULL; at += 2) {
        assert(count < STEP_PAIRS_MAX);
        keys[count] = at[0];
        values[count++] = at[1];
    }
    return mxn_params_parse(op, count, keys, values, inputs, b->forward->numpy_shape, params);
}

static int add_call(builder *b, const mxn_gradient_step *step, const char *gives)
{
    const mxn_op *op;
    int error = mxn_op_require(step->op, &op);
    if (error != 0) {
        return error;
    }
    error = mxp__grow(&b->gradient->calls, &b->capacity, b->gradient->count + 1u,
                      sizeof(mxn_gradient_call));
    if (error != 0) {
        return mxp__fail_memory("the gradient of an operator");
    }
    b->gradient->bytes = b->capacity * sizeof(mxn_gradient_call);
    uint32_t inputs = read_sources(b, step->takes, NULL);
    mxn_gradient_call call = {0};
    error = step_params(b, op, step, inputs, &call.params);
    if (error == 0) {
        error = mxn_params_expect(call.params, inputs);
    }
    if (error != 0) {
        mxn_params_release(call.params);
        return error;
    }
    call.takes = mxp__alloc((inputs + 1u) * sizeof(mxn_source));
    call.gives = mxp__alloc((call.params->output_count + 1u) * sizeof(int32_t));
    b->gradient->calls[b->gradient->count++] = call;
    if (call.takes == NULL || call.gives == NULL) {
        return mxp__fail_memory("the gradient of an operator");
    }
    read_sources(b, step->takes, call.takes);
    read_gives(b, gives, &call);
    b->results += call.params->output_count;
    return 0;
}

static int add_step(builder *b, const mxn_gradient_step *step)
{
    if (step->gives == NULL || strcmp(step->gives, "each") != 0) {
        return add_call(b, step, step->gives);
    }
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < b->forward->input_count; i++) {
        error = add_call(b, step, "-");
        if (error == 0) {
            assert(b->gradient->calls[b->gradient->count - 1].params->output_count > 0);
            b->gradient->calls[b->gradient->count - 1].gives[0] = (int32_t)i;
        }
    }
    return error;
}

void mxn__gradient_free(mxn_gradient *gradient)
{
    if (gradient == NULL) {
        return;
    }
    for (uint32_t i = 0; i < gradient->count; i++) {
        mxn_gradient_call *call = &gradient->calls[i];
        mxp__free(call->takes, (call->params->input_count + 1u) * sizeof(mxn_source));
        mxp__free(call->gives, (call->params->output_count + 1u) * sizeof(int32_t));
        mxn_params_release(call->params);
    }
    mxp__free(gradient->calls, gradient->bytes);
    mxp__free(gradient, sizeof *gradient);
}

static int make(mxn_params *params, const mxn_gradient_step *steps, mxn_gradient **made)
{
    mxn_gradient *gradient = mxp__alloc(sizeof *gradient);
    if (gradient == NULL) {
        return mxp__fail_memory("the gradient of an operator");
    }
    builder b = {.forward = params, .gradient = gradient};
    int error = 0;
    for (const mxn_gradient_step *step = steps; error == 0 && step->op != NULL; step++) {
        error = add_step(&b, step);
    }
    if (error != 0) {
        mxn__gradient_free(gradient);
        return error;
    }
    *made = gradient;
    return 0;
}

int mxn_params_gradient(mxn_params *params, const mxn_gradient **gradient)
{
    *gradient = mxp_atomic_load_acquire(&params->gradient);
    if (*gradient != NULL) {
        return 0;
    }
    const mxn_op_def *def = params->op->def;
    const mxn_gradient_step *steps =
        def->gradient_of != NULL ? def->gradient_of(params->values) : def->gradient;
    if (steps == NULL) {
        return mxp__fail(MXP_ENOTSUP,
                         "Operator %s is non-differentiable: it has no gradient; use BlockGrad in "
                         "front of it",
                         params->op->name);
    }
    mxn_gradient *made = NULL;
    int error = make(params, steps, &made);
    if (error != 0) {
        return error;
    }
    mxn_gradient *stored = mxn__publish(&params->gradient, made);
    if (stored != made) {
        mxn__gradient_free(made);
    }
    *gradient = stored;
    return 0;
}
