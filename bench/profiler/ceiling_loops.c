// SPDX-License-Identifier: Apache-2.0
// A4: the loops whose rates are the ceilings of `mxprof roof`, compiled for several processors and
// chosen at run time, over loops that are written by hand and compiled for this one: multiply-adds
// from registers, and a triad within half of L2. Of two widths of the hand's the faster counts.
#include <stdlib.h>

#include "profiler/analysis/roof/ceiling_kernels.h"
#include "support/harness.h"

enum { CHAINS = 12, ROUNDS = 15 };
static const uint64_t multiply_adds = 2000000;
static const size_t triad_count = 40960;  // numbers of each array: 480 KiB together
static const uint64_t triad_times = 2000;

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

typedef struct loops {
    const mxp_ceiling_kernels *ours;
    float (*by_hand)(uint64_t);
    size_t hand_lanes;
    float *arrays;
    float kept;
} loops;

static const size_t skew = 16;

// ---- multiply-adds -----------------------------------------------------------------------------
// By CPU time, so that who else runs does not choose.
static double time_of(float (*run)(uint64_t), size_t lanes, float *kept)
{
    bench_stretch stretch = {0};
    bench_start(&stretch);
    *kept += run(multiply_adds);
    bench_stop(&stretch, 1);
    return stretch.cpu_ns / (double)lanes;
}

static void choose_width(loops *of)
{
    double narrow_ns = 0, wide_ns = 0;
    for (int i = 0; i < 3; i++) {
        double ns = time_of(run_narrow, sizeof(narrow) / sizeof(float), &of->kept);
        narrow_ns = i == 0 || ns < narrow_ns ? ns : narrow_ns;
        ns = time_of(run_wide, sizeof(wide) / sizeof(float), &of->kept);
        wide_ns = i == 0 || ns < wide_ns ? ns : wide_ns;
    }
    of->by_hand = wide_ns < narrow_ns ? run_wide : run_narrow;
    of->hand_lanes = (wide_ns < narrow_ns ? sizeof(wide) : sizeof(narrow)) / sizeof(float);
}

static void our_multiply_adds(void *context, bench_stretch *stretch)
{
    loops *of = context;
    double lanes = of->ours->vector_bytes / (double)sizeof(float);
    bench_start(stretch);
    of->kept += of->ours->multiply_add_f32(multiply_adds);
    bench_stop(stretch, 2 * lanes * MXP__CEILING_CHAINS * (double)multiply_adds);
}

static void hand_multiply_adds(void *context, bench_stretch *stretch)
{
    loops *of = context;
    bench_start(stretch);
    of->kept += of->by_hand(multiply_adds);
    bench_stop(stretch, 2.0 * (double)of->hand_lanes * CHAINS * (double)multiply_adds);
}

// ---- triad -------------------------------------------------------------------------------------
static void our_triad(void *context, bench_stretch *stretch)
{
    loops *of = context;
    float *a = of->arrays, *b = a + triad_count + skew, *c = b + triad_count + skew;
    bench_start(stretch);
    of->ours->triad(a, b, c, triad_count, triad_times);
    bench_stop(stretch, 3.0 * sizeof(float) * (double)triad_count * (double)triad_times);
}

static void hand_triad(void *context, bench_stretch *stretch)
{
    loops *of = context;
    float *restrict a = of->arrays;
    const float *restrict b = a + triad_count + skew, *restrict c = b + triad_count + skew;
    bench_start(stretch);
    for (uint64_t k = 0; k < triad_times; k++) {
        for (size_t i = 0; i < triad_count; i++) {
            a[i] = b[i] + 3.0f * c[i];
        }
        __asm__ volatile("" ::"r"(a) : "memory");
    }
    bench_stop(stretch, 3.0 * sizeof(float) * (double)triad_count * (double)triad_times);
}

// ---- claims ------------------------------------------------------------------------------------
static void compare(const bench_claim *claim, bench_side subject, bench_side reference)
{
    loops of = {.ours = mxp__ceiling_kernels_here()};
    size_t bytes = 3 * (triad_count + skew) * sizeof(float);
    void *arrays = NULL;
    bench_require(posix_memalign(&arrays, 64, bytes) == 0, "memory");
    bench_touch(arrays, bytes);
    of.arrays = arrays;
    bench_pin(0);
    choose_width(&of);
    bench_compare(claim, &(bench_plan){.subject = subject,
                                       .reference = reference,
                                       .context = &of,
                                       .rounds = ROUNDS,
                                       .scale = 1e-3});
    bench_require(of.kept < 1e30f, "sums that stay near 1");
    free(arrays);
}

static void measure_multiply_adds(const bench_claim *claim)
{
    compare(claim, our_multiply_adds, hand_multiply_adds);
}

static void measure_triad(const bench_claim *claim)
{
    compare(claim, our_triad, hand_triad);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"A4 ceiling of multiply-adds, over a loop by hand", "GFLOP/s", true, 0.9, 0.98,
         measure_multiply_adds},
        {"A4 ceiling of L2, over a triad by hand", "GB/s", true, 0.9, 0.98, measure_triad},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof claims[0]);
}
