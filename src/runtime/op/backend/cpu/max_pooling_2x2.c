// SPDX-License-Identifier: Apache-2.0
// Pooling by the largest over planar images, windows of 2 x 2 side by side, which is what nearly
// all networks have. A plane is taken two rows at a time.
#include <string.h>

#include "runtime/op/backend/cpu/cpu_kernels.h"
#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/nn/pooling.h"
#include "runtime/parallel/thread_pool.h"

typedef struct planes {
    int64_t count, in_height, in_width, height, width;
    const float *in, *g;
    float *out;
} planes;

bool mxn__largest_of_window_takes(const mxn_job *job)
{
    mxn_pool pool;
    if (mxn__pool_describe(job, &pool) != 0 || pool.kind != MXN_POOL_MAX || pool.channels_last ||
        pool.dtype != MXN_FLOAT32) {
        return false;
    }
    const mxn_window *w = &pool.window;
    for (int i = 1; i < 3; i++) {
        if (w->kernel[i] != 2 || w->stride[i] != 2 || w->pad[i] != 0 || w->out[i] * 2 > w->in[i]) {
            return false;
        }
    }
    return w->in[0] == 1 && w->kernel[0] == 1 && w->pad[0] == 0;
}

static void planes_of(const mxn_job *job, planes *p)
{
    mxn_pool pool;
    mxn__pool_describe(job, &pool);
    *p = (planes){.count = pool.images * pool.channels,
                  .in_height = pool.window.in[1],
                  .in_width = pool.window.in[2],
                  .height = pool.window.out[1],
                  .width = pool.window.out[2],
                  .out = job->outputs[0].data};
}

static int threads_for(const planes *p)
{
    return mxn__threads_for((double)(p->count * p->in_height) * (double)p->in_width);
}

static void forward_part(void *argument, int index, int threads)
{
    const planes *p = argument;
    const mxn_vector *vector = mxn__vector();
    int64_t end = mxn__part_begin(p->count, index + 1, threads);
    for (int64_t i = mxn__part_begin(p->count, index, threads); i < end; i++) {
        vector->pool2(p->out + i * p->height * p->width, p->in + i * p->in_height * p->in_width,
                      p->in_width, p->height, p->width);
    }
}

int mxn__largest_of_window(mxn_job *job)
{
    planes p;
    planes_of(job, &p);
    p.in = job->inputs[0].data;
    mxn__parallel_run(threads_for(&p), forward_part, &p);
    return 0;
}

// Rows and columns that no window covers have no gradient.
static void back_part(void *argument, int index, int threads)
{
    const planes *p = argument;
    const mxn_vector *vector = mxn__vector();
    int64_t size = p->in_height * p->in_width;
    bool covered = p->in_height == 2 * p->height && p->in_width == 2 * p->width;
    int64_t end = mxn__part_begin(p->count, index + 1, threads);
    for (int64_t i = mxn__part_begin(p->count, index, threads); i < end; i++) {
        if (!covered) {
            memset(p->out + i * size, 0, (size_t)size * sizeof(float));
        }
        vector->pool2_back(p->out + i * size, p->g + i * p->height * p->width, p->in + i * size,
                           p->in_width, p->height, p->width);
    }
}

// Inputs: gradient, data, result.
int mxn__largest_of_window_back(mxn_job *job)
{
    planes p;
    planes_of(job, &p);
    p.g = job->inputs[0].data;
    p.in = job->inputs[1].data;
    mxn__parallel_run(threads_for(&p), back_part, &p);
    return 0;
}
