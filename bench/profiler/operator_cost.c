// SPDX-License-Identifier: Apache-2.0
// R8: a whole operator record, times and ids, over the two clock reads it needs.
#include "support/recording.h"

static void measure_operator(const bench_claim *claim)
{
    // Its 64 bytes are four spans' worth; the memory between two drains stays the same.
    bench_loop_pair pair = {.subject = bench_loop_operator,
                            .reference = bench_loop_two_ticks,
                            .name = bench_session_begin(),
                            .batch = BENCH_BATCH / 4,
                            .batches = 32,
                            .records = true};
    bench_compare_loops(claim, &pair, 31);
    bench_session_stop();
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R8 operator record", "ns/operator", false, 1.40, 1.25, measure_operator},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
