// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/random: operators that draw random numbers.
//
// Operators that draw random numbers, from a range of Philox blocks each reserves in its turn.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

typedef struct draw_params {
    double low, high, loc, scale;
    int64_t least, below;
    mxn_maybe_double first, second;  // numpy's: low and high, or loc and scale
    mxn_tuple shape;
    const char *ctx;
    int32_t dtype;
} draw_params;

static const mxn_word whole_words[] = {
    {"None", MXN_DTYPE_NONE}, {"int32", MXN_INT32}, {"int64", MXN_INT64}, {0}};

#define OLD_REST                                                                               \
    {MXN_FIELD(draw_params, shape, TUPLE, "None")}, {MXN_FIELD(draw_params, ctx, STRING, "")}, \
        {MXN_FIELD(draw_params, dtype, ENUM, "None"), .words = mxn__words_none_or_reals},      \
    {                                                                                          \
        0                                                                                      \
    }
#define NUMPY_REST                                                                        \
    {.name = "size",                                                                      \
     .kind = MXN_FIELD_ANY_TUPLE,                                                         \
     .offset = offsetof(draw_params, shape),                                              \
     .value = "None"},                                                                    \
        {MXN_FIELD(draw_params, ctx, STRING, "cpu")},                                     \
        {MXN_FIELD(draw_params, dtype, ENUM, "None"), .words = mxn__words_none_or_reals}, \
    {                                                                                     \
        0                                                                                 \
    }
#define NUMPY_NUMBER(name_, member)                                                             \
    {                                                                                           \
        .name = (name_), .kind = MXN_FIELD_MAYBE_FLOAT, .offset = offsetof(draw_params, member) \
    }

static const mxn_field uniform_fields[] = {
    {MXN_FIELD(draw_params, low, WIDE_FLOAT, "0")},
    {MXN_FIELD(draw_params, high, WIDE_FLOAT, "1")},
    OLD_REST,
};
static const mxn_field normal_fields[] = {
    {MXN_FIELD(draw_params, loc, WIDE_FLOAT, "0")},
    {MXN_FIELD(draw_params, scale, WIDE_FLOAT, "1")},
    OLD_REST,
};
static const mxn_field npi_uniform_fields[] = {
    NUMPY_NUMBER("low", first),
    NUMPY_NUMBER("high", second),
    NUMPY_REST,
};
static const mxn_field npi_normal_fields[] = {
    NUMPY_NUMBER("loc", first),
    NUMPY_NUMBER("scale", second),
    NUMPY_REST,
};
static const mxn_field randint_fields[] = {
    {.name = "low", .kind = MXN_FIELD_LONG, .offset = offsetof(draw_params, least)},
    {.name = "high", .kind = MXN_FIELD_LONG, .offset = offsetof(draw_params, below)},
    {MXN_FIELD(draw_params, shape, TUPLE, "None")},
    {MXN_FIELD(draw_params, ctx, STRING, "")},
    {MXN_FIELD(draw_params, dtype, ENUM, "None"), .words = whole_words},
    {0},
};

enum { UNIFORM, NORMAL, RANDINT };

static int draw_check(const mxn_op *op, void *values)
{
    draw_params *p = values;
    int kind = op->def->variant;
    if (op->def->inputs != NULL) {
        if (!p->first.has || !p->second.has) {
            return mxp__fail(MXP_ENOTSUP,
                             "Operator %s: arrays as parameters are not supported; give numbers",
                             op->name);
        }
        p->low = p->loc = p->first.value;
        p->high = p->scale = p->second.value;
    }
    if (kind == UNIFORM && !(p->low <= p->high)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: low=%g is above high=%g", op->name, p->low,
                         p->high);
    }
    if (kind == NORMAL && !(p->scale >= 0)) {
        return mxp__fail(MXP_EINVAL, "ValueError: Operator %s: scale=%g is below 0", op->name,
                         p->scale);
    }
    if (kind == RANDINT && p->least >= p->below) {
        return mxp__fail(MXP_EINVAL, "Operator %s: low=%lld must be below high=%lld", op->name,
                         (long long)p->least, (long long)p->below);
    }
    return 0;
}

static uint32_t no_inputs(const void *values)
{
    (void)values;
    return 0;
}

// One number if no shape is given; numpy's has no dimensions then.
static int draw_shapes(const mxn_shapes *shapes)
{
    const draw_params *params = (const void *)shapes->params->values;
    mxn_shape shape = {.ndim = shapes->params->op->def->inputs != NULL ? 0 : 1, .dims = {1}};
    if (params->shape.count == MXN_TUPLE_ABSENT) {
        return mxn_shape_known(shapes->outputs[0]) ? 0 : mxn__shape_output(shapes, 0, &shape);
    }
    int error = mxn_shape_set(&shape, params->shape.count, params->shape.values, "shape");
    return error != 0 ? error : mxn__shape_output(shapes, 0, &shape);
}

static int draw_types(const mxn_types *types)
{
    int32_t dtype = ((const draw_params *)(const void *)types->params->values)->dtype;
    if (dtype == MXN_DTYPE_NONE && types->outputs[0] != MXN_DTYPE_NONE) {
        return 0;
    }
    int32_t usual = types->params->op->def->variant == RANDINT ? MXN_INT32 : MXN_FLOAT32;
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           dtype == MXN_DTYPE_NONE ? usual : dtype);
}

// In [0, 1), with as many bits as the type holds: more would round up to 1.
static double fraction(uint32_t high, uint32_t low, int32_t dtype)
{
    int bits = dtype == MXN_FLOAT64 ? 53 : dtype == MXN_FLOAT32 ? 24 : 11;
    return ldexp((double)(((uint64_t)high << 32 | low) >> (64 - bits)), -bits);
}

// The largest number of a type below `high`: a sum below it may be rounded to it. `low`, if no
// number lies between.
static double largest_below(double high, double low, int32_t dtype)
{
    double most = nextafter(high, -INFINITY);
    if (dtype == MXN_FLOAT32) {
        float near = (float)high;
        most = (double)near < high ? (double)near : (double)nextafterf(near, -INFINITY);
    } else if (dtype == MXN_FLOAT16) {
        mxn_half near = mxn_half_from_double(high);
        uint16_t next = (near.bits & 0x7fff) == 0 ? 0x8001
                        : near.bits > 0x8000      ? near.bits + 1
                                                  : near.bits - 1;
        bool below = (double)mxn_half_to_float(near) < high;
        most = (double)mxn_half_to_float(below ? near : (mxn_half){next});
    }
    return most > low ? most : low;
}

// Two numbers from one block, even ones at most `most`.
static void draw_pair(const mxn_job *job, const uint32_t n[4], double most, double pair[2])
{
    const draw_params *p = mxn__values(job);
    int32_t dtype = job->outputs[0].dtype;
    double a = fraction(n[0], n[1], dtype), b = fraction(n[2], n[3], dtype);
    if (job->params->op->def->variant == NORMAL) {
        double radius = sqrt(-2 * log(1 - a)), angle = 6.28318530717958647692 * b;
        pair[0] = p->loc + p->scale * radius * cos(angle);
        pair[1] = p->loc + p->scale * radius * sin(angle);
        return;
    }
    pair[0] = fmin(p->low + (p->high - p->low) * a, most);
    pair[1] = fmin(p->low + (p->high - p->low) * b, most);
}

// Multiplying maps 64 bits evenly onto the range; what is uneven is below 2^-32 of it for ranges of
// 32 bits.
static int64_t draw_whole(const draw_params *p, uint32_t high, uint32_t low)
{
    uint64_t range = (uint64_t)p->below - (uint64_t)p->least;
    uint64_t bits = (uint64_t)high << 32 | low;
    uint64_t rest =
        ((bits & 0xffffffffu) * (range & 0xffffffffu) >> 32) + (bits >> 32) * (range & 0xffffffffu);
    uint64_t carry = (bits & 0xffffffffu) * (range >> 32) + (rest & 0xffffffffu);
    uint64_t top = (bits >> 32) * (range >> 32) + (rest >> 32) + (carry >> 32);
    return (int64_t)((uint64_t)p->least + top);
}

static int draw_forward(mxn_job *job)
{
    const draw_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    int kind = job->params->op->def->variant;
    uint64_t count = mxn_shape_size(out->shape), key, first;
    size_t size = mxn_dtype_size(out->dtype);
    const double most = largest_below(params->high, params->low, out->dtype);
    mxn_random_reserve(job->random, (count + 1) / 2, &key, &first);
    for (uint64_t i = 0; i < count; i += 2) {
        uint32_t numbers[4];
        double pair[2];
        mxn_random_block(key, first + i / 2, numbers);
        size_t n = count - i < 2 ? 1 : 2;
        char *to = (char *)out->data + i * size;
        if (kind == RANDINT) {
            const int64_t whole[2] = {draw_whole(params, numbers[0], numbers[1]),
                                      draw_whole(params, numbers[2], numbers[3])};
            mxn_cast(to, out->dtype, whole, MXN_INT64, n);
        } else {
            draw_pair(job, numbers, most, pair);
            mxn_cast(to, out->dtype, pair, MXN_FLOAT64, n);
        }
    }
    return 0;
}

#define DRAW(name_, aliases_, inputs_, inputs_of_, fields_, variant_, text)                     \
    {                                                                                           \
        .name = (name_), .aliases = (aliases_), .description = (text), .inputs = (inputs_),     \
        .inputs_of = (inputs_of_), .fields = (fields_), .params_bytes = sizeof(draw_params),    \
        .check = draw_check, .shapes = draw_shapes, .types = draw_types, .variant = (variant_), \
        .flags = MXN_OP_RANDOM | MXN_OP_ANY_TYPE, .gradient = MXN_GRADIENT_ZERO,                \
        .forward = draw_forward, .flops_each = 20                                               \
    }

static const mxn_op_def table[] = {
    DRAW("_random_uniform", "random_uniform uniform", NULL, NULL, uniform_fields, UNIFORM,
         "Random numbers, evenly distributed."),
    DRAW("_random_normal", "normal random_normal", NULL, NULL, normal_fields, NORMAL,
         "Random numbers, normally distributed."),
    DRAW("_random_randint", "_npi_random_randint random_randint", NULL, NULL, randint_fields,
         RANDINT, "Random whole numbers."),
    DRAW("_npi_uniform", NULL, "input1 input2", no_inputs, npi_uniform_fields, UNIFORM,
         "Random numbers, evenly distributed."),
    DRAW("_npi_normal", NULL, "input1 input2", no_inputs, npi_normal_fields, NORMAL,
         "Random numbers, normally distributed."),
};

MXN_FAMILY(random_draw, table);
