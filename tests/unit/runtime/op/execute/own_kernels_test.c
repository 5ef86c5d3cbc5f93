// SPDX-License-Identifier: Apache-2.0
// Our own kernels against the plain C reference.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "kernel_check.h"
#include "op_run.h"
#include "runtime/op/execute/kernel_choice.h"

enum { COUNT = 3 * 7001 };

#define P(...) ((const char *const[]){__VA_ARGS__, 0})
#define D(...)                                                                    \
    (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                             \
        __VA_ARGS__                                                               \
    }

static const kernel_case kernel_cases[] = {
#define CASE(op, params, ...) {op, params, __VA_ARGS__, 0},
#include "kernel_cases.def"
#undef CASE
};

static void own_kernels_compute_what_the_reference_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernel_cases / sizeof *kernel_cases; i++) {
        kernel_check(&kernel_cases[i]);
    }
}

// Those of which a case cannot tell the inputs from the shape of the first, or that have no
// gradient: products are in forward_cases.def, updates below.
static const char *const compared_elsewhere[] = {
    "_np_dot", "_npi_dot", "_npi_matmul", "batch_dot", "dot", "sgd_update", "multi_sgd_update"};

static bool is_compared(const char *op)
{
    bool found = false;
    for (size_t i = 0; i < sizeof kernel_cases / sizeof *kernel_cases; i++) {
        found = found || strcmp(kernel_cases[i].op, op) == 0;
    }
    for (size_t i = 0; i < sizeof compared_elsewhere / sizeof *compared_elsewhere; i++) {
        found = found || strcmp(compared_elsewhere[i], op) == 0;
    }
    return found;
}

// Gradients are compared with their forwards.
static void each_kernel_has_a_case(void **state)
{
    (void)state;
    const mxn_kernel_table *table = mxn__kernel_table(MXN_KERNEL_OWN);
    uint32_t lacking = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const char *op = table->entries[i].op;
        if (strncmp(op, "_backward", 9) != 0 && !is_compared(op)) {
            print_error("kernel_cases.def lacks a case of %s\n", op);
            lacking++;
        }
    }
    assert_int_equal(lacking, 0);
}

// Both types, the same values; the updated weights.
static void run_update(const char *op, const char *const *params, uint32_t weights, int dtype,
                       double *found)
{
    const int64_t dims[] = {3, 7001};
    mxn_array *inputs[4], *outputs[2];
    for (uint32_t i = 0; i < 2 * weights; i++) {
        inputs[i] = op_array(dtype, 2, dims, NULL, 5 + i);
    }
    for (uint32_t i = 0; i < weights; i++) {
        outputs[i] = inputs[2 * i];
    }
    if (op_run(op, params, 2 * weights, inputs, outputs, MXN_WRITE) != 0) {
        fail_msg("%s: %s", op, mxp_last_error());
    }
    for (uint32_t i = 0; i < weights; i++) {
        op_values(outputs[i], found + (size_t)i * COUNT);
    }
    for (uint32_t i = 0; i < 2 * weights; i++) {
        mxn_array_release(inputs[i]);
    }
}

static void check_update(const char *op, const char *const *params, uint32_t weights)
{
    double *fast = malloc(2 * COUNT * sizeof *fast), *plain = malloc(2 * COUNT * sizeof *plain);
    run_update(op, params, weights, MXN_FLOAT32, fast);
    run_update(op, params, weights, MXN_FLOAT64, plain);
    for (uint32_t i = 0; i < weights * COUNT; i++) {
        if (!(fabs(fast[i] - plain[i]) < 1e-6)) {
            fail_msg("%s: element %u is %.9g, the reference has %.9g", op, i, fast[i], plain[i]);
        }
    }
    free(fast);
    free(plain);
}

static void weights_are_updated_as_the_reference_does(void **state)
{
    (void)state;
    check_update("sgd_update", P("lr", "0.1"), 1);
    check_update("sgd_update", P("lr", "0.1", "wd", "0.01", "rescale_grad", "0.5"), 1);
    check_update("sgd_update", P("lr", "0.1", "rescale_grad", "-2", "clip_gradient", "1.5"), 1);
    check_update("sgd_update", P("lr", "0.1", "clip_gradient", "0"), 1);
    check_update("multi_sgd_update",
                 P("lrs", "(0.1,0.3)", "wds", "(0,0.1)", "num_weights", "2", "clip_gradient", "1"),
                 2);
}

int main(void)
{
    setenv("MXNET_CPU_KERNELS", "own", 1);
    setenv("MXNET_OMP_MAX_THREADS", "3", 1);  // more than parts in some of the cases
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_has_a_case),
        cmocka_unit_test(own_kernels_compute_what_the_reference_does),
        cmocka_unit_test(weights_are_updated_as_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
