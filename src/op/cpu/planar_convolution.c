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
// An image is first copied into a frame of zeros, so that nothing below looks at edges. Each thread
// has a frame, a block and its sums in the job's workspace.
#include <string.h>

#include "op/convolution.h"
#include "op/cpu/cpu_kernels.h"
#include "op/cpu/vector.h"
#include "op/team.h"

enum { ROWS_AT_ONCE = 512, FILTERS_LEAST = 4, BLOCK_ROW = MXN_TILE_COLUMNS_MAX + MXN_COPY_SLACK };

typedef struct plan {
    const mxn_conv *conv;
    const mxn_vector *vector;
    int kind;
    int64_t filters;  // of one group
    int64_t size[3];  // of the frame
    int64_t frame;  // floats of a channel's frame
    int64_t rows;  // of a group: places of the kernel in its channels
    int64_t block_channels, block_rows, row_step;  // gathered at once; row_step: rounded up
    int64_t blocks;  // of places of a result
    int64_t frame_floats, block_floats, sum_floats;  // of one thread
    float *space;
    int64_t *offsets;  // of each row in a frame
    int threads;  // there is space for
    int summed;  // that have been there: set by the first of them
} plan;

static int64_t rounded(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t thread_floats(const plan *p)
{
    return p->frame_floats + p->block_floats + p->sum_floats;
}

static void make_plan(plan *p, const mxn_conv *c, int kind)
{
    const mxn_window *w = &c->window;
    *p = (plan){.conv = c, .vector = mxn__vector(), .kind = kind, .frame = 1};
    p->filters = c->filters / c->groups;
    for (int i = 0; i < 3; i++) {
        p->size[i] = w->in[i] + 2 * w->pad[i];
        p->frame *= p->size[i];
    }
    p->rows = c->channels * c->kernel_size;
    p->block_channels = ROWS_AT_ONCE / c->kernel_size;
    p->block_channels = p->block_channels > 0 ? least(p->block_channels, c->channels) : 1;
    p->block_rows = p->block_channels * c->kernel_size;
    p->row_step = rounded(p->block_rows, MXN_TILE_COLUMNS_MAX);
    p->blocks = (c->out_size + p->vector->columns - 1) / p->vector->columns;
    p->frame_floats = rounded(p->frame * c->channels + MXN_COPY_SLACK, 16);
    p->block_floats = rounded((p->row_step + p->filters) * BLOCK_ROW, 16) + MXN_COPY_SLACK;
    p->sum_floats = kind == MXN_CONV_TO_WEIGHT
                        ? rounded(c->filters * rounded(p->rows, MXN_TILE_COLUMNS_MAX), 16)
                        : 0;
    p->threads =
        mxn__team_size((double)(c->images * c->filters) * (double)c->out_size * (double)p->rows);
}

// ---- frames -----------------------------------------------------------------------------------

// Rows of an image to (or from) their places in the frame.
static void move_rows(const plan *p, float *image, float *frame, bool back)
{
    const mxn_window *w = &p->conv->window;
    size_t bytes = (size_t)w->in[2] * sizeof(float);
    for (int64_t channel = 0; channel < p->conv->channels; channel++, frame += p->frame) {
        for (int64_t z = 0; z < w->in[0]; z++) {
            float *at = frame + ((z + w->pad[0]) * p->size[1] + w->pad[1]) * p->size[2] + w->pad[2];
            for (int64_t y = 0; y < w->in[1]; y++, at += p->size[2], image += w->in[2]) {
                memcpy(back ? image : at, back ? at : image, bytes);
            }
        }
    }
}

static float *image_of(const plan *p, int64_t image, int64_t group)
{
    const mxn_conv *c = p->conv;
    return (float *)c->data + (image * c->groups + group) * c->channels * c->in_size;
}

static float *result_of(const plan *p, int64_t image, int64_t group)
{
    const mxn_conv *c = p->conv;
    return (float *)c->result + (image * c->groups + group) * p->filters * c->out_size;
}

static float *weight_of(const plan *p, int64_t group)
{
    return (float *)p->conv->weight + group * p->filters * p->rows;
}

// ---- blocks -----------------------------------------------------------------------------------

// Where places begin .. end of the result look at the frame: one stretch for each row they are in.
static int64_t stretches_of(const plan *p, int64_t begin, int64_t end, mxn_stretch *stretches)
{
    const mxn_window *w = &p->conv->window;
    int64_t count = 0;
    for (int64_t at = begin; at < end;) {
        int64_t x = at % w->out[2], y = at / w->out[2] % w->out[1];
        int64_t z = at / w->out[2] / w->out[1];
        int64_t length = least(w->out[2] - x, end - at);
        stretches[count++] = (mxn_stretch){
            .from =
                (z * w->stride[0] * p->size[1] + y * w->stride[1]) * p->size[2] + x * w->stride[2],
            .to = at - begin,
            .count = length,
        };
        at += length;
    }
    return count;
}

// Where each row, a place of the kernel in a channel, looks at a frame.
static void find_offsets(plan *p)
{
    const mxn_window *w = &p->conv->window;
    int64_t *to = p->offsets, at[3];
    for (int64_t channel = 0; channel < p->conv->channels; channel++) {
        for (at[0] = 0; at[0] < w->kernel[0]; at[0]++) {
            for (at[1] = 0; at[1] < w->kernel[1]; at[1]++) {
                for (at[2] = 0; at[2] < w->kernel[2]; at[2]++) {
                    int64_t line = at[0] * w->dilate[0] * p->size[1] + at[1] * w->dilate[1];
                    *to++ = channel * p->frame + line * p->size[2] + at[2] * w->dilate[2];
                }
            }
        }
    }
}

typedef struct worker {  // what one thread works with
    const plan *plan;
    float *frame, *block, *sums;
    mxn_stretch stretches[MXN_TILE_COLUMNS_MAX];
    int64_t stretch_count, begin, columns;  // the block of places
} worker;

static void worker_init(worker *w, const plan *p, int index)
{
    w->plan = p;
    w->frame = p->space + index * thread_floats(p);
    w->block = w->frame + p->frame_floats;
    w->sums = w->block + p->block_floats;
    memset(w->frame, 0, (size_t)p->frame_floats * sizeof(float));
}

static void take_block(worker *w, int64_t block)
{
    const plan *p = w->plan;
    w->begin = block * p->vector->columns;
    w->columns = least(p->vector->columns, p->conv->out_size - w->begin);
    w->stretch_count = stretches_of(p, w->begin, w->begin + w->columns, w->stretches);
}

// ---- forward ----------------------------------------------------------------------------------

static void multiply_forward(worker *w, float *result, int64_t group, int64_t first, int64_t rows)
{
    const plan *p = w->plan;
    const float *bias = p->conv->bias, *weight = weight_of(p, group);
    for (int64_t f = 0; f < p->filters; f += MXN_TILE_ROWS) {
        p->vector->tile(&(mxn_tile){
            .a = weight + f * p->rows + first,
            .a_row = p->rows,
            .a_step = 1,
            .b = w->block,
            .b_row = BLOCK_ROW,
            .c = result + f * p->conv->out_size + w->begin,
            .c_row = p->conv->out_size,
            .count = rows,
            .rows = least(MXN_TILE_ROWS, p->filters - f),
            .columns = w->columns,
            .adds = first > 0,
            .start = bias == NULL ? NULL : bias + group * p->filters + f,
        });
    }
}

static void forward_block(worker *w, int64_t image, int64_t group)
{
    const plan *p = w->plan;
    for (int64_t first = 0; first < p->rows; first += p->block_rows) {
        int64_t rows = least(p->block_rows, p->rows - first);
        p->vector->gather(w->block, BLOCK_ROW, w->frame, p->offsets + first, rows, w->stretches,
                          w->stretch_count, p->conv->window.stride[2]);
        multiply_forward(w, result_of(p, image, group), group, first, rows);
    }
}

static void forward_part(void *argument, int index, int threads)
{
    const plan *p = argument;
    worker w;
    worker_init(&w, p, index);
    int64_t units = p->conv->images * p->conv->groups * p->blocks, framed = -1;
    int64_t end = mxn__team_begin(units, index + 1, threads);
    for (int64_t unit = mxn__team_begin(units, index, threads); unit < end; unit++) {
        int64_t which = unit / p->blocks;
        int64_t image = which / p->conv->groups, group = which % p->conv->groups;
        if (which != framed) {
            move_rows(p, image_of(p, image, group), w.frame, false);
            framed = which;
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
    const plan *p = w->plan;
    *row = p->conv->out_size;
    if (w->columns == p->vector->columns) {
        return result + w->begin;
    }
    float *copy = w->block + p->row_step * BLOCK_ROW;
    *row = BLOCK_ROW;
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
    const plan *p = w->plan;
    int64_t b_row;
    const float *b = result_block(w, result_of(p, image, group), &b_row);
    for (int64_t row = 0; row < p->rows; row += MXN_TILE_ROWS) {
        int64_t rows = least(MXN_TILE_ROWS, p->rows - row);
        p->vector->tile(&(mxn_tile){
            .a = weight_of(p, group) + row,
            .a_row = 1,
            .a_step = p->rows,
            .b = b,
            .b_row = b_row,
            .c = w->block,
            .c_row = BLOCK_ROW,
            .count = p->filters,
            .rows = rows,
            .columns = w->columns,
        });
        p->vector->scatter(w->frame, p->offsets + row, w->block, BLOCK_ROW, rows, w->stretches,
                           w->stretch_count, p->conv->window.stride[2]);
    }
}

static void data_part(void *argument, int index, int threads)
{
    const plan *p = argument;
    worker w;
    worker_init(&w, p, index);
    int64_t units = p->conv->images * p->conv->groups;
    int64_t end = mxn__team_begin(units, index + 1, threads);
    for (int64_t unit = mxn__team_begin(units, index, threads); unit < end; unit++) {
        int64_t image = unit / p->conv->groups, group = unit % p->conv->groups;
        memset(w.frame, 0, (size_t)p->frame_floats * sizeof(float));
        for (int64_t block = 0; block < p->blocks; block++) {
            take_block(&w, block);
            data_block(&w, image, group);
        }
        move_rows(p, image_of(p, image, group), w.frame, true);
    }
}

// ---- to the weight ----------------------------------------------------------------------------

// gathered[place][row]: what lies under the kernel at each place, side by side.
static void gather_places(worker *w, int64_t first, int64_t rows)
{
    const plan *p = w->plan;
    const mxn_window *window = &p->conv->window;
    const int64_t *offsets = p->offsets + first;
    for (const mxn_stretch *s = w->stretches; s < w->stretches + w->stretch_count; s++) {
        for (int64_t k = 0; k < s->count; k++) {
            float *to = w->block + (s->to + k) * p->row_step;
            const float *from = w->frame + s->from + k * window->stride[2];
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
    const plan *p = w->plan;
    const float *result = result_of(p, image, group) + w->begin;
    int64_t sum_row = rounded(p->rows, MXN_TILE_COLUMNS_MAX);
    for (int64_t first = 0; first < p->rows; first += p->block_rows) {
        int64_t rows = least(p->block_rows, p->rows - first);
        gather_places(w, first, rows);
        for (int64_t row = 0; row < rows; row += p->vector->columns) {
            for (int64_t f = 0; f < p->filters; f += MXN_TILE_ROWS) {
                p->vector->tile(&(mxn_tile){
                    .a = result + f * p->conv->out_size,
                    .a_row = p->conv->out_size,
                    .a_step = 1,
                    .b = w->block + row,
                    .b_row = p->row_step,
                    .c = w->sums + (group * p->filters + f) * sum_row + first + row,
                    .c_row = sum_row,
                    .count = w->columns,
                    .rows = least(MXN_TILE_ROWS, p->filters - f),
                    .columns = least(p->vector->columns, rows - row),
                    .adds = true,
                });
            }
        }
    }
}

static void weight_part(void *argument, int index, int threads)
{
    plan *p = argument;
    worker w;
    if (index == 0) {
        p->summed = threads;
    }
    worker_init(&w, p, index);
    memset(w.sums, 0, (size_t)p->sum_floats * sizeof(float));
    int64_t units = p->conv->images * p->conv->groups;
    int64_t end = mxn__team_begin(units, index + 1, threads);
    for (int64_t unit = mxn__team_begin(units, index, threads); unit < end; unit++) {
        int64_t image = unit / p->conv->groups, group = unit % p->conv->groups;
        move_rows(p, image_of(p, image, group), w.frame, false);
        for (int64_t block = 0; block < p->blocks; block++) {
            take_block(&w, block);
            weight_block(&w, image, group);
        }
    }
}

// The threads' sums, filter by filter; and what each filter's results sum up to.
static void reduce_part(void *argument, int index, int threads)
{
    const plan *p = argument;
    const mxn_conv *c = p->conv;
    int64_t sum_row = rounded(p->rows, MXN_TILE_COLUMNS_MAX);
    int64_t end = mxn__team_begin(c->filters, index + 1, threads);
    for (int64_t f = mxn__team_begin(c->filters, index, threads); f < end; f++) {
        float *to = (float *)c->weight + f * p->rows;
        for (int t = 0; t < p->summed; t++) {
            const float *sums =
                p->space + t * thread_floats(p) + p->frame_floats + p->block_floats + f * sum_row;
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
    static const mxn_team_part parts[] = {[MXN_CONV_FORWARD] = forward_part,
                                          [MXN_CONV_TO_DATA] = data_part,
                                          [MXN_CONV_TO_WEIGHT] = weight_part};
    plan p;
    make_plan(&p, c, kind);
    p.offsets = job->workspace;
    p.space = (float *)(void *)(p.offsets + rounded(p.rows, 16));
    find_offsets(&p);
    mxn__team_run(p.threads, parts[kind], &p);
    if (kind == MXN_CONV_TO_WEIGHT) {
        mxn__team_run(p.threads, reduce_part, &p);
    }
    return 0;
}

// Few filters leave most of a tile's rows empty.
bool mxn__planar_convolution_takes(const mxn_job *job)
{
    mxn_conv c;
    return mxn__conv_describe(job, &c) == 0 && c.dtype == MXN_FLOAT32 && !c.channels_last &&
           c.filters / c.groups >= FILTERS_LEAST && c.out_size > 0;
}

uint64_t mxn__planar_convolution_workspace(const mxn_job *job)
{
    mxn_conv c;
    mxn_conv_step steps[2];
    uint64_t most = 0;
    int count = mxn__conv_describe(job, &c) == 0 ? mxn__conv_steps(job, steps) : 0;
    for (int i = 0; i < count; i++) {
        plan p;
        make_plan(&p, &c, steps[i].kind);
        uint64_t bytes = (uint64_t)rounded(p.rows, 16) * sizeof(int64_t) +
                         (uint64_t)(p.threads * thread_floats(&p)) * sizeof(float);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int mxn__planar_convolution_run(mxn_job *job)
{
    return mxn__conv_run(job, convolve);
}
