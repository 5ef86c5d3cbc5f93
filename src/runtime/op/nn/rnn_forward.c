// SPDX-License-Identifier: Apache-2.0
// The forward of a recurrent network: for each layer and direction one product for the data of all
// steps, then step by step a product for the state and the cell's own functions.
#include <string.h>

#include "runtime/op/nn/rnn.h"

typedef struct forward {
    mxn_rnn_work w;
    char *recurrent;  // gru: products of a step
    char *raw;  // states before their projection
    char *last, *last_cell;  // what the last step gives
} forward;

// A kept vector that nobody wants still is where the steps work.
uint64_t mxn__rnn_workspace(const mxn_job *job)
{
    const mxn_rnn r = mxn__rnn_of(mxn__values(job), job->inputs[0].shape);
    int64_t kept =
        job->outputs[job->params->output_count - 1].request == MXN_NULL ? mxn__rnn_kept(&r) : 0;
    return (uint64_t)(kept + r.batch * (5 * r.size + r.width)) * sizeof(double);
}

static int product(const forward *f, const void *a, const void *b, void *c, int64_t m, int64_t n,
                   int64_t k, bool adds)
{
    const mxn_product p = {a, b, c, m, n, k, false, true, adds};
    return m == 0 ? 0 : f->w.multiply(f->w.job, f->w.dtype, &p);
}

// A sequence that has ended keeps its state.
static void keep_states(const forward *f, int64_t step, char *to, const void *before, int64_t count)
{
    const size_t bytes = (size_t)count * f->w.bytes;
    for (int64_t i = 0; i < f->w.r.batch; i++) {
        if (!mxn__rnn_lives(&f->w, step, i)) {
            memcpy(to + (size_t)i * bytes, (const char *)before + (size_t)i * bytes, bytes);
        }
    }
}

// The states of a step go to their half of the layer's result; 0 where a sequence has ended.
static void give_states(const forward *f, int64_t step, int64_t direction, const char *states,
                        char *result)
{
    const mxn_rnn *r = &f->w.r;
    const size_t bytes = (size_t)r->width * f->w.bytes;
    for (int64_t i = 0; i < r->batch; i++) {
        char *to = result + (size_t)((step * r->batch + i) * r->directions + direction) * bytes;
        if (mxn__rnn_lives(&f->w, step, i)) {
            memcpy(to, states + (size_t)i * bytes, bytes);
        } else {
            memset(to, 0, bytes);
        }
    }
}

// The state after it goes to `after` and `cell`.
static int run_step(const forward *f, const mxn_rnn_cell *c, int64_t step, char *after, char *cell)
{
    const mxn_rnn *r = &f->w.r;
    const int64_t rows = r->gates * r->size;
    const bool is_gru = r->params->mode == MXN_RNN_GRU, projects = r->params->projection_size.has;
    mxn_rnn_step s = mxn__rnn_step_of(&f->w, c, step);
    s.recurrent = f->recurrent;
    s.cell = cell;
    s.after = projects ? f->raw : after;
    if (is_gru) {
        f->w.kernels->fill[f->w.is_double](f->recurrent, c->h2h_bias, NULL, r->batch, rows);
    }
    int error = product(f, s.before, c->h2h, is_gru ? f->recurrent : s.gates, r->batch, rows,
                        r->width, true);
    if (error != 0) {
        return error;
    }
    f->w.kernels->forward[f->w.is_double](r->params->mode, &s);
    if (projects) {
        error = product(f, f->raw, c->h2r, after, r->batch, r->width, r->size, false);
    }
    if (f->w.lengths != NULL) {
        keep_states(f, step, after, s.before, r->width);
        if (mxn__rnn_has_cell(r->params)) {
            keep_states(f, step, cell, s.cell_before, r->size);
        }
    }
    return error;
}

static void begin_states(const forward *f, const mxn_rnn_cell *c, char *state, char *cell)
{
    const mxn_rnn *r = &f->w.r;
    const mxn_operand *in = f->w.job->inputs;
    int64_t count = r->batch * r->width;
    memcpy(state, mxn__rnn_at(&f->w, in[2].data, c->index * count), (size_t)count * f->w.bytes);
    if (mxn__rnn_has_cell(r->params)) {
        count = r->batch * r->size;
        memcpy(cell, mxn__rnn_at(&f->w, in[3].data, c->index * count), (size_t)count * f->w.bytes);
    }
}

static void end_states(const forward *f, const mxn_rnn_cell *c)
{
    const mxn_rnn *r = &f->w.r;
    const mxn_operand *out = f->w.job->outputs;
    int64_t count = r->batch * r->width;
    if (r->params->state_outputs && out[1].data != NULL) {
        memcpy(mxn__rnn_at(&f->w, out[1].data, c->index * count), f->last,
               (size_t)count * f->w.bytes);
    }
    count = r->batch * r->size;
    if (r->params->state_outputs && mxn__rnn_has_cell(r->params) && out[2].data != NULL) {
        memcpy(mxn__rnn_at(&f->w, out[2].data, c->index * count), f->last_cell,
               (size_t)count * f->w.bytes);
    }
}

static int run_cell(const forward *f, const mxn_rnn_cell *c, const void *data, char *result)
{
    const mxn_rnn *r = &f->w.r;
    const int64_t rows = r->gates * r->size, all = r->steps * r->batch;
    const bool is_gru = r->params->mode == MXN_RNN_GRU;
    f->w.kernels->fill[f->w.is_double](c->gates, c->i2h_bias, is_gru ? NULL : c->h2h_bias, all,
                                       rows);
    int error = product(f, data, c->i2h, c->gates, all, rows, c->inputs, true);
    const int64_t first = c->direction == 0 ? 0 : r->steps - 1, by = c->direction == 0 ? 1 : -1;
    bool any = r->steps > 0;
    begin_states(f, c, any ? mxn__rnn_at(&f->w, c->before, first * r->batch * r->width) : f->last,
                 any ? mxn__rnn_at(&f->w, c->cell_before, first * r->batch * r->size)
                     : f->last_cell);
    for (int64_t i = 0, step = first; error == 0 && i < r->steps; i++, step += by) {
        const int64_t next = (step + by) * r->batch;
        const bool is_last = i + 1 == r->steps;
        char *after = is_last ? f->last : mxn__rnn_at(&f->w, c->before, next * r->width);
        char *cell = is_last ? f->last_cell : mxn__rnn_at(&f->w, c->cell_before, next * r->size);
        error = run_step(f, c, step, after, cell);
        if (error == 0 && result != NULL) {
            give_states(f, step, c->direction, after, result);
        }
    }
    end_states(f, c);
    return error;
}

// 32 bits decide each element: kept ones grow by 1 / (1 - p), so that the mean stays.
static void drop(const forward *f, int64_t layer)
{
    const mxn_rnn *r = &f->w.r;
    const double keep = 1 - r->params->p, kept = keep > 0 ? 1 / keep : 0;
    const int64_t count = r->steps * r->batch * r->directions * r->width;
    char *mask = mxn__rnn_layer_mask(&f->w, layer);
    if (!f->w.job->training) {
        mxn_fill(mask, f->w.dtype, 1, (size_t)count);
        return;
    }
    uint64_t key, first;
    mxn_random_reserve(f->w.job->random, (uint64_t)(count + 3) / 4, &key, &first);
    for (int64_t i = 0; i < count; i++) {
        uint32_t numbers[4];
        if (i % 4 == 0) {
            mxn_random_block(key, first + (uint64_t)i / 4, numbers);
        }
        double value = numbers[i % 4] < (uint64_t)(keep * 4294967296.0) ? kept : 0;
        mxn_cast(mxn__rnn_at(&f->w, mask, i), f->w.dtype, &value, MXN_FLOAT64, 1);
    }
    f->w.kernels->scale[f->w.is_double](mxn__rnn_layer_data(&f->w, layer), mask, count);
}

int mxn__rnn_run(mxn_job *job, mxn_multiplier multiply, void *space)
{
    forward f = {.w = mxn__rnn_work_of(job, multiply, space, false)};
    const mxn_rnn *r = &f.w.r;
    f.recurrent = mxn__rnn_take(&f.w, 3 * r->batch * r->size);
    f.raw = mxn__rnn_take(&f.w, r->batch * r->size);
    f.last = mxn__rnn_take(&f.w, r->batch * r->width);
    f.last_cell = mxn__rnn_take(&f.w, r->batch * r->size);
    f.w.kept = f.w.kept != NULL ? f.w.kept : f.w.space;
    int error = 0;
    for (int64_t layer = 0; error == 0 && layer < r->layers; layer++) {
        const bool is_last = layer + 1 == r->layers;
        const void *data = layer == 0 ? job->inputs[0].data : mxn__rnn_layer_data(&f.w, layer);
        char *result = is_last ? job->outputs[0].data : mxn__rnn_layer_data(&f.w, layer + 1);
        for (int64_t direction = 0; error == 0 && direction < r->directions; direction++) {
            mxn_rnn_cell c = mxn__rnn_cell_of(&f.w, layer, direction, f.w.parameters);
            error = run_cell(&f, &c, data, result);
        }
        if (error == 0 && !is_last && r->params->p > 0) {
            drop(&f, layer + 1);
        }
    }
    return error;
}
