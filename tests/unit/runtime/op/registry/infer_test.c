// SPDX-License-Identifier: Apache-2.0
// Inference takes all it needs from the parameters: NumPy's shapes are those they were parsed
// under, whatever the switch of the thread is that infers.
#include <pthread.h>
#include <string.h>

#include "base/atomic.h"
#include "cmocka_all.h"
#include "runtime/imperative/thread_mode.h"
#include "runtime/op/op.h"

// An operator that takes all dimensions of its inputs away.
typedef struct scalar_case {
    const char *op, *key, *value;
    uint32_t inputs;
    mxn_shape shape;  // of each input
} scalar_case;

static const scalar_case cases[] = {
    {"sum", NULL, NULL, 1, {.ndim = 2, .dims = {2, 3}}},
    {"max", "axis", "(0,1)", 1, {.ndim = 2, .dims = {2, 3}}},
    {"norm", NULL, NULL, 1, {.ndim = 2, .dims = {2, 3}}},
    {"argmax", "axis", "0", 1, {.ndim = 1, .dims = {3}}},
    {"squeeze", NULL, NULL, 1, {.ndim = 2, .dims = {1, 1}}},
    {"dot", NULL, NULL, 2, {.ndim = 1, .dims = {3}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static mxn_params *parse(const scalar_case *c, bool numpy_shape)
{
    mxn_params *params;
    assert_int_equal(mxn_params_parse(mxn_op_find(c->op), c->key != NULL, &c->key, &c->value,
                                      c->inputs, numpy_shape, &params),
                     0);
    return params;
}

// Of a thread: what it infers under a switch of its own. -1: it fails.
typedef struct inference {
    const scalar_case *of;
    mxn_params *params;
    bool thread_switch;
    mxn_shape result;
} inference;

static void *infer(void *argument)
{
    inference *in = argument;
    mxn__mode.numpy_shape = in->thread_switch;
    mxn_shape shapes[2] = {in->of->shape, in->of->shape};
    mxn_shape *const inputs[] = {&shapes[0], &shapes[1]}, *const outputs[] = {&in->result};
    int32_t types[2] = {MXN_FLOAT32, MXN_FLOAT32}, type = MXN_DTYPE_NONE;
    in->result = (mxn_shape){.ndim = -1};
    return mxn_op_infer(in->params, inputs, types, outputs, &type, NULL) == 0 ? NULL : in;
}

static void expect_rank(const scalar_case *c, mxn_params *params, int32_t ndim)
{
    for (int thread_switch = 0; thread_switch < 2; thread_switch++) {
        inference in = {.of = c, .params = params, .thread_switch = thread_switch != 0};
        pthread_t thread;
        void *failed;
        assert_int_equal(pthread_create(&thread, NULL, infer, &in), 0);
        pthread_join(thread, &failed);
        assert_null(failed);
        assert_int_equal(in.result.ndim, ndim);
        assert_true(ndim == 0 || in.result.dims[0] == 1);
    }
}

static void parameters_infer_as_parsed_whatever_the_thread_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        mxn_params *classic = parse(&cases[i], false), *numpy = parse(&cases[i], true);
        expect_rank(&cases[i], classic, 1);
        expect_rank(&cases[i], numpy, 0);
        mxp_atomic_store(&mxn__numpy_shape_of_all, true);
        expect_rank(&cases[i], classic, 1);
        mxp_atomic_store(&mxn__numpy_shape_of_all, false);
        mxn_params_release(classic);
        mxn_params_release(numpy);
    }
}

static void a_tuple_of_no_sizes_is_a_scalar_under_numpys_shapes_only(void **state)
{
    (void)state;
    for (int numpy_shape = 0; numpy_shape < 2; numpy_shape++) {
        const scalar_case zeros = {.op = "_zeros", .key = "shape", .value = "()"};
        mxn_params *params = parse(&zeros, numpy_shape != 0);
        mxn_shape shape = {.ndim = -1}, *const outputs[] = {&shape};
        int32_t type = MXN_DTYPE_NONE;
        bool complete;
        assert_int_equal(mxn_op_infer(params, NULL, NULL, outputs, &type, &complete), 0);
        assert_int_equal(complete, numpy_shape);
        mxn_params_release(params);
    }
}

static void the_other_switch_is_made_once_and_infers_the_other_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        mxn_params *classic = parse(&cases[i], false), *same, *other, *again;
        assert_int_equal(mxn_params_under(classic, false, &same), 0);
        assert_ptr_equal(same, classic);
        assert_int_equal(mxn_params_under(classic, true, &other), 0);
        assert_int_equal(mxn_params_under(classic, true, &again), 0);
        assert_ptr_not_equal(other, classic);
        assert_ptr_equal(other, again);
        assert_int_equal(other->input_count, classic->input_count);
        expect_rank(&cases[i], other, 0);
        expect_rank(&cases[i], classic, 1);
        mxn_params_retain(other);
        mxn_params_release(classic);
        expect_rank(&cases[i], other, 0);
        mxn_params_release(other);
    }
}

static void a_gradient_has_the_switch_of_its_forward(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        for (int numpy_shape = 0; numpy_shape < 2; numpy_shape++) {
            if (strcmp(cases[i].op, "argmax") == 0) {  // has none
                continue;
            }
            mxn_params *params = parse(&cases[i], numpy_shape != 0);
            const mxn_gradient *gradient;
            mxn__mode.numpy_shape = numpy_shape == 0;
            assert_int_equal(mxn_params_gradient(params, &gradient), 0);
            mxn__mode.numpy_shape = false;
            assert_true(gradient->count > 0);
            for (uint32_t at = 0; at < gradient->count; at++) {
                assert_int_equal(gradient->calls[at].params->numpy_shape, numpy_shape);
            }
            mxn_params_release(params);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_infer_as_parsed_whatever_the_thread_says),
        cmocka_unit_test(a_tuple_of_no_sizes_is_a_scalar_under_numpys_shapes_only),
        cmocka_unit_test(the_other_switch_is_made_once_and_infers_the_other_shape),
        cmocka_unit_test(a_gradient_has_the_switch_of_its_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
