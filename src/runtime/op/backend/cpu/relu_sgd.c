// SPDX-License-Identifier: Apache-2.0
// Kernels that go along memory, one element after the other: relu and its gradient, the update of
// parameters.
#include <math.h>

#include "runtime/op/backend/cpu/cpu_kernels.h"
#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/nn/activation.h"
#include "runtime/op/optimizer/optimizer.h"
#include "runtime/parallel/thread_pool.h"

typedef struct it {
    void (*relu)(float *to, const float *x, int64_t count);
    void (*relu_back)(float *to, const float *g, const float *y, int64_t count);
    const float *a, *b;
    float *to;
    int64_t count;
    float keep, rate, limit;  // of an update
} it;

static void part(void *argument, int index, int threads)
{
    const it *w = argument;
    int64_t begin = mxn__part_begin(w->count, index, threads);
    int64_t count = mxn__part_begin(w->count, index + 1, threads) - begin;
    const mxn_vector *vector = mxn__vector();
    if (w->relu != NULL) {
        w->relu(w->to + begin, w->a + begin, count);
    } else if (w->relu_back != NULL) {
        w->relu_back(w->to + begin, w->a + begin, w->b + begin, count);
    } else {
        vector->sgd(w->to + begin, w->a + begin, w->b + begin, count, w->keep, w->rate, w->limit);
    }
}

static int run(const mxn_operand *out, it *w)
{
    w->to = out->data;
    w->count = (int64_t)mxn_shape_size(out->shape);
    mxn__parallel_run(mxn__threads_for((double)w->count), part, w);
    return 0;
}

bool mxn__relu_takes(const mxn_job *job)
{
    return job->outputs[0].dtype == MXN_FLOAT32 && mxn__activation_is_relu(job->params);
}

int mxn__relu(mxn_job *job)
{
    it w = {.relu = mxn__vector()->relu, .a = job->inputs[0].data};
    return run(&job->outputs[0], &w);
}

// Inputs: gradient, result, data.
int mxn__relu_back(mxn_job *job)
{
    it w = {
        .relu_back = mxn__vector()->relu_back, .a = job->inputs[0].data, .b = job->inputs[1].data};
    return run(&job->outputs[0], &w);
}

// ---- the operators of one number that are relu, whose parameters say nothing --------------------
bool mxn__relu_row_takes(const mxn_job *job)
{
    return job->outputs[0].dtype == MXN_FLOAT32 && job->inputs[0].dtype == MXN_FLOAT32;
}

// Inputs: gradient, result.
int mxn__relu_row_back(mxn_job *job)
{
    it w = {.relu_back = mxn__vector()->relu_back_times,
            .a = job->inputs[0].data,
            .b = job->inputs[1].data};
    return run(&job->outputs[0], &w);
}

bool mxn__sgd_takes(const mxn_job *job)
{
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (job->outputs[i].dtype != MXN_FLOAT32 || job->inputs[2 * i + 1].dtype != MXN_FLOAT32) {
            return false;
        }
    }
    return true;
}

// Inputs: weight, gradient; of many: one pair after the other. The limit is of the gradient times
// its scale, the loop cuts before it scales.
int mxn__sgd(mxn_job *job)
{
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (job->outputs[i].data == NULL) {
            continue;
        }
        mxn_sgd_rates rates;
        mxn__sgd_rates(job->params, i, &rates);
        it w = {.a = job->inputs[2 * i].data,
                .b = job->inputs[2 * i + 1].data,
                .keep = (float)(1 - rates.lr * rates.wd),
                .rate = (float)(rates.lr * rates.scale),
                .limit = rates.clip < 0 ? INFINITY : (float)(rates.clip / fabs(rates.scale))};
        run(&job->outputs[i], &w);
    }
    return 0;
}
