// SPDX-License-Identifier: Apache-2.0
// What a random program has recorded, counted by the program itself: rows of (kind, name) with how
// many and, for counters, the last value. Everything the profiler prints is compared with it.
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <stdio.h>

typedef enum truth_kind {
    TRUTH_SPAN,
    TRUTH_TASK,
    TRUTH_FRAME,
    TRUTH_EVENT,
    TRUTH_MARKER,
    TRUTH_INSTANT,
    TRUTH_COUNTER,
    TRUTH_KINDS
} truth_kind;

enum { TRUTH_ROWS_MAX = 1024, TRUTH_NAME_BYTES = 24 };

typedef struct truth_row {
    truth_kind kind;
    char name[TRUTH_NAME_BYTES];
    uint64_t count, last;
} truth_row;

typedef struct truth {
    int rows;
    truth_row row[TRUTH_ROWS_MAX];
} truth;

// Adds `count` of them, `last` replaces the value. Counting no record makes no row.
void truth_add(truth *all, truth_kind kind, const char *name, uint64_t count, uint64_t last);
void truth_add_all(truth *all, const truth *more);
// {"span": {"name": [count, last], ...}, ...}
void truth_print(const truth *all, FILE *out);

#endif
