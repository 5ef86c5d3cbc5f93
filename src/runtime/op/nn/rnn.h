// SPDX-License-Identifier: Apache-2.0
// A recurrent network as its kernels see it: sizes, and where things lie. Private to op/.
//
// The parameters are one vector: for each layer and direction the matrices i2h, h2h and, of a
// projection, h2r, a gate's rows together; then for each the vectors i2h and h2h of the biases.
// What the forward leaves for the gradient, the last output, is one vector, too: for each layer and
// direction and all steps the gates, the state before the step, the cell before it (lstm), what the
// product gives for the candidate (gru); then for each layer but the first its data, and with
// dropout the factors these were multiplied with.
#ifndef MXN_OP_NN_RNN_H
#define MXN_OP_NN_RNN_H

#include "runtime/op/kernels/rnn_cells.h"
#include "runtime/op/linalg/product.h"

typedef struct mxn_rnn_params {
    uint32_t state_size, num_layers;
    bool bidirectional;
    int32_t mode;
    double p;
    bool state_outputs;
    mxn_maybe_int projection_size;
    mxn_maybe_double lstm_state_clip_min, lstm_state_clip_max;
    bool lstm_state_clip_nan, use_sequence_length;
} mxn_rnn_params;

typedef struct mxn_rnn {
    const mxn_rnn_params *params;
    int64_t steps, batch, inputs;  // of the data: (steps, batch, inputs)
    int64_t layers, directions, gates;
    int64_t size;  // of a cell
    int64_t width;  // of a state: `size`, or that of the projection
} mxn_rnn;

mxn_rnn mxn__rnn_of(const mxn_rnn_params *params, const mxn_shape *data);
static inline bool mxn__rnn_has_cell(const mxn_rnn_params *params)
{
    return params->mode == MXN_RNN_LSTM;
}

// Numbers of elements.
static inline int64_t mxn__rnn_layer_inputs(const mxn_rnn *r, int64_t layer)
{
    return layer == 0 ? r->inputs : r->directions * r->width;
}
int64_t mxn__rnn_weights(const mxn_rnn *r, int64_t layer);  // of one layer and direction
int64_t mxn__rnn_weight_begin(const mxn_rnn *r, int64_t layer, int64_t direction);
int64_t mxn__rnn_bias_begin(const mxn_rnn *r, int64_t layer, int64_t direction);
int64_t mxn__rnn_kept_of_cell(const mxn_rnn *r);  // of one layer and direction
int64_t mxn__rnn_kept(const mxn_rnn *r);

// Bytes of the workspace of a job, beside that of its products.
uint64_t mxn__rnn_workspace(const mxn_job *job);
uint64_t mxn__rnn_workspace_back(const mxn_job *job);
// What a product with its first factor transposed needs at most, in elements.
int64_t mxn__rnn_transposed(const mxn_job *job);

// Run a job; every product goes to `multiply`, `space` is of as many bytes as said above.
int mxn__rnn_run(mxn_job *job, mxn_multiplier multiply, void *space);
int mxn__rnn_run_back(mxn_job *job, mxn_multiplier multiply, void *space);

// ---- shared by the two --------------------------------------------------------------------------
typedef struct mxn_rnn_work {
    mxn_rnn r;
    mxn_job *job;
    mxn_multiplier multiply;
    const mxn_rnn_kernels *kernels;
    int32_t dtype;
    size_t bytes;  // of an element
    bool is_double;
    const mxn_operand *lengths;  // or null
    char *parameters, *kept;
    char *space;  // what is not taken yet
} mxn_rnn_work;

mxn_rnn_work mxn__rnn_work_of(mxn_job *job, mxn_multiplier multiply, void *space, bool backward);
static inline char *mxn__rnn_at(const mxn_rnn_work *w, const void *base, int64_t elements)
{
    return (char *)base + (size_t)elements * w->bytes;
}
static inline char *mxn__rnn_take(mxn_rnn_work *w, int64_t elements)
{
    char *taken = w->space;
    w->space = mxn__rnn_at(w, taken, elements);
    return taken;
}
// Whether a sequence of the batch has this step.
static inline bool mxn__rnn_lives(const mxn_rnn_work *w, int64_t step, int64_t sequence)
{
    return w->lengths == NULL || step < mxn__whole_at(w->lengths, sequence);
}

// Where a layer and direction lies.
typedef struct mxn_rnn_cell {
    int64_t layer, direction, index, inputs;
    char *i2h, *h2h, *h2r, *i2h_bias, *h2h_bias;  // in `parameters`, or in another such vector
    char *gates, *before, *cell_before, *candidate;  // kept
} mxn_rnn_cell;

mxn_rnn_cell mxn__rnn_cell_of(const mxn_rnn_work *w, int64_t layer, int64_t direction,
                              char *parameters);
// The data of a layer but the first, and the factors of its dropout.
char *mxn__rnn_layer_data(const mxn_rnn_work *w, int64_t layer);
char *mxn__rnn_layer_mask(const mxn_rnn_work *w, int64_t layer);
// A step with what is kept of it.
mxn_rnn_step mxn__rnn_step_of(const mxn_rnn_work *w, const mxn_rnn_cell *cell, int64_t step);

#endif
