// SPDX-License-Identifier: Apache-2.0
// The sum is that of the operator add_n, in place, run by a thread for urgent work.
#include "runtime/kvstore/reduce.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/op/op.h"

typedef struct reduction {
    mxn_params *params;
    mxn_shape shape;
    mxn_operand sum;
    mxn_workspace *workspace;  // null: none is needed
    uint32_t count;
    mxn_operand inputs[];  // the sum, then the others
} reduction;

static uint64_t reduction_bytes(uint32_t count)
{
    return sizeof(reduction) + count * sizeof(mxn_operand);
}

static void free_reduction(void *argument)
{
    reduction *of = argument;
    mxn_params_release(of->params);
    mxp__free(of, reduction_bytes(of->count));
}

static mxn_job job_of(reduction *of)
{
    return (mxn_job){.params = of->params,
                     .inputs = of->inputs,
                     .outputs = &of->sum,
                     .thread_workspace = of->workspace};
}

static int run_reduction(const mxn_run *run, void *argument)
{
    reduction *of = argument;
    mxn_job job = job_of(of);
    return mxn_job_execute(&job, run);
}

static int parse(uint32_t inputs, mxn_params **params)
{
    const mxn_op *op = NULL;
    char text[16];
    snprintf(text, sizeof text, "%u", inputs);
    const char *const key = "num_args", *const value = text;
    int error = mxn_op_require("add_n", &op);
    return error == MXP_OK ? mxn_params_parse(op, 1, &key, &value, inputs, true, params) : error;
}

static mxn_operand operand(const reduction *of, const mxn_array *array, uint16_t request)
{
    return (mxn_operand){.memory = mxn_array_memory(array),
                         .shape = &of->shape,
                         .dtype = array->dtype,
                         .request = request};
}

static int make(const mxn_array *sum, uint32_t count, mxn_array *const *more, reduction **made)
{
    reduction *of = mxp__alloc(reduction_bytes(count + 1));
    if (of == NULL) {
        return mxp__fail_memory("a sum");
    }
    of->count = count + 1;
    mxn_shape_copy(&of->shape, &sum->shape);
    of->sum = operand(of, sum, MXN_WRITE);
    of->inputs[0] = operand(of, sum, MXN_NULL);
    for (uint32_t i = 0; i < count; i++) {
        of->inputs[i + 1] = operand(of, more[i], MXN_NULL);
    }
    int error = parse(count + 1, &of->params);
    if (error == MXP_OK) {
        const mxn_job job = job_of(of);
        const bool is_needed = (mxn_job_needs(&job) & MXN_NEEDS_WORKSPACE) != 0;
        error = is_needed ? mxn_workspace_get((mxn_context){MXN_CPU, 0}, &of->workspace) : MXP_OK;
    }
    if (error != MXP_OK) {
        free_reduction(of);
        return error;
    }
    *made = of;
    return MXP_OK;
}

static int push(reduction *of, mxn_var **reads, const mxn_array *sum, int priority)
{
    static mxp_atomic_u32 name;
    mxn_var *writes[] = {mxn_array_var(sum),
                         of->workspace == NULL ? NULL : mxn_workspace_var(of->workspace)};
    const uint64_t count = mxn_array_size(sum) * of->count;
    for (uint32_t i = 1; i < of->count; i++) {
        reads[i - 1] = of->inputs[i].memory.buffer->var;
    }
    const mxn_work work = {
        .function.sync = run_reduction,
        .form = MXN_SYNC,
        .property = MXN_CPU_PRIORITIZED,
        .argument = of,
        .deleter = free_reduction,
        .reads = reads,
        .writes = writes,
        .read_count = of->count - 1,
        .write_count = of->workspace == NULL ? 1 : 2,
        .priority = priority,
        .name = mxp__span_name_once(&name, "operator", "KVStoreReduce"),
        .flops = (float)(count - mxn_array_size(sum)),
        .bytes = (float)count * (float)mxn_dtype_size(sum->dtype),
    };
    return mxn_push(&work);
}

int mxn__kv_reduce(mxn_array *sum, uint32_t count, mxn_array *const *more, int priority)
{
    reduction *of = NULL;
    mxn_var **reads = mxp__alloc(count * sizeof *reads);
    int error = reads == NULL ? mxp__fail_memory("a sum") : make(sum, count, more, &of);
    if (error == MXP_OK) {
        error = push(of, reads, sum, priority);
    }
    mxp__free(reads, count * sizeof *reads);
    return error;
}
