// SPDX-License-Identifier: Apache-2.0
// sites SITE COUNT: runs one of the loops COUNT times, for tests/bench/test_instructions.py, which
// counts its instructions under callgrind.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/recording.h"

static const struct site {
    const char *name;
    bench_loop loop;
    bool records;
} sites[] = {
    {"nothing", bench_loop_nothing, false},
    {"span_inline", bench_loop_span_inline, true},
    {"span_exported", bench_loop_span_exported, true},
    {"span_functions", bench_loop_span_functions, true},
    {"task", bench_loop_task, true},
    {"operator", bench_loop_operator, true},
    {"off_inline", bench_loop_span_inline, false},
    {"off_exported", bench_loop_span_functions, false},
    {"off_task", bench_loop_task, false},
};

// Records of an earlier batch leave chunks that this one fills again, as in a long run.
static void run_site(const struct site *site, uint64_t count)
{
    mxp_name name = bench_session_begin();
    if (site->records) {
        site->loop(count, name);
        bench_drain();
    } else {
        bench_session_stop();
    }
    site->loop(count, name);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof sites / sizeof *sites; i++) {
        if (strcmp(argv[1], sites[i].name) == 0) {
            run_site(&sites[i], strtoull(argv[2], NULL, 10));
            return 0;
        }
    }
    fprintf(stderr, "usage: %s SITE COUNT\n", argv[0]);
    return 2;
}
