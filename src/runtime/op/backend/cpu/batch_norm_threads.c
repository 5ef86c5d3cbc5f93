// SPDX-License-Identifier: Apache-2.0
// BatchNorm and its gradient, channels shared out among threads: each does what one thread would.
#include "runtime/op/nn/batch_norm.h"

#include "runtime/op/backend/cpu/cpu_kernels.h"
#include "runtime/parallel/thread_pool.h"

enum { OF_FORWARD = 0, OF_BACKWARD = 1 };  // the input that has the shape

typedef struct forward_work {
    mxn_batch_norm batch;
    bool is_double;
} forward_work;

typedef struct backward_work {
    mxn_batch_norm_back batch;
    bool is_double;
} backward_work;

static void forward_part(void *argument, int index, int threads)
{
    const forward_work *w = argument;
    const int64_t count = w->batch.s.count;
    MXN_WIDEST(mxn__batch_norm)
        ->forward[w->is_double](&w->batch, mxn__part_begin(count, index, threads),
                                mxn__part_begin(count, index + 1, threads));
}

static void backward_part(void *argument, int index, int threads)
{
    const backward_work *w = argument;
    const int64_t count = w->batch.s.count;
    MXN_WIDEST(mxn__batch_norm)
        ->backward[w->is_double](&w->batch, mxn__part_begin(count, index, threads),
                                 mxn__part_begin(count, index + 1, threads));
}

// Of channels that lie far apart: of one number each, threads would write the same cache lines.
static int threads_for(const mxn_axis_view *s)
{
    const int threads = mxn__threads_for((double)(s->outer * s->count * s->inner));
    return s->inner == 1 || s->count < threads ? 1 : threads;
}

bool mxn__batch_norm_takes(const mxn_job *job)
{
    const int32_t dtype = job->inputs[0].dtype;
    return dtype == MXN_FLOAT32 || dtype == MXN_FLOAT64;
}

int mxn__batch_norm_run(mxn_job *job)
{
    forward_work w = {.is_double = job->inputs[OF_FORWARD].dtype == MXN_FLOAT64};
    int error = mxn__batch_norm_describe(job, &w.batch);
    if (error == 0) {
        mxn__parallel_run(threads_for(&w.batch.s), forward_part, &w);
    }
    return error;
}

int mxn__batch_norm_run_back(mxn_job *job)
{
    backward_work w = {.is_double = job->inputs[OF_BACKWARD].dtype == MXN_FLOAT64};
    int error = mxn__batch_norm_back_describe(job, &w.batch);
    if (error == 0) {
        mxn__parallel_run(threads_for(&w.batch.s), backward_part, &w);
    }
    return error;
}
