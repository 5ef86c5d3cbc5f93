// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of the steps of recurrent cells.
static void NAME(fill)(void *to, const void *a, const void *b, int64_t rows, int64_t count)
{
    T *row = to;
    const T *first = a, *second = b;
    for (int64_t i = 0; i < rows; i++, row += count) {
        for (int64_t k = 0; k < count; k++) {
            row[k] = second == NULL ? first[k] : first[k] + second[k];
        }
    }
}

MXN_VECTOR_LOOP void NAME(add_row)(T *to, const T *from, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t k = 0; k < count; k++) {
        to[k] += from[k];
    }
}

static void NAME(add)(void *to, const void *from, int64_t count)
{
    NAME(add_row)(to, from, count);
}

static void NAME(scale)(void *to, const void *from, int64_t count)
{
    T *values = to;
    const T *factors = from;
    for (int64_t k = 0; k < count; k++) {
        values[k] *= factors[k];
    }
}

static void NAME(sum)(void *to, const void *from, int64_t rows, int64_t count)
{
    T *sums = to;
    const T *row = from;
    for (int64_t k = 0; k < count; k++) {
        sums[k] = 0;
    }
    for (int64_t i = 0; i < rows; i++, row += count) {
        NAME(add_row)(sums, row, count);
    }
}

// ---- forward ------------------------------------------------------------------------------------
static void NAME(plain)(int mode, const mxn_rnn_step *s)
{
    T *gates = s->gates, *after = s->after;
    for (int64_t k = 0; k < s->rows * s->size; k++) {
        gates[k] = mode == MXN_RNN_TANH ? NAME(tangent)(gates[k]) : gates[k] < 0 ? 0 : gates[k];
        after[k] = gates[k];
    }
}

static inline T NAME(clipped)(const mxn_rnn_step *s, T cell)
{
    if (!s->clips) {
        return cell;
    }
    if (cell < (T)s->cell_least || (s->clips_nan && isnan(cell))) {
        return (T)s->cell_least;
    }
    return cell > (T)s->cell_most ? (T)s->cell_most : cell;
}

static void NAME(sigmoids)(T *x, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t k = 0; k < count; k++) {
        x[k] = NAME(sigmoid)(x[k]);
    }
}

static void NAME(tangents)(T *x, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t k = 0; k < count; k++) {
        x[k] = NAME(tangent)(x[k]);
    }
}

static void NAME(lstm_cells)(T *cell, const T *gates, const T *before, int64_t size)
{
    const T *in = gates, *forget = gates + size, *more = gates + 2 * size;
    MXN_EACH_ALONE
    for (int64_t k = 0; k < size; k++) {
        cell[k] = forget[k] * before[k] + in[k] * more[k];
    }
}

static void NAME(lstm_states)(T *after, const T *cell, const T *out, int64_t size)
{
    MXN_EACH_ALONE
    for (int64_t k = 0; k < size; k++) {
        after[k] = out[k] * NAME(tangent)(cell[k]);
    }
}

static void NAME(lstm)(const mxn_rnn_step *s)
{
    const int64_t size = s->size;
    T *gates = s->gates, *cell = s->cell, *after = s->after;
    const T *before = s->cell_before;
    for (int64_t row = 0; row < s->rows; row++, gates += 4 * size) {
        NAME(sigmoids)(gates, 2 * size);
        NAME(tangents)(gates + 2 * size, size);
        NAME(sigmoids)(gates + 3 * size, size);
        NAME(lstm_cells)(cell + row * size, gates, before + row * size, size);
        for (int64_t k = row * size; s->clips && k < (row + 1) * size; k++) {
            cell[k] = NAME(clipped)(s, cell[k]);
        }
        NAME(lstm_states)(after + row * size, cell + row * size, gates + 3 * size, size);
    }
}

static void NAME(gru)(const mxn_rnn_step *s)
{
    const int64_t size = s->size;
    T *gates = s->gates, *candidate = s->candidate, *after = s->after;
    const T *product = s->recurrent, *before = s->before;
    for (int64_t row = 0; row < s->rows; row++, gates += 3 * size, product += 3 * size) {
        for (int64_t k = 0; k < size; k++) {
            const int64_t at = row * size + k;
            const T reset = NAME(sigmoid)(gates[k] + product[k]);
            const T keep = NAME(sigmoid)(gates[size + k] + product[size + k]);
            candidate[at] = product[2 * size + k];
            const T fresh = NAME(tangent)(gates[2 * size + k] + reset * candidate[at]);
            after[at] = (1 - keep) * fresh + keep * before[at];
            gates[k] = reset;
            gates[size + k] = keep;
            gates[2 * size + k] = fresh;
        }
    }
}

static void NAME(forward)(int mode, const mxn_rnn_step *s)
{
    if (mode == MXN_RNN_LSTM) {
        NAME(lstm)(s);
    } else if (mode == MXN_RNN_GRU) {
        NAME(gru)(s);
    } else {
        NAME(plain)(mode, s);
    }
}

// ---- backward -----------------------------------------------------------------------------------
static void NAME(plain_back)(int mode, const mxn_rnn_step_back *b)
{
    const T *y = b->step.gates, *g = b->to_after;
    T *to = b->to_gates, *to_before = b->to_before;
    for (int64_t k = 0; k < b->step.rows * b->step.size; k++) {
        to[k] = mode == MXN_RNN_TANH ? g[k] * (1 - y[k] * y[k]) : y[k] > 0 ? g[k] : 0;
        to_before[k] = 0;
    }
}

// One element; `to` and `gates` are those of in, the others lie `size` further on.
static inline void NAME(lstm_back_at)(const mxn_rnn_step_back *b, const T *gates, T *to, int64_t at)
{
    const int64_t size = b->step.size;
    const T in = gates[0], forget = gates[size], more = gates[2 * size], out = gates[3 * size];
    const T before = ((const T *)b->step.cell_before)[at], g = ((const T *)b->to_after)[at];
    const T whole = forget * before + in * more, cell = NAME(clipped)(&b->step, whole);
    const T y = NAME(tangent)(cell);
    T to_cell = ((const T *)b->to_cell)[at] + g * out * (1 - y * y);
    to_cell = cell == whole ? to_cell : 0;
    to[0] = to_cell * more * in * (1 - in);
    to[size] = to_cell * before * forget * (1 - forget);
    to[2 * size] = to_cell * in * (1 - more * more);
    to[3 * size] = g * y * out * (1 - out);
    ((T *)b->to_cell_before)[at] = to_cell * forget;
    if (b->step.after != NULL) {
        ((T *)b->step.after)[at] = out * y;
    }
}

static void NAME(lstm_back)(const mxn_rnn_step_back *b)
{
    const int64_t size = b->step.size;
    const T *gates = b->step.gates;
    T *to = b->to_gates;
    for (int64_t row = 0; row < b->step.rows; row++, gates += 4 * size, to += 4 * size) {
        for (int64_t k = 0; k < size; k++) {
            NAME(lstm_back_at)(b, gates + k, to + k, row * size + k);
        }
    }
}

static inline void NAME(gru_back_at)(const mxn_rnn_step_back *b, const T *gates, T *to,
                                     T *to_product, int64_t at)
{
    const int64_t size = b->step.size;
    const T reset = gates[0], keep = gates[size], fresh = gates[2 * size];
    const T before = ((const T *)b->step.before)[at], g = ((const T *)b->to_after)[at];
    const T to_fresh = g * (1 - keep) * (1 - fresh * fresh);
    to[0] = to_fresh * ((const T *)b->step.candidate)[at] * reset * (1 - reset);
    to[size] = g * (before - fresh) * keep * (1 - keep);
    to[2 * size] = to_fresh;
    to_product[0] = to[0];
    to_product[size] = to[size];
    to_product[2 * size] = to_fresh * reset;
    ((T *)b->to_before)[at] = g * keep;
}

static void NAME(gru_back)(const mxn_rnn_step_back *b)
{
    const int64_t size = b->step.size;
    for (int64_t row = 0; row < b->step.rows; row++) {
        for (int64_t k = 0; k < size; k++) {
            const int64_t at = 3 * size * row + k;
            NAME(gru_back_at)
            (b, (const T *)b->step.gates + at, (T *)b->to_gates + at, (T *)b->to_recurrent + at,
             row * size + k);
        }
    }
}

static void NAME(backward)(int mode, const mxn_rnn_step_back *b)
{
    if (mode == MXN_RNN_LSTM) {
        NAME(lstm_back)(b);
    } else if (mode == MXN_RNN_GRU) {
        NAME(gru_back)(b);
    } else {
        NAME(plain_back)(mode, b);
    }
}
