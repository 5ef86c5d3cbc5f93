// SPDX-License-Identifier: Apache-2.0
// LTTng-UST's side: lttng_loop THREADS COUNT records COUNT pairs of tracepoints on each thread. A
// session daemon with the events enabled must be running (bench/peer_claims.py starts it); without
// one the tracepoints are off, which is an error.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peers/lttng_provider.h"

#include <stdio.h>

#include "support/loops.h"
#include "support/peer_loop.h"

static void record(void *context, int thread, uint64_t count)
{
    (void)context;
    for (uint64_t i = 0; i < count; i++) {
        lttng_ust_tracepoint(mxprof_bench, span_begin, (uint32_t)thread);
        BENCH_OPAQUE();
        lttng_ust_tracepoint(mxprof_bench, span_end, (uint32_t)thread);
        BENCH_OPAQUE();
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s THREADS COUNT\n", argv[0]);
        return 2;
    }
    if (!lttng_ust_tracepoint_enabled(mxprof_bench, span_begin)) {
        fprintf(stderr, "no LTTng session has the events of mxprof_bench enabled\n");
        return 1;
    }
    bench_peer_run((int)bench_peer_number(argv[1]), bench_peer_number(argv[2]), record, NULL);
    return 0;
}
