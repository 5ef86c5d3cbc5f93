// SPDX-License-Identifier: Apache-2.0
// oneDNN's kernels against the plain C reference; primitives are made once, weights reordered once
// for each version of them, and nothing of LeNet falls to the library's reference code.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "kernel_check.h"
#include "op_run.h"
#include "runtime/op/backend/dnnl/dnnl_primitive.h"
#include "runtime/op/execute/kernel_choice.h"

#define P(...) ((const char *const[]){__VA_ARGS__, 0})
#define D(...)                                                                    \
    (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                             \
        __VA_ARGS__                                                               \
    }

static mxn_problem_counts counts_now(void)
{
    mxn_problem_counts counts;
    mxn__problem_counts_get(&counts);
    return counts;
}

static void library_computes_what_the_reference_does(void **state)
{
    (void)state;
#define CASE(op, params, ...) {op, params, __VA_ARGS__, 0},
    const kernel_case cases[] = {
#include "kernel_cases.def"
    };
#undef CASE
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_check(&cases[i]);
    }
    assert_true(counts_now().made > 50);
}

static void problem_met_again_makes_no_primitive(void **state)
{
    (void)state;
    const kernel_case one = {"Convolution", P("kernel", "(3,3)", "num_filter", "24"),
                             D(2, 17, 10, 10), 0};
    kernel_check(&one);
    const mxn_problem_counts before = counts_now();
    kernel_check(&one);
    const mxn_problem_counts after = counts_now();
    assert_int_equal(after.made, before.made);
    assert_true(after.executed > before.executed);
}

typedef struct layer {
    mxn_array *inputs[3], *output;
} layer;

static void run_layer(layer *l)
{
    assert_int_equal(op_run("Convolution", P("kernel", "(5,5)", "num_filter", "50"), 3, l->inputs,
                            &l->output, MXN_WRITE),
                     0);
}

static void layer_init(layer *l)
{
    l->inputs[0] = op_array(MXN_FLOAT32, 4, (const int64_t[]){2, 20, 12, 12}, NULL, 1);
    l->inputs[1] = op_array(MXN_FLOAT32, 4, (const int64_t[]){50, 20, 5, 5}, NULL, 2);
    l->inputs[2] = op_array(MXN_FLOAT32, 1, (const int64_t[]){50}, NULL, 3);
    l->output = NULL;
}

static void layer_fini(layer *l)
{
    for (int i = 0; i < 3; i++) {
        mxn_array_release(l->inputs[i]);
    }
    mxn_array_release(l->output);
}

static float first_of(const mxn_array *array)
{
    float *values = malloc(mxn_array_size(array) * sizeof(float));
    assert_int_equal(mxn_array_copy_out(array, values, mxn_array_size(array)), 0);
    float first = values[0];
    free(values);
    return first;
}

static void weight_is_reordered_once_for_each_version(void **state)
{
    (void)state;
    layer l;
    layer_init(&l);
    const mxn_problem_counts before = counts_now();
    for (int i = 0; i < 5; i++) {
        run_layer(&l);
    }
    mxn_problem_counts now = counts_now();
    assert_int_equal(now.weights_reordered - before.weights_reordered, 1);
    assert_int_equal(now.weights_cached - before.weights_cached, 4);
    assert_int_equal(now.made - before.made, 1);
    float full = first_of(l.output);

    // A write that the engine knows of, and one of the program's own.
    assert_int_equal(mxn_array_fill(l.inputs[1], 0, &(mxn_push_options){0}), 0);
    run_layer(&l);
    assert_int_equal(counts_now().weights_reordered - before.weights_reordered, 2);
    float bias = first_of(l.output);
    assert_true(bias < full);
    float *ones = malloc(25000 * sizeof(float));
    for (int i = 0; i < 25000; i++) {
        ones[i] = 1;
    }
    assert_int_equal(mxn_array_copy_in(l.inputs[1], ones, 25000), 0);
    free(ones);
    run_layer(&l);
    assert_int_equal(counts_now().weights_reordered - before.weights_reordered, 3);
    assert_true(first_of(l.output) > bias + 100);
    layer_fini(&l);
}

static void weight_whose_address_is_out_is_not_kept(void **state)
{
    (void)state;
    layer l;
    layer_init(&l);
    void *data;
    assert_int_equal(mxn_array_data_exposed(l.inputs[1], &data), 0);
    const mxn_problem_counts before = counts_now();
    run_layer(&l);
    float full = first_of(l.output);
    memset(data, 0, 25000 * sizeof(float));
    run_layer(&l);
    assert_true(first_of(l.output) < full);
    assert_int_equal(counts_now().weights_cached, before.weights_cached);
    layer_fini(&l);
}

static void lenet_runs_on_fast_code(void **state)
{
    (void)state;
    const kernel_case layers[] = {
        {"Convolution", P("kernel", "(5,5)", "num_filter", "20"), D(64, 1, 28, 28), 1e-4},
        {"Convolution", P("kernel", "(5,5)", "num_filter", "50"), D(64, 20, 12, 12), 1e-4},
        {"FullyConnected", P("num_hidden", "500"), D(64, 800), 1e-4},
        {"FullyConnected", P("num_hidden", "10"), D(64, 500), 1e-4},
    };
    const mxn_problem_counts before = counts_now();
    uint64_t expected = 0;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        kernel_check(&layers[i]);
        expected += 3;  // forward, to the data, to the weight
        const mxn_problem_counts now = counts_now();
        assert_true(now.implementation[0] != '\0');
        assert_null(strstr(now.implementation, "ref"));
    }
    // What falls to reference code is not made: the plain kernel would have run.
    assert_true(counts_now().made - before.made >= expected);
}

// ThreadSanitizer does not see how OpenMP's threads wait for each other, and would report all that
// one of them hands to another.
#if defined(__SANITIZE_THREAD__)
static const char threads[] = "1";
#else
static const char threads[] = "2";
#endif

int main(void)
{
    setenv("MXNET_CPU_KERNELS", "dnnl", 1);
    setenv("MXNET_OMP_MAX_THREADS", threads, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenet_runs_on_fast_code),
        cmocka_unit_test(library_computes_what_the_reference_does),
        cmocka_unit_test(problem_met_again_makes_no_primitive),
        cmocka_unit_test(weight_is_reordered_once_for_each_version),
        cmocka_unit_test(weight_whose_address_is_out_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
