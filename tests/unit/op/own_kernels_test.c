// SPDX-License-Identifier: Apache-2.0
// Our own kernels against the plain C reference.
#include <stdlib.h>

#include "cmocka_all.h"
#include "kernel_check.h"

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

int main(void)
{
    setenv("MXNET_CPU_KERNELS", "own", 1);
    setenv("MXNET_OMP_MAX_THREADS", "3", 1);  // more than parts in some of the cases
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_kernels_compute_what_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
