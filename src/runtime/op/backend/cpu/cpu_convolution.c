// SPDX-License-Identifier: Apache-2.0
// Convolution of planar images (channels before places) as products of matrices that are never
// whole: the elements under the kernel, one row for each of its places in each channel, are
// gathered for a block of places of the result at a time, small enough for the second-level cache.
//
//   FORWARD     result[f][place]   = weight[f][row] * gathered[row][place]
//   TO_DATA     gathered[row][place] = weight[f][row]' * result[f][place], scattered and added
//   TO_WEIGHT   weight[f][row]     = result[f][place] * gathered[place][row]', a sum for each
//   thread
//
// To the data where strides are 1 is a forward convolution of the result, with the kernels' places
// reversed and filters and channels exchanged: nothing is scattered. Those weights are made once.
//
// An image is first copied into a larger one of zeros, so that nothing below looks at edges. Each
// thread has a padded image, a block and its sums in the job's workspace.
#include <string.h>

#include "runtime/op/backend/cpu/cpu_convolution_plan.h"
#include "runtime/op/backend/cpu/cpu_kernels.h"
#include "runtime/parallel/thread_pool.h"

enum { FILTERS_LEAST = 4, SMALL_PLANE = 16 };

typedef struct worker {  // what one thread works with
    const mxn_planar *plan;
    float *padded, *block, *sums;
    mxn_row_segment segments[MXN_TILE_COLUMNS_MAX];
    int64_t segment_count, begin, columns;  // the block of places
} worker;

static void worker_init(worker *w, const mxn_planar *p, int index)
{
    w->plan = p;
    w->padded = p->workspace + index * p->thread_floats;
    w->block = w->padded + p->padded_floats;
    w->sums = w->block + p->block_floats;
    memset(w->padded, 0, (size_t)p->padded_floats * sizeof(float));
}

static void take_block(worker *w, int64_t block)
{
    const mxn_planar *p = w->plan;
    w->begin = block * p->places;
    w->columns = mxn__least(p->places, p->conv->out_size - w->begin);
    w->segment_count = mxn__planar_segments(p, w->begin, w->begin + w->columns, w->segments);
}

// ---- forward ----------------------------------------------------------------------------------

static void multiply_forward(worker *w, float *result, int64_t group, int64_t first, int64_t rows)
{
    const mxn_planar *p = w->plan;
    const float *bias = p->conv->bias, *weight = mxn__planar_weight(p, group);
    for (int64_t f = 0; f < p->filters; f += MXN_TILE_ROWS) {
        p->vector->tile(&(mxn_tile){
            .a = weight + f * p->rows + first,
            .a_row = p->rows,
            .a_step = 1,
            .b = w->block,
            .b_row = MXN_BLOCK_ROW,
            .c = result + f * p->conv->out_size + w->begin,
            .c_row = p->conv->out_size,
            .count = rows,
            .rows = mxn__least(MXN_TILE_ROWS, p->filters - f),
            .columns = w->columns,
            .adds = first > 0,
            .start = bias == NULL ? NULL : bias + group * p->filters + f,
        });
    }
}

static void forward_block(worker *w, int64_t image, int64_t group)
{
    const mxn_planar *p = w->plan;
    for (int64_t first = 0; first < p->rows; first += p->block_rows) {
        int64_t rows = mxn__least(p->block_rows, p->rows - first);
        p->vector->gather(w->block, MXN_BLOCK_ROW, w->padded, p->offsets + first, rows, w->segments,
                          w->segment_count, p->conv->window.stride[2]);
        multiply_forward(w, mxn__planar_result(p, image, group), group, first, rows);
    }
}

static void forward_part(void *argument, int index, int threads)
{
    const mxn_planar *p = argument;
    worker w;
    worker_init(&w, p, index);
    int64_t units = p->conv->images * p->conv->groups * p->blocks, current = -1;
    int64_t end = mxn__part_begin(units, index + 1, threads);
    for (int64_t unit = mxn__part_begin(units, index, threads); unit < end; unit++) {
        int64_t which = unit / p->blocks;
        int64_t image = which / p->conv->groups, group = which % p->conv->groups;
        if (which != current) {
            mxn__planar_move(p, mxn__planar_image(p, image, group), w.padded, false);
            current = which;
        }
        take_block(&w, unit % p->blocks);
        forward_block(&w, image, group);
    }
}

// ---- to the data ------------------------------------------------------------------------------

// The block of places of every filter's result, readable up to whole vectors: as it lies, or a
// copy.
static const float *result_block(worker *w, const float *result, int64_t *row)
{
    const mxn_planar *p = w->plan;
    *row = p->conv->out_size;
    if (w->columns == p->vector->columns) {
        return result + w->begin;
    }
    float *copy = w->block + p->row_step * MXN_BLOCK_ROW;
    *row = MXN_BLOCK_ROW;
    for (int64_t f = 0; f < p->filters; f++) {
        memcpy(copy + f * *row, result + f * p->conv->out_size + w->begin,
               (size_t)w->columns * sizeof(float));
        memset(copy + f * *row + w->columns, 0,
               (size_t)(MXN_TILE_COLUMNS_MAX - w->columns) * sizeof(float));
    }
    return copy;
}

static void data_block(worker *w, int64_t image, int64_t group)
{
    const mxn_planar *p = w->plan;
    int64_t b_row;
    const float *b = result_block(w, mxn__planar_result(p, image, group), &b_row);
    for (int64_t row = 0; row < p->rows; row += MXN_TILE_ROWS) {
        int64_t rows = mxn__least(MXN_TILE_ROWS, p->rows - row);
        p->vector->tile(&(mxn_tile){
            .a = mxn__planar_weight(p, group) + row,
            .a_row = 1,
            .a_step = p->rows,
            .b = b,
            .b_row = b_row,
            .c = w->block,
            .c_row = MXN_BLOCK_ROW,
            .count = p->filters,
            .rows = rows,
            .columns = w->columns,
        });
        p->vector->scatter(w->padded, p->offsets + row, w->block, MXN_BLOCK_ROW, rows, w->segments,
                           w->segment_count, p->conv->window.stride[2]);
    }
}

static void data_part(void *argument, int index, int threads)
{
    const mxn_planar *p = argument;
    worker w;
    worker_init(&w, p, index);
    int64_t units = p->conv->images * p->conv->groups;
    int64_t end = mxn__part_begin(units, index + 1, threads);
    for (int64_t unit = mxn__part_begin(units, index, threads); unit < end; unit++) {
        int64_t image = unit / p->conv->groups, group = unit % p->conv->groups;
        memset(w.padded, 0, (size_t)p->padded_floats * sizeof(float));
        for (int64_t block = 0; block < p->blocks; block++) {
            take_block(&w, block);
            data_block(&w, image, group);
        }
        mxn__planar_move(p, mxn__planar_image(p, image, group), w.padded, true);
    }
}

// ---- to the weight ----------------------------------------------------------------------------

// gathered[place][row]: what lies under the kernel at each place, side by side.
static void gather_places(worker *w, int64_t first, int64_t rows)
{
    const mxn_planar *p = w->plan;
    const mxn_window *window = &p->conv->window;
    const int64_t *offsets = p->offsets + first;
    for (const mxn_row_segment *s = w->segments; s < w->segments + w->segment_count; s++) {
        for (int64_t k = 0; k < s->count; k++) {
            float *to = w->block + (s->to + k) * p->row_step;
            const float *from = w->padded + s->from + k * window->stride[2];
            if (window->dilate[2] == 1) {
                p->vector->gather_lines(to, from, offsets, rows, window->kernel[2]);
                continue;
            }
            for (int64_t row = 0; row < rows; row++) {
                to[row] = from[offsets[row]];
            }
        }
    }
}

static void weight_block(worker *w, int64_t image, int64_t group)
{
    const mxn_planar *p = w->plan;
    const float *result = mxn__planar_result(p, image, group) + w->begin;
    for (int64_t first = 0; first < p->rows; first += p->block_rows) {
        int64_t rows = mxn__least(p->block_rows, p->rows - first);
        gather_places(w, first, rows);
        for (int64_t row = 0; row < rows; row += p->vector->columns) {
            for (int64_t f = 0; f < p->filters; f += MXN_TILE_ROWS) {
                p->vector->tile(&(mxn_tile){
                    .a = result + f * p->conv->out_size,
                    .a_row = p->conv->out_size,
                    .a_step = 1,
                    .b = w->block + row,
                    .b_row = p->row_step,
                    .c = w->sums + (group * p->filters + f) * p->sum_row + first + row,
                    .c_row = p->sum_row,
                    .count = w->columns,
                    .rows = mxn__least(MXN_TILE_ROWS, p->filters - f),
                    .columns = mxn__least(p->vector->columns, rows - row),
                    .adds = true,
                });
            }
        }
    }
}

static void weight_part(void *argument, int index, int threads)
{
    mxn_planar *p = argument;
    worker w;
    if (index == 0) {
        p->summed = threads;
    }
    worker_init(&w, p, index);
    memset(w.sums, 0, (size_t)p->sum_floats * sizeof(float));
    int64_t units = p->conv->images * p->conv->groups;
    int64_t end = mxn__part_begin(units, index + 1, threads);
    for (int64_t unit = mxn__part_begin(units, index, threads); unit < end; unit++) {
        int64_t image = unit / p->conv->groups, group = unit % p->conv->groups;
        mxn__planar_move(p, mxn__planar_image(p, image, group), w.padded, false);
        for (int64_t block = 0; block < p->blocks; block++) {
            take_block(&w, block);
            weight_block(&w, image, group);
        }
    }
}

// The threads' sums, filter by filter; and what each filter's results sum up to.
static void reduce_part(void *argument, int index, int threads)
{
    const mxn_planar *p = argument;
    const mxn_conv *c = p->conv;
    int64_t end = mxn__part_begin(c->filters, index + 1, threads);
    for (int64_t f = mxn__part_begin(c->filters, index, threads); f < end; f++) {
        float *to = (float *)c->weight + f * p->rows;
        for (int t = 0; t < p->summed; t++) {
            const float *sums = p->workspace + t * p->thread_floats + p->padded_floats +
                                p->block_floats + f * p->sum_row;
            for (int64_t row = 0; row < p->rows; row++) {
                to[row] = t == 0 ? sums[row] : to[row] + sums[row];
            }
        }
        float total = 0;
        for (int64_t image = 0; image < c->images && c->bias != NULL; image++) {
            const float *result = (const float *)c->result + (image * c->filters + f) * c->out_size;
            total += p->vector->sum(result, c->out_size);
        }
        if (c->bias != NULL) {
            ((float *)c->bias)[f] = total;
        }
    }
}

// ---- the kernel -------------------------------------------------------------------------------

static int convolve(mxn_job *job, const mxn_conv *c, int kind)
{
    static const mxn_parallel_part parts[] = {[MXN_CONV_FORWARD] = forward_part,
                                              [MXN_CONV_TO_DATA] = data_part,
                                              [MXN_CONV_TO_WEIGHT] = weight_part};
    mxn_planar p;
    mxn_conv mirrored;
    if (kind == MXN_CONV_TO_DATA && mxn__planar_mirror(c, &mirrored)) {
        mxn__planar_init(&p, &mirrored, MXN_CONV_FORWARD);
        mirrored.weight = (char *)job->workspace + mxn__planar_bytes(&p);
        mxn__planar_reverse(c, mirrored.weight, p.threads);
        kind = MXN_CONV_FORWARD;
    } else {
        mxn__planar_init(&p, c, kind);
    }
    mxn__planar_begin(&p, job->workspace);
    mxn__parallel_run(p.threads, parts[kind], &p);
    if (kind == MXN_CONV_TO_WEIGHT) {
        mxn__parallel_run(p.threads, reduce_part, &p);
    }
    return 0;
}

// Few filters leave most of a tile's rows empty. A tile's columns are places of one image: a plane
// of 4 x 4 or less leaves most of those empty, which the library does not.
bool mxn__planar_convolution_takes(const mxn_job *job)
{
    mxn_conv c;
    return mxn__conv_describe(job, &c) == 0 && c.dtype == MXN_FLOAT32 && !c.channels_last &&
           c.filters / c.groups >= FILTERS_LEAST && c.out_size > 0 &&
           (c.out_size > SMALL_PLANE || !mxn__kernel_library_follows(job));
}

static uint64_t step_bytes(const mxn_conv *c, int kind)
{
    mxn_planar p;
    mxn_conv mirrored;
    if (kind == MXN_CONV_TO_DATA && mxn__planar_mirror(c, &mirrored)) {
        mxn__planar_init(&p, &mirrored, MXN_CONV_FORWARD);
        return mxn__planar_bytes(&p) + (uint64_t)mxn__planar_weight_size(c) * sizeof(float);
    }
    mxn__planar_init(&p, c, kind);
    return mxn__planar_bytes(&p);
}

uint64_t mxn__planar_convolution_workspace(const mxn_job *job)
{
    mxn_conv c;
    mxn_conv_step steps[2];
    uint64_t most = 0;
    int count = mxn__conv_describe(job, &c) == 0 ? mxn__conv_steps(job, steps) : 0;
    for (int i = 0; i < count; i++) {
        uint64_t bytes = step_bytes(&c, steps[i].kind);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int mxn__planar_convolution_run(mxn_job *job)
{
    return mxn__conv_run(job, convolve);
}
