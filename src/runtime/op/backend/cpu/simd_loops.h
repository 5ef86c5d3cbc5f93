// SPDX-License-Identifier: Apache-2.0
// The text of the loops. Included by simd_16.c, simd_32.c and simd_64.c, which the build
// compiles for processors that have such vectors, after defining
//
//   VECTOR_BYTES   the length of a vector
//   TILE_VECTORS   vectors in a row of a tile: as many as the registers hold
//   TABLE          the name of the table at the end
#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/backend/cpu/simd_copy.h"
#include "runtime/op/backend/cpu/simd_pooling.h"
#include "runtime/op/backend/cpu/simd_rows.h"
#include "runtime/op/backend/cpu/simd_tiles.h"

static float sum(const float *x, int64_t count)
{
    vec sums = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        sums += load(x + i);
    }
    float total = 0;
    for (int k = 0; k < LANES; k++) {
        total += sums[k];
    }
    for (; i < count; i++) {
        total += x[i];
    }
    return total;
}

static float dot(const float *x, const float *y, int64_t count)
{
    vec sums[4] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            sums[k] += load(x + i + k * LANES) * load(y + i + k * LANES);
        }
    }
    sums[0] += sums[1] + sums[2] + sums[3];
    float total = 0;
    for (int k = 0; k < LANES; k++) {
        total += sums[0][k];
    }
    for (; i < count; i++) {
        total += x[i] * y[i];
    }
    return total;
}

// A number that is none stays none.
static void relu(float *to, const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = x[i] < 0 ? 0 : x[i];
    }
}

static void relu_back(float *to, const float *g, const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const float gradient = g[i];  // in any case, as vectors read it
        to[i] = y[i] > 0 ? gradient : 0;
    }
}

static void relu_back_times(float *to, const float *g, const float *y, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t i = 0; i < count; i++) {
        const float gradient = g[i], none = gradient * y[i];
        to[i] = y[i] > 0 ? gradient : none;
    }
}

static void sgd(float *to, const float *w, const float *g, int64_t count, float keep, float rate,
                float limit)
{
    for (int64_t i = 0; i < count; i++) {
        float cut = g[i] < -limit ? -limit : g[i];
        cut = cut > limit ? limit : cut;
        to[i] = w[i] * keep - cut * rate;
    }
}

const mxn_vector TABLE = {
    .columns = TILE_VECTORS * LANES,
    .tile = tile,
    .gather = gather,
    .scatter = scatter,
    .gather_lines = gather_lines,
    .transpose = transpose,
    .sum = sum,
    .dot = dot,
    .relu = relu,
    .relu_back = relu_back,
    .relu_back_times = relu_back_times,
    .sgd = sgd,
    .pool2 = pool2,
    .pool2_back = pool2_back,
    .function_rows = function_rows,
};
