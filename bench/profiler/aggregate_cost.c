// SPDX-License-Identifier: Apache-2.0
// D10: the aggregate table with its histograms, from records to text, over a loop that does the
// same to an array of ready (id, duration) events.
#include <stdlib.h>
#include <string.h>

#include "support/recording.h"
#include "support/workload.h"

enum { SPANS = 2000000, BUCKETS = 256 };

typedef struct dense_row {
    uint64_t count, total, min, max;
    uint32_t bucket[BUCKETS];
} dense_row;

static dense_row rows[BENCH_NAMES];

// Four buckets an octave.
static uint32_t bucket_of(uint64_t value)
{
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(value | 4);
    return octave * 4 + (uint32_t)(value >> (octave - 2) & 3);
}

static void add(dense_row *row, uint64_t value)
{
    row->count++;
    row->total += value;
    row->min = value < row->min ? value : row->min;
    row->max = value > row->max ? value : row->max;
    row->bucket[bucket_of(value) % BUCKETS]++;
}

static void run_dense(void *context, bench_stretch *stretch)
{
    (void)context;
    const bench_event *events = bench_workload_events();
    memset(rows, 0, sizeof rows);
    for (uint32_t name = 0; name < BENCH_NAMES; name++) {
        rows[name].min = UINT64_MAX;
    }
    bench_start(stretch);
    for (uint64_t i = 0; i < SPANS; i++) {
        add(&rows[events[i].name], events[i].end_ns - events[i].begin_ns);
    }
    bench_stop(stretch, SPANS);
}

static void run_table(void *context, bench_stretch *stretch)
{
    (void)context;
    mxp_session *session = mxp_session_get();
    const char *text;
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
    bench_start(stretch);
    int error = mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 1, &text);
    bench_stop(stretch, SPANS);
    bench_require(error == 0 && strstr(text, bench_name_text(0)) != NULL, "mxp_session_dumps");
    bench_session_dump();
}

static void measure_table(const bench_claim *claim)
{
    bench_unpin();
    bench_session_configure("/dev/null", NULL, 1);
    bench_workload_start(SPANS);
    bench_pin(bench_cpu_count() - 1);
    bench_plan plan = {.subject = run_table, .reference = run_dense, .rounds = 15};
    bench_compare(claim, &plan);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"D10 aggregate table, over a dense-id loop", "ns/span", false, 3, 1.5, measure_table},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
