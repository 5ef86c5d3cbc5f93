// SPDX-License-Identifier: Apache-2.0
// The gradient of a recurrent network: from the last layer to the first, for each direction step by
// step back through time; products for the parameters and the data are made for all steps at once.
#include <string.h>

#include "runtime/op/nn/rnn.h"

typedef struct backward {
    mxn_rnn_work w;
    char *to_gates, *to_recurrent;  // of all steps; the same but for gru
    char *state, *state_before, *cell, *cell_before;  // gradients of a step's states
    char *raw;  // all steps: states before their projection
    char *projected;  // all steps: gradients of those after it
    char *to_raw;  // of a step
    char *results[2];  // gradients of a layer's result and of its data, in turns
} backward;

enum { STATES = 1, CELLS = 2 };  // heads, and outputs from the third on

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static mxn_rnn rnn_of(const mxn_job *job)
{
    const mxn_rnn_params *params = mxn__values(job);
    const uint32_t heads = !params->state_outputs ? 1 : mxn__rnn_has_cell(params) ? 3 : 2;
    return mxn__rnn_of(params, job->inputs[heads].shape);
}

int64_t mxn__rnn_transposed(const mxn_job *job)
{
    const mxn_rnn r = rnn_of(job);
    return r.steps * r.batch * most(r.gates * r.size, r.width);
}

uint64_t mxn__rnn_workspace_back(const mxn_job *job)
{
    const mxn_rnn r = rnn_of(job);
    const int64_t all = r.steps * r.batch;
    const int64_t count = all * (2 * r.gates * r.size + r.size + r.width) +
                          r.batch * (2 * r.width + 3 * r.size) + 2 * all * r.directions * r.width;
    return (uint64_t)count * sizeof(double);
}

static int product(const backward *b, const void *first, bool transposed, const void *second,
                   void *to, const int64_t sizes[3], bool adds)
{
    const mxn_product p = {first,    second,     to,    sizes[0], sizes[1],
                           sizes[2], transposed, false, adds};
    return sizes[0] == 0 ? 0 : b->w.multiply(b->w.job, b->w.dtype, &p);
}

// What the layer's result gets, to that of the states of a step.
static void add_result(const backward *b, const mxn_rnn_cell *c, int64_t step, const char *result)
{
    const mxn_rnn *r = &b->w.r;
    for (int64_t i = 0; i < r->batch; i++) {
        if (mxn__rnn_lives(&b->w, step, i)) {
            const int64_t row = (step * r->batch + i) * r->directions + c->direction;
            b->w.kernels->add[b->w.is_double](mxn__rnn_at(&b->w, b->state, i * r->width),
                                              mxn__rnn_at(&b->w, result, row * r->width), r->width);
        }
    }
}

// Nothing of a sequence that has ended reaches the cell.
static void leave_out(const backward *b, int64_t step, char *of_step, int64_t count)
{
    for (int64_t i = 0; b->w.lengths != NULL && i < b->w.r.batch; i++) {
        if (!mxn__rnn_lives(&b->w, step, i)) {
            memset(mxn__rnn_at(&b->w, of_step, i * count), 0, (size_t)count * b->w.bytes);
        }
    }
}

// It passes by.
static void pass_by(const backward *b, int64_t step, char *to, const char *from, int64_t count)
{
    for (int64_t i = 0; b->w.lengths != NULL && i < b->w.r.batch; i++) {
        if (!mxn__rnn_lives(&b->w, step, i)) {
            memcpy(mxn__rnn_at(&b->w, to, i * count), mxn__rnn_at(&b->w, from, i * count),
                   (size_t)count * b->w.bytes);
        }
    }
}

// The gradient of what a step made before the projection.
static int unproject(backward *b, const mxn_rnn_cell *c, int64_t step, const void **to_after)
{
    const mxn_rnn *r = &b->w.r;
    *to_after = b->state;
    if (!r->params->projection_size.has) {
        return 0;
    }
    char *kept = mxn__rnn_at(&b->w, b->projected, step * r->batch * r->width);
    memcpy(kept, b->state, (size_t)(r->batch * r->width) * b->w.bytes);
    leave_out(b, step, kept, r->width);
    *to_after = b->to_raw;
    return product(b, b->state, false, c->h2r, b->to_raw,
                   (const int64_t[]){r->batch, r->size, r->width}, false);
}

static void swap(char **a, char **b)
{
    char *before = *a;
    *a = *b;
    *b = before;
}

static int step_back(backward *b, const mxn_rnn_cell *c, int64_t step)
{
    const mxn_rnn *r = &b->w.r;
    const int64_t rows = r->gates * r->size, first = step * r->batch;
    const bool projects = r->params->projection_size.has;
    mxn_rnn_step_back s = {
        .step = mxn__rnn_step_of(&b->w, c, step),
        .to_cell = b->cell,
        .to_gates = mxn__rnn_at(&b->w, b->to_gates, first * rows),
        .to_recurrent = mxn__rnn_at(&b->w, b->to_recurrent, first * rows),
        .to_before = b->state_before,
        .to_cell_before = b->cell_before,
    };
    s.step.after = projects ? mxn__rnn_at(&b->w, b->raw, first * r->size) : NULL;
    int error = unproject(b, c, step, &s.to_after);
    if (error != 0) {
        return error;
    }
    b->w.kernels->backward[b->w.is_double](r->params->mode, &s);
    if (mxn__rnn_has_cell(r->params)) {
        memset(b->state_before, 0, (size_t)(r->batch * r->width) * b->w.bytes);
    }
    leave_out(b, step, s.to_gates, rows);
    leave_out(b, step, s.to_recurrent, rows);
    error = product(b, s.to_recurrent, false, c->h2h, b->state_before,
                    (const int64_t[]){r->batch, r->width, rows}, true);
    pass_by(b, step, b->state_before, b->state, r->width);
    pass_by(b, step, b->cell_before, b->cell, r->size);
    swap(&b->state, &b->state_before);
    swap(&b->cell, &b->cell_before);
    return error;
}

// Of a layer and direction in an array of states; zeros if there is none.
static void take_head(const backward *b, char *to, uint32_t head, const mxn_rnn_cell *c,
                      int64_t count)
{
    const void *from = b->w.r.params->state_outputs ? b->w.job->inputs[head].data : NULL;
    if (from == NULL) {
        memset(to, 0, (size_t)count * b->w.bytes);
    } else {
        memcpy(to, mxn__rnn_at(&b->w, from, c->index * count), (size_t)count * b->w.bytes);
    }
}

static void give_state(const backward *b, uint32_t output, const char *from, const mxn_rnn_cell *c,
                       int64_t count)
{
    char *to = b->w.job->outputs[output].data;
    if (to != NULL) {
        memcpy(mxn__rnn_at(&b->w, to, c->index * count), from, (size_t)count * b->w.bytes);
    }
}

static int parameters_back(const backward *b, const mxn_rnn_cell *c, const void *data)
{
    const mxn_rnn *r = &b->w.r;
    const int64_t rows = r->gates * r->size, all = r->steps * r->batch;
    char *to = b->w.job->outputs[1].data;
    if (to == NULL) {
        return 0;
    }
    const mxn_rnn_cell g = mxn__rnn_cell_of(&b->w, c->layer, c->direction, to);
    int error =
        product(b, b->to_gates, true, data, g.i2h, (const int64_t[]){rows, c->inputs, all}, false);
    if (error == 0) {
        error = product(b, b->to_recurrent, true, c->before, g.h2h,
                        (const int64_t[]){rows, r->width, all}, false);
    }
    if (error == 0 && r->params->projection_size.has) {
        error = product(b, b->projected, true, b->raw, g.h2r,
                        (const int64_t[]){r->width, r->size, all}, false);
    }
    b->w.kernels->sum[b->w.is_double](g.i2h_bias, b->to_gates, all, rows);
    b->w.kernels->sum[b->w.is_double](g.h2h_bias, b->to_recurrent, all, rows);
    return error;
}

// From the gradient of the layer's result to that of its data, unless that is null.
static int cell_back(backward *b, const mxn_rnn_cell *c, const void *data, const char *result,
                     char *to_data)
{
    const mxn_rnn *r = &b->w.r;
    const bool has_cell = mxn__rnn_has_cell(r->params);
    take_head(b, b->state, STATES, c, r->batch * r->width);
    if (has_cell) {
        take_head(b, b->cell, CELLS, c, r->batch * r->size);
    }
    int error = 0;
    for (int64_t i = r->steps - 1; error == 0 && i >= 0; i--) {
        const int64_t step = c->direction == 0 ? i : r->steps - 1 - i;
        add_result(b, c, step, result);
        error = step_back(b, c, step);
    }
    give_state(b, 1 + STATES, b->state, c, r->batch * r->width);
    if (has_cell) {
        give_state(b, 1 + CELLS, b->cell, c, r->batch * r->size);
    }
    if (error == 0) {
        error = parameters_back(b, c, data);
    }
    if (error == 0 && to_data != NULL) {
        const int64_t sizes[] = {r->steps * r->batch, c->inputs, r->gates * r->size};
        error = product(b, b->to_gates, false, c->i2h, to_data, sizes, c->direction > 0);
    }
    return error;
}

static void take_space(backward *b)
{
    const mxn_rnn *r = &b->w.r;
    const int64_t all = r->steps * r->batch, gates = all * r->gates * r->size;
    b->to_gates = mxn__rnn_take(&b->w, gates);
    b->to_recurrent = r->params->mode == MXN_RNN_GRU ? mxn__rnn_take(&b->w, gates) : b->to_gates;
    b->raw = mxn__rnn_take(&b->w, all * r->size);
    b->projected = mxn__rnn_take(&b->w, all * r->width);
    b->state = mxn__rnn_take(&b->w, r->batch * r->width);
    b->state_before = mxn__rnn_take(&b->w, r->batch * r->width);
    b->cell = mxn__rnn_take(&b->w, r->batch * r->size);
    b->cell_before = mxn__rnn_take(&b->w, r->batch * r->size);
    b->to_raw = mxn__rnn_take(&b->w, r->batch * r->size);
    for (int i = 0; i < 2; i++) {
        b->results[i] = mxn__rnn_take(&b->w, all * r->directions * r->width);
    }
}

int mxn__rnn_run_back(mxn_job *job, mxn_multiplier multiply, void *space)
{
    backward b = {.w = mxn__rnn_work_of(job, multiply, space, true)};
    const mxn_rnn *r = &b.w.r;
    const mxn_operand *data =
        (const mxn_operand *)job->inputs + (!r->params->state_outputs      ? 1
                                            : mxn__rnn_has_cell(r->params) ? 3
                                                                           : 2);
    take_space(&b);
    const char *result = job->inputs[0].data;
    int error = 0;
    for (int64_t layer = r->layers - 1; error == 0 && layer >= 0; layer--) {
        char *to_data = layer == 0 ? job->outputs[0].data : b.results[layer % 2];
        const void *from = layer == 0 ? data->data : mxn__rnn_layer_data(&b.w, layer);
        for (int64_t direction = 0; error == 0 && direction < r->directions; direction++) {
            mxn_rnn_cell c = mxn__rnn_cell_of(&b.w, layer, direction, b.w.parameters);
            error = cell_back(&b, &c, from, result, to_data);
        }
        if (layer > 0 && r->params->p > 0) {
            b.w.kernels->scale[b.w.is_double](to_data, mxn__rnn_layer_mask(&b.w, layer),
                                              r->steps * r->batch * r->directions * r->width);
        }
        result = to_data;
    }
    return error;
}
