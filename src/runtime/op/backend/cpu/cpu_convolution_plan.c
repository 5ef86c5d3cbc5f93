// SPDX-License-Identifier: Apache-2.0
// A workspace holds the offsets of the rows, then what each thread needs: a padded image, a block,
// sums.
#include "runtime/op/backend/cpu/cpu_convolution_plan.h"

#include <string.h>

#include "runtime/parallel/thread_pool.h"

enum { ROWS_AT_ONCE = 512, CHANNELS_LEAST = 4, CHANNELS_AT_ONCE = 16 };

static int64_t rounded(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

void mxn__planar_init(mxn_planar *p, const mxn_conv *c, int kind)
{
    const mxn_window *w = &c->window;
    *p = (mxn_planar){.conv = c, .vector = mxn__vector(), .padded_channel = 1};
    p->filters = c->filters / c->groups;
    for (int i = 0; i < 3; i++) {
        p->size[i] = w->in[i] + 2 * w->pad[i];
        p->padded_channel *= p->size[i];
    }
    p->rows = c->channels * c->kernel_size;
    int64_t channels = ROWS_AT_ONCE / c->kernel_size;
    p->block_rows = (channels > 0 ? mxn__least(channels, c->channels) : 1) * c->kernel_size;
    p->row_step = rounded(p->block_rows, MXN_TILE_COLUMNS_MAX);
    // To the weight places are summed over: the more at once, the less often sums come and go.
    p->places = kind == MXN_CONV_TO_WEIGHT ? MXN_TILE_COLUMNS_MAX : p->vector->columns;
    p->blocks = (c->out_size + p->places - 1) / p->places;
    p->padded_floats = rounded(p->padded_channel * c->channels + MXN_COPY_SLACK, 16);
    p->block_floats = rounded((p->row_step + p->filters) * MXN_BLOCK_ROW, 16) + MXN_COPY_SLACK;
    p->sum_row = rounded(p->rows, MXN_TILE_COLUMNS_MAX);
    p->sum_floats = kind == MXN_CONV_TO_WEIGHT ? rounded(c->filters * p->sum_row, 16) : 0;
    p->thread_floats = p->padded_floats + p->block_floats + p->sum_floats;
    p->threads =
        mxn__threads_for((double)(c->images * c->filters) * (double)c->out_size * (double)p->rows);
}

static int64_t offset_count(const mxn_planar *p)
{
    return rounded(p->rows, 16);
}

uint64_t mxn__planar_bytes(const mxn_planar *p)
{
    return (uint64_t)offset_count(p) * sizeof(int64_t) +
           (uint64_t)(p->threads * p->thread_floats) * sizeof(float);
}

// Where each row, a place of the kernel in a channel, looks at a padded image.
static void find_offsets(mxn_planar *p)
{
    const mxn_window *w = &p->conv->window;
    int64_t *to = p->offsets, at[3];
    for (int64_t channel = 0; channel < p->conv->channels; channel++) {
        for (at[0] = 0; at[0] < w->kernel[0]; at[0]++) {
            for (at[1] = 0; at[1] < w->kernel[1]; at[1]++) {
                for (at[2] = 0; at[2] < w->kernel[2]; at[2]++) {
                    int64_t line = at[0] * w->dilate[0] * p->size[1] + at[1] * w->dilate[1];
                    *to++ = channel * p->padded_channel + line * p->size[2] + at[2] * w->dilate[2];
                }
            }
        }
    }
}

void mxn__planar_begin(mxn_planar *p, void *workspace)
{
    p->offsets = workspace;
    p->workspace = (float *)(void *)(p->offsets + offset_count(p));
    find_offsets(p);
}

bool mxn__planar_mirror(const mxn_conv *c, mxn_conv *mirrored)
{
    *mirrored = *c;
    mxn_window *w = &mirrored->window;
    for (int i = 0; i < 3; i++) {
        const int64_t reach = c->window.dilate[i] * (c->window.kernel[i] - 1);
        w->in[i] = c->window.out[i];
        w->out[i] = c->window.in[i];
        w->pad[i] = reach - c->window.pad[i];
        if (w->stride[i] != 1 || w->pad[i] < 0 || w->out[i] != w->in[i] + 2 * w->pad[i] - reach) {
            return false;
        }
    }
    mirrored->filters = c->channels * c->groups;
    mirrored->channels = c->filters / c->groups;
    mirrored->in_size = c->out_size;
    mirrored->out_size = c->in_size;
    mirrored->data = c->result;
    mirrored->result = c->data;
    mirrored->weight = mirrored->bias = NULL;
    return c->channels >= CHANNELS_LEAST;
}

typedef struct reversal {
    const mxn_conv *conv;
    float *to;
} reversal;

// Channels of one group, few enough that what is written of each stays in the first-level cache.
static void reverse_channels(const reversal *r, int64_t group, int64_t first, int64_t end)
{
    const mxn_conv *c = r->conv;
    const int64_t size = c->kernel_size, filters = c->filters / c->groups;
    for (int64_t f = 0; f < filters; f++) {
        const float *from =
            (const float *)c->weight + ((group * filters + f) * c->channels + first) * size;
        for (int64_t channel = first; channel < end; channel++, from += size) {
            float *to = r->to + ((group * c->channels + channel) * filters + f) * size;
            for (int64_t k = 0; k < size; k++) {
                to[k] = from[size - 1 - k];
            }
        }
    }
}

static void reverse_part(void *argument, int index, int threads)
{
    const reversal *r = argument;
    const int64_t channels = r->conv->channels;
    const int64_t blocks = (channels + CHANNELS_AT_ONCE - 1) / CHANNELS_AT_ONCE;
    int64_t units = blocks * r->conv->groups, end = mxn__part_begin(units, index + 1, threads);
    for (int64_t unit = mxn__part_begin(units, index, threads); unit < end; unit++) {
        int64_t first = unit % blocks * CHANNELS_AT_ONCE;
        reverse_channels(r, unit / blocks, first, mxn__least(first + CHANNELS_AT_ONCE, channels));
    }
}

void mxn__planar_reverse(const mxn_conv *c, float *to, int threads)
{
    mxn__parallel_run(threads, reverse_part, &(reversal){.conv = c, .to = to});
}

void mxn__planar_move(const mxn_planar *p, float *image, float *padded, bool back)
{
    const mxn_window *w = &p->conv->window;
    size_t bytes = (size_t)w->in[2] * sizeof(float);
    for (int64_t channel = 0; channel < p->conv->channels; channel++, padded += p->padded_channel) {
        for (int64_t z = 0; z < w->in[0]; z++) {
            float *at =
                padded + ((z + w->pad[0]) * p->size[1] + w->pad[1]) * p->size[2] + w->pad[2];
            for (int64_t y = 0; y < w->in[1]; y++, at += p->size[2], image += w->in[2]) {
                memcpy(back ? image : at, back ? at : image, bytes);
            }
        }
    }
}

int64_t mxn__planar_segments(const mxn_planar *p, int64_t begin, int64_t end,
                             mxn_row_segment *segments)
{
    const mxn_window *w = &p->conv->window;
    int64_t count = 0;
    for (int64_t at = begin; at < end;) {
        int64_t x = at % w->out[2], y = at / w->out[2] % w->out[1];
        int64_t z = at / w->out[2] / w->out[1];
        int64_t length = mxn__least(w->out[2] - x, end - at);
        segments[count++] = (mxn_row_segment){
            .from =
                (z * w->stride[0] * p->size[1] + y * w->stride[1]) * p->size[2] + x * w->stride[2],
            .to = at - begin,
            .count = length,
        };
        at += length;
    }
    return count;
}
