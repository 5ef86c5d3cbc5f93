// SPDX-License-Identifier: Apache-2.0
// Gradients of small programs against finite differences; requests, head gradients, kept graphs,
// and what is refused.
#include "cmocka_all.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/autograd/autograd.h"

enum { SIZE = 6 };

static mxn_array *make(const double *values)
{
    const mxn_context cpu = {MXN_CPU, 0};
    const int64_t dims[] = {2, 3};
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, 2, dims, "the test's array"), MXP_OK);
    mxn_array *array = NULL;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT64, cpu, NULL, false, &array), MXP_OK);
    assert_int_equal(mxn_array_copy_in(array, values, SIZE), MXP_OK);
    return array;
}

static mxn_array *make_zero(void)
{
    const double zeros[SIZE] = {0};
    return make(zeros);
}

// The result stays alive until the test ends: a program's own arrays do too.
static mxn_array *kept[64];
static size_t kept_count;

static mxn_array *run_op(const char *name, uint32_t count, mxn_array *a, mxn_array *b,
                         const char *scalar)
{
    mxn_params *params = NULL;
    mxn_array *const inputs[] = {a, b};
    mxn_array *out = NULL;
    const char *const key = "scalar";
    assert_non_null(mxn_op_find(name));
    assert_int_equal(
        mxn_params_parse(mxn_op_find(name), scalar != NULL, &key, &scalar, count, false, &params),
        MXP_OK);
    const mxn_invocation in = {.params = params, .inputs = inputs, .outputs = &out};
    assert_int_equal(mxn_autograd_invoke(&in), MXP_OK);
    mxn_params_release(params);
    kept[kept_count++] = out;
    return out;
}

static void release_kept(void)
{
    while (kept_count > 0) {
        mxn_array_release(kept[--kept_count]);
    }
}

static void read(const mxn_array *array, double *values)
{
    assert_int_equal(mxn_array_copy_out(array, values, SIZE), MXP_OK);
}

static int backward(mxn_array *output, mxn_array *head, bool retain)
{
    const mxn_backward_request request = {.outputs = &output,
                                          .head_gradients = head == NULL ? NULL : &head,
                                          .output_count = 1,
                                          .retain_graph = retain,
                                          .training = true};
    return mxn_autograd_backward(&request);
}

// ---- compositions -----------------------------------------------------------------------------
typedef mxn_array *(*program)(mxn_array *x);

static mxn_array *product_of_branches(mxn_array *x)
{
    mxn_array *a = run_op("square", 1, x, NULL, NULL);
    mxn_array *b = run_op("sin", 1, x, NULL, NULL);
    return run_op("elemwise_mul", 2, a, b, NULL);
}

static mxn_array *chain(mxn_array *x)
{
    mxn_array *a = run_op("_mul_scalar", 1, x, NULL, "0.5");
    a = run_op("exp", 1, a, NULL, NULL);
    a = run_op("_plus_scalar", 1, a, NULL, "3");
    return run_op("log", 1, a, NULL, NULL);
}

static mxn_array *one_array_twice(mxn_array *x)
{
    return run_op("elemwise_mul", 2, x, x, NULL);
}

static mxn_array *quotient(mxn_array *x)
{
    mxn_array *a = run_op("tanh", 1, x, NULL, NULL);
    mxn_array *b = run_op("_plus_scalar", 1, x, NULL, "4");
    return run_op("elemwise_div", 2, a, b, NULL);
}

static mxn_array *many_uses(mxn_array *x)
{
    mxn_array *sum = x;
    for (int i = 0; i < 9; i++) {
        sum = run_op("elemwise_mul", 2, sum, x, NULL);
        sum = run_op("_mul_scalar", 1, sum, NULL, "0.7");
    }
    return sum;
}

static const double start[SIZE] = {0.3, -0.8, 1.1, 0.9, -0.2, 1.4};

// The gradient of sum(program(x) * head) by element, from differences.
static void differences(program function, const double *head, double *gradient)
{
    const double step = 1e-5;
    for (int i = 0; i < SIZE; i++) {
        double sides[2];
        for (int side = 0; side < 2; side++) {
            double values[SIZE], result[SIZE];
            memcpy(values, start, sizeof(values));
            values[i] += side == 0 ? -step : step;
            mxn_array *x = make(values);
            read(function(x), result);
            sides[side] = 0;
            for (int j = 0; j < SIZE; j++) {
                sides[side] += result[j] * head[j];
            }
            mxn_array_release(x);
            release_kept();
        }
        gradient[i] = (sides[1] - sides[0]) / (2 * step);
    }
}

static void assert_close(const double *got, const double *wanted)
{
    for (int i = 0; i < SIZE; i++) {
        if (!(fabs(got[i] - wanted[i]) <= 1e-6 * (1 + fabs(wanted[i])))) {
            fail_msg("element %d is %.9g and should be %.9g", i, got[i], wanted[i]);
        }
    }
}

static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    const program programs[] = {product_of_branches, chain, one_array_twice, quotient, many_uses};
    const double ones[SIZE] = {1, 1, 1, 1, 1, 1}, other[SIZE] = {2, -1, 0.5, 0, 3, 1};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        double got[SIZE], wanted[SIZE];
        mxn_array *x = make(start), *gradient = make_zero(), *head = make(other);
        assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
        for (int with_head = 0; with_head < 2; with_head++) {
            mxn_autograd_recording_set(true);
            mxn_array *result = programs[i](x);
            mxn_autograd_recording_set(false);
            assert_int_equal(backward(result, with_head ? head : NULL, false), MXP_OK);
            read(gradient, got);
            release_kept();
            differences(programs[i], with_head ? other : ones, wanted);
            assert_close(got, wanted);
        }
        mxn_array_release(x);
        mxn_array_release(gradient);
        mxn_array_release(head);
    }
}

// ---- requests and graphs ----------------------------------------------------------------------
static void requests_add_up(void **state)
{
    (void)state;
    mxn_array *x = make(start), *gradient = make_zero();
    double got[SIZE], wanted[SIZE];
    assert_int_equal(mxn_autograd_mark(x, MXN_ADD, gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_array *one = run_op("_mul_scalar", 1, x, NULL, "3");
    mxn_array *two = one_array_twice(x);
    mxn_autograd_recording_set(false);
    assert_false(mxn_autograd_fresh(x));
    assert_int_equal(backward(one, NULL, false), MXP_OK);
    assert_true(mxn_autograd_fresh(x));
    assert_int_equal(backward(two, NULL, true), MXP_OK);
    assert_int_equal(backward(two, NULL, false), MXP_OK);
    read(gradient, got);
    for (int i = 0; i < SIZE; i++) {
        wanted[i] = 3 + 4 * start[i];
    }
    assert_close(got, wanted);
    release_kept();
    mxn_array_release(x);
    mxn_array_release(gradient);
}

static void a_graph_is_forgotten_unless_retained(void **state)
{
    (void)state;
    mxn_array *x = make(start), *gradient = make_zero();
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_array *result = product_of_branches(x);
    mxn_autograd_recording_set(false);
    assert_int_equal(backward(result, NULL, true), MXP_OK);
    assert_int_equal(backward(result, NULL, false), MXP_OK);
    assert_int_equal(backward(result, NULL, false), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "Cannot differentiate node"));
    release_kept();
    mxn_array_release(x);
    mxn_array_release(gradient);
}

static void gradients_of_variables_are_handed_out(void **state)
{
    (void)state;
    mxn_array *x = make(start), *y = make(start), *gradient = make_zero(), *untouched = make_zero();
    double got[SIZE], wanted[SIZE];
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    assert_int_equal(mxn_autograd_mark(y, MXN_WRITE, untouched), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_array *result = run_op("elemwise_mul", 2, x, y, NULL);
    mxn_autograd_recording_set(false);
    mxn_array *found = NULL;
    const mxn_backward_request request = {.outputs = &result,
                                          .output_count = 1,
                                          .variables = &x,
                                          .variable_count = 1,
                                          .gradients = &found};
    assert_int_equal(mxn_autograd_backward(&request), MXP_OK);
    read(found, got);
    assert_close(got, start);
    const double zeros[SIZE] = {0};
    read(untouched, wanted);
    assert_close(wanted, zeros);
    mxn_array_release(found);
    release_kept();
    mxn_array_release(x);
    mxn_array_release(y);
    mxn_array_release(gradient);
    mxn_array_release(untouched);
}

// The gradient of x + 2 for x is the head gradient, so its own gradient for that is all ones.
static void gradients_of_gradients(void **state)
{
    (void)state;
    mxn_array *x = make(start), *gradient = make_zero();
    mxn_array *head = make(start), *head_gradient = make_zero(), *first = NULL;
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    assert_int_equal(mxn_autograd_mark(head, MXN_WRITE, head_gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_array *sum = run_op("_plus_scalar", 1, x, NULL, "2");
    const mxn_backward_request request = {.outputs = &sum,
                                          .head_gradients = &head,
                                          .output_count = 1,
                                          .variables = &x,
                                          .variable_count = 1,
                                          .create_graph = true,
                                          .gradients = &first};
    assert_int_equal(mxn_autograd_backward(&request), MXP_OK);
    assert_true(mxn_autograd_recording());
    mxn_autograd_recording_set(false);
    double got[SIZE];
    const double ones[SIZE] = {1, 1, 1, 1, 1, 1};
    read(first, got);
    assert_close(got, start);
    assert_int_equal(backward(first, NULL, false), MXP_OK);
    read(head_gradient, got);
    assert_close(got, ones);
    mxn_array_release(first);
    release_kept();
    mxn_array_release(x);
    mxn_array_release(gradient);
    mxn_array_release(head);
    mxn_array_release(head_gradient);
}

static void a_gradient_that_is_zero_is_written(void **state)
{
    (void)state;
    mxn_array *x = make(start), *gradient = make(start);
    double got[SIZE];
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_array *result = run_op("BlockGrad", 1, x, NULL, NULL);
    mxn_autograd_recording_set(false);
    assert_int_equal(backward(result, NULL, false), MXP_OK);
    read(gradient, got);
    const double zeros[SIZE] = {0};
    assert_close(got, zeros);
    release_kept();
    mxn_array_release(x);
    mxn_array_release(gradient);
}

// ---- refusals ---------------------------------------------------------------------------------
static void an_array_of_a_graph_is_not_written(void **state)
{
    (void)state;
    mxn_array *x = make(start), *gradient = make_zero();
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    mxn_params *params = NULL;
    assert_int_equal(mxn_params_parse(mxn_op_find("square"), 0, NULL, NULL, 1, false, &params),
                     MXP_OK);
    const mxn_invocation in = {.params = params, .inputs = &x, .outputs = &x};
    assert_int_equal(mxn_autograd_invoke(&in), MXP_EINVAL);
    mxn_autograd_recording_set(false);
    assert_non_null(strstr(mxp_last_error(), "already in a computational graph"));
    assert_int_equal(mxn_autograd_invoke(&in), MXP_OK);  // outside, it may be
    mxn_params_release(params);
    mxn_array_release(x);
    mxn_array_release(gradient);
}

static void what_cannot_be_differentiated_is_said(void **state)
{
    (void)state;
    mxn_array *x = make(start), *y = make(start), *gradient = make_zero();
    assert_int_equal(backward(x, NULL, false), MXP_EINVAL);
    assert_int_equal(mxn_autograd_backward(&(mxn_backward_request){0}), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "no outputs were given"));
    assert_int_equal(mxn_autograd_mark(x, 2, gradient), MXP_EINVAL);
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    assert_int_equal(mxn_autograd_fresh_set(y, true), MXP_EINVAL);
    mxn_autograd_recording_set(true);
    mxn_array *result = one_array_twice(x);
    mxn_autograd_recording_set(false);
    mxn_array *found = NULL;
    const mxn_backward_request request = {.outputs = &result,
                                          .output_count = 1,
                                          .variables = &y,
                                          .variable_count = 1,
                                          .gradients = &found};
    assert_int_equal(mxn_autograd_backward(&request), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Cannot differentiate with respect to the 1-th variable "
                                          "because it does not require gradient.");
    mxn_array *row = NULL;
    assert_int_equal(mxn_array_slice(y, 0, 1, &row), MXP_OK);
    assert_int_equal(backward(result, row, false), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "(1,3)"));
    assert_int_equal(backward(result, NULL, false), MXP_OK);  // the graph is still there
    release_kept();
    mxn_array_release(row);
    mxn_array_release(x);
    mxn_array_release(y);
    mxn_array_release(gradient);
}

// A chain as long as a program: nothing recurses, and nothing is left.
static void long_graphs_end(void **state)
{
    enum { LENGTH = 20000 };
    (void)state;
    uint64_t before = 0, after = 0, buffers = 0;
    mxn_array_counts(&before, &buffers);
    mxn_array *x = make(start), *gradient = make_zero();
    assert_int_equal(mxn_autograd_mark(x, MXN_WRITE, gradient), MXP_OK);
    for (int with_backward = 0; with_backward < 2; with_backward++) {
        mxn_autograd_recording_set(true);
        mxn_array *last = run_op("_plus_scalar", 1, x, NULL, "0");
        for (int i = 0; i < LENGTH; i++) {
            kept_count--;
            mxn_array *next = run_op("_plus_scalar", 1, last, NULL, "0");
            mxn_array_release(last);
            last = next;
        }
        mxn_autograd_recording_set(false);
        if (with_backward) {
            assert_int_equal(backward(last, NULL, false), MXP_OK);
        }
        release_kept();
    }
    double got[SIZE];
    read(gradient, got);
    const double ones[SIZE] = {1, 1, 1, 1, 1, 1};
    assert_close(got, ones);
    mxn_array_release(x);
    mxn_array_release(gradient);
    mxn_array_counts(&after, &buffers);
    assert_int_equal(after, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_differences),
        cmocka_unit_test(requests_add_up),
        cmocka_unit_test(a_graph_is_forgotten_unless_retained),
        cmocka_unit_test(gradients_of_variables_are_handed_out),
        cmocka_unit_test(gradients_of_gradients),
        cmocka_unit_test(a_gradient_that_is_zero_is_written),
        cmocka_unit_test(an_array_of_a_graph_is_not_written),
        cmocka_unit_test(what_cannot_be_differentiated_is_said),
        cmocka_unit_test(long_graphs_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
