// SPDX-License-Identifier: Apache-2.0
// Prepared calls and invocations of operators on square arrays, for tests that compare them.
#ifndef TEST_PREPARED_CALLS_H
#define TEST_PREPARED_CALLS_H

#include "cmocka_all.h"

#include <mxprof/error.h>

#include "runtime/imperative/prepared.h"

enum { SIZE = 12, VALUES = SIZE * SIZE };
static const mxn_context cpu = {MXN_CPU, 0};

static inline mxn_params *parse(const char *name, uint32_t inputs)
{
    mxn_params *params = NULL;
    assert_int_equal(mxn_params_parse(mxn_op_find(name), 0, NULL, NULL, inputs, false, &params),
                     MXP_OK);
    return params;
}

static inline mxn_shape shape_of(int64_t rows, int64_t columns)
{
    const int64_t dims[] = {rows, columns};
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, 2, dims, "the test's array"), MXP_OK);
    return shape;
}

static inline mxn_array *make(int64_t rows, int64_t columns, float first)
{
    const mxn_shape shape = shape_of(rows, columns);
    mxn_array *array = NULL;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, false, &array), MXP_OK);
    float values[VALUES];
    for (int i = 0; i < rows * columns; i++) {
        values[i] = first + (float)i;
    }
    assert_int_equal(mxn_array_copy_in(array, values, (uint64_t)(rows * columns)), MXP_OK);
    return array;
}

static inline void same_values(mxn_array *array, mxn_array *expected)
{
    float is[VALUES], should[VALUES];
    assert_int_equal(mxn_array_copy_out(array, is, VALUES), MXP_OK);
    assert_int_equal(mxn_array_copy_out(expected, should, VALUES), MXP_OK);
    assert_memory_equal(is, should, sizeof is);
}

// A call with two inputs of SIZE x SIZE.
static inline mxn_prepared *prepare(const char *name, const uint32_t *requests)
{
    mxn_params *params = parse(name, 2);
    const mxn_shape shape = shape_of(SIZE, SIZE);
    const mxn_tensor_type inputs[] = {{&shape, MXN_FLOAT32}, {&shape, MXN_FLOAT32}};
    const mxn_signature signature = {
        .params = params, .inputs = inputs, .requests = requests, .context = cpu};
    mxn_prepared *prepared = NULL;
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_OK);
    mxn_params_release(params);
    return prepared;
}

static inline int run(mxn_prepared *prepared, mxn_array *a, mxn_array *b, mxn_array *out)
{
    mxn_array *const inputs[] = {a, b};
    const mxn_binding binding = {.inputs = inputs, .outputs = &out};
    mxn_bound *bound = NULL;
    int error = mxn_bind(prepared, &binding, &bound);
    return error == MXP_OK ? mxn_bound_push(bound, 0) : error;
}

static inline mxn_array *invoke(const char *name, mxn_array *a, mxn_array *b)
{
    mxn_params *params = parse(name, 2);
    mxn_array *const inputs[] = {a, b};
    mxn_array *out = NULL;
    const mxn_invocation in = {.params = params, .inputs = inputs, .outputs = &out};
    assert_int_equal(mxn_invoke(&in), MXP_OK);
    mxn_params_release(params);
    return out;
}

// A kernel that no operator has.
static inline int add_seven(mxn_job *job)
{
    const float *in = job->inputs[0].data;
    float *out = job->outputs[0].data;
    for (int i = 0; i < VALUES; i++) {
        out[i] = in[i] + 7;
    }
    return 0;
}

#endif
