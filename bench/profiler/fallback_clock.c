// SPDX-License-Identifier: Apache-2.0
// R3: a span on the fallback clock, over two reads of that clock. The library chooses its clock
// when it is first used, so the program starts itself again with the choice in its environment.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxprof/format.h>

#include "support/recording.h"

static void measure(const bench_claim *claim, bench_loop loop)
{
    bench_loop_pair pair = {.subject = loop,
                            .reference = bench_loop_two_system_clocks,
                            .name = bench_session_begin(),
                            .batch = BENCH_BATCH,
                            .batches = 4,
                            .records = true};
    bench_compare_loops(claim, &pair, 31);
    mxp_report report = {.size_bytes = sizeof report};
    bench_require(mxp_session_report(mxp_session_get(), &report) == 0 &&
                      report.clock_source == MXP_CLOCK_SOURCE_RAW,
                  "forcing the fallback clock");
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

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R3 fallback clock, inline", "ns/span", false, 1.20, 1.10, measure_inline},
        {"R3 fallback clock, exported", "ns/span", false, 1.20, 1.10, measure_exported},
    };
    const char *clock = getenv("MXPROF_CLOCK");
    if (clock == NULL || strcmp(clock, "raw") != 0) {
        setenv("MXPROF_CLOCK", "raw", 1);
        execv("/proc/self/exe", argv);
        bench_require(false, "starting again with MXPROF_CLOCK=raw");
    }
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
