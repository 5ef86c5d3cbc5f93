// SPDX-License-Identifier: Apache-2.0
// Products of matrices by tiles. One factor is copied, as many columns at a time as a tile is wide,
// into a panel that stays in the second-level cache; the other is read where it lies, a number at a
// time. c' = b' a' is the same product: the factor with fewer columns or rows is the one that is
// copied where the other would have to be transposed.
#include <string.h>

#include "runtime/op/backend/cpu/cpu_kernels.h"
#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/linalg/product.h"
#include "runtime/op/nn/rnn.h"
#include "runtime/parallel/thread_pool.h"

enum {
    DEPTH = 1024,  // of a panel: 256 KiB
    FEW_ROWS = 4,  // are not worth a panel that must be transposed
    SOME_ROWS = 20,  // are not worth a panel that is only copied
    TRANSPOSED_FOR =
        256  // columns: a factor whose numbers lie apart is first transposed for so many
};

typedef struct work {
    const mxn_vector *vector;
    // c[i, j] = sum over l of a[i * a_row + l * a_step] b[l, j]; b lies transposed or not; c[i, j]
    // is at i * c_row + j, or at j * c_row + i if it is transposed.
    const float *a, *b;
    float *c;
    int64_t rows, columns, depth;
    int64_t a_row, a_step, b_row, c_row;
    bool b_transposed, c_transposed, adds;
    bool by_columns;  // how threads share it
    float *panels;  // of each thread
    float *transposed_a;  // space for a, transposed; or null
} work;

static void fill_panel(const work *w, float *panel, int64_t first, int64_t depth, int64_t column,
                       int64_t columns)
{
    if (w->b_transposed) {
        w->vector->transpose(panel, MXN_TILE_COLUMNS_MAX, w->b + column * w->b_row + first,
                             w->b_row, columns, depth);
        return;
    }
    const float *from = w->b + first * w->b_row + column;
    for (int64_t l = 0; l < depth; l++, panel += MXN_TILE_COLUMNS_MAX, from += w->b_row) {
        memcpy(panel, from, (size_t)columns * sizeof(float));
    }
}

static void transpose_tile(const work *w, const float *tile, int64_t row, int64_t rows,
                           int64_t column, int64_t columns, bool adds)
{
    for (int64_t j = 0; j < columns; j++) {
        float *to = w->c + (column + j) * w->c_row + row;
        for (int64_t i = 0; i < rows; i++) {
            to[i] = tile[i * MXN_TILE_COLUMNS_MAX + j] + (adds ? to[i] : 0);
        }
    }
}

static void multiply_panel(const work *w, const float *panel, int64_t panel_row, int64_t first,
                           int64_t depth, int64_t column, int64_t columns, int64_t begin,
                           int64_t end)
{
    float tile[MXN_TILE_ROWS * MXN_TILE_COLUMNS_MAX];
    bool adds = w->adds || first > 0;
    for (int64_t row = begin; row < end; row += MXN_TILE_ROWS) {
        int64_t rows = mxn__least(MXN_TILE_ROWS, end - row);
        w->vector->tile(&(mxn_tile){
            .a = w->a + row * w->a_row + first * w->a_step,
            .a_row = w->a_row,
            .a_step = w->a_step,
            .b = panel,
            .b_row = panel_row,
            .c = w->c_transposed ? tile : w->c + row * w->c_row + column,
            .c_row = w->c_transposed ? MXN_TILE_COLUMNS_MAX : w->c_row,
            .count = depth,
            .rows = rows,
            .columns = columns,
            .adds = adds && !w->c_transposed,
        });
        if (w->c_transposed) {
            transpose_tile(w, tile, row, rows, column, columns, adds);
        }
    }
}

static void part(void *argument, int index, int threads)
{
    const work *w = argument;
    int64_t width = w->vector->columns, panels = (w->columns + width - 1) / width;
    int64_t count = w->by_columns ? panels : w->rows;
    int64_t begin = mxn__part_begin(count, index, threads);
    int64_t end = mxn__part_begin(count, index + 1, threads);
    float *panel = w->panels + (int64_t)index * DEPTH * MXN_TILE_COLUMNS_MAX;
    for (int64_t p = w->by_columns ? begin : 0; p < (w->by_columns ? end : panels); p++) {
        int64_t column = p * width, columns = mxn__least(width, w->columns - column);
        for (int64_t first = 0; first < w->depth; first += DEPTH) {
            int64_t depth = mxn__least(DEPTH, w->depth - first);
            const float *from = panel;
            int64_t row = MXN_TILE_COLUMNS_MAX;
            if (w->b_transposed || columns < width || w->rows > SOME_ROWS) {
                fill_panel(w, panel, first, depth, column, columns);
            } else {
                from = w->b + first * w->b_row + column;
                row = w->b_row;
            }
            multiply_panel(w, from, row, first, depth, column, columns, w->by_columns ? 0 : begin,
                           w->by_columns ? w->rows : end);
        }
    }
}

// Few rows against rows: no tiles.
static void dots_part(void *argument, int index, int threads)
{
    const work *w = argument;
    int64_t end = mxn__part_begin(w->rows, index + 1, threads);
    for (int64_t row = mxn__part_begin(w->rows, index, threads); row < end; row++) {
        for (int64_t column = 0; column < w->columns; column++) {
            float *to =
                w->c_transposed ? w->c + column * w->c_row + row : w->c + row * w->c_row + column;
            float sum = w->vector->dot(w->a + row * w->a_row, w->b + column * w->b_row, w->depth);
            *to = w->adds ? *to + sum : sum;
        }
    }
}

static void transpose_part(void *argument, int index, int threads)
{
    const work *w = argument;
    int64_t begin = mxn__part_begin(w->depth, index, threads);
    int64_t end = mxn__part_begin(w->depth, index + 1, threads);
    w->vector->transpose(w->transposed_a + begin, w->depth, w->a + begin * w->a_step, w->a_step,
                         end - begin, w->rows);
}

static void run(work *w, int threads)
{
    if (w->a_step == 1 && w->b_transposed && w->columns <= FEW_ROWS) {
        mxn__parallel_run(threads, dots_part, w);
        return;
    }
    if (w->a_step != 1 && w->columns >= TRANSPOSED_FOR && w->transposed_a != NULL) {
        mxn__parallel_run(threads, transpose_part, w);
        w->a = w->transposed_a;
        w->a_row = w->depth;
        w->a_step = 1;
    }
    mxn__parallel_run(threads, part, w);
}

// Operand a, whose rows are `row` apart; strided: its columns are.
static void set_a(work *w, const float *a, int64_t row, bool strided)
{
    w->a = a;
    w->a_row = strided ? 1 : row;
    w->a_step = strided ? row : 1;
}

static work work_of(const mxn_product *p)
{
    work w = {.vector = mxn__vector(),
              .c = p->c,
              .depth = p->k,
              .c_row = p->n,
              .adds = p->adds,
              .c_transposed = p->b_transposed && (p->a_transposed || p->m < p->n)};
    const int64_t a_row = p->a_transposed ? p->m : p->k, b_row = p->b_transposed ? p->k : p->n;
    if (w.c_transposed) {  // c' = b' a'
        set_a(&w, p->b, b_row, !p->b_transposed);
        w.b = p->a;
        w.b_row = a_row;
        w.b_transposed = !p->a_transposed;
        w.rows = p->n;
        w.columns = p->m;
    } else {
        set_a(&w, p->a, a_row, p->a_transposed);
        w.b = p->b;
        w.b_row = b_row;
        w.b_transposed = p->b_transposed;
        w.rows = p->m;
        w.columns = p->n;
    }
    w.by_columns = w.columns > w.rows;
    return w;
}

static uint64_t panel_floats(void)
{
    return (uint64_t)mxn__threads_for(1e9) * DEPTH * MXN_TILE_COLUMNS_MAX;
}

static int multiply_in(float *panels, float *transposed_a, const mxn_product *p)
{
    work w = work_of(p);
    w.panels = panels;
    w.transposed_a = transposed_a;
    if (p->k == 0 && !p->adds) {
        memset(p->c, 0, (size_t)(p->m * p->n) * sizeof(float));
    }
    if (p->m > 0 && p->n > 0 && p->k > 0) {
        run(&w, mxn__threads_for((double)p->m * (double)p->n * (double)p->k / 8));
    }
    return 0;
}

static int multiply(const mxn_job *job, int32_t dtype, const mxn_product *p)
{
    (void)dtype;
    return multiply_in(job->workspace, NULL, p);
}

static int multiply_transposing(const mxn_job *job, int32_t dtype, const mxn_product *p)
{
    (void)dtype;
    float *panels = job->workspace;
    return multiply_in(panels, panels + panel_floats(), p);
}

bool mxn__product_takes(const mxn_job *job)
{
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        if (job->inputs[i].dtype != MXN_FLOAT32) {
            return false;
        }
    }
    return job->outputs[0].dtype == MXN_FLOAT32;
}

uint64_t mxn__product_workspace(const mxn_job *job)
{
    (void)job;
    return panel_floats() * sizeof(float);
}

// Any input may be the factor that is transposed.
uint64_t mxn__product_workspace_transposing(const mxn_job *job)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        uint64_t count = mxn_shape_size(job->inputs[i].shape);
        most = count > most ? count : most;
    }
    return (panel_floats() + most) * sizeof(float);
}

int mxn__product_dot(mxn_job *job)
{
    return mxn__dot_run(job, multiply_transposing);
}

int mxn__product_dot_back(mxn_job *job)
{
    return mxn__dot_run_back(job, multiply_transposing);
}

int mxn__product_batch_dot(mxn_job *job)
{
    return mxn__batch_dot_run(job, multiply);
}

int mxn__product_fully_connected(mxn_job *job)
{
    return mxn__fully_connected_run(job, multiply);
}

int mxn__product_fully_connected_back(mxn_job *job)
{
    return mxn__fully_connected_run_back(job, multiply_transposing);
}

// ---- recurrent networks -------------------------------------------------------------------------
bool mxn__rnn_takes(const mxn_job *job)
{
    return job->inputs[0].dtype == MXN_FLOAT32;
}

uint64_t mxn__product_workspace_rnn(const mxn_job *job)
{
    return panel_floats() * sizeof(float) + mxn__rnn_workspace(job);
}

uint64_t mxn__product_workspace_rnn_back(const mxn_job *job)
{
    return (panel_floats() + (uint64_t)mxn__rnn_transposed(job)) * sizeof(float) +
           mxn__rnn_workspace_back(job);
}

int mxn__product_rnn(mxn_job *job)
{
    return mxn__rnn_run(job, multiply, (float *)job->workspace + panel_floats());
}

int mxn__product_rnn_back(mxn_job *job)
{
    float *space = (float *)job->workspace + panel_floats() + mxn__rnn_transposed(job);
    return mxn__rnn_run_back(job, multiply_transposing, space);
}
