// SPDX-License-Identifier: Apache-2.0
// Rounds: subject and reference in turn, which of the rounds count, and their median. Nothing here
// allocates while a side is timed.
#include "support/rounds.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 200 };

static const double cpu_tolerance = 1.10;  // wall over CPU time of one thread
static const double others_share_of_core = 0.05;

bench_rounds_wish bench_rounds = {0, 12.0, false};

// ---- the machine ------------------------------------------------------------------------------
static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static cpu_set_t allowed_cpus(void)
{
    static cpu_set_t allowed;
    static bool known;
    if (!known) {
        CPU_ZERO(&allowed);
        bench_require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity");
        known = true;
    }
    return allowed;
}

int bench_cpu_count(void)
{
    cpu_set_t allowed = allowed_cpus();
    return CPU_COUNT(&allowed);
}

void bench_pin(int number)
{
    cpu_set_t allowed = allowed_cpus();
    int left = number % CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            bench_require(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
            return;
        }
    }
}

void bench_unpin(void)
{
    cpu_set_t allowed = allowed_cpus();
    bench_require(sched_setaffinity(0, sizeof allowed, &allowed) == 0, "sched_setaffinity");
}

void bench_touch(void *memory, size_t size_bytes)
{
    memset(memory, 0x5a, size_bytes);
}

// Time that the machine's cores were busy, whoever used them, and time that the host took away.
static double machine_busy_ns(void)
{
    FILE *file = fopen("/proc/stat", "r");
    unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
    if (file == NULL || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
                               &system, &idle, &wait, &irq, &softirq, &steal) != 8) {
        bench_require(false, "reading /proc/stat");
        return 0;
    }
    fclose(file);
    return (double)(user + nice + system + irq + softirq + steal) * 1e9 /
           (double)sysconf(_SC_CLK_TCK);
}

static double busy_ns(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

// With what its children have used that it has waited for.
static double own_busy_ns(void)
{
    return busy_ns(RUSAGE_SELF) + busy_ns(RUSAGE_CHILDREN);
}

typedef struct moment {
    double wall_ns, machine_ns, own_ns;
} moment;

static moment moment_now(void)
{
    return (moment){bench_now_ns(), machine_busy_ns(), own_busy_ns()};
}

static bool others_were_quiet(const moment *from, const moment *to)
{
    double others_ns = to->machine_ns - from->machine_ns - (to->own_ns - from->own_ns);
    return others_ns <= others_share_of_core * (to->wall_ns - from->wall_ns);
}

// ---- one round --------------------------------------------------------------------------------
void bench_start(bench_stretch *stretch)
{
    stretch->started_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    stretch->started_wall_ns = bench_now_ns();
}

void bench_stop(bench_stretch *stretch, double operations)
{
    stretch->wall_ns += bench_now_ns() - stretch->started_wall_ns;
    stretch->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - stretch->started_cpu_ns;
    stretch->operations += operations;
}

typedef struct round_result {
    double subject, reference, ratio;
    bool valid;
} round_result;

static double figure_of(const bench_claim *claim, const bench_plan *plan,
                        const bench_stretch *stretch)
{
    double scale = plan->scale != 0 ? plan->scale : 1;
    double ns = stretch->wall_ns / stretch->operations;
    return scale * (claim->higher ? 1e3 / ns : ns);
}

static bool was_on_cpu(const bench_stretch *stretch)
{
    return stretch->wall_ns <= stretch->cpu_ns * cpu_tolerance;
}

// Who goes first changes from round to round.
static round_result run_round(const bench_claim *claim, const bench_plan *plan, int number)
{
    bench_stretch subject = {0}, reference = {0};
    moment before = moment_now();
    if (number % 2 == 0) {
        plan->subject(plan->context, &subject);
        plan->reference(plan->context, &reference);
    } else {
        plan->reference(plan->context, &reference);
        plan->subject(plan->context, &subject);
    }
    moment after = moment_now();
    round_result result = {figure_of(claim, plan, &subject), figure_of(claim, plan, &reference), 0,
                           bench_rounds.disturbed};
    result.ratio = result.subject / result.reference;
    if (!result.valid) {
        result.valid = plan->many_threads ? others_were_quiet(&before, &after)
                                          : was_on_cpu(&subject) && was_on_cpu(&reference);
    }
    return result;
}

// ---- all rounds -------------------------------------------------------------------------------
static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static const char *note_of(const bench_plan *plan, int valid, int wanted)
{
    static char text[160];
    const char *own = plan->note != NULL ? plan->note : "";
    const char *between = *own != '\0' ? "; " : "";
    if (bench_rounds.disturbed) {
        snprintf(text, sizeof text, "%s%sdisturbed rounds counted", own, between);
    } else if (valid == 0) {
        snprintf(text, sizeof text, "%s%sno valid round: others used the machine", own, between);
    } else if (valid < wanted) {
        snprintf(text, sizeof text, "%s%s%d of %d rounds valid", own, between, valid, wanted);
    } else {
        snprintf(text, sizeof text, "%s", own);
    }
    return text;
}

void bench_compare(const bench_claim *claim, const bench_plan *plan)
{
    static double subject[ROUNDS_MAX], reference[ROUNDS_MAX], ratio[ROUNDS_MAX];
    int wanted = bench_rounds.wanted != 0 ? bench_rounds.wanted : plan->rounds;
    wanted = wanted < ROUNDS_MAX ? wanted : ROUNDS_MAX;
    double deadline = bench_now_ns() + bench_rounds.seconds * 1e9;
    int valid = 0, run = 0;
    run_round(claim, plan, 0);
    while (valid < wanted && (run == 0 || bench_now_ns() < deadline)) {
        round_result round = run_round(claim, plan, ++run);
        if (round.valid) {
            subject[valid] = round.subject;
            reference[valid] = round.reference;
            ratio[valid] = round.ratio;
            valid++;
        }
    }
    bench_result result = {NAN, NAN, NAN, NAN, NAN, NAN, valid, run, false, NULL};
    if (valid > 0) {
        result.subject = median(subject, valid);
        result.reference = median(reference, valid);
        result.ratio = median(ratio, valid);
        result.min = ratio[0];
        result.max = ratio[valid - 1];
        result.counts = !bench_rounds.disturbed;
    }
    result.note = note_of(plan, valid, wanted);
    bench_print_result(claim, &result);
}
