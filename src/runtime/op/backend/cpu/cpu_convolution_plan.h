// SPDX-License-Identifier: Apache-2.0
// How a convolution of planar images is cut up: images are padded with zeros first, so that nothing
// looks at edges; a padded image is gone through in blocks of places of the result; a row is a
// place of the kernel in a channel. Private to op/backend/cpu.
#ifndef MXN_OP_BACKEND_CPU_CPU_CONVOLUTION_PLAN_H
#define MXN_OP_BACKEND_CPU_CPU_CONVOLUTION_PLAN_H

#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/nn/convolution.h"

enum { MXN_BLOCK_ROW = MXN_TILE_COLUMNS_MAX + MXN_COPY_SLACK };

typedef struct mxn_planar {
    const mxn_conv *conv;
    const mxn_vector *vector;
    int64_t filters;  // of one group
    int64_t size[3];  // of the padded image
    int64_t padded_channel;  // floats of a padded channel
    int64_t rows;  // of a group: places of the kernel in its channels
    int64_t block_rows, row_step;  // gathered at once; row_step: rounded up
    int64_t places, blocks;  // places of a result in a block; blocks
    int64_t padded_floats, block_floats, sum_floats;  // of one thread
    int64_t thread_floats;  // all of these
    int64_t sum_row;  // of one filter's sums
    float *workspace;  // of all threads
    int64_t *offsets;  // of each row in a padded image
    int threads;  // there is workspace for
    int summed;  // that have been there: set by the first of them
} mxn_planar;

// `kind`: MXN_CONV_*. `conv` is borrowed.
void mxn__planar_init(mxn_planar *p, const mxn_conv *conv, int kind);
uint64_t mxn__planar_bytes(const mxn_planar *p);  // of the workspace
void mxn__planar_begin(mxn_planar *p, void *workspace);  // finds the offsets

// To the data where strides are 1: itself a forward convolution, of the result with the kernels'
// places reversed and filters and channels exchanged. False where it is none, or would fill little
// of a tile. `mirrored` has no weight: mxn__planar_reverse makes it.
bool mxn__planar_mirror(const mxn_conv *conv, mxn_conv *mirrored);
void mxn__planar_reverse(const mxn_conv *conv, float *to, int threads);

// Rows of an image to their places in the padded image, or `back`.
void mxn__planar_move(const mxn_planar *p, float *image, float *padded, bool back);
// Where places begin .. end of the result look at the padded image: one segment for each row of the
// result that they are in. Returns how many.
int64_t mxn__planar_segments(const mxn_planar *p, int64_t begin, int64_t end,
                             mxn_row_segment *segments);

static inline int64_t mxn__planar_weight_size(const mxn_conv *c)
{
    return c->filters * c->channels * c->kernel_size;
}

static inline float *mxn__planar_image(const mxn_planar *p, int64_t image, int64_t group)
{
    const mxn_conv *c = p->conv;
    return (float *)c->data + (image * c->groups + group) * c->channels * c->in_size;
}

static inline float *mxn__planar_result(const mxn_planar *p, int64_t image, int64_t group)
{
    const mxn_conv *c = p->conv;
    return (float *)c->result + (image * c->groups + group) * p->filters * c->out_size;
}

static inline float *mxn__planar_weight(const mxn_planar *p, int64_t group)
{
    return (float *)p->conv->weight + group * p->filters * p->rows;
}

#endif
