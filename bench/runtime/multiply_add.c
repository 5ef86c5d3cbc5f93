// SPDX-License-Identifier: Apache-2.0
// How long the arithmetic of a training step takes if nothing else is done: multiply-adds on
// registers, on two threads. Compiled for this processor; of two widths the faster one counts.
#include <pthread.h>
#include <stdint.h>

#include "runtime/runtime_side.h"

enum { CHAINS = 12, THREADS = 2, REPEATS = 5 };

// Multiplications and additions of a step of lenet_step.c: forward, gradients of parameters, and
// gradients of data but for the first layer.
static const double step_flops =
    64 * (3 * 2.0 * (20 * 24 * 24 * 25 + 50 * 8 * 8 * 500 + 800 * 512 + 512 * 10) -
          2.0 * 20 * 24 * 24 * 25);

typedef float narrow __attribute__((vector_size(32)));
typedef float wide __attribute__((vector_size(64)));

#define VECTOR narrow
#define NAME(x) x##_narrow
#include "runtime/multiply_add_kernels.h"
#undef VECTOR
#undef NAME
#define VECTOR wide
#define NAME(x) x##_wide
#include "runtime/multiply_add_kernels.h"
#undef VECTOR
#undef NAME

static float (*loop)(uint64_t);
static uint64_t count;
static float kept[THREADS];

static void *work(void *result)
{
    *(float *)result = loop(count);
    return NULL;
}

static double time_of(float (*run)(uint64_t), size_t vector_bytes)
{
    pthread_t other;
    loop = run;
    count = (uint64_t)(step_flops / THREADS / CHAINS / 2 / (double)(vector_bytes / sizeof(float)));
    double begin = side_now_ns();
    if (pthread_create(&other, NULL, work, &kept[1]) != 0) {
        side_fail("pthread_create");
    }
    work(&kept[0]);
    pthread_join(other, NULL);
    return side_now_ns() - begin;
}

static void batch(void)
{
    double best = time_of(run_wide, sizeof(wide));
    for (int i = 0; i < REPEATS; i++) {
        double narrow_ns = time_of(run_narrow, sizeof(narrow)),
               wide_ns = time_of(run_wide, sizeof(wide));
        best = narrow_ns < best ? narrow_ns : best;
        best = wide_ns < best ? wide_ns : best;
    }
    side_answer("ns", best, NULL, 0);
}

const side_workload side_multiply_add[] = {{"multiply_add", NULL, batch}, {NULL, NULL, NULL}};
