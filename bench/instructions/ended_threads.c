// SPDX-License-Identifier: Apache-2.0
// ended_threads COUNT: dumps what COUNT threads, which have ended, have recorded, for
// tests/bench/test_instructions.py, which counts the dump's instructions under callgrind.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <mxprof/record.h>

#include "support/recording.h"

static mxp_name name;

static void *record_one(void *unused)
{
    mxp_span_end(name, mxp_span_begin(name));
    return unused;
}

static int run_threads(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record_one, NULL) != 0 ||
            pthread_join(thread, NULL) != 0) {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s COUNT\n", argv[0]);
        return 2;
    }
    name = bench_session_begin();
    if (run_threads(strtoul(argv[1], NULL, 10)) != 0) {
        perror("threads");
        return 1;
    }
    bench_session_stop();
    bench_session_dump();
    return 0;
}
