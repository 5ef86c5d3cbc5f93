// SPDX-License-Identifier: Apache-2.0
// Operators that run as one give what they give one after the other, to the bit: each pointwise one
// in pieces, chains with inner values, and on memory that overlaps.
#include <string.h>

#include "prepared_calls.h"
#include "runtime/imperative/fusion.h"
#include "runtime/imperative/imperative.h"

enum { COUNT = 40000 + 1234, INPUTS_MAX = 3, OUTPUTS_MAX = 2 };
static mxn_array *array_of(int64_t count, uint32_t seed, int32_t dtype)
{
    const int64_t dims[] = {count};
    mxn_shape shape;
    mxn_array *array = NULL;
    assert_int_equal(mxn_shape_set(&shape, 1, dims, "the test's array"), MXP_OK);
    assert_int_equal(mxn_array_new(&shape, dtype, cpu, NULL, false, &array), MXP_OK);
    static double values[2 * COUNT];
    float *floats = (float *)values;
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double value = 0.05 + 0.9 * (double)(seed >> 8) / (1 << 24);
        if (dtype == MXN_FLOAT64) {
            values[i] = value;
        } else {
            floats[i] = (float)value;
        }
    }
    assert_int_equal(mxn_array_copy_in(array, values, (uint64_t)count), MXP_OK);
    return array;
}

static void assert_same(mxn_array *array, mxn_array *expected, const char *what)
{
    static double is[2 * COUNT], should[2 * COUNT];
    const uint64_t count = mxn_shape_size(&expected->shape);
    assert_int_equal(array->dtype, expected->dtype);
    assert_int_equal(mxn_array_copy_out(array, is, count), MXP_OK);
    assert_int_equal(mxn_array_copy_out(expected, should, count), MXP_OK);
    if (memcmp(is, should, count * mxn_dtype_size(expected->dtype)) != 0) {
        fail_msg("%s is something else", what);
    }
}

// ---- each pointwise operator ------------------------------------------------------------------
static mxn_params *parse_plain(const mxn_op *op)
{
    static const char *const keys[] = {"scalar", "a_min", "a_max", "act_type"};
    static const char *const values[] = {"0.75", "0.25", "0.5", "tanh"};
    const uint32_t uses[][2] = {{0, 0}, {0, 1}, {1, 2}, {3, 1}};
    mxn_params *params = NULL;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        if (mxn_params_parse(op, uses[i][1], keys + uses[i][0], values + uses[i][0], 2, false,
                             &params) == MXP_OK) {
            return params;
        }
    }
    return NULL;
}

typedef struct operands {
    mxn_array *all[INPUTS_MAX + OUTPUTS_MAX];
    mxn_fused_value values[INPUTS_MAX + OUTPUTS_MAX];
    uint32_t numbers[INPUTS_MAX + OUTPUTS_MAX];
    mxn_tensor_type types[INPUTS_MAX + OUTPUTS_MAX];
    uint32_t count;
} operands;

static mxn_work work_of(mxn_fusion *fusion, mxn_array *const *arrays)
{
    mxn_work work;
    assert_int_equal(mxn_fusion_bind(fusion, arrays, &work), MXP_OK);
    return work;
}

static void push(mxn_fusion *fusion, mxn_array *const *arrays)
{
    const mxn_work work = work_of(fusion, arrays);
    assert_int_equal(mxn_push(&work), MXP_OK);
}

static void run_fused(mxn_params *params, const operands *o)
{
    const mxn_fused_call call = {params, o->numbers};
    const mxn_signature signature = {.params = params,
                                     .inputs = o->types,
                                     .outputs = o->types + params->input_count,
                                     .context = cpu};
    mxn_prepared *prepared = NULL;
    mxn_fusion *fusion = NULL;
    const uint32_t scope = 0;
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_OK);
    const mxn_fusion_form form = {.fused = {.values = o->values,
                                            .calls = &call,
                                            .value_count = o->count,
                                            .call_count = 1,
                                            .is_pointwise = true},
                                  .prepared = &prepared,
                                  .scopes = &scope,
                                  .context = cpu};
    assert_int_equal(mxn_fusion_make(&form, &fusion), MXP_OK);
    push(fusion, o->all);
    mxn_fusion_release(fusion);
    mxn_prepared_release(prepared);
}

static void add_operand(operands *o, mxn_array *array)
{
    o->all[o->count] = array;
    o->values[o->count] = (mxn_fused_value){&array->shape, array->dtype, MXN_FUSED_CUT};
    o->types[o->count] = (mxn_tensor_type){&array->shape, array->dtype};
    o->numbers[o->count] = o->count;
    o->count++;
}

static bool is_real(int32_t dtype)
{
    return dtype == MXN_FLOAT32 || dtype == MXN_FLOAT64;
}

// False: it does not compute real numbers.
static bool check_operator(mxn_params *params, int32_t dtype)
{
    operands o = {.count = 0};
    mxn_array *expected[OUTPUTS_MAX] = {NULL};
    mxn_tensor_type known[OUTPUTS_MAX];
    for (uint32_t i = 0; i < params->input_count; i++) {
        add_operand(&o, array_of(COUNT, 7 * i + 1, dtype));
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        known[i] = (mxn_tensor_type){&o.all[0]->shape, dtype};
    }
    const bool is_gradient = (params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_invocation in = {.params = params,
                               .inputs = o.all,
                               .outputs = expected,
                               .known_outputs = is_gradient ? known : NULL};
    bool is_taken = mxn_invoke(&in) == MXP_OK;
    for (uint32_t i = 0; is_taken && i < params->output_count; i++) {
        is_taken = is_real(expected[i]->dtype);
        if (is_taken) {
            add_operand(&o, array_of(COUNT, 99, expected[i]->dtype));
        }
    }
    if (is_taken) {
        run_fused(params, &o);
        for (uint32_t i = 0; i < params->output_count; i++) {
            assert_same(o.all[params->input_count + i], expected[i], params->op->name);
        }
    }
    for (uint32_t i = 0; i < o.count; i++) {
        mxn_array_release(o.all[i]);
    }
    for (uint32_t i = 0; i < OUTPUTS_MAX; i++) {
        mxn_array_release(expected[i]);
    }
    return is_taken;
}

static void each_pointwise_operator_runs_in_pieces(void **state)
{
    (void)state;
    const mxn_op *ops;
    const uint32_t count = mxn_op_list(&ops);
    uint32_t checked = 0;
    for (uint32_t i = 0; i < count; i++) {
        mxn_params *params = (ops[i].flags & MXN_OP_POINTWISE) != 0 ? parse_plain(&ops[i]) : NULL;
        if (params == NULL) {
            assert_true((ops[i].flags & MXN_OP_POINTWISE) == 0);
            continue;
        }
        assert_true(params->input_count <= INPUTS_MAX && params->output_count <= OUTPUTS_MAX);
        checked += check_operator(params, MXN_FLOAT32) ? 1 : 0;
        checked += check_operator(params, MXN_FLOAT64) ? 1 : 0;
        mxn_params_release(params);
    }
    assert_true(checked > 300);
}

// ---- chains -----------------------------------------------------------------------------------
// r = relu(x - y) * x, of which nobody sees the first two results.
enum { X, Y, LESS, POSITIVE, RESULT, CHAIN_VALUES, CHAIN_CALLS = 3 };

static mxn_prepared *prepare_like(mxn_params *params, const mxn_shape *shape)
{
    const mxn_tensor_type types[] = {{shape, MXN_FLOAT32}, {shape, MXN_FLOAT32}};
    mxn_prepared *prepared = NULL;
    assert_int_equal(
        mxn_prepare(&(mxn_signature){.params = params, .inputs = types, .context = cpu}, &prepared),
        MXP_OK);
    return prepared;
}

static mxn_fusion *make_chain(const mxn_shape *shape)
{
    static const char *const names[] = {"elemwise_sub", "relu", "elemwise_mul"};
    static const uint32_t numbers[][3] = {{X, Y, LESS}, {LESS, POSITIVE, 0}, {POSITIVE, X, RESULT}};
    mxn_fused_call calls[CHAIN_CALLS];
    mxn_prepared *prepared[CHAIN_CALLS];
    mxn_fused_value values[CHAIN_VALUES];
    static const uint32_t scopes[CHAIN_CALLS];
    for (uint32_t i = 0; i < CHAIN_VALUES; i++) {
        const uint8_t kind = i == LESS || i == POSITIVE ? MXN_FUSED_INNER : MXN_FUSED_CUT;
        values[i] = (mxn_fused_value){shape, MXN_FLOAT32, kind};
    }
    for (uint32_t i = 0; i < CHAIN_CALLS; i++) {
        mxn_params *params = parse(names[i], i == 1 ? 1 : 2);
        calls[i] = (mxn_fused_call){params, numbers[i]};
        prepared[i] = prepare_like(params, shape);
    }
    const mxn_fusion_form form = {.fused = {.values = values,
                                            .calls = calls,
                                            .value_count = CHAIN_VALUES,
                                            .call_count = CHAIN_CALLS,
                                            .is_pointwise = true},
                                  .prepared = prepared,
                                  .scopes = scopes,
                                  .context = cpu};
    mxn_fusion *fusion = NULL;
    assert_int_equal(mxn_fusion_make(&form, &fusion), MXP_OK);
    for (uint32_t i = 0; i < CHAIN_CALLS; i++) {
        mxn_params_release(calls[i].params);
        mxn_prepared_release(prepared[i]);
    }
    return fusion;
}

static void check_chain(mxn_array *x, mxn_array *y, mxn_array *result, const char *what)
{
    mxn_array *less = invoke("elemwise_sub", x, y), *positive = NULL;
    mxn_params *relu = parse("relu", 1);
    const mxn_invocation in = {.params = relu, .inputs = &less, .outputs = &positive};
    assert_int_equal(mxn_invoke(&in), MXP_OK);
    mxn_params_release(relu);
    mxn_array *expected = invoke("elemwise_mul", positive, x);
    mxn_fusion *fusion = make_chain(&x->shape);
    mxn_array *const arrays[] = {x, y, NULL, NULL, result};
    push(fusion, arrays);
    assert_same(result, expected, what);
    mxn_fusion_release(fusion);
    mxn_array_release(less);
    mxn_array_release(positive);
    mxn_array_release(expected);
}

static void a_chain_gives_what_its_operators_give(void **state)
{
    (void)state;
    mxn_array *x = array_of(COUNT, 1, MXN_FLOAT32), *y = array_of(COUNT, 2, MXN_FLOAT32);
    mxn_array *result = array_of(COUNT, 3, MXN_FLOAT32);
    check_chain(x, y, result, "a chain");
    check_chain(x, x, result, "a chain on one array");
    check_chain(x, y, y, "a chain in place");
    mxn_array_release(x);
    mxn_array_release(y);
    mxn_array_release(result);
}

// The result lies a little further on in the memory of x: what is written is still to be read.
static void inputs_are_as_they_were_before(void **state)
{
    (void)state;
    enum { FURTHER = 100 };
    mxn_array *memory = array_of(COUNT + FURTHER, 1, MXN_FLOAT32), *x, *result;
    mxn_array *y = array_of(COUNT, 2, MXN_FLOAT32);
    assert_int_equal(mxn_array_slice(memory, 0, COUNT, &x), MXP_OK);
    assert_int_equal(mxn_array_slice(memory, FURTHER, COUNT + FURTHER, &result), MXP_OK);
    check_chain(x, y, result, "a chain onto its input");
    mxn_array_release(x);
    mxn_array_release(y);
    mxn_array_release(result);
    mxn_array_release(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pointwise_operator_runs_in_pieces),
        cmocka_unit_test(a_chain_gives_what_its_operators_give),
        cmocka_unit_test(inputs_are_as_they_were_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
