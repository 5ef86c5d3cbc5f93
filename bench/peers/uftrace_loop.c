// SPDX-License-Identifier: Apache-2.0
// uftrace's side: uftrace_loop THREADS COUNT calls an empty function, compiled with -pg, COUNT
// times on each thread; under `uftrace record` each call records its entry and its exit.
#include <stdio.h>

#include "support/loops.h"
#include "support/peer_loop.h"

static __attribute__((noinline)) void traced(void)
{
    BENCH_OPAQUE();
}

static __attribute__((no_instrument_function)) void record(void *context, int thread,
                                                           uint64_t count)
{
    (void)context;
    (void)thread;
    for (uint64_t i = 0; i < count; i++) {
        traced();
        BENCH_OPAQUE();
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s THREADS COUNT\n", argv[0]);
        return 2;
    }
    bench_peer_run((int)bench_peer_number(argv[1]), bench_peer_number(argv[2]), record, NULL);
    return 0;
}
