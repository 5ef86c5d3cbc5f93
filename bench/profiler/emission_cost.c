// SPDX-License-Identifier: Apache-2.0
// C8: what a span costs that is sent to another tool as well, one that does nothing, over a span.
// To which tool spans are sent is decided once in a process, so those that are sent are recorded by
// a process of their own, which works when it is asked to; the two take turns on one core.
#include <limits.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/recording.h"

enum { BATCHES = 4 };

static struct worker {
    const char *variable;  // that names the tool
    int ask, answer;  // pipes
} workers[] = {{"INTEL_LIBITTNOTIFY64", -1, -1}, {"NVTX_INJECTION64_PATH", -1, -1}};

// ---- the process that sends --------------------------------------------------------------------
static void run(mxp_name name, bench_stretch *stretch)
{
    for (int i = 0; i < BATCHES; i++) {
        bench_start(stretch);
        bench_loop_span_inline(BENCH_BATCH, name);
        bench_stop(stretch, BENCH_BATCH);
        bench_drain();
    }
}

// The tools are beside this program.
static void name_tool(const char *variable)
{
    char path[PATH_MAX + 32] = "";
    bench_require(readlink("/proc/self/exe", path, PATH_MAX) > 0, "finding this program");
    strcpy(strrchr(path, '/'), "/libbench_tools.so");
    setenv(variable, path, 1);
}

static void work(const struct worker *self, int asked, int answer)
{
    char any;
    mxp_name name = MXP_NAME_NONE;
    name_tool(self->variable);
    while (read(asked, &any, 1) == 1) {
        bench_stretch stretch = {0};
        if (name == MXP_NAME_NONE) {
            bench_pin(bench_cpu_count() - 1);
            name = bench_session_begin();
            bench_require((mxp_atomic_load(&mxp_control.gate) & MXP_GATE_TAP) != 0,
                          "sending to a tool");
        }
        run(name, &stretch);
        if (write(answer, &stretch, sizeof stretch) != sizeof stretch) {
            break;
        }
    }
    _exit(0);
}

static void begin_worker(struct worker *self)
{
    int asks[2], answers[2];
    bench_require(pipe(asks) == 0 && pipe(answers) == 0, "making pipes");
    pid_t child = fork();
    bench_require(child >= 0, "starting a process");
    if (child == 0) {
        close(asks[1]);
        work(self, asks[0], answers[1]);
    }
    close(asks[0]);
    close(answers[1]);
    self->ask = asks[1];
    self->answer = answers[0];
}

// ---- sides -------------------------------------------------------------------------------------
typedef struct sides {
    const struct worker *worker;
    mxp_name name;
} sides;

static void run_subject(void *context, bench_stretch *stretch)
{
    const struct worker *worker = ((const sides *)context)->worker;
    bench_stretch theirs;
    bench_require(write(worker->ask, "x", 1) == 1, "asking the other process");
    bench_require(read(worker->answer, &theirs, sizeof theirs) == sizeof theirs,
                  "the other process's answer");
    stretch->wall_ns += theirs.wall_ns;
    stretch->cpu_ns += theirs.cpu_ns;
    stretch->operations += theirs.operations;
}

static void run_reference(void *context, bench_stretch *stretch)
{
    run(((const sides *)context)->name, stretch);
}

static void measure(const bench_claim *claim, const struct worker *worker)
{
    bench_pin(bench_cpu_count() - 1);
    sides both = {worker, bench_session_begin()};
    bench_plan plan = {
        .subject = run_subject, .reference = run_reference, .context = &both, .rounds = 31};
    bench_compare(claim, &plan);
    bench_session_stop();
}

static void measure_itt(const bench_claim *claim)
{
    measure(claim, &workers[0]);
}

static void measure_nvtx(const bench_claim *claim)
{
    measure(claim, &workers[1]);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"C8 span sent to an ITT collector, over a span", "ns/span", false, 3, 2, measure_itt},
        {"C8 span sent to an NVTX tool, over a span", "ns/span", false, 3, 2, measure_nvtx},
    };
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        unsetenv(workers[i].variable);
    }
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        begin_worker(&workers[i]);
    }
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
