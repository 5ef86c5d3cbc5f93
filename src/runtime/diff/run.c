// SPDX-License-Identifier: Apache-2.0
// The walk over a plan, and what a backward runs beside the calls of gradients: sums of several
// contributions.
#include "runtime/diff/run.h"

#include <stdio.h>

#include "base/fail.h"

// ---- single operators -------------------------------------------------------------------------
// Shapes are known here, so () is a scalar: NumPy's.
int mxn_diff_run_operator(const mxn_diff_run *run, const mxn_diff_visit *visit, const char *name,
                          uint32_t count, const char *const *keys, const char *const *values,
                          void *const *inputs, uint32_t input_count, uint32_t request,
                          void **output)
{
    const mxn_op *op = NULL;
    mxn_params *params = NULL;
    int error = mxn_op_require(name, &op);
    if (error == MXP_OK) {
        error = mxn_params_parse(op, count, keys, values, input_count, true, &params);
    }
    if (error == MXP_OK) {
        const mxn_diff_step step = {.params = params,
                                    .visit = visit,
                                    .inputs = inputs,
                                    .outputs = output,
                                    .requests = &request};
        error = run->actions->run(run->context, &step);
    }
    mxn_params_release(params);
    return error;
}

// ---- contributions ----------------------------------------------------------------------------
static int add_one_by_one(const mxn_diff_run *run, const mxn_diff_visit *visit,
                          const mxn_diff_pending *pending, uint32_t request, void **sum)
{
    void *partial = NULL;
    int error = MXP_OK;
    for (uint32_t i = 1; error == MXP_OK && i < pending->count; i++) {
        bool last = i + 1 == pending->count;
        void *pair[] = {partial == NULL ? pending->items[0] : partial, pending->items[i]};
        void *next = NULL;
        error = mxn_diff_run_operator(run, visit, "_grad_add", 0, NULL, NULL, pair, 2,
                                      last ? request : MXN_WRITE, last ? sum : &next);
        if (partial != NULL) {
            run->plan->nodes->release(partial);
        }
        partial = next;
    }
    return error;
}

// At once, as MXNet does below the default of MXNET_EXEC_INPLACE_GRAD_SUM_CAP.
int mxn_diff_run_sum(const mxn_diff_run *run, const mxn_diff_visit *visit,
                     const mxn_diff_pending *pending, uint32_t request, void **sum)
{
    enum { AT_ONCE_BELOW = 8 };
    if (pending->count >= AT_ONCE_BELOW) {
        return add_one_by_one(run, visit, pending, request, sum);
    }
    char number[16];
    snprintf(number, sizeof(number), "%u", pending->count);
    const char *const key = "num_args", *const value = number;
    return mxn_diff_run_operator(run, visit, "add_n", 1, &key, &value, pending->items,
                                 pending->count, request, sum);
}

int mxn_diff_run_settle(const mxn_diff_run *run, mxn_diff_visit *visit, uint32_t output)
{
    mxn_diff_pending *pending = &visit->pending[output];
    if (pending->count < 2) {
        return MXP_OK;
    }
    void *sum = NULL;
    int error = mxn_diff_run_sum(run, visit, pending, MXN_WRITE, &sum);
    if (error == MXP_OK) {
        mxn_diff_settle(run->plan, pending, sum);
    }
    return error;
}

// ---- the walk ---------------------------------------------------------------------------------
static int run_operator(const mxn_diff_run *run, mxn_diff_visit *visit)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < visit->params->output_count; i++) {
        error = mxn_diff_run_settle(run, visit, i);
    }
    if (error == MXP_OK) {
        error = run->actions->reach(run->context, visit);
    }
    if (error == MXP_OK && visit->passes && visit->live && visit->gradient->count > 0) {
        error = mxn__diff_run_calls(run, visit);
    }
    // Gradients that have done their work go now, not at the end.
    mxn_diff_release(run->plan, visit);
    return error;
}

int mxn_diff_run_plan(const mxn_diff_run *run)
{
    int error = MXP_OK;
    for (size_t at = 0; error == MXP_OK && at < run->plan->count; at++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(run->plan, at);
        if (visit->wanted) {
            error = visit->params == NULL ? run->actions->reach(run->context, visit)
                                          : run_operator(run, visit);
        }
    }
    return error;
}
