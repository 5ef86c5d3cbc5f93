// SPDX-License-Identifier: Apache-2.0
// Every operator with extreme numbers in each of its parameters, and with inputs of every rank: an
// error, or a result whose size is a number. What is small enough is also computed. The sanitizers
// say whether a sum or a product has wrapped on the way.
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"
#include "runtime/op/registry/declare.h"

enum { PAIRS_MAX = 24, ELEMENTS_MAX = 1 << 12 };

static const char *const integers[] = {"0",
                                       "-1",
                                       "2",
                                       "-2147483648",
                                       "2147483647",
                                       "4294967295",
                                       "4294967296",
                                       "4611686018427387904",
                                       "9223372036854775807",
                                       "-9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551615",
                                       NULL};
static const char *const reals[] = {"0",
                                    "-1",
                                    "inf",
                                    "-inf",
                                    "nan",
                                    "1e308",
                                    "-1e308",
                                    "3.4e38",
                                    "1e-320",
                                    "9223372036854775807",
                                    "18446744073709551615",
                                    NULL};
static const char *const truths[] = {"True", "False", NULL};
static const char *const texts[] = {"", "C", "x", NULL};
static const char *const tuples[] = {"()",
                                     "(0,)",
                                     "(-1,)",
                                     "(1, 1)",
                                     "(0, 1, 2)",
                                     "(-1, -1)",
                                     "(4611686018427387904,)",
                                     "(9223372036854775807,)",
                                     "(-9223372036854775807,)",
                                     "(-9223372036854775808,)",
                                     "(4294967296, 4294967296)",
                                     "(2147483647, 1)",
                                     "(2147483647, 2147483647)",
                                     "(1, 2147483647)",
                                     "(2147483647, 2147483647, 2147483647)",
                                     "(9223372036854775807, 9223372036854775807)",
                                     "(9223372036854775807, -9223372036854775807)",
                                     "(1, 9223372036854775807, 9223372036854775807, 1)",
                                     "(None, None)",
                                     "(-2, -3, -4)",
                                     "(-4, 4294967296, -1)",
                                     "(-6, 4294967296, 4294967296)",
                                     "(-5,)",
                                     "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)",
                                     NULL};

static const char *const *values_of(const mxn_field *field)
{
    switch (field->kind) {
    case MXN_FIELD_BOOL:
    case MXN_FIELD_MAYBE_BOOL:
        return truths;
    case MXN_FIELD_STRING:
        return texts;
    case MXN_FIELD_TUPLE:
    case MXN_FIELD_MAYBE_TUPLE:
    case MXN_FIELD_OPEN_TUPLE:
    case MXN_FIELD_ANY_TUPLE:
    case MXN_FIELD_FLOATS:
        return tuples;
    case MXN_FIELD_INT:
    case MXN_FIELD_UINT:
    case MXN_FIELD_LONG:
    case MXN_FIELD_ULONG:
    case MXN_FIELD_MAYBE_INT:
        return integers;
    default:
        return reals;
    }
}

// What a required parameter is while another one is extreme; of tuples of every length one turn.
static const char *usual_value(const mxn_field *field, int turn)
{
    static const char *const ones[] = {"(1,)", "(1, 1)", "(1, 1, 1)", "(0, 0, 0)"};
    return field->kind == MXN_FIELD_ENUM ? field->words[0].text + (field->words[0].text[0] == '\1')
           : values_of(field) == tuples  ? ones[turn]
           : values_of(field) == texts   ? ""
                                         : "1";
}

// Inputs, all of one shape: sizes, 0 terminated by a negative one.
static const int64_t shapes[][MXN_DIMS_MAX + 1] = {
    {-1},
    {0, -1},
    {3, -1},
    {2, 3, -1},
    {0, 3, -1},
    {3, 3, -1},
    {2, 3, 4, -1},
    {1, 1, 3, 3, -1},
    {2, 1, 3, 2, 2, -1},
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1},
    {INT64_C(1) << 62, -1},
    {0, INT64_C(1) << 62, -1},
    {INT64_C(1) << 31, INT64_C(1) << 31, -1},
    {INT64_C(1) << 31, 0, INT64_C(1) << 31, -1},
    {1, 1, 1, INT64_C(1) << 40, -1},
    {1, INT64_C(1) << 61, 2, -1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void shape_at(int which, mxn_shape *shape)
{
    shape->ndim = 0;
    for (const int64_t *dim = shapes[which]; *dim >= 0; dim++) {
        shape->dims[shape->ndim++] = *dim;
    }
}

// Whether all shapes are sizes; a shape that is too large is refused where the operator is called.
static bool sound(const mxn_params *params, const mxn_shape *outputs)
{
    bool small = params->input_count <= OP_RUN_MAX && params->output_count <= OP_RUN_MAX;
    for (uint32_t i = 0; i < params->output_count; i++) {
        if (!mxn_shape_known(&outputs[i])) {
            fail_msg("%s: output %u has a size below 0", params->op->name, i);
        }
        small = small && mxn_shape_countable(&outputs[i]) &&
                mxn_shape_size(&outputs[i]) <= ELEMENTS_MAX;
    }
    return small;
}

static void compute(mxn_params *params, const mxn_shape *shape, int32_t dtype)
{
    if (mxn_shape_size(shape) > ELEMENTS_MAX || !mxn_shape_countable(shape) ||
        (params->op->flags & (MXN_OP_DIRECT | MXN_OP_CALLBACK | MXN_OP_BACKWARD)) != 0) {
        return;
    }
    mxn_array *inputs[OP_RUN_MAX] = {NULL}, *outputs[OP_RUN_MAX] = {NULL};
    for (uint32_t i = 0; i < params->input_count; i++) {
        inputs[i] = op_array(dtype, shape->ndim, shape->dims, NULL, i);
    }
    op_run_params(params, inputs, outputs, MXN_WRITE, true);
    for (uint32_t i = 0; i < OP_RUN_MAX; i++) {
        mxn_array_release(inputs[i]);
        mxn_array_release(outputs[i]);
    }
}

// `known`: how many inputs have a shape; the operator may know those of the others.
static void infer_and_compute(mxn_params *params, int which, int32_t dtype, uint32_t known)
{
    enum { MANY = 2 * MXN_OPERANDS_MAX };
    static mxn_shape all[MANY];
    static mxn_shape *pointers[MANY];
    static int32_t types[MANY];
    uint32_t inputs = params->input_count;
    known = known < inputs ? known : inputs;
    for (uint32_t i = 0; i < inputs + params->output_count; i++) {
        all[i].ndim = -1;
        types[i] = MXN_DTYPE_NONE;
        pointers[i] = &all[i];
        if (i < known) {
            shape_at(which, &all[i]);
            types[i] = dtype;
        }
    }
    bool complete = false;
    if (mxn_op_infer(params, pointers, types, pointers + inputs, types + inputs, &complete) != 0 ||
        !complete) {
        return;
    }
    if (sound(params, all + inputs) && known == inputs) {
        mxn_shape shape;
        shape_at(which, &shape);
        compute(params, &shape, dtype);
    }
}

static void try_parameters(const mxn_op *op, uint32_t pairs, const char *const *keys,
                           const char *const *values)
{
    for (uint32_t count = 0; count <= 3; count++) {
        mxn_params *params;
        if (mxn_params_parse(op, pairs, keys, values, count, false, &params) != 0) {
            continue;
        }
        if (mxn_params_expect(params, count) == 0) {
            for (int which = 0; which < SHAPES; which++) {
                int32_t dtype = which % 3 == 2 ? MXN_INT32 : MXN_FLOAT32;
                infer_and_compute(params, which, dtype, count);
                infer_and_compute(params, which, dtype, 1);
            }
        }
        mxn_params_release(params);
    }
}

// One parameter has all values, the other required ones a usual one.
static void try_field(const mxn_op *op, const mxn_field *extreme, int turn)
{
    const char *keys[PAIRS_MAX], *values[PAIRS_MAX];
    uint32_t pairs = 1;
    for (const mxn_field *field = op->def->fields; field->name != NULL; field++) {
        if (field != extreme && field->value == NULL && field->kind != MXN_FIELD_INPUT) {
            assert_true(pairs < PAIRS_MAX);
            keys[pairs] = field->name;
            values[pairs++] = usual_value(field, turn);
        }
    }
    keys[0] = extreme->name;
    if (extreme->kind == MXN_FIELD_ENUM) {
        for (const mxn_word *word = extreme->words; word->text != NULL; word++) {
            values[0] = word->text + (word->text[0] == '\1');
            try_parameters(op, pairs, keys, values);
        }
        return;
    }
    for (const char *const *text = values_of(extreme); *text != NULL; text++) {
        values[0] = *text;
        try_parameters(op, pairs, keys, values);
    }
}

static void extreme_parameters_are_refused_or_computed(void **state)
{
    (void)state;
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops);
    assert_true(count > 400);
    for (uint32_t i = 0; i < count; i++) {
        if ((ops[i].flags & MXN_OP_BACKWARD) != 0) {
            continue;  // its shapes are the caller's
        }
        if (ops[i].def->fields == NULL) {
            try_parameters(&ops[i], 0, NULL, NULL);
            continue;
        }
        for (const mxn_field *field = ops[i].def->fields; field->name != NULL; field++) {
            for (int turn = 0; turn < 4 && field->kind != MXN_FIELD_INPUT; turn++) {
                try_field(&ops[i], field, turn);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extreme_parameters_are_refused_or_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
