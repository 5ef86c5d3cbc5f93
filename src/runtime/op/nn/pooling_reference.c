// SPDX-License-Identifier: Apache-2.0
// The plain C reference of poolings.
#include "runtime/op/nn/pooling.h"

#include <float.h>
#include <math.h>

// One place of the window: what of it lies on the image, and how many elements it counts.
typedef struct place {
    int64_t begin[3], end[3];
    double count;
} place;

static place place_at(const mxn_pool *pool, const int64_t at[3])
{
    const mxn_window *w = &pool->window;
    place p = {.count = 1};
    for (int k = 0; k < 3; k++) {
        int64_t begin = at[k] * w->stride[k] - w->pad[k];
        int64_t end = begin + w->kernel[k];
        if (pool->adaptive) {
            begin = at[k] * w->in[k] / w->out[k];
            end = ((at[k] + 1) * w->in[k] + w->out[k] - 1) / w->out[k];
        }
        end = end < w->in[k] + w->pad[k] ? end : w->in[k] + w->pad[k];
        p.begin[k] = begin > 0 ? begin : 0;
        p.end[k] = end < w->in[k] ? end : w->in[k];
        int64_t count = pool->counts_pad ? end - begin : p.end[k] - p.begin[k];
        p.count *= (double)(count > 0 ? count : 0);
    }
    return p;
}

// Of sums that may be negative: the cube root is one of them too.
static double root(double x, int power)
{
    return power == 1 ? x : power == 2 ? sqrt(x) : cbrt(x);
}

// The largest in a window that sees nothing but pad.
static const float lowest_float = -FLT_MAX;
static const double lowest_double = -DBL_MAX;

#define TEMPLATE "runtime/op/nn/pooling_kernels.h"
#include "runtime/op/kernels/each_real.h"

void mxn__pool_reference(const mxn_pool *pool, const void *in, const void *g, void *out, void *back)
{
    (pool->dtype == MXN_FLOAT32 ? all_float : all_double)(pool, in, g, out, back);
}
