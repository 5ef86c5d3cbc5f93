// SPDX-License-Identifier: Apache-2.0
// The session as benches use it, and comparisons of loops in batches.
#include "support/recording.h"

#include <mxprof/record.h>

void bench_session_configure(const char *filename, const char *native_filename, int aggregate)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = filename;
    config.native_filename = native_filename;
    config.continuous_dump = 0;
    config.aggregate_stats = aggregate;
    bench_require(mxp_session_configure(mxp_session_get(), &config) == 0, "mxp_session_configure");
}

void bench_session_run(void)
{
    bench_require(mxp_session_run(mxp_session_get()) == 0, "mxp_session_run");
}

void bench_session_stop(void)
{
    bench_require(mxp_session_stop(mxp_session_get()) == 0, "mxp_session_stop");
}

void bench_session_dump(void)
{
    bench_require(mxp_session_dump(mxp_session_get(), 1) == 0, "mxp_session_dump");
}

mxp_name bench_session_begin(void)
{
    bench_session_configure("/dev/null", NULL, 0);
    bench_session_run();
    return mxp_span_name("bench", "empty body");
}

void bench_drain(void)
{
    bench_session_stop();
    bench_session_dump();
    bench_session_run();
}

static void run_subject(void *context, bench_stretch *stretch)
{
    const bench_loop_pair *pair = context;
    for (uint64_t i = 0; i < pair->batches; i++) {
        bench_start(stretch);
        pair->subject(pair->batch, pair->name);
        bench_stop(stretch, (double)pair->batch);
        if (pair->records) {
            bench_drain();
        }
    }
}

static void run_reference(void *context, bench_stretch *stretch)
{
    const bench_loop_pair *pair = context;
    for (uint64_t i = 0; i < pair->batches; i++) {
        bench_start(stretch);
        pair->reference(pair->batch, pair->name);
        bench_stop(stretch, (double)pair->batch);
    }
}

static mxp_report report_now(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    bench_require(mxp_session_report(mxp_session_get(), &report) == 0, "mxp_session_report");
    return report;
}

// A loop that records nothing would look very fast: all of a batch must be there, or none of it.
static void check_records(const bench_loop_pair *pair)
{
    mxp_report before = report_now();
    pair->subject(pair->batch, pair->name);
    mxp_report after = report_now();
    uint64_t expected = pair->records ? pair->batch : 0;
    bench_require(after.records - before.records == expected && after.lost == before.lost,
                  "recording what the loop measures");
    if (pair->records) {
        bench_drain();
    }
}

// Interrupts are mostly the first core's, so the last one measures.
void bench_compare_loops(const bench_claim *claim, bench_loop_pair *pair, int rounds)
{
    bench_pin(bench_cpu_count() - 1);
    check_records(pair);
    bench_plan plan = {
        .subject = run_subject, .reference = run_reference, .context = pair, .rounds = rounds};
    bench_compare(claim, &plan);
}
