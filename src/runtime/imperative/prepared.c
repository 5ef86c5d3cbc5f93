// SPDX-License-Identifier: Apache-2.0
// A prepared call is one block of memory:
//
//     | prepared | shapes: inputs, outputs | types | requests |
#include "runtime/imperative/prepared.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/imperative/bound.h"
#include "runtime/imperative/invoke_record.h"

void mxn_prepared_retain(mxn_prepared *prepared)
{
    mxp__refs_take(&prepared->refs);
}

void mxn_prepared_release(mxn_prepared *prepared)
{
    if (prepared != NULL && mxp__refs_drop(&prepared->refs)) {
        mxn_params_release(prepared->form.params);
        mxp__free(prepared, prepared->bytes);
    }
}

mxn_tensor_type mxn_prepared_output(const mxn_prepared *prepared, uint32_t index)
{
    const size_t at = (size_t)prepared->form.params->input_count + index;
    return (mxn_tensor_type){&prepared->form.shapes[at], prepared->form.types[at]};
}

uint64_t mxn_prepared_workspace(const mxn_prepared *prepared)
{
    return prepared->kernel.workspace_bytes;
}

bool mxn_prepared_adds(const mxn_prepared *prepared)
{
    bool adds = false;
    for (uint32_t i = 0; i < prepared->form.params->output_count; i++) {
        adds = adds || mxn__request_of(prepared->form.requests, i) == MXN_ADD;
    }
    return adds;
}

// ---- preparing --------------------------------------------------------------------------------
static mxn_prepared *prepared_new(const mxn_signature *signature)
{
    mxn_params *params = signature->params;
    const size_t operands = (size_t)params->input_count + params->output_count;
    const size_t requests = params->output_count * sizeof(uint32_t);
    const size_t bytes =
        sizeof(mxn_prepared) + operands * (sizeof(mxn_shape) + sizeof(int32_t)) + requests;
    mxn_prepared *p = mxp__alloc(bytes);
    if (p == NULL) {
        mxp__fail_memory("a prepared call");
        return NULL;
    }
    mxn_params_retain(params);
    p->bytes = bytes;
    p->form = (mxn_call_form){
        .params = params, .context = signature->context, .training = signature->training};
    p->form.shapes = (mxn_shape *)(p + 1);
    p->form.types = (int32_t *)(p->form.shapes + operands);
    if (signature->requests != NULL && requests > 0) {
        uint32_t *kept = (uint32_t *)(p->form.types + operands);
        memcpy(kept, signature->requests, requests);
        p->form.requests = kept;
    }
    mxp__refs_init(&p->refs);
    return p;
}

static void take_known(mxn_prepared *p, uint32_t at, const mxn_tensor_type *known)
{
    p->form.shapes[at].ndim = -1;
    p->form.types[at] = MXN_DTYPE_NONE;
    if (known != NULL && known->shape != NULL) {
        mxn_shape_copy(&p->form.shapes[at], known->shape);
        p->form.types[at] = known->dtype;
    }
}

static void take_signature(mxn_prepared *p, const mxn_signature *in)
{
    const uint32_t inputs = in->params->input_count;
    for (uint32_t i = 0; i < inputs; i++) {
        take_known(p, i, &in->inputs[i]);
    }
    for (uint32_t i = 0; i < in->params->output_count; i++) {
        take_known(p, inputs + i, in->outputs == NULL ? NULL : &in->outputs[i]);
    }
}

// What the operator says of a job with these operands, wherever they will lie. One of the program's
// own has no kernel to choose, and its record neither shapes nor a cost.
static int describe(mxn_prepared *p, mxn_operand *operands)
{
    const mxn_params *params = p->form.params;
    const uint32_t inputs = params->input_count;
    if ((params->op->flags & MXN_OP_CALLBACK) != 0) {
        return MXP_OK;
    }
    for (uint32_t i = 0; i < inputs + params->output_count; i++) {
        operands[i] = (mxn_operand){
            .shape = &p->form.shapes[i],
            .dtype = p->form.types[i],
            .request = i < inputs ? MXN_WRITE : mxn__request_of(p->form.requests, i - inputs)};
    }
    const mxn_job job = {.params = params,
                         .inputs = operands,
                         .outputs = operands + inputs,
                         .training = p->form.training};
    p->shape_text = mxn__shape_string(&job);
    mxn_job_cost(&job, &p->flops, &p->bytes_moved);
    return mxn_job_choose(&job, &p->kernel);
}

static int check_operator(const mxn_op *op)
{
    if ((op->flags & (MXN_OP_NOT_EAGER | MXN_OP_DIRECT)) == 0) {
        return MXP_OK;
    }
    return mxp__fail(MXP_ENOTSUP, "Operator %s cannot be prepared: it has no operation of its own",
                     op->name);
}

static int complete(mxn_prepared *p)
{
    const mxn_params *params = p->form.params;
    const size_t count = (size_t)params->input_count + params->output_count;
    const size_t bytes = count * (sizeof(mxn_operand) + sizeof(mxn_shape *));
    mxn_operand *operands = mxp__alloc(bytes);
    if (operands == NULL) {
        return mxp__fail_memory("a prepared call");
    }
    mxn_shape **pointers = (mxn_shape **)(operands + count);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = &p->form.shapes[i];
    }
    int error = mxn__form_infer(&p->form, pointers);
    if (error == MXP_OK) {
        error = describe(p, operands);
    }
    mxp__free(operands, bytes);
    return error;
}

int mxn_prepare(const mxn_signature *signature, mxn_prepared **prepared)
{
    int error = check_operator(signature->params->op);
    if (error == MXP_OK) {
        error = mxn_context_check(signature->context);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxn_prepared *p = prepared_new(signature);
    if (p == NULL) {
        return MXP_ENOMEM;
    }
    take_signature(p, signature);
    error = complete(p);
    if (error != MXP_OK) {
        mxn_prepared_release(p);
        return error;
    }
    *prepared = p;
    return MXP_OK;
}

// ---- binding ----------------------------------------------------------------------------------
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
    mxn_bound *b = mxn__bound_make(prepared->form.params, 0);
    if (b == NULL) {
        return MXP_ENOMEM;
    }
    mxn_prepared_retain(prepared);
    b->prepared = prepared;
    b->form = prepared->form;  // the same params, with the reference that mxn__bound_make took
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
