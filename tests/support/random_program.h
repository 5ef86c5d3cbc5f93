// SPDX-License-Identifier: Apache-2.0
// A program on the runtime that does at random, through MXNet's C functions, what programs do: runs
// operators into new arrays and into old ones, on arrays and on views, pushes functions of its own,
// copies, waits, changes bulk size and scope, makes mistakes, takes gradients. It keeps its own
// tally of all of it. The same seed makes the same calls.
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_NAMES = 48, PROGRAM_SLOTS = 12, PROGRAM_VARIABLES = 4 };

typedef struct program_count {
    const char *name;
    uint64_t count;
} program_count;

// A named operation it has asked for.
typedef struct program_step {
    const char *name;
    const char *scope;  // null: none
    uint32_t variables[PROGRAM_VARIABLES];  // ids, MXP_VARIABLE_WRITTEN on those written
    uint32_t variable_count;
    bool internal;  // pushed by the library on its own account: its variables are not known
} program_step;

typedef struct program_result {
    program_step *steps;  // in the order of the calls; free()
    size_t step_count, step_capacity;
    program_count calls[PROGRAM_NAMES];  // of functions that the profiler records
    size_t call_count;
    uint64_t live_bytes;  // of the arrays it holds when it ends; they are then freed
    uint64_t values;  // of everything it has read, bit by bit
    uint64_t order;  // in which functions of its own ran, variable by variable
    uint64_t bulks;  // with which other functions each ran in one bulk
    uint64_t pushed, ran, deleted;  // functions of its own
} program_result;

typedef struct program_options {
    uint64_t seed;
    int steps;
    bool one_worker;  // the compute worker can run everything: only then `bulks` means anything
    // Called (unless null) when nothing is pending any more, before the arrays are freed.
    void (*look)(const program_result *result, void *context);
    void *context;
} program_options;

// Afterwards nothing is pending again.
void program_run(const program_options *options, program_result *result);

uint64_t program_calls_of(const program_result *result, const char *name);
uint64_t program_steps_of(const program_result *result, const char *name);

#endif
