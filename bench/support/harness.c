// SPDX-License-Identifier: Apache-2.0
// Command line of a bench program, choice of claims, and the line of JSON each claim becomes.
#include "support/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "support/rounds.h"

static void print_usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--list] [--only PREFIX] [--rounds N] [--seconds S] [--disturbed]\n"
            "Measures claims and prints a line of JSON for each; make bench runs them all.\n",
            program);
}

// Numbers that are not there are null: JSON has no NaN.
static void print_number(const char *key, double value)
{
    if (isfinite(value)) {
        printf("\"%s\": %.6g, ", key, value);
    } else {
        printf("\"%s\": null, ", key);
    }
}

static void print_claim(const bench_claim *claim)
{
    printf("{\"name\": \"%s\", \"unit\": \"%s\", ", claim->name, claim->unit);
}

static void print_goal(const bench_claim *claim)
{
    printf("\"better\": \"%s\", ", claim->higher ? "higher" : "lower");
    print_number("must", claim->must);
    print_number("aim", claim->aim);
}

static const char *verdict(const bench_claim *claim, double figure, bool counts)
{
    if (!counts || !isfinite(figure)) {
        return "null";
    }
    return (claim->higher ? figure >= claim->must : figure <= claim->must) ? "true" : "false";
}

void bench_print_result(const bench_claim *claim, const bench_result *result)
{
    double figure = isfinite(result->ratio) ? result->ratio : result->value;
    print_claim(claim);
    print_number("value", result->value);
    print_number("subject", result->subject);
    print_number("reference", result->reference);
    print_number("ratio", result->ratio);
    print_number("min", result->min);
    print_number("max", result->max);
    print_goal(claim);
    printf("\"ok\": %s, \"rounds\": %d, \"rounds_run\": %d, \"note\": \"%s\"}\n",
           verdict(claim, figure, result->counts), result->rounds, result->rounds_run,
           result->note != NULL ? result->note : "");
    fflush(stdout);
}

static bench_result empty_result(const char *note)
{
    return (bench_result){.value = NAN,
                          .subject = NAN,
                          .reference = NAN,
                          .ratio = NAN,
                          .min = NAN,
                          .max = NAN,
                          .note = note};
}

void bench_value(const bench_claim *claim, double value, const char *note)
{
    bench_result result = empty_result(note);
    result.value = result.min = result.max = value;
    result.counts = true;
    result.rounds = result.rounds_run = 1;
    bench_print_result(claim, &result);
}

void bench_constant(const bench_claim *claim, double subject, double reference)
{
    bench_result result = empty_result(NULL);
    result.subject = subject;
    result.reference = reference;
    result.ratio = result.min = result.max = subject / reference;
    result.counts = true;
    result.rounds = result.rounds_run = 1;
    bench_print_result(claim, &result);
}

void bench_void(const bench_claim *claim, const char *note)
{
    bench_result result = empty_result(note);
    bench_print_result(claim, &result);
}

void bench_require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench: %s failed: %s\n", what, mxp_last_error());
        exit(1);
    }
}

static bool is_wanted(const bench_claim *claim, const char *only)
{
    return strncmp(claim->name, only, strlen(only)) == 0;
}

static void list_claims(const bench_claim *claims, size_t count, const char *only)
{
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(&claims[i], only)) {
            print_claim(&claims[i]);
            print_goal(&claims[i]);
            printf("\"ok\": null}\n");
        }
    }
}

static void measure_claims(const bench_claim *claims, size_t count, const char *only)
{
    // One thread writes unless a claim asks for more; dumps take it from here.
    bench_require(setenv("MXPROF_EXPORT_THREADS", "1", 1) == 0, "setenv");
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(&claims[i], only)) {
            claims[i].measure(&claims[i]);
        }
    }
}

int bench_main(int argc, char **argv, const bench_claim *claims, size_t count)
{
    const char *only = "";
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--disturbed") == 0) {
            bench_rounds.disturbed = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
            bench_rounds.wanted = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc && atof(argv[i + 1]) > 0) {
            bench_rounds.seconds = atof(argv[++i]);
        } else {
            print_usage(argv[0]);
            return 2;
        }
    }
    if (list) {
        list_claims(claims, count, only);
    } else {
        measure_claims(claims, count, only);
    }
    return 0;
}
