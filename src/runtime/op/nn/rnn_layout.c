// SPDX-License-Identifier: Apache-2.0
// Where the parts of a recurrent network lie.
#include <math.h>

#include "runtime/op/nn/rnn.h"

mxn_rnn mxn__rnn_of(const mxn_rnn_params *params, const mxn_shape *data)
{
    static const int64_t gates[MXN_RNN_MODES] = {1, 1, 4, 3};
    return (mxn_rnn){
        .params = params,
        .steps = data->dims[0],
        .batch = data->dims[1],
        .inputs = data->dims[2],
        .layers = params->num_layers,
        .directions = params->bidirectional ? 2 : 1,
        .gates = gates[params->mode],
        .size = params->state_size,
        .width = params->projection_size.has ? params->projection_size.value
                                             : (int64_t)params->state_size,
    };
}

int64_t mxn__rnn_weights(const mxn_rnn *r, int64_t layer)
{
    int64_t projection = r->params->projection_size.has ? r->width * r->size : 0;
    return r->gates * r->size * (mxn__rnn_layer_inputs(r, layer) + r->width) + projection;
}

int64_t mxn__rnn_weight_begin(const mxn_rnn *r, int64_t layer, int64_t direction)
{
    int64_t begin =
        layer == 0
            ? 0
            : r->directions * (mxn__rnn_weights(r, 0) + (layer - 1) * mxn__rnn_weights(r, 1));
    return begin + direction * mxn__rnn_weights(r, layer);
}

int64_t mxn__rnn_bias_begin(const mxn_rnn *r, int64_t layer, int64_t direction)
{
    return mxn__rnn_weight_begin(r, r->layers, 0) +
           (layer * r->directions + direction) * 2 * r->gates * r->size;
}

int64_t mxn__rnn_kept_of_cell(const mxn_rnn *r)
{
    bool more = r->params->mode == MXN_RNN_LSTM || r->params->mode == MXN_RNN_GRU;
    return r->steps * r->batch * ((r->gates + (more ? 1 : 0)) * r->size + r->width);
}

static int64_t layer_elements(const mxn_rnn *r)
{
    return r->steps * r->batch * r->directions * r->width;
}

int64_t mxn__rnn_kept(const mxn_rnn *r)
{
    return r->layers * r->directions * mxn__rnn_kept_of_cell(r) +
           (r->layers - 1) * layer_elements(r) * (r->params->p > 0 ? 2 : 1);
}

// ---- inside a job -------------------------------------------------------------------------------
mxn_rnn_work mxn__rnn_work_of(mxn_job *job, mxn_multiplier multiply, void *space, bool backward)
{
    const mxn_rnn_params *params = mxn__values(job);
    const uint32_t heads = !backward                   ? 0
                           : !params->state_outputs    ? 1
                           : mxn__rnn_has_cell(params) ? 3
                                                       : 2;
    const mxn_operand *data = &job->inputs[heads];
    return (mxn_rnn_work){
        .r = mxn__rnn_of(params, data->shape),
        .job = job,
        .multiply = multiply,
        .kernels = MXN_WIDEST(mxn__rnn),
        .dtype = data->dtype,
        .bytes = mxn_dtype_size(data->dtype),
        .is_double = data->dtype == MXN_FLOAT64,
        .lengths = params->use_sequence_length ? &job->inputs[job->params->input_count - 1] : NULL,
        .parameters = job->inputs[heads + 1].data,
        .kept = backward ? job->inputs[heads + 2].data
                         : job->outputs[job->params->output_count - 1].data,
        .space = space,
    };
}

mxn_rnn_cell mxn__rnn_cell_of(const mxn_rnn_work *w, int64_t layer, int64_t direction,
                              char *parameters)
{
    const mxn_rnn *r = &w->r;
    const int64_t rows = r->gates * r->size, all = r->steps * r->batch;
    mxn_rnn_cell c = {.layer = layer,
                      .direction = direction,
                      .index = layer * r->directions + direction,
                      .inputs = mxn__rnn_layer_inputs(r, layer)};
    c.gates = mxn__rnn_at(w, w->kept, c.index * mxn__rnn_kept_of_cell(r));
    c.before = mxn__rnn_at(w, c.gates, all * rows);
    c.cell_before = c.candidate = mxn__rnn_at(w, c.before, all * r->width);
    if (parameters != NULL) {
        c.i2h = mxn__rnn_at(w, parameters, mxn__rnn_weight_begin(r, layer, direction));
        c.h2h = mxn__rnn_at(w, c.i2h, rows * c.inputs);
        c.h2r = mxn__rnn_at(w, c.h2h, rows * r->width);
        c.i2h_bias = mxn__rnn_at(w, parameters, mxn__rnn_bias_begin(r, layer, direction));
        c.h2h_bias = mxn__rnn_at(w, c.i2h_bias, rows);
    }
    return c;
}

char *mxn__rnn_layer_data(const mxn_rnn_work *w, int64_t layer)
{
    const mxn_rnn *r = &w->r;
    return mxn__rnn_at(w, w->kept,
                       r->layers * r->directions * mxn__rnn_kept_of_cell(r) +
                           (layer - 1) * layer_elements(r));
}

char *mxn__rnn_layer_mask(const mxn_rnn_work *w, int64_t layer)
{
    return mxn__rnn_at(w, mxn__rnn_layer_data(w, layer), (w->r.layers - 1) * layer_elements(&w->r));
}

mxn_rnn_step mxn__rnn_step_of(const mxn_rnn_work *w, const mxn_rnn_cell *cell, int64_t step)
{
    const mxn_rnn *r = &w->r;
    const mxn_rnn_params *p = r->params;
    const int64_t first = step * r->batch;
    return (mxn_rnn_step){
        .rows = r->batch,
        .size = r->size,
        .gates = mxn__rnn_at(w, cell->gates, first * r->gates * r->size),
        .candidate = mxn__rnn_at(w, cell->candidate, first * r->size),
        .before = mxn__rnn_at(w, cell->before, first * r->width),
        .cell_before = mxn__rnn_at(w, cell->cell_before, first * r->size),
        .cell_least = p->lstm_state_clip_min.has ? p->lstm_state_clip_min.value : -HUGE_VAL,
        .cell_most = p->lstm_state_clip_max.has ? p->lstm_state_clip_max.value : HUGE_VAL,
        .clips = p->lstm_state_clip_min.has || p->lstm_state_clip_max.has,
        .clips_nan = p->lstm_state_clip_nan,
    };
}
