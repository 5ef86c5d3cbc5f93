// SPDX-License-Identifier: Apache-2.0
// What every bench program is made of: a list of claims, each measured in rounds. In a round
// subject and reference run in turn; the claim's figure is the median of the rounds' ratios. A
// program prints one line of JSON for each claim, which bench/run.py gathers.
//
// Command line of every program:
//   --list          the claims, and measure nothing
//   --only PREFIX   only claims whose name begins so
//   --rounds N      valid rounds per claim
//   --seconds S     how long to wait for them, per claim; 12 if not given
//   --disturbed     count also rounds that other processes disturbed; gives figures but no verdict
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_claim bench_claim;
struct bench_claim {
    const char *name;  // begins with the claim's number
    const char *unit;  // of subject, reference and value
    bool higher;  // whether more is better; then subject and reference are rates
    double must, aim;  // of the ratio, or of the value where there is no ratio
    void (*measure)(const bench_claim *claim);
};

int bench_main(int argc, char **argv, const bench_claim *claims, size_t count);

// ---- rounds -----------------------------------------------------------------------------------
// Time that one side took in one round, and for how many operations. Only what lies between
// bench_start and bench_stop counts: sides prepare and drain outside.
typedef struct bench_stretch {
    double wall_ns, cpu_ns, operations;
    double started_wall_ns, started_cpu_ns;
} bench_stretch;

void bench_start(bench_stretch *stretch);
void bench_stop(bench_stretch *stretch, double operations);

typedef void (*bench_side)(void *context, bench_stretch *stretch);

typedef struct bench_plan {
    bench_side subject, reference;
    void *context;
    int rounds;  // valid ones wanted; the odd one in front that warms up is not counted
    bool many_threads;  // a round is valid if other processes used under 5 % of a core, and not, as
                        // otherwise, if wall time was within 10 % of the calling thread's CPU time
    double scale;  // of subject and reference in the claim's unit; 0: 1 (ns, or operations/us)
    const char *note;  // shown with the result, or null
} bench_plan;

// Measures and prints.
void bench_compare(const bench_claim *claim, const bench_plan *plan);

// Prints a claim that is a figure and no ratio, or whose reference is a constant.
void bench_value(const bench_claim *claim, double value, const char *note);
void bench_constant(const bench_claim *claim, double subject, double reference);

// Prints a claim that cannot be measured here: `ok` is null and `note` says why.
void bench_void(const bench_claim *claim, const char *note);

// ---- the machine ------------------------------------------------------------------------------
double bench_now_ns(void);
int bench_cpu_count(void);  // that this process may use
void bench_pin(int number);  // the calling thread, to the n-th of them
void bench_unpin(void);  // the calling thread, to all of them
void bench_touch(void *memory, size_t size_bytes);  // pre-faults it

// Ends the program with `what` unless `good`.
void bench_require(bool good, const char *what);

#endif
