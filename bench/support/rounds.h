// SPDX-License-Identifier: Apache-2.0
// Between harness.c and rounds.c: what was asked for on the command line, and what came out.
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include "support/harness.h"

typedef struct bench_rounds_wish {
    int wanted;  // valid rounds per claim; 0: what the claim's plan says
    double seconds;  // how long a claim may wait for them
    bool disturbed;  // count disturbed rounds too
} bench_rounds_wish;

extern bench_rounds_wish bench_rounds;

// NaN stands for a figure that is not there.
typedef struct bench_result {
    double value, subject, reference, ratio, min, max;
    int rounds, rounds_run;
    bool counts;  // whether there can be a verdict
    const char *note;
} bench_result;

void bench_print_result(const bench_claim *claim, const bench_result *result);

#endif
