// SPDX-License-Identifier: Apache-2.0
// where: of two arrays (or numbers) one or the other, as a condition says. numpy's repeat
// dimensions of size 1; MXNet's own takes one truth an element or one a row.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// `scalar` stands for the array that is missing; of two numbers they are `x` and `y`.
typedef struct choose_params {
    mxn_number scalar, x, y;
} choose_params;

static const mxn_field scalar_fields[] = {
    {MXN_FIELD(choose_params, scalar, NUMBER, "0")},
    {0},
};

static const mxn_field two_fields[] = {
    {MXN_FIELD(choose_params, x, NUMBER, "0")},
    {MXN_FIELD(choose_params, y, NUMBER, "0")},
    {0},
};

enum { ARRAYS = 0, LEFT_ARRAY = 1, RIGHT_ARRAY = 2, NUMBERS = 3, KIND_MASK = 3, OLD = 4 };

// ---- shapes and types ---------------------------------------------------------------------------
static int old_shapes(const mxn_shapes *shapes)
{
    int error = mxn__shape_input(shapes, 2, shapes->inputs[1]);
    if (error == 0) {
        error = mxn__shape_input(shapes, 1, shapes->inputs[2]);
    }
    if (error == 0) {
        error = mxn__shape_output(shapes, 0, shapes->inputs[1]);
    }
    const mxn_shape *condition = shapes->inputs[0], *x = shapes->inputs[1];
    bool rows = condition->ndim == 1 && x->ndim > 0 && condition->dims[0] == x->dims[0];
    return error != 0 || rows ? error : mxn__shape_input(shapes, 0, x);
}

static int choose_types(const mxn_types *types)
{
    int kind = types->params->op->def->variant & KIND_MASK;
    if (kind == NUMBERS) {
        return mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
    }
    int error = 0;
    if (kind == ARRAYS) {
        error = mxn__type_merge(types->params, "input", 2, &types->inputs[2], types->inputs[1]);
    }
    return error != 0
               ? error
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], types->inputs[1]);
}

// ---- truth --------------------------------------------------------------------------------------
enum { CHUNK = 256 };

static void condition_steps(const mxn_job *job, const mxn_operand *condition, const mxn_shape *big,
                            int64_t *steps)
{
    bool old = (job->params->op->def->variant & OLD) != 0;
    if (old && condition->shape->ndim == 1 && big->ndim > 1) {
        memset(steps, 0, (size_t)big->ndim * sizeof *steps);
        steps[0] = condition->shape->dims[0] == 1 ? 0 : 1;
    } else {
        mxn__broadcast_steps(condition->shape, big, steps);
    }
}

static void read_truth(const mxn_operand *condition, int64_t at, int64_t step, int64_t count,
                       bool *truth)
{
    size_t size = mxn_dtype_size(condition->dtype);
    const char *from = (const char *)condition->data + (size_t)at * size;
    if (step == 1) {
        mxn_cast(truth, MXN_BOOL, from, condition->dtype, (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        mxn_cast(&truth[i], MXN_BOOL, from + (size_t)(i * step) * size, condition->dtype, 1);
    }
}

// ---- forward ------------------------------------------------------------------------------------
typedef struct choice {  // of a row
    const bool *truth;
    const char *x, *y;
    int64_t x_step, y_step;  // in bytes
    char *to;
    int64_t count;
} choice;

// `size` is a constant where this is called: a copy is one load and one store.
MXN_LOOP_OF void choose_each(const choice *c, size_t size)
{
    for (int64_t i = 0; i < c->count; i++) {
        memcpy(c->to + i * (int64_t)size, c->truth[i] ? c->x + i * c->x_step : c->y + i * c->y_step,
               size);
    }
}

static void choose_row(const choice *c, size_t size)
{
    switch (size) {
    case 1:
        choose_each(c, 1);
        break;
    case 2:
        choose_each(c, 2);
        break;
    case 4:
        choose_each(c, 4);
        break;
    default:
        choose_each(c, 8);
    }
}

// The two sides as operands; a number is an array of one, in `numbers`.
static void make_sides(const mxn_job *job, const void *sides[2], int64_t steps[2][MXN_DIMS_MAX],
                       int64_t numbers[2])
{
    const choose_params *params = mxn__values(job);
    const mxn_operand *out = &job->outputs[0];
    int kind = job->params->op->def->variant & KIND_MASK;
    for (int side = 0; side < 2; side++) {
        bool is_array = kind == ARRAYS || kind == (side == 0 ? LEFT_ARRAY : RIGHT_ARRAY);
        if (is_array) {
            const mxn_operand *in = &job->inputs[kind == ARRAYS ? 1 + side : 1];
            sides[side] = in->data;
            mxn__broadcast_steps(in->shape, out->shape, steps[side]);
        } else {
            const mxn_number *number = kind != NUMBERS ? &params->scalar
                                       : side == 0     ? &params->x
                                                       : &params->y;
            mxn_number_fill(&numbers[side], out->dtype, number, 1);
            sides[side] = &numbers[side];
            memset(steps[side], 0, sizeof steps[side]);
        }
    }
}

static int choose_forward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    int64_t size = (int64_t)mxn_dtype_size(out->dtype), numbers[2];
    int64_t steps[2][MXN_DIMS_MAX], truth_steps[MXN_DIMS_MAX];
    const void *sides[2];
    make_sides(job, sides, steps, numbers);
    condition_steps(job, &job->inputs[0], out->shape, truth_steps);
    mxn_iterator it;
    mxn__iterator_init(&it, out->shape->ndim, out->shape->dims,
                       (const int64_t *const[]){truth_steps, steps[0], steps[1]});
    char *to = out->data;
    bool truth[CHUNK];
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t done = 0; done < it.count; done += CHUNK) {
            int64_t n = it.count - done < CHUNK ? it.count - done : CHUNK;
            read_truth(&job->inputs[0], it.at[0] + done * it.step[0], it.step[0], n, truth);
            const choice c = {truth,
                              (const char *)sides[0] + (it.at[1] + done * it.step[1]) * size,
                              (const char *)sides[1] + (it.at[2] + done * it.step[2]) * size,
                              it.step[1] * size,
                              it.step[2] * size,
                              to,
                              n};
            choose_row(&c, (size_t)size);
            to += n * size;
        }
    }
    return 0;
}

// ---- gradient -----------------------------------------------------------------------------------
// Inputs: gradient, condition. A side that was repeated gets sums, of floats as doubles, of others
// as whole numbers, which may wrap.
static uint64_t backward_workspace(const mxn_job *job)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        uint64_t size = mxn_shape_size(job->outputs[i].shape);
        most = size != mxn_shape_size(job->inputs[0].shape) && size > most ? size : most;
    }
    return most * sizeof(uint64_t);
}

typedef void (*backward_function)(const void *gradients, const bool *truth, bool wanted, void *to,
                                  void *row, int64_t step, int64_t count);

#define SUM double
#define TEMPLATE "runtime/op/elementwise/where_kernels.h"
#include "runtime/op/kernels/each_real.h"
#undef SUM
#define SUM uint64_t
#define TEMPLATE "runtime/op/elementwise/where_kernels.h"
#include "runtime/op/kernels/each_whole.h"
#undef SUM

static const backward_function backward_rows[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(backward_row),
    [MXN_BOOL] = backward_row_uint8,
};

// The elements one after the other: to `out`, or to `sums`, if there are any.
static void backward_pieces(const mxn_job *job, const mxn_operand *out, bool wanted, uint64_t *sums,
                            mxn_iterator *it)
{
    const mxn_operand *g = &job->inputs[0];
    const int64_t width = (int64_t)mxn_dtype_size(g->dtype);
    bool truth[CHUNK];
    int64_t at = 0;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        for (int64_t done = 0, n; done < it->count; done += n, at += n) {
            n = it->count - done < CHUNK ? it->count - done : CHUNK;
            read_truth(&job->inputs[1], it->at[0] + done * it->step[0], it->step[0], n, truth);
            uint64_t *row = sums == NULL ? NULL : sums + it->at[1] + done * it->step[1];
            const char *from = (const char *)g->data + at * width;
            char *to = (char *)out->data + (sums == NULL ? at * width : 0);
            backward_rows[g->dtype](from, truth, wanted, to, row, it->step[1], n);
        }
    }
}

static void backward_side(mxn_job *job, mxn_operand *out, bool wanted)
{
    const mxn_operand *g = &job->inputs[0];
    const mxn_shape *big = g->shape;
    uint64_t size = mxn_shape_size(out->shape);
    uint64_t *sums = size == mxn_shape_size(big) ? NULL : job->workspace;
    int64_t truth_steps[MXN_DIMS_MAX], steps[MXN_DIMS_MAX];
    condition_steps(job, &job->inputs[1], big, truth_steps);
    mxn__broadcast_steps(out->shape, big, steps);
    mxn_iterator it;
    mxn__iterator_init(&it, big->ndim, big->dims,
                       (const int64_t *const[]){truth_steps, steps, NULL});
    if (sums != NULL) {
        memset(sums, 0, size * sizeof(uint64_t));
    }
    backward_pieces(job, out, wanted, sums, &it);
    if (sums != NULL) {
        bool is_real = g->dtype == MXN_FLOAT32 || g->dtype == MXN_FLOAT64;
        mxn_cast(out->data, out->dtype, sums, is_real ? MXN_FLOAT64 : MXN_UINT64, size);
    }
}

static int choose_backward(mxn_job *job)
{
    int32_t dtype = job->inputs[0].dtype;
    if (backward_rows[dtype] == NULL) {
        return mxn__type_refused(job, dtype);
    }
    int kind = job->params->op->def->variant & KIND_MASK;
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        if (job->outputs[i].data != NULL) {
            backward_side(job, &job->outputs[i], kind == ARRAYS ? i == 0 : kind == LEFT_ARRAY);
        }
    }
    return 0;
}

#define WHERE(name_, aliases_, inputs_, fields_, variant_, shapes_, gradient_)                \
    {                                                                                         \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .fields = (fields_),     \
        .description = "Of x where the condition is not zero, else of y.",                    \
        .params_bytes = (fields_) == NULL ? 0 : sizeof(choose_params), .variant = (variant_), \
        .shapes = (shapes_), .types = choose_types, .flags = MXN_OP_ANY_TYPE,                 \
        .gradient = (gradient_), .forward = choose_forward                                    \
    }
#define BACKWARD(name_, outputs_, fields_, variant_)                                          \
    {                                                                                         \
        .name = (name_), .input_count = 2, .output_count = (outputs_), .fields = (fields_),   \
        .params_bytes = (fields_) == NULL ? 0 : sizeof(choose_params), .variant = (variant_), \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, .forward = choose_backward,                 \
        .workspace = backward_workspace                                                       \
    }
#define SIDE_GRADIENT(name_) MXN_GRADIENT({.op = (name_), .takes = "g0 i0", .gives = "1"})

static const mxn_op_def table[] = {
    WHERE("where", "_sparse_where", "condition x y", NULL, ARRAYS | OLD, old_shapes,
          MXN_GRADIENT({.op = "_backward_where", .takes = "g0 i0", .gives = "1 2"})),
    WHERE("_npi_where", NULL, "condition x y", NULL, ARRAYS, mxn__shapes_broadcast,
          MXN_GRADIENT({.op = "_backward_np_where", .takes = "g0 i0", .gives = "1 2"})),
    WHERE("_npi_where_lscalar", NULL, "condition x", scalar_fields, RIGHT_ARRAY,
          mxn__shapes_broadcast, SIDE_GRADIENT("_backward_np_where_lscalar")),
    WHERE("_npi_where_rscalar", NULL, "condition y", scalar_fields, LEFT_ARRAY,
          mxn__shapes_broadcast, SIDE_GRADIENT("_backward_np_where_rscalar")),
    WHERE("_npi_where_scalar2", NULL, "condition", two_fields, NUMBERS, mxn__shapes_broadcast,
          MXN_GRADIENT_ZERO),
    BACKWARD("_backward_where", 2, NULL, ARRAYS | OLD),
    BACKWARD("_backward_np_where", 2, NULL, ARRAYS),
    BACKWARD("_backward_np_where_lscalar", 1, scalar_fields, RIGHT_ARRAY),
    BACKWARD("_backward_np_where_rscalar", 1, scalar_fields, LEFT_ARRAY),
};

MXN_FAMILY(where, table);
