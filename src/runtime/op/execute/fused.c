// SPDX-License-Identifier: Apache-2.0
// Making a fusion: how its values are cut, and which kernels run on a piece.
#include "runtime/op/execute/fused_plan.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/op/execute/kernel_choice.h"

// Pieces of a value: a few of them fit the first-level cache, or the second-level one.
enum { POINTWISE_BYTES = 16384, PIECE_BYTES = 524288 };

// ---- jobs -------------------------------------------------------------------------------------
void mxn__fused_worker_init(mxn_fused_worker *w, const mxn_fused *f, char *memory)
{
    w->fused = f;
    w->jobs = (mxn_job *)(void *)memory;
    w->operands = (mxn_operand *)(w->jobs + f->call_count);
    w->shapes = (mxn_shape *)(w->operands + f->operand_count);
    w->inner =
        memory + mxn__fused_aligned((uint64_t)((char *)(w->shapes + f->operand_count) - memory));
    for (uint32_t i = 0; i < f->call_count; i++) {
        const mxn_cut_call *call = &f->calls[i];
        mxn_operand *operands = w->operands + call->first_operand;
        w->jobs[i] = (mxn_job){.params = call->params,
                               .inputs = operands,
                               .outputs = operands + call->params->input_count,
                               .training = f->training};
    }
    for (uint32_t i = 0; i < f->operand_count; i++) {
        const mxn_cut_value *like = &f->values[f->shaped[i]];
        mxn_shape_copy(&w->shapes[i], &like->shape);
        w->operands[i] = (mxn_operand){
            .shape = &w->shapes[i],
            .dtype = like->dtype,
            .request = f->operands[i] == MXN_FUSED_NONE ? MXN_NULL : (uint16_t)MXN_WRITE};
    }
}

static uint64_t thread_bytes(const mxn_fused *f)
{
    const uint64_t jobs = f->call_count * sizeof(mxn_job) +
                          f->operand_count * (sizeof(mxn_operand) + sizeof(mxn_shape));
    return mxn__fused_aligned(jobs) + f->inner_bytes;
}

void mxn__fused_worker_units(mxn_fused_worker *w, int64_t units)
{
    for (uint32_t i = 0; i < w->fused->operand_count; i++) {
        if (w->fused->values[w->fused->shaped[i]].kind != MXN_FUSED_WHOLE) {
            w->shapes[i].dims[0] = units;
        }
    }
}

// ---- making -----------------------------------------------------------------------------------
static void take_value(mxn_fused *f, uint32_t id, const mxn_fused_value *from)
{
    mxn_cut_value *to = &f->values[id];
    to->dtype = from->dtype;
    to->kind = from->kind;
    to->bytes = mxn_shape_size(from->shape) * mxn_dtype_size(from->dtype);
    mxn_shape_copy(&to->shape, from->shape);
    if (from->kind == MXN_FUSED_WHOLE) {
        return;
    }
    if (f->is_pointwise) {
        to->shape.ndim = 1;
        to->shape.dims[0] = (int64_t)mxn_shape_size(from->shape);
    }
    assert((f->units < 0 || f->units == to->shape.dims[0]) && "all are cut alike");
    f->units = to->shape.dims[0];
    to->unit_bytes = f->units > 0 ? to->bytes / (uint64_t)f->units : 0;
}

static void note_writes(mxn_fused *f)
{
    for (uint32_t i = 0; i < f->call_count; i++) {
        const mxn_params *params = f->calls[i].params;
        const uint32_t inputs = params->input_count;
        for (uint32_t k = 0; k < inputs + params->output_count; k++) {
            const uint32_t id = f->operands[f->calls[i].first_operand + k];
            if (id != MXN_FUSED_NONE && (k >= inputs || mxn_params_writes(params, k))) {
                f->values[id].is_written = true;
            }
        }
    }
}

static void cut(mxn_fused *f, bool is_whole)
{
    uint64_t widest = 1, limit = f->is_pointwise ? POINTWISE_BYTES : PIECE_BYTES;
    for (uint32_t i = 0; i < f->value_count; i++) {
        widest = f->values[i].unit_bytes > widest ? f->values[i].unit_bytes : widest;
    }
    const int64_t fitting = limit > widest ? (int64_t)(limit / widest) : 1;
    f->pieces = is_whole || f->units <= 0 ? 1 : (f->units + fitting - 1) / fitting;
    f->piece = (f->units + f->pieces - 1) / f->pieces;
    for (uint32_t i = 0; i < f->value_count; i++) {
        mxn_cut_value *value = &f->values[i];
        if (value->kind == MXN_FUSED_INNER) {
            value->inner_at = f->inner_bytes;
            f->inner_bytes += mxn__fused_aligned((uint64_t)f->piece * value->unit_bytes);
        }
    }
}

static int choose_kernels(mxn_fused *f, char *memory)
{
    mxn_fused_worker w;
    mxn__fused_worker_init(&w, f, memory);
    mxn__fused_worker_units(&w, f->piece);
    int error = MXP_OK;
    for (uint32_t i = 0; i < f->call_count && error == MXP_OK; i++) {
        mxn_kernel_choice *kernel = &f->calls[i].kernel;
        error = f->is_pointwise ? mxn__kernel_choose(&w.jobs[i], kernel)
                                : mxn_job_choose(&w.jobs[i], kernel);
    }
    return error;
}

static mxn_fused *fused_new(const mxn_fused_form *form)
{
    uint32_t operands = 0;
    for (uint32_t i = 0; i < form->call_count; i++) {
        const mxn_params *params = form->calls[i].params;
        operands += params->input_count + params->output_count;
    }
    const size_t bytes = sizeof(mxn_fused) + form->value_count * sizeof(mxn_cut_value) +
                         form->call_count * sizeof(mxn_cut_call) + 2 * operands * sizeof(uint32_t);
    mxn_fused *f = mxp__alloc(bytes);
    if (f == NULL) {
        mxp__fail_memory("a fusion of operators");
        return NULL;
    }
    *f = (mxn_fused){.bytes = bytes,
                     .is_pointwise = form->is_pointwise,
                     .training = form->training,
                     .value_count = form->value_count,
                     .call_count = form->call_count,
                     .operand_count = operands,
                     .units = -1};
    f->values = (mxn_cut_value *)(f + 1);
    f->calls = (mxn_cut_call *)(f->values + form->value_count);
    f->operands = (uint32_t *)(f->calls + form->call_count);
    f->shaped = f->operands + operands;
    return f;
}

static void take_calls(mxn_fused *f, const mxn_fused_form *form)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < form->call_count; i++) {
        mxn_params *params = form->calls[i].params;
        const uint32_t count = params->input_count + params->output_count;
        assert((params->op->flags & (MXN_OP_RANDOM | MXN_OP_STATE | MXN_OP_CALLBACK)) == 0);
        mxn_params_retain(params);
        f->calls[i] = (mxn_cut_call){.params = params, .first_operand = at};
        memcpy(f->operands + at, form->calls[i].operands, count * sizeof *f->operands);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t id = f->operands[at + k];
            f->shaped[at + k] = id != MXN_FUSED_NONE ? id : f->operands[at];
        }
        at += count;
    }
}

int mxn_fused_make(const mxn_fused_form *form, mxn_fused **made)
{
    mxn_fused *f = fused_new(form);
    if (f == NULL) {
        return MXP_ENOMEM;
    }
    take_calls(f, form);
    for (uint32_t i = 0; i < form->value_count; i++) {
        f->values[i] = (mxn_cut_value){0};
        take_value(f, i, &form->values[i]);
    }
    note_writes(f);
    cut(f, form->is_whole);
    f->thread_bytes = thread_bytes(f);
    char *memory = mxp__alloc(f->thread_bytes);
    int error = memory == NULL ? mxp__fail_memory("a fusion of operators") : MXP_OK;
    if (error == MXP_OK) {
        error = choose_kernels(f, memory);
    }
    mxp__free(memory, f->thread_bytes);
    if (error != MXP_OK) {
        mxn_fused_free(f);
        return error;
    }
    *made = f;
    return MXP_OK;
}

void mxn_fused_free(mxn_fused *f)
{
    if (f != NULL) {
        for (uint32_t i = 0; i < f->call_count; i++) {
            mxn_params_release(f->calls[i].params);
        }
        mxp__free(f, f->bytes);
    }
}

uint32_t mxn_fused_pieces(const mxn_fused *f)
{
    return (uint32_t)f->pieces;
}

bool mxn_fused_writes(const mxn_fused *f, uint32_t value)
{
    return f->values[value].is_written;
}
