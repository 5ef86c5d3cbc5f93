// SPDX-License-Identifier: Apache-2.0
// D1, D3, D4, D5: writing a trace of 2 M spans as Chrome JSON. The rate counts spans dumped, from
// the call of mxp_session_dump to its return; references write the same events.
#include <stdlib.h>

#include "support/awake.h"
#include "support/hand_json.h"
#include "support/recording.h"
#include "support/scratch.h"

enum { SPANS = 2000000 };

static const double mxnet_bytes_per_span = 465;  // its JSON, measured on the same loop

static void prepare(const char *filename)
{
    bench_unpin();
    bench_session_configure(filename, NULL, 0);
    bench_workload_start(SPANS);
}

static void fill(void)
{
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
}

static void dump(bench_stretch *stretch)
{
    fill();
    bench_scratch_remove(".json");
    bench_start(stretch);
    bench_session_dump();
    bench_stop(stretch, SPANS);
}

static void run_dump(void *context, bench_stretch *stretch)
{
    (void)context;
    dump(stretch);
}

// ---- D1 ---------------------------------------------------------------------------------------
static void run_by_hand(void *context, bench_stretch *stretch)
{
    (void)context;
    bench_start(stretch);
    bench_hand_json("/dev/null", bench_workload_events(), SPANS);
    bench_stop(stretch, SPANS);
}

static void measure_one_thread(const bench_claim *claim)
{
    prepare("/dev/null");
    bench_pin(bench_cpu_count() - 1);
    bench_plan plan = {.subject = run_dump, .reference = run_by_hand, .rounds = 15};
    bench_compare(claim, &plan);
}

// ---- D3 ---------------------------------------------------------------------------------------
static void run_fprintf(void *context, bench_stretch *stretch)
{
    (void)context;
    bench_scratch_remove(".json");
    bench_start(stretch);
    bench_fprintf_json(bench_scratch_path(".json"), bench_workload_events(), SPANS);
    bench_stop(stretch, SPANS);
}

static void measure_against_fprintf(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    prepare(bench_scratch_path(".json"));
    bench_pin(bench_cpu_count() - 1);
    bench_plan plan = {.subject = run_dump, .reference = run_fprintf, .rounds = 7};
    bench_compare(claim, &plan);
    bench_scratch_remove(".json");
}

// ---- D4 ---------------------------------------------------------------------------------------
// Several dumps a round: what others do in 10 ms, the machine's unit, must not pass unseen.
static void dump_by(const char *threads, bench_stretch *stretch)
{
    bench_require(setenv("MXPROF_EXPORT_THREADS", threads, 1) == 0, "setenv");
    for (int i = 0; i < 4; i++) {
        bench_keep_awake();
        fill();
        bench_let_go();
        bench_start(stretch);
        bench_session_dump();
        bench_stop(stretch, SPANS);
    }
    bench_require(setenv("MXPROF_EXPORT_THREADS", "1", 1) == 0, "setenv");
}

static void run_two_threads(void *context, bench_stretch *stretch)
{
    (void)context;
    dump_by("2", stretch);
}

static void run_one_thread(void *context, bench_stretch *stretch)
{
    (void)context;
    dump_by("1", stretch);
}

static void measure_two_threads(const bench_claim *claim)
{
    if (bench_cpu_count() < 2) {
        bench_void(claim, "needs two cores");
        return;
    }
    prepare("/dev/null");
    bench_plan plan = {.subject = run_two_threads,
                       .reference = run_one_thread,
                       .rounds = 11,
                       .many_threads = true};
    bench_compare(claim, &plan);
}

// ---- D5 ---------------------------------------------------------------------------------------
static void measure_bytes(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    bench_scratch_remove(".json");
    prepare(bench_scratch_path(".json"));
    fill();
    bench_session_dump();
    bench_constant(claim, (double)bench_scratch_bytes(".json") / SPANS, mxnet_bytes_per_span);
    bench_scratch_remove(".json");
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"D1 JSON, one thread, over a hand-written formatter", "M spans/s", true, 0.5, 0.75,
         measure_one_thread},
        {"D3 JSON on tmpfs, over fprintf", "M spans/s", true, 2.5, 3.5, measure_against_fprintf},
        {"D4 JSON, two threads over one", "M spans/s", true, 1.5, 1.8, measure_two_threads},
        {"D5 JSON bytes per span, over MXNet's 465", "B/span", false, 0.30, 0.25, measure_bytes},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
