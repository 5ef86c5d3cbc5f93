// SPDX-License-Identifier: Apache-2.0
// Gradients of gradients: closed forms of second and third derivatives, and what is summed, kept or
// refused on the way.
#include "cmocka_all.h"

#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "runtime/autograd/autograd.h"

enum { SIZE = 4 };
static const double start[SIZE] = {0.4, 0.7, 1.1, 1.6};

static mxn_array *make(const double *values)
{
    const mxn_context cpu = {MXN_CPU, 0};
    const mxn_shape shape = {.ndim = 1, .dims = {SIZE}};
    mxn_array *array = NULL;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT64, cpu, NULL, false, &array), MXP_OK);
    assert_int_equal(mxn_array_copy_in(array, values, SIZE), MXP_OK);
    return array;
}

static void assert_values(const mxn_array *array, const double *wanted)
{
    double got[SIZE];
    assert_int_equal(mxn_array_copy_out(array, got, SIZE), MXP_OK);
    for (int i = 0; i < SIZE; i++) {
        if (fabs(got[i] - wanted[i]) > 1e-9 * (1 + fabs(wanted[i]))) {
            fail_msg("element %d is %.12g and not %.12g", i, got[i], wanted[i]);
        }
    }
}

static mxn_array *run(const char *name, mxn_array *a, mxn_array *b, const char *scalar)
{
    mxn_params *params = NULL;
    mxn_array *const inputs[] = {a, b};
    mxn_array *out = NULL;
    const char *const key = "scalar";
    assert_non_null(mxn_op_find(name));
    assert_int_equal(mxn_params_parse(mxn_op_find(name), scalar != NULL, &key, &scalar,
                                      b != NULL ? 2 : 1, false, &params),
                     MXP_OK);
    const mxn_invocation in = {.params = params, .inputs = inputs, .outputs = &out};
    assert_int_equal(mxn_autograd_invoke(&in), MXP_OK);
    mxn_params_release(params);
    return out;
}

// The gradient of `y` for `x`, itself recorded; null if it is refused.
static mxn_array *derive(mxn_array *y, mxn_array *x)
{
    mxn_array *found = NULL;
    const mxn_backward_request request = {.outputs = &y,
                                          .output_count = 1,
                                          .variables = &x,
                                          .variable_count = 1,
                                          .retain_graph = true,
                                          .create_graph = true,
                                          .gradients = &found};
    int error = mxn_autograd_backward(&request);
    assert_true(error == MXP_OK || error == MXP_ENOTSUP);
    return error == MXP_OK ? found : NULL;
}

static mxn_array *make_variable(mxn_array **gradient, uint32_t request)
{
    static const double nothing[SIZE];
    mxn_array *x = make(start);
    *gradient = make(nothing);
    assert_int_equal(mxn_autograd_mark(x, request, *gradient), MXP_OK);
    mxn_autograd_recording_set(true);
    return x;
}

static void release(mxn_array **arrays, size_t count)
{
    mxn_autograd_recording_set(false);
    for (size_t i = 0; i < count; i++) {
        mxn_array_release(arrays[i]);
    }
}

// ---- second derivatives -----------------------------------------------------------------------
static double of_square(double x)
{
    (void)x;
    return 2;
}

static double of_exp(double x)
{
    return exp(x);
}

static double of_sin(double x)
{
    return -sin(x);
}

static double of_cos(double x)
{
    return -cos(x);
}

static double of_tanh(double x)
{
    return -2 * tanh(x) * (1 - tanh(x) * tanh(x));
}

static double of_sigmoid(double x)
{
    double s = 1 / (1 + exp(-x));
    return s * (1 - s) * (1 - 2 * s);
}

static double of_log(double x)
{
    return -1 / (x * x);
}

static double of_sqrt(double x)
{
    return -0.25 / (x * sqrt(x));
}

static double of_reciprocal(double x)
{
    return 2 / (x * x * x);
}

static double of_cube(double x)
{
    return 6 * x;
}

static double of_line(double x)
{
    (void)x;
    return 0;
}

typedef struct second {
    const char *name, *scalar;
    double (*wanted)(double x);
} second;

static const second seconds[] = {
    {"square", NULL, of_square},
    {"exp", NULL, of_exp},
    {"sin", NULL, of_sin},
    {"cos", NULL, of_cos},
    {"tanh", NULL, of_tanh},
    {"sigmoid", NULL, of_sigmoid},
    {"log", NULL, of_log},
    {"sqrt", NULL, of_sqrt},
    {"reciprocal", NULL, of_reciprocal},
    {"_power_scalar", "3", of_cube},
    {"_mul_scalar", "3", of_line},
    {"_npi_exp", NULL, of_exp},
    {"_npi_tanh", NULL, of_tanh},
};

// Of x f(x), so that something depends on x for a second time even where f is a line.
static void second_derivatives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        const second *s = &seconds[i];
        mxn_array *gradient = NULL, *x = make_variable(&gradient, MXN_WRITE);
        mxn_array *y = run(s->name, x, NULL, s->scalar);
        mxn_array *scaled = run("elemwise_mul", y, x, NULL);  // f x: second derivative 2 f' + x f''
        mxn_array *first = derive(scaled, x), *slope = derive(y, x);
        assert_non_null(first);
        mxn_array *again = derive(first, x);
        if (again == NULL) {
            fail_msg("%s: %s", s->name, mxp_last_error());
        }
        double slopes[SIZE], wanted[SIZE];
        assert_int_equal(mxn_array_copy_out(slope, slopes, SIZE), MXP_OK);
        for (int j = 0; j < SIZE; j++) {
            wanted[j] = 2 * slopes[j] + start[j] * s->wanted(start[j]);
        }
        assert_values(again, wanted);
        release((mxn_array *[]){x, gradient, y, scaled, first, slope, again}, 7);
    }
}

static void third_derivatives(void **state)
{
    (void)state;
    mxn_array *gradient = NULL, *x = make_variable(&gradient, MXN_WRITE);
    mxn_array *square = run("elemwise_mul", x, x, NULL),
              *cube = run("elemwise_mul", square, x, NULL);
    mxn_array *first = derive(cube, x), *again = derive(first, x), *third = derive(again, x);
    const double six[SIZE] = {6, 6, 6, 6};
    assert_non_null(third);
    assert_values(third, six);
    release((mxn_array *[]){x, gradient, square, cube, first, again, third}, 7);
}

// A penalty on a gradient: the gradient's own graph, and the forward's, are both walked.
static void second_gradients_are_added_to_variables(void **state)
{
    (void)state;
    mxn_array *gradient = NULL, *x = make_variable(&gradient, MXN_ADD);
    mxn_array *y = run("sin", x, NULL, NULL), *first = derive(y, x);
    mxn_array *penalty = run("square", first, NULL, NULL);  // cos(x)^2
    double wanted[SIZE];
    for (int i = 0; i < SIZE; i++) {
        wanted[i] = -4 * cos(start[i]) * sin(start[i]);  // twice
    }
    for (int retained = 1; retained >= 0; retained--) {
        const mxn_backward_request request = {
            .outputs = &penalty, .output_count = 1, .retain_graph = retained != 0};
        assert_int_equal(mxn_autograd_backward(&request), MXP_OK);
    }
    assert_values(gradient, wanted);
    const mxn_backward_request gone = {.outputs = &penalty, .output_count = 1};
    assert_int_equal(mxn_autograd_backward(&gone), MXP_EINVAL);
    release((mxn_array *[]){x, gradient, y, first, penalty}, 5);
}

static void what_has_no_second_gradient_is_named(void **state)
{
    (void)state;
    mxn_array *gradient = NULL, *x = make_variable(&gradient, MXN_WRITE);
    mxn_array *y = run("log_softmax", x, NULL, NULL), *first = derive(y, x);
    assert_non_null(first);
    assert_null(derive(first, x));
    assert_non_null(strstr(mxp_last_error(), "_backward_log_softmax"));
    release((mxn_array *[]){x, gradient, y, first}, 4);
}

// Gradients that go where variables were marked to are values, no part of the graph: a variable
// that held its own graph by its gradient would never go.
static void a_recorded_backward_into_gradients_keeps_nothing(void **state)
{
    (void)state;
    uint64_t arrays_before, buffers_before, arrays, buffers;
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxn_array_counts(&arrays_before, &buffers_before);
    for (int twice = 0; twice < 2; twice++) {
        mxn_array *gradient = NULL, *x = make_variable(&gradient, MXN_WRITE);
        mxn_array *squared = run("square", x, NULL, NULL);
        mxn_array *y =
            twice ? run("elemwise_mul", squared, x, NULL) : run("exp", squared, NULL, NULL);
        for (int i = 0; i < 2; i++) {
            const mxn_backward_request request = {.outputs = &y,
                                                  .output_count = 1,
                                                  .retain_graph = true,
                                                  .create_graph = true,
                                                  .training = true};
            assert_int_equal(mxn_autograd_backward(&request), MXP_OK);
        }
        double wanted[SIZE];
        for (int i = 0; i < SIZE; i++) {
            double v = start[i];
            wanted[i] = twice ? 3 * v * v : 2 * v * exp(v * v);
        }
        assert_values(gradient, wanted);
        release((mxn_array *[]){y, squared, x, gradient}, 4);
    }
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxn_array_counts(&arrays, &buffers);
    assert_int_equal(arrays, arrays_before);
    assert_int_equal(buffers, buffers_before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_derivatives),
        cmocka_unit_test(third_derivatives),
        cmocka_unit_test(second_gradients_are_added_to_variables),
        cmocka_unit_test(what_has_no_second_gradient_is_named),
        cmocka_unit_test(a_recorded_backward_into_gradients_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
