// SPDX-License-Identifier: Apache-2.0
// What a span costs by where it is kept. R6: 100 million of them in fresh memory and in memory that
// was taken beforehand, over a ring in memory that goes round. The file store over the memory
// store, fresh and as a ring. Each side of a round is a process of its own, so that none finds the
// pages of another.
#include <mxprof/record.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/recording.h"

enum { SPANS = 10000000, RING_BYTES = 16 << 20, ROUNDS = 15, LONG_FACTOR = 10, LONG_ROUNDS = 5 };

typedef struct place {
    int store, policy;
} place;

typedef struct places {
    place subject, reference;
    long spans;
    bench_stretch *shared;  // written by the process that records
} places;

static const char file_name[] = "bench_store.mxp";

static void configure(place where, long spans)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "/dev/null";
    config.native_filename = where.store == MXP_STORE_FILE ? file_name : NULL;
    config.continuous_dump = 0;
    config.store = where.store;
    config.full_policy = where.policy;
    config.memory_limit_bytes = where.policy == MXP_FULL_RING ? RING_BYTES : (uint64_t)spans * 20;
    bench_require(mxp_session_configure(mxp_session_get(), &config) == 0, "mxp_session_configure");
}

static void record(place where, long spans, bench_stretch *stretch)
{
    configure(where, spans);
    bench_session_run();
    mxp_name name = mxp_span_name("bench", "empty body");
    if (where.policy == MXP_FULL_RING) {  // once round
        bench_loop_span_inline(2 * RING_BYTES / 16, name);
    }
    bench_start(stretch);
    bench_loop_span_inline(spans, name);
    bench_stop(stretch, spans);
    mxp_report report = {.size_bytes = sizeof report};
    bench_require(mxp_session_report(mxp_session_get(), &report) == 0 && report.lost == 0,
                  "spans were lost");
}

static void record_in_process(places *both, place where, bench_stretch *stretch)
{
    *both->shared = *stretch;
    pid_t child = fork();
    bench_require(child >= 0, "fork");
    if (child == 0) {
        record(where, both->spans, both->shared);
        _exit(0);
    }
    int status;
    bench_require(waitpid(child, &status, 0) == child && status == 0, "the recording process");
    unlink(file_name);
    *stretch = *both->shared;
}

static void run_subject(void *context, bench_stretch *stretch)
{
    places *both = context;
    record_in_process(both, both->subject, stretch);
}

static void run_reference(void *context, bench_stretch *stretch)
{
    places *both = context;
    record_in_process(both, both->reference, stretch);
}

static void measure(const bench_claim *claim, place subject, place reference, int factor)
{
    places both = {.subject = subject, .reference = reference, .spans = (long)SPANS * factor};
    both.shared =
        mmap(NULL, sizeof *both.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_require(both.shared != MAP_FAILED, "mmap");
    bench_plan plan = {.subject = run_subject,
                       .reference = run_reference,
                       .context = &both,
                       .rounds = factor > 1 ? LONG_ROUNDS : ROUNDS};
    bench_pin(0);
    bench_compare(claim, &plan);
    bench_unpin();
    munmap(both.shared, sizeof *both.shared);
}

static const place memory_fresh = {MXP_STORE_MEMORY, MXP_FULL_GROW};
static const place memory_taken = {MXP_STORE_MEMORY, MXP_FULL_DROP};
static const place memory_ring = {MXP_STORE_MEMORY, MXP_FULL_RING};
static const place file_fresh = {MXP_STORE_FILE, MXP_FULL_GROW};
static const place file_ring = {MXP_STORE_FILE, MXP_FULL_RING};

static void measure_fresh(const bench_claim *claim)
{
    measure(claim, memory_fresh, memory_ring, LONG_FACTOR);
}

static void measure_taken(const bench_claim *claim)
{
    measure(claim, memory_taken, memory_ring, LONG_FACTOR);
}

static void measure_file(const bench_claim *claim)
{
    measure(claim, file_fresh, memory_fresh, 1);
}

static void measure_file_ring(const bench_claim *claim)
{
    measure(claim, file_ring, memory_ring, 1);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R6 span in fresh memory, over a reused ring", "ns/span", false, 1.6, 1.4, measure_fresh},
        {"R6 span in memory taken before, over a reused ring", "ns/span", false, 1.10, 1.03,
         measure_taken},
        {"R9 span in a file, over fresh memory", "ns/span", false, 1.15, 1.05, measure_file},
        {"R9 span in a ring in a file, over one in memory", "ns/span", false, 1.15, 1.05,
         measure_file_ring},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
