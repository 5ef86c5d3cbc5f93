// SPDX-License-Identifier: Apache-2.0
// R5: what a site costs while nothing records: inline over an empty loop, through exported
// functions over two empty calls into another shared library.
#include "support/recording.h"

static void measure(const bench_claim *claim, bench_loop subject, bench_loop reference)
{
    bench_loop_pair pair = {.subject = subject,
                            .reference = reference,
                            .name = bench_session_begin(),
                            .batch = 1 << 24,
                            .batches = 2,
                            .records = false};
    bench_session_stop();
    bench_compare_loops(claim, &pair, 21);
}

static void measure_inline(const bench_claim *claim)
{
    measure(claim, bench_loop_span_inline, bench_loop_nothing);
}

static void measure_exported(const bench_claim *claim)
{
    measure(claim, bench_loop_span_functions, bench_loop_two_empty_calls);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R5 off, inline", "ns/span", false, 2.0, 1.6, measure_inline},
        {"R5 off, exported", "ns/span", false, 1.5, 1.1, measure_exported},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
