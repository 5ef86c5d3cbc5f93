// SPDX-License-Identifier: Apache-2.0
// Our own kernels against the plain C reference.
#include <math.h>
#include <stdlib.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "kernel_check.h"
#include "op_run.h"

enum { COUNT = 3 * 7001 };

#define P(...) ((const char *const[]){__VA_ARGS__, 0})
#define D(...)                                                                    \
    (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                             \
        __VA_ARGS__                                                               \
    }

static void own_kernels_compute_what_the_reference_does(void **state)
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
        cmocka_unit_test(own_kernels_compute_what_the_reference_does),
        cmocka_unit_test(weights_are_updated_as_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
