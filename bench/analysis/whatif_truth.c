// SPDX-License-Identifier: Apache-2.0
// Programs of operators that spin for known times. Of each, even steps are as they are, and in odd
// ones one thing is really another: so one trace has what is predicted from and what comes true,
// under the same conditions. bench/whatif_truth.py predicts from the even steps and compares.
//
//     whatif_truth CASE OUT.mxp      66 cases: 11 programs, 6 sizes each
//
// Of the first nine programs two cores hold all threads that run: where two branches run beside one
// another, each queue has one worker, which stays on a core of its own, and a first operator holds
// them back until the program has pushed everything and waits. In the last two, the program pushes
// while they run and four workers take turns on the priority queue, so more threads want a core
// than two.
//
// Prints the share of run delay of two probes, before and after, which spin and want a core for it.
#include <mxnet/c_api.h>
#include <mxprof/record.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { VARS = 4, SIZES = 24, STEPS = 60, WARM_UP = 8, PROBE_US = 100000, GATE_US = 400 };
enum { COUNTED = 9 };  // programs of which two cores hold all threads

typedef struct spinning {
    double us;
    int core;  // of the worker that runs it, -1: any
} spinning;

static const double factors[] = {0, 0.25, 0.5, 1.5, 2, 4};
static NDArrayHandle vars[VARS];
static double sizes_us[SIZES];
static bool is_changed;  // this step is an odd one
static mxp_name input_name;

static void check(int code)
{
    if (code != 0) {
        fprintf(stderr, "%s\n", MXGetLastError());
        exit(1);
    }
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void spin(double us)
{
    for (double end = now_us() + us; now_us() < end;) {
    }
}

static void sleep_us(double us)
{
    const struct timespec time = {.tv_nsec = (long)(us * 1000)};
    nanosleep(&time, NULL);
}

static void run_gate(void *context, void *argument)
{
    (void)context;
    (void)argument;
    sleep_us(GATE_US);
}

// The calling thread, to the n-th of the cores that there are for this process; once.
static void stay_on(int number)
{
    static _Thread_local bool stays;
    cpu_set_t all, one;
    if (stays || sched_getaffinity(0, sizeof all, &all) != 0) {
        return;
    }
    stays = true;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &all) && number-- == 0) {
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
    }
}

static void run_operator(void *context, void *argument)
{
    (void)context;
    const spinning *work = argument;
    if (work->core >= 0) {
        stay_on(work->core);
    }
    spin(work->us);
}

static bool workers_stay;  // each on a core of its own

// Reads one variable (or none, -1) and writes another.
static void push(const char *name, double us, int reads, int writes, bool with_priority)
{
    static const int to_priority_queue = 3;  // FnProperty of copies between devices
    spinning *work = malloc(sizeof *work);
    if (work == NULL) {
        abort();
    }
    *work = (spinning){.us = us, .core = !workers_stay ? -1 : with_priority ? 1 : 0};
    const bool has_read = reads >= 0 && reads != writes;
    check(MXEnginePushSyncND(run_operator, work, free, NULL, has_read ? &vars[reads] : NULL,
                             has_read, &vars[writes], 1, with_priority ? &to_priority_queue : NULL,
                             0, name));
}

static double factor_of(double factor, bool is_it)
{
    return is_changed && is_it ? factor : 1;
}

// ---- programs ----------------------------------------------------------------------------------
static void chain(double factor, double host_us)
{
    for (int i = 0; i < 8; i++) {
        spin(host_us);
        push(i == 3 ? "changed" : "other", sizes_us[i] * factor_of(factor, i == 3), i > 0 ? 0 : -1,
             0, false);
    }
    check(MXNDArrayWaitToRead(vars[0]));
}

// Asleep while the program pushes what reads vars[0], and takes no core meanwhile.
static void push_gate(void)
{
    check(MXEnginePushSyncND(run_gate, NULL, NULL, NULL, NULL, 0, &vars[0], 1, NULL, 0, "gate"));
}

static void branches(double factor, bool other_is_changed, bool with_gate)
{
    workers_stay = with_gate;
    if (with_gate) {
        push_gate();
    }
    const int reads = with_gate ? 0 : -1;
    for (int i = 0; i < 5; i++) {
        const bool is_third = i == 2;
        push(is_third && !other_is_changed ? "changed" : "left",
             sizes_us[i] * factor_of(factor, is_third && !other_is_changed), reads, 1, false);
        push(is_third && other_is_changed ? "changed" : "right",
             sizes_us[i + 5] * factor_of(factor, is_third && other_is_changed), reads, 2, true);
    }
    push("join", 100, 1, 3, false);
    push("join", 50, 2, 3, false);
    check(MXNDArrayWaitToRead(vars[3]));
}

static void with_input(double factor)
{
    const uint64_t begin = mxp_begin(MXP_CLASS_ALL, input_name);
    sleep_us(2000 * factor_of(factor, true));
    mxp_end(input_name, begin);
    chain(1, 2);
}

// A wait in the middle that nobody needs; its own call, so that it can be told from the last one.
static void needless_wait(int spacing)
{
    for (int i = 0; i < 8; i++) {
        push("other", sizes_us[i], i > 0 ? 0 : -1, 0, false);
        spin(60 * (1 + spacing));
        if (i == 3 && !is_changed) {
            check(MXNDArrayWaitToWrite(vars[0]));
        }
    }
    check(MXNDArrayWaitToRead(vars[0]));
}

static void ahead(double factor, double host_us)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 5; i++) {
            spin(host_us);
            push(i == 2 ? "changed" : "other", sizes_us[i] * factor_of(factor, i == 2), 0, i % 2,
                 false);
        }
    }
    check(MXNDArrayWaitToRead(vars[0]));
    check(MXNDArrayWaitToRead(vars[1]));
}

// Three of the operators are in a scope, and it changes.
static void chain_with_layer(double factor)
{
    for (int i = 0; i < 8; i++) {
        const bool is_in = i >= 3 && i < 6;
        check(MXSetProfilerScope(is_in ? "layer:" : "<unk>:"));
        spin(2);
        push("other", sizes_us[i] * factor_of(factor, is_in), i > 0 ? 0 : -1, 0, false);
    }
    check(MXNDArrayWaitToRead(vars[0]));
}

static void step(int number)
{
    const int size = number % 6;
    const double factor = factors[size];
    switch (number / 6) {
    case 0:
        chain(factor, 2);
        break;
    case 1:
        chain(factor, 400);
        break;
    case 2:
        branches(factor, false, true);
        break;
    case 3:
        branches(factor, true, true);
        break;
    case 4:
        with_input(factor);
        break;
    case 5:
        needless_wait(size);
        break;
    case 6:
        ahead(factor, 30 * (size % 3));
        break;
    case 7:
        chain(1, 300 * factor_of(factor, true));
        break;
    case 8:
        chain_with_layer(factor);
        break;
    case 9:
        branches(factor, false, false);
        break;
    default:
        branches(factor, true, false);
        break;
    }
}

// ---- the machine -------------------------------------------------------------------------------
static double run_delay_us(void)
{
    unsigned long long ran_ns, waited_ns = 0;
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (file == NULL) {
        return 0;
    }
    const bool is_read = fscanf(file, "%llu %llu", &ran_ns, &waited_ns) == 2;
    fclose(file);
    return is_read ? (double)waited_ns / 1e3 : 0;
}

static double probe(void)
{
    const double before_us = run_delay_us();
    spin(PROBE_US);
    return (run_delay_us() - before_us) / PROBE_US;
}

// ---- all ---------------------------------------------------------------------------------------
static void prepare(int number)
{
    const uint32_t shape[] = {4};
    srand((unsigned)number + 1);
    for (int i = 0; i < SIZES; i++) {
        sizes_us[i] = 50 + rand() % 700;
    }
    for (int i = 0; i < VARS; i++) {
        check(MXNDArrayCreate(shape, 1, 1, 0, 0, 0, &vars[i]));
    }
    input_name = mxp_span_name("input", "next batch");
    for (int i = 0; i < WARM_UP; i++) {
        is_changed = i % 2 != 0;
        step(number);
    }
    check(MXNDArrayWaitAll());
}

static void record(int number, const char *path)
{
    char json[512];
    snprintf(json, sizeof json, "%s.json", path);
    const char *keys[] = {"profile_all", "continuous_dump", "filename", "native_filename"};
    const char *values[] = {"true", "false", json, path};
    check(MXSetProfilerConfig(4, keys, values));
    check(MXSetProfilerState(1));
    for (int i = 0; i < 2 * STEPS; i++) {
        is_changed = i % 2 != 0;
        mxp_step((uint64_t)i);
        step(number);
    }
    mxp_step_end();
    check(MXNDArrayWaitAll());
    check(MXSetProfilerState(0));
    check(MXDumpProfile(1));
    remove(json);
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fputs("usage: whatif_truth CASE OUT.mxp\n", stderr);
        return 2;
    }
    const int number = atoi(arguments[1]);
    if (number / 6 < COUNTED) {
        setenv("MXNET_CPU_PRIORITY_NTHREADS", "1", 1);
        setenv("MXNET_CPU_WORKER_NTHREADS", "1", 1);
    }
    prctl(PR_SET_TIMERSLACK, 1UL);  // of all threads that come: sleeps are as long as is said
    prepare(number);
    const double before = probe();
    record(number, arguments[2]);
    printf("%.5f %.5f\n", before, probe());
    return 0;
}
