// SPDX-License-Identifier: Apache-2.0
// One step of a recurrent cell for a batch, and its gradient: what is done to each element between
// the products. Rows lie one after the other. Private to op/.
//
//   plain  h = tanh(a) or max(a, 0)
//   lstm   i, f, o = sigmoid, g = tanh; c = f c' + i g, kept within its limits; h = o tanh(c)
//   gru    r, z = sigmoid; n = tanh(a + r m); h = (1 - z) n + z h'; m is what the product of h'
//          gives for n
#ifndef MXN_OP_KERNELS_RNN_CELLS_H
#define MXN_OP_KERNELS_RNN_CELLS_H

#include "runtime/op/kernels/kernels.h"

enum { MXN_RNN_RELU, MXN_RNN_TANH, MXN_RNN_LSTM, MXN_RNN_GRU, MXN_RNN_MODES };

typedef struct mxn_rnn_step {
    int64_t rows, size;  // of the batch, of the state
    void *gates;  // sums that become gates, `size` of each: i f g o; r z n
    const void *recurrent;  // gru: the products of h', in the order of the gates
    void *candidate;  // gru: keeps m
    const void *before, *cell_before;  // gru: h'; lstm: c'
    void *cell, *after;  // c and h
    double cell_least, cell_most;
    bool clips, clips_nan;
} mxn_rnn_step;

typedef struct mxn_rnn_step_back {
    mxn_rnn_step step;  // what the forward left in gates, candidate and before; `after` is made
                        // again by lstm if it is not null
    const void *to_after, *to_cell;  // gradients of h and c
    void *to_gates, *to_recurrent;  // of the sums; gru: also of the products of h'
    void *to_before, *to_cell_before;  // what reaches h' beside the products; c'
} mxn_rnn_step_back;

typedef struct mxn_rnn_kernels {  // of float, of double
    void (*forward[2])(int mode, const mxn_rnn_step *s);
    void (*backward[2])(int mode, const mxn_rnn_step_back *b);
    // Each of `rows` rows becomes the vector `a`, plus `b` if it is not null.
    void (*fill[2])(void *to, const void *a, const void *b, int64_t rows, int64_t count);
    // The sum of the rows.
    void (*sum[2])(void *to, const void *from, int64_t rows, int64_t count);
    // to += from, to *= from.
    void (*add[2])(void *to, const void *from, int64_t count);
    void (*scale[2])(void *to, const void *from, int64_t count);
} mxn_rnn_kernels;

MXN_EACH_WIDTH(mxn_rnn_kernels, mxn__rnn);

#endif
