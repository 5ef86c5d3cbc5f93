// SPDX-License-Identifier: Apache-2.0
// One execution of an operator inside an operation of the engine: addresses, and everything around
// the kernel that would otherwise be in each of them. Where an output must be added to, shares
// memory in a way the kernel cannot bear, or has half precision, the kernel works on a copy in the
// operation's workspace; the layout of that workspace is
//
//   | the operator's workspace | copy of an input or output | copy ... |     each 64-byte aligned
#include <assert.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/op/execute/kernel_choice.h"
#include "runtime/op/loops/binary_loops.h"
#include "runtime/parallel/thread_pool.h"

typedef struct scratch {  // hands out the workspace; only counts while `base` is null
    char *base;
    uint64_t used, bytes;
} scratch;

static uint64_t bytes_of(const mxn_operand *operand)
{
    return mxn_shape_size(operand->shape) * mxn_dtype_size(operand->dtype);
}

static bool is_narrow(const mxn_operand *operand)
{
    return operand->dtype == MXN_FLOAT16 || operand->dtype == MXN_BFLOAT16;
}

static bool wanted(const mxn_operand *operand)
{
    return operand->request != MXN_NULL && operand->memory.buffer != NULL;
}

// Whether writing `out` while reading `in` is wrong.
static bool collides(const mxn_job *job, const mxn_operand *out, const mxn_operand *in)
{
    if (in->memory.buffer == NULL || out->memory.buffer != in->memory.buffer) {
        return false;
    }
    uint64_t out_begin = out->memory.offset_bytes, in_begin = in->memory.offset_bytes;
    uint64_t out_bytes = bytes_of(out), in_bytes = bytes_of(in);
    if (out_begin + out_bytes <= in_begin || in_begin + in_bytes <= out_begin) {
        return false;
    }
    return out_begin != in_begin || out_bytes != in_bytes ||
           !mxn_params_inplace(job->params, (uint32_t)(out - job->outputs),
                               (uint32_t)(in - job->inputs));
}

static bool converts(const mxn_job *job, const mxn_operand *operand)
{
    return is_narrow(operand) && (job->params->op->flags & MXN_OP_ANY_TYPE) == 0;
}

static bool needs_copy(const mxn_job *job, const mxn_operand *out)
{
    if (converts(job, out) ||
        (out->request == MXN_ADD && (job->params->op->flags & MXN_OP_ADDS) == 0)) {
        return true;
    }
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        if (collides(job, out, &job->inputs[i])) {
            return true;
        }
    }
    return false;
}

static void *take(scratch *workspace, uint64_t bytes)
{
    void *at = workspace->base == NULL ? NULL : workspace->base + workspace->used;
    workspace->used += (bytes + (MXN_ALIGNMENT - 1)) & ~(uint64_t)(MXN_ALIGNMENT - 1);
    return at;
}

static uint64_t copy_bytes(const mxn_job *job, const mxn_operand *operand)
{
    return converts(job, operand) ? mxn_shape_size(operand->shape) * sizeof(float)
                                  : bytes_of(operand);
}

static uint64_t total_bytes(const mxn_job *job, uint64_t workspace_bytes)
{
    scratch workspace = {0};
    take(&workspace, workspace_bytes);
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        if (converts(job, &job->inputs[i])) {
            take(&workspace, copy_bytes(job, &job->inputs[i]));
        }
    }
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (wanted(&job->outputs[i]) && needs_copy(job, &job->outputs[i])) {
            take(&workspace, copy_bytes(job, &job->outputs[i]));
        }
    }
    return workspace.used;
}

int mxn_job_state(const mxn_job *job, mxn_context context, mxn_call_state **state)
{
    const mxn_op *op = job->params->op;
    return op->def->make_state != NULL
               ? op->def->make_state(job, context, state)
               : mxp__fail(MXP_ENOTSUP, "Operator %s needs the state of a forward", op->name);
}

uint32_t mxn_job_needs(const mxn_job *job)
{
    const mxn_op *op = job->params->op;
    bool draws = op->def->draws != NULL ? op->def->draws(job->params->values)
                                        : (op->flags & MXN_OP_RANDOM) != 0;
    uint32_t needs = draws ? MXN_NEEDS_RANDOM : 0;
    bool workspace = mxn__kernels_want_workspace(op) || total_bytes(job, 0) != 0;
    return workspace ? needs | MXN_NEEDS_WORKSPACE : needs;
}

void mxn_job_cost(const mxn_job *job, float *flops, float *bytes)
{
    const mxn_op_def *def = job->params->op->def;
    double moved = 0;
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        moved += (double)bytes_of(&job->inputs[i]);
    }
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        bool written = job->outputs[i].request != MXN_NULL;
        moved += written ? (double)bytes_of(&job->outputs[i]) : 0;
    }
    *bytes = (float)moved;
    double each = def->flops_each != 0 ? (double)def->flops_each : 1;
    *flops = (float)(def->flops != NULL ? def->flops(job)
                                        : each * (double)mxn_shape_size(job->outputs[0].shape));
}

static int find_addresses(mxn_job *job)
{
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        mxn_operand *in = &job->inputs[i];
        int error = mxn_buffer_data(&in->memory, &in->data);
        if (error != 0) {
            return error;
        }
    }
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        mxn_operand *out = &job->outputs[i];
        out->data = NULL;
        assert(!wanted(out) || mxn_var_is_ours(out->memory.buffer->var, true));
        int error = wanted(out) ? mxn_buffer_data(&out->memory, &out->data) : 0;
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static int take_workspace(mxn_job *job, scratch *workspace, uint64_t workspace_bytes)
{
    uint64_t bytes = total_bytes(job, workspace_bytes);
    if (bytes == 0) {
        return 0;
    }
    static mxp_atomic_u32 cache;
    mxp_name name = mxp__string_once(&cache, "temp_space (operator)");
    void *data;
    int error = mxn_workspace_take(job->thread_workspace, bytes, name, &data);
    workspace->base = data;
    workspace->bytes = bytes;
    return error;
}

// mxn_operand.copied: 0, or that the kernel has a copy, and what the operand was before.
enum { COPIED = 1 << 0, WAS_HALF = 1 << 1, WAS_BFLOAT = 1 << 2, WAS_ADD = 1 << 3 };

static void mark_copied(const mxn_job *job, mxn_operand *operand)
{
    operand->copied |= COPIED;
    if (converts(job, operand)) {
        operand->copied |= operand->dtype == MXN_FLOAT16 ? WAS_HALF : WAS_BFLOAT;
        operand->dtype = MXN_FLOAT32;
    }
}

// Outputs first: whether one collides is asked of the inputs as they are.
static void place_copies(mxn_job *job, scratch *workspace, uint64_t workspace_bytes)
{
    job->workspace = take(workspace, workspace_bytes);
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        mxn_operand *out = &job->outputs[i];
        out->copied = 0;
        if (wanted(out) && needs_copy(job, out)) {
            out->data = take(workspace, copy_bytes(job, out));
            out->copied = out->request == MXN_ADD ? WAS_ADD : 0;
            out->request = MXN_WRITE;
            mark_copied(job, out);
        }
    }
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        mxn_operand *in = &job->inputs[i];
        in->copied = 0;
        if (converts(job, in)) {
            void *copy = take(workspace, copy_bytes(job, in));
            mxn_cast(copy, MXN_FLOAT32, in->data, in->dtype, mxn_shape_size(in->shape));
            in->data = copy;
            mark_copied(job, in);
        }
    }
}

static void restore_type(mxn_operand *operand)
{
    if ((operand->copied & (WAS_HALF | WAS_BFLOAT)) != 0) {
        operand->dtype = (operand->copied & WAS_HALF) != 0 ? MXN_FLOAT16 : MXN_BFLOAT16;
    }
}

// `to` += `from`, which has the type of `to` or is float32.
static void accumulate_narrow(void *to, int32_t dtype, const void *from, int32_t from_dtype,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (dtype == MXN_FLOAT16) {
            mxn_half *half = (mxn_half *)to + i;
            float more = from_dtype == dtype ? mxn_half_to_float(((const mxn_half *)from)[i])
                                             : ((const float *)from)[i];
            *half = mxn_half_from_float(mxn_half_to_float(*half) + more);
        } else {
            mxn_bfloat *narrow = (mxn_bfloat *)to + i;
            float more = from_dtype == dtype ? mxn_bfloat_to_float(((const mxn_bfloat *)from)[i])
                                             : ((const float *)from)[i];
            *narrow = mxn_bfloat_from_float(mxn_bfloat_to_float(*narrow) + more);
        }
    }
}

// `to` += `from` of the same type; the sum of truths is whether either is true.
static void accumulate(void *to, int32_t dtype, const void *from, size_t count)
{
    const mxn_row sum = {to, 1, dtype}, more = {from, 1, dtype};
    mxn__binary_row(MXN_ADD_OF, &sum, &more, to, dtype, (int64_t)count);
}

// Puts the result of the kernel where it belongs.
static int store_output(mxn_operand *out)
{
    const void *copy = out->data;
    int32_t copy_dtype = out->dtype;
    bool add = (out->copied & WAS_ADD) != 0;
    size_t count = mxn_shape_size(out->shape);
    restore_type(out);
    out->request = add ? MXN_ADD : MXN_WRITE;
    int error = mxn_buffer_data(&out->memory, &out->data);
    if (error != 0 || count == 0) {
        return error;
    }
    if (!add) {
        mxn_cast(out->data, out->dtype, copy, copy_dtype, count);
    } else if (is_narrow(out)) {
        accumulate_narrow(out->data, out->dtype, copy, copy_dtype, count);
    } else {
        accumulate(out->data, out->dtype, copy, count);
    }
    return 0;
}

// A narrow input goes back only if the operator has changed it.
static int store_input(mxn_job *job, uint32_t index)
{
    mxn_operand *in = &job->inputs[index];
    const void *copy = in->data;
    int32_t copy_dtype = in->dtype;
    restore_type(in);
    if (!mxn_params_writes(job->params, index)) {
        return 0;
    }
    int error = mxn_buffer_data(&in->memory, &in->data);
    if (error == 0) {
        mxn_cast(in->data, in->dtype, copy, copy_dtype, mxn_shape_size(in->shape));
    }
    return error;
}

static int store_copies(mxn_job *job, int error)
{
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (job->outputs[i].copied != 0) {
            int failed = store_output(&job->outputs[i]);
            error = error != 0 ? error : failed;
        }
    }
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        if (job->inputs[i].copied != 0) {
            int failed = store_input(job, i);
            error = error != 0 ? error : failed;
        }
    }
    return error;
}

static bool has_work(const mxn_job *job)
{
    if ((job->params->op->flags & MXN_OP_RUNS_EMPTY) != 0) {
        return true;
    }
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (wanted(&job->outputs[i]) && mxn_shape_size(job->outputs[i].shape) > 0) {
            return true;
        }
    }
    return false;
}

int mxn_job_choose(const mxn_job *job, mxn_kernel_choice *choice)
{
    const mxn_thread_setting before = mxn__threads_borrow();
    int error = mxn__kernel_choose(job, choice);
    mxn__threads_return(&before);
    return error;
}

// The kernel that was chosen for this job, if it is for as many threads as there are now.
static int kernel_of(const mxn_job *job, mxn_kernel_choice *kernel)
{
    const mxn_kernel_choice *chosen = job->kernel;
    if (chosen == NULL || (chosen->threads != 0 && chosen->threads != mxn__threads_most())) {
        int error = mxn__kernel_choose(job, kernel);
        if (error == 0 && mxp_enabled(MXP_CLASS_SYMBOLIC | MXP_CLASS_IMPERATIVE)) {
            mxn_running_family(kernel->family);  // nobody knew when it was pushed
        }
        return error;
    }
    *kernel = *chosen;
    return 0;
}

int mxn_job_execute(mxn_job *job, const mxn_run *run)
{
    if (!has_work(job)) {
        return 0;
    }
    job->parallel = run->parallel;
    mxn__threads_enter(run->parallel);
    scratch workspace = {0};
    mxn_kernel_choice kernel;
    int error = kernel_of(job, &kernel);
    if (error == 0) {
        error = find_addresses(job);
    }
    if (error == 0) {
        error = take_workspace(job, &workspace, kernel.workspace_bytes);
    }
    if (error != 0) {
        return error;
    }
    place_copies(job, &workspace, kernel.workspace_bytes);
    assert(workspace.used <= workspace.bytes && "more workspace is used than was taken");
    return store_copies(job, kernel.run(job));
}

int mxn_op_direct(const mxn_direct_call *call)
{
    const mxn_op *op = call->params->op;
    if (op->def->direct == NULL) {
        return mxp__fail(MXP_ESTATE, "operator %s is not one that does all by itself", op->name);
    }
    bool any = call->params->output_count == 0 || call->requests == NULL;
    for (uint32_t i = 0; call->requests != NULL && i < call->params->output_count; i++) {
        if (call->requests[i] == MXN_ADD && (op->flags & MXN_OP_ADDS) == 0) {
            return mxp__fail(MXP_ENOTSUP, "Operator %s cannot add to output %u", op->name, i);
        }
        any = any || call->requests[i] != MXN_NULL;
    }
    return any ? op->def->direct(call) : MXP_OK;
}
