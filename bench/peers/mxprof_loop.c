// SPDX-License-Identifier: Apache-2.0
// Our side of the comparisons with other profilers:
//   mxprof_loop span|counter|off THREADS COUNT     recording loops
//   mxprof_loop dump|table FILE COUNT                        what a trace of COUNT spans costs to
//                                                            write as JSON, or to make a table of
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/record.h>

#include "support/peer_loop.h"
#include "support/recording.h"
#include "support/workload.h"

static mxp_name name;

static void record_spans(void *context, int thread, uint64_t count)
{
    (void)context;
    (void)thread;
    bench_loop_span_exported(count, name);
}

static void record_operators(void *context, int thread, uint64_t count)
{
    (void)context;
    (void)thread;
    bench_loop_operator(count, name);
}

static void read_clock(void *context, int thread, uint64_t count)
{
    (void)context;
    (void)thread;
    bench_loop_two_ticks(count, name);
}

static void record_counter(void *context, int thread, uint64_t count)
{
    (void)context;
    (void)thread;
    for (uint64_t i = 0; i < count; i++) {
        mxp_counter_u64(MXP_CLASS_USER, name, i);
        BENCH_OPAQUE();
    }
}

static void *fill_memory(void *argument)
{
    bench_loop_span_exported(*(const uint64_t *)argument, name);
    return NULL;
}

static const struct mode {
    const char *name;
    bench_peer_work work;
    bool off;
} modes[] = {
    {"span", record_spans, false},         {"counter", record_counter, false},
    {"operator", record_operators, false}, {"two_ticks", read_clock, true},
    {"off", record_spans, true},
};

// Records as much as will be measured, and gives it up: the memory stays with the recorder.
static void warm_memory(uint64_t records_bytes)
{
    uint64_t spans = records_bytes / 16;
    fill_memory(&spans);
    bench_drain();
}

static int run_mode(const struct mode *mode, int threads, uint64_t count)
{
    bench_session_configure("/dev/null", NULL, 0);
    bench_session_run();
    name = mode->work == record_counter
               ? mxp_intern("bench", "value", MXP_STYLE_COUNTER, MXP_UNIT_NONE)
               : mxp_span_name("bench", "empty body");
    if (mode->off) {
        bench_session_stop();
    } else {
        warm_memory(count * (uint64_t)threads * 36);
    }
    bench_peer_run(threads, count, mode->work, NULL);
    return 0;
}

static int run_output(bool table, const char *file, uint64_t count)
{
    const char *text;
    bench_stretch stretch = {0};
    bench_session_configure(file, NULL, table);
    bench_workload_start(count);
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
    bench_pin(bench_cpu_count() - 1);
    setenv("MXPROF_EXPORT_THREADS", "1", 1);
    bench_start(&stretch);
    if (table) {
        int error =
            mxp_session_dumps(mxp_session_get(), MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &text);
        bench_require(error == 0 && text[0] != '\0', "mxp_session_dumps");
    } else {
        bench_session_dump();
    }
    bench_stop(&stretch, (double)bench_workload_spans());
    bench_peer_print(&stretch);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(
            stderr,
            "usage: %s span|counter|operator|two_ticks|off THREADS COUNT | dump|table FILE COUNT\n",
            argv[0]);
        return 2;
    }
    uint64_t count = bench_peer_number(argv[3]);
    if (strcmp(argv[1], "dump") == 0 || strcmp(argv[1], "table") == 0) {
        return run_output(strcmp(argv[1], "table") == 0, argv[2], count);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            return run_mode(&modes[i], (int)bench_peer_number(argv[2]), count);
        }
    }
    fprintf(stderr, "unknown mode '%s'\n", argv[1]);
    return 2;
}
