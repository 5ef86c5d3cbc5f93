// SPDX-License-Identifier: Apache-2.0
// Operators that take each dimension of the result from pieces of the same dimension of the input:
// tile, repeat, reverse, roll, pad. They differ only in what the pieces are. The gradient adds up
// what went to each place.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/axis_pieces.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct places_params {
    mxn_tuple reps, axes, shift, pad_width;
    int32_t repeats, mode;
    mxn_maybe_int axis;
    mxn_number constant_value;
} places_params;

enum { TILE, REPEAT, REVERSE, ROLL, PAD };  // variants
enum { CONSTANT, EDGE, REFLECT };  // modes of pad

static const mxn_word pad_modes[] = {
    {"constant", CONSTANT}, {"edge", EDGE}, {"reflect", REFLECT}, {0}};

static const mxn_field tile_fields[] = {
    {MXN_FIELD(places_params, reps, TUPLE, NULL)},
    {0},
};

static const mxn_field repeat_fields[] = {
    {MXN_FIELD(places_params, repeats, INT, NULL), .min = 0, .max = INT32_MAX},
    {MXN_FIELD(places_params, axis, MAYBE_INT, "None")},
    {0},
};

#define AXES_FIELD(kind_, value_)                                                       \
    .name = "axis", .kind = MXN_FIELD_##kind_, .offset = offsetof(places_params, axes), \
    .value = (value_)
static const mxn_field reverse_fields[] = {
    {AXES_FIELD(TUPLE, NULL)},
    {0},
};

static const mxn_field roll_fields[] = {
    {MXN_FIELD(places_params, shift, MAYBE_TUPLE, "None")},
    {AXES_FIELD(MAYBE_TUPLE, "None")},
    {0},
};

static const mxn_field pad_fields[] = {
    {MXN_FIELD(places_params, mode, ENUM, NULL), .words = pad_modes},
    {MXN_FIELD(places_params, pad_width, TUPLE, NULL)},
    {MXN_FIELD(places_params, constant_value, NUMBER, "0")},
    {0},
};

static const places_params *params_of(const mxn_params *params)
{
    return (const void *)params->values;
}

// The input as the places are counted in it: with leading ones, or as one long row.
typedef struct layout {
    const mxn_params *params;
    int32_t ndim;
    int64_t in[MXN_DIMS_MAX], out[MXN_DIMS_MAX];
    int64_t shift[MXN_DIMS_MAX];  // of roll
    bool reversed[MXN_DIMS_MAX];
    int64_t before[MXN_DIMS_MAX];  // of pad
    int32_t repeated;  // axis of repeat
} layout;

static void as_row(layout *l, const mxn_shape *in)
{
    *l = (layout){.ndim = 1, .in = {(int64_t)mxn_shape_size(in)}};
    l->out[0] = l->in[0];
}

static void as_it_is(layout *l, const mxn_shape *in, int32_t ndim)
{
    *l = (layout){.ndim = ndim};
    for (int32_t i = 0; i < ndim; i++) {
        l->in[i] = i < ndim - in->ndim ? 1 : in->dims[i - (ndim - in->ndim)];
        l->out[i] = l->in[i];
    }
}

static int lay_out_tile(const mxn_params *params, const mxn_shape *in, layout *l)
{
    const mxn_tuple *reps = &params_of(params)->reps;
    as_it_is(l, in, reps->count > in->ndim ? reps->count : in->ndim);
    for (int32_t i = 0; i < reps->count; i++) {
        if (reps->values[i] < 0) {
            return mxp__fail(MXP_EINVAL, "Operator %s: element %d of reps is %lld",
                             params->op->name, i, (long long)reps->values[i]);
        }
        int64_t *out = &l->out[l->ndim - reps->count + i];
        int error = mxn__dim_mul(params, *out, reps->values[i], out);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static int lay_out_repeat(const mxn_params *params, const mxn_shape *in, layout *l)
{
    const places_params *values = params_of(params);
    int error = 0;
    if (values->axis.has) {
        as_it_is(l, in, in->ndim);
        error = mxn__axis(params, values->axis.value, in->ndim, &l->repeated);
    } else {
        as_row(l, in);
    }
    int64_t *out = &l->out[l->repeated];
    return error != 0 ? error : mxn__dim_mul(params, *out, values->repeats, out);
}

static int lay_out_reverse(const mxn_params *params, const mxn_shape *in, layout *l)
{
    const mxn_tuple *axes = &params_of(params)->axes;
    as_it_is(l, in, in->ndim);
    for (int32_t i = 0; i < axes->count; i++) {
        int32_t axis;
        int error = mxn__axis(params, axes->values[i], in->ndim, &axis);
        if (error != 0) {
            return error;
        }
        l->reversed[axis] = true;
    }
    return 0;
}

// One shift serves all axes; without axes the array is one row.
static int lay_out_roll(const mxn_params *params, const mxn_shape *in, layout *l)
{
    const mxn_tuple *shift = &params_of(params)->shift, *axes = &params_of(params)->axes;
    bool row = axes->count < 0;
    row ? as_row(l, in) : as_it_is(l, in, in->ndim);
    if (shift->count < 1 || (shift->count != 1 && shift->count != (row ? 1 : axes->count))) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %d shifts for %d axes", params->op->name,
                         shift->count < 0 ? 0 : shift->count, row ? 1 : axes->count);
    }
    for (int32_t i = 0; i < (row ? 1 : axes->count); i++) {
        int32_t axis = 0;
        int error = row ? 0 : mxn__axis(params, axes->values[i], in->ndim, &axis);
        if (error != 0) {
            return error;
        }
        int64_t by = shift->values[shift->count == 1 ? 0 : i];
        l->shift[axis] = l->in[axis] == 0 ? 0 : (l->shift[axis] + by % l->in[axis]) % l->in[axis];
    }
    return 0;
}

static int lay_out_pad(const mxn_params *params, const mxn_shape *in, layout *l)
{
    const mxn_tuple *width = &params_of(params)->pad_width;
    int32_t mode = params_of(params)->mode;
    as_it_is(l, in, in->ndim);
    if (width->count != 2 * in->ndim) {
        return mxp__fail(MXP_EINVAL, "Operator %s: pad_width has %d numbers for %d dimensions",
                         params->op->name, width->count, in->ndim);
    }
    for (int32_t i = 0; i < in->ndim; i++) {
        int64_t before = width->values[2 * i], after = width->values[2 * i + 1];
        int64_t most = mode == REFLECT                 ? l->in[i] - 1
                       : mode == EDGE && l->in[i] == 0 ? 0
                                                       : INT64_MAX;
        if (before < 0 || after < 0 || before > most || after > most) {
            return mxp__fail(
                MXP_EINVAL, "Operator %s: pad_width (%lld,%lld) of axis %d of size %lld",
                params->op->name, (long long)before, (long long)after, i, (long long)l->in[i]);
        }
        l->before[i] = before;
        int error = mxn__dim_add(params, l->out[i], before, &l->out[i]);
        if (error == 0) {
            error = mxn__dim_add(params, l->out[i], after, &l->out[i]);
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static int lay_out(const mxn_params *params, const mxn_shape *in, layout *l)
{
    static int (*const functions[])(const mxn_params *params, const mxn_shape *in, layout *l) = {
        [TILE] = lay_out_tile, [REPEAT] = lay_out_repeat, [REVERSE] = lay_out_reverse,
        [ROLL] = lay_out_roll, [PAD] = lay_out_pad,
    };
    int error = functions[params->op->def->variant](params, in, l);
    l->params = params;
    return error;
}

static mxn_piece padded_piece(const layout *l, int32_t axis, int64_t i)
{
    int32_t mode = params_of(l->params)->mode;
    int64_t dim = l->in[axis], place = i - l->before[axis];
    if (place >= 0 && place < dim) {
        return (mxn_piece){place, 1, dim - place};
    }
    int64_t count = place < 0 ? -place : l->out[axis] - i;
    switch (mode) {
    case CONSTANT:
        return (mxn_piece){MXN_NOWHERE, 0, count};
    case EDGE:
        return (mxn_piece){place < 0 ? 0 : dim - 1, 0, count};
    default:
        return (mxn_piece){place < 0 ? -place : 2 * (dim - 1) - place, -1, count};
    }
}

// Of a repeated element the place is counted on, which is cheaper than a division.
static mxn_piece repeated_piece(const layout *l, int64_t i, const mxn_piece *before)
{
    int64_t times = params_of(l->params)->repeats;
    return before != NULL ? (mxn_piece){before->place + 1, 0, times}
                          : (mxn_piece){i / times, 0, times - i % times};
}

static mxn_piece piece_of(const void *data, int32_t axis, int64_t i, const mxn_piece *before)
{
    const layout *l = data;
    int64_t dim = l->in[axis], left = l->out[axis] - i, place;
    switch (l->params->op->def->variant) {
    case TILE:
        place = before != NULL ? 0 : i % dim;
        return dim == 1 ? (mxn_piece){0, 0, left} : (mxn_piece){place, 1, dim - place};
    case REPEAT:
        return axis == l->repeated ? repeated_piece(l, i, before) : (mxn_piece){i, 1, left};
    case REVERSE:
        return l->reversed[axis] ? (mxn_piece){dim - 1 - i, -1, left} : (mxn_piece){i, 1, left};
    case ROLL:
        place = (i - l->shift[axis]) % dim;
        place += place < 0 ? dim : 0;
        return (mxn_piece){place, 1, dim - place < left ? dim - place : left};
    default:
        return padded_piece(l, axis, i);
    }
}

static int places_shapes(const mxn_shapes *shapes)
{
    if (!mxn_shape_known(shapes->inputs[0])) {
        return 0;
    }
    layout l;
    int error = lay_out(shapes->params, shapes->inputs[0], &l);
    if (error != 0) {
        return error;
    }
    if (shapes->params->op->def->variant == ROLL) {
        return mxn__shape_output(shapes, 0, shapes->inputs[0]);
    }
    mxn_shape result = {.ndim = l.ndim};
    memcpy(result.dims, l.out, sizeof l.out);
    return mxn__shape_output(shapes, 0, &result);
}

// ---- kernels ------------------------------------------------------------------------------------
static const mxn_operand *small_of(const mxn_job *job)
{
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    return backward ? &job->outputs[0] : &job->inputs[0];
}

static int find_pieces(const mxn_job *job, layout *l, mxn_axis_pieces *pieces)
{
    int error = lay_out(job->params, small_of(job)->shape, l);
    *pieces = (mxn_axis_pieces){.ndim = l->ndim, .layout = l, .piece = piece_of};
    memcpy(pieces->small, l->in, sizeof l->in);
    memcpy(pieces->count, l->out, sizeof l->out);
    return error;
}

static int places_forward(mxn_job *job)
{
    layout l;
    mxn_axis_pieces pieces;
    int error = find_pieces(job, &l, &pieces);
    if (error == 0) {
        mxn__pieces_copy(&pieces, &job->inputs[0], &job->outputs[0],
                         &params_of(job->params)->constant_value);
    }
    return error;
}

static int places_backward(mxn_job *job)
{
    layout l;
    mxn_axis_pieces pieces;
    int error = find_pieces(job, &l, &pieces);
    return error != 0 ? error : mxn__pieces_add(job, &pieces, &job->inputs[0], &job->outputs[0]);
}

// ---- the table ----------------------------------------------------------------------------------
static void roll_back(void *values)
{
    places_params *params = values;
    for (int32_t i = 0; i < params->shift.count; i++) {
        params->shift.values[i] = -params->shift.values[i];
    }
}

#define PLACES(name_, aliases_, variant_, fields_, gradient_, text)                              \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = "data", .description = (text),         \
        .fields = (fields_), .params_bytes = sizeof(places_params), .variant = (variant_),       \
        .shapes = places_shapes, .flags = MXN_OP_ANY_TYPE, .gradient = MXN_USES_NONE(gradient_), \
        .forward = places_forward                                                                \
    }

static void pad_with_zero(void *values)
{
    ((places_params *)values)->constant_value = mxn_number_of_whole(0);
}

#define BACKWARD(name_, variant_, fields_, again_)                                       \
    {                                                                                    \
        .name = (name_), .input_count = 1, .fields = (fields_), .variant = (variant_),   \
        .params_bytes = sizeof(places_params), .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, \
        .gradient = (again_), .forward = places_backward                                 \
    }
static const mxn_op_def table[] = {
    PLACES("tile", "_npi_tile", TILE, tile_fields, "_backward_tile", "The whole, repeated."),
    PLACES("repeat", "_np_repeat _npi_repeat", REPEAT, repeat_fields, "_backward_repeat",
           "Each element, repeated."),
    PLACES("reverse", "flip", REVERSE, reverse_fields, "_backward_reverse",
           "Axes the other way round."),
    PLACES("_npi_flip", NULL, REVERSE, reverse_fields, "_backward_npi_flip",
           "Axes the other way round."),
    {
        .name = "_npi_roll",
        .aliases = "_np_roll",
        .inputs = "data",
        .description = "What leaves at one end comes back at the other.",
        .fields = roll_fields,
        .params_bytes = sizeof(places_params),
        .variant = ROLL,
        .shapes = places_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT({.op = "_npi_roll", .takes = "g0", .adjust = roll_back}),
        .forward = places_forward,
    },
    PLACES("Pad", "_npx_pad pad", PAD, pad_fields, "_backward_Pad", "More at the edges."),
    BACKWARD("_backward_tile", TILE, tile_fields, MXN_USES_NONE("tile")),
    BACKWARD("_backward_repeat", REPEAT, repeat_fields, MXN_USES_NONE("repeat")),
    BACKWARD("_backward_reverse", REVERSE, reverse_fields, MXN_USES_NONE("reverse")),
    BACKWARD("_backward_npi_flip", REVERSE, reverse_fields, MXN_USES_NONE("_npi_flip")),
    BACKWARD("_backward_Pad", PAD, pad_fields,
             MXN_GRADIENT({.op = "Pad", .takes = "g0", .adjust = pad_with_zero})),
};

MXN_FAMILY(tile_repeat_pad, table);
