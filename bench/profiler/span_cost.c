// SPDX-License-Identifier: Apache-2.0
// R1, R2: what a span costs over the two clock reads that it cannot do without.
#include "support/recording.h"

static void measure(const bench_claim *claim, bench_loop loop)
{
    bench_loop_pair pair = {.subject = loop,
                            .reference = bench_loop_two_ticks,
                            .name = bench_session_begin(),
                            .batch = BENCH_BATCH,
                            .batches = 8,
                            .records = true};
    bench_compare_loops(claim, &pair, 31);
    bench_session_stop();
}

static void measure_inline(const bench_claim *claim)
{
    measure(claim, bench_loop_span_inline);
}

static void measure_exported(const bench_claim *claim)
{
    measure(claim, bench_loop_span_exported);
}

static void measure_functions(const bench_claim *claim)
{
    measure(claim, bench_loop_span_functions);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R1 span, header inline", "ns/span", false, 1.20, 1.10, measure_inline},
        {"R2 span, exported functions", "ns/span", false, 1.35, 1.20, measure_exported},
        {"R2 span, exported functions with the gate", "ns/span", false, 1.35, 1.20,
         measure_functions},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
