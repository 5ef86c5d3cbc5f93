// SPDX-License-Identifier: Apache-2.0
// DK13, DK14: how far clocks of machines may be wrong, over the shortest exchange that was made,
// here between two threads that hand stamps to each other; and what it costs to put the files of
// eight processes, 1 M records each and a message in every tenth, on one clock with all arrows
// checked, over reading them.
#include <mxprof/clock_cut.h>
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/analysis/clocks/clock_curve.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "support/recording.h"
#include "support/scratch.h"

enum { RANKS = 8, RECORDS = 1000000, MESSAGE_EACH = 10, BURSTS = 6, BURST = 16 };

static uint64_t raw_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---- DK13 --------------------------------------------------------------------------------------
// Numbers of the question and of the answer, each on a line of its own.
static struct {
    _Alignas(64) _Atomic uint64_t question;
    _Alignas(64) _Atomic uint64_t answer;
    _Alignas(64) uint64_t received_ns, answered_ns;
} exchange;

static void *answer_all(void *unused)
{
    (void)unused;
    for (uint64_t i = 1; i <= BURSTS * BURST; i++) {
        while (atomic_load_explicit(&exchange.question, memory_order_acquire) != i) {
        }
        exchange.received_ns = raw_ns();
        exchange.answered_ns = raw_ns();
        atomic_store_explicit(&exchange.answer, i, memory_order_release);
    }
    return NULL;
}

static void pause_ns(long ns)
{
    const struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

// The widest doubt of a run, over its shortest exchange.
static double doubt_of_run(uint64_t *shortest_ns)
{
    static mxp_cut cuts[BURSTS * BURST];
    pthread_t other;
    *shortest_ns = UINT64_MAX;
    atomic_store(&exchange.question, 0);
    atomic_store(&exchange.answer, 0);
    bench_require(pthread_create(&other, NULL, answer_all, NULL) == 0, "pthread_create");
    for (uint64_t i = 1; i <= BURSTS * BURST; i++) {
        const uint64_t sent_ns = raw_ns();
        atomic_store_explicit(&exchange.question, i, memory_order_release);
        while (atomic_load_explicit(&exchange.answer, memory_order_acquire) != i) {
        }
        const uint64_t back_ns = raw_ns();
        const mxp_clock_cut cut =
            mxp_clock_cut_of(sent_ns, exchange.received_ns, exchange.answered_ns, back_ns, 1, 0);
        cuts[i - 1] = (mxp_cut){(int64_t)cut.ticks, (int64_t)(cut.low_ns - cut.ticks),
                                (int64_t)(cut.high_ns - cut.ticks)};
        *shortest_ns = back_ns - sent_ns < *shortest_ns ? back_ns - sent_ns : *shortest_ns;
        if (i % BURST == 0 && i < BURSTS * BURST) {
            pause_ns(20000000);
        }
    }
    pthread_join(other, NULL);
    mxp_clock_curve curve;
    const int64_t from_ns = cuts[0].at_ns, until_ns = cuts[BURSTS * BURST - 1].at_ns;
    bench_require(mxp__clock_curve_make(cuts, BURSTS * BURST, NULL, 0, from_ns, until_ns,
                                        &mxp__cut_model, &curve) == MXP_OK,
                  mxp_last_error());
    double widest = 0;
    for (int i = 0; i <= 20; i++) {
        const int64_t when_ns = from_ns + (until_ns - from_ns) * i / 20;
        const double doubt = (double)mxp__clock_curve_doubt(&curve, when_ns);
        const mxp_bounds bounds = mxp__clock_curve_bounds(&curve, when_ns);
        bench_require(bounds.low_ns <= 0 && bounds.high_ns >= 0,
                      "the clock is outside of its bounds");
        widest = doubt > widest ? doubt : widest;
    }
    mxp__clock_curve_fini(&curve);
    return widest;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure_doubt(const bench_claim *claim)
{
    enum { RUNS = 9 };
    double ratios[RUNS];
    char note[96];
    uint64_t shortest_ns = 0;
    if (bench_cpu_count() < 2) {
        bench_void(claim, "two cores are needed");
        return;
    }
    bench_unpin();
    for (int i = 0; i < RUNS; i++) {
        const double widest = doubt_of_run(&shortest_ns);
        ratios[i] = widest / (double)shortest_ns;
    }
    qsort(ratios, RUNS, sizeof *ratios, compare_doubles);
    snprintf(note, sizeof note, "%d runs from %.2f to %.2f, shortest exchange of the last %u ns",
             RUNS, ratios[0], ratios[RUNS - 1], (unsigned)shortest_ns);
    bench_value(claim, ratios[RUNS / 2], note);
}

// ---- DK14 --------------------------------------------------------------------------------------
static char paths[RANKS][32];

static void tell_clock(uint32_t rank)
{
    mxp_clock_owner owner = {.job = 1, .role = MXP_ROLE_WORKER, .rank = rank, .process = rank};
    mxp_clock_cut cuts[BURST];
    snprintf(owner.boot_id, sizeof owner.boot_id, "boot %u", (unsigned)rank);
    snprintf(owner.host, sizeof owner.host, "n%u", (unsigned)rank);
    for (size_t i = 0; i < BURST; i++) {
        const uint64_t now_ns = raw_ns();
        cuts[i] = (mxp_clock_cut){mxp_ticks(), now_ns - 1000, now_ns + 1000, MXP_CUT_PING, 0};
        pause_ns(100000);
    }
    bench_require(mxp_clock_cuts(&owner, cuts, rank == 0 ? 0 : BURST) == MXP_OK, mxp_last_error());
}

// How far each rank is; shared by their processes. None gets far ahead, as in a training.
static _Atomic uint64_t *progress;

static void keep_pace(uint32_t rank, uint64_t number)
{
    enum { AHEAD_MAX = 64 };
    atomic_store_explicit(&progress[rank], number, memory_order_release);
    for (uint32_t other = 0; number % AHEAD_MAX == 0 && other < RANKS; other++) {
        while (atomic_load_explicit(&progress[other], memory_order_acquire) + AHEAD_MAX < number) {
            sched_yield();
        }
    }
}

// In a process of its own, beside the others. Messages of each rank end in the next one's file.
static void make_rank(uint32_t rank, const char *path)
{
    const mxp_name span = mxp_span_name("app", "work");
    const mxp_name flow = mxp_intern("communication", "kvstore", MXP_STYLE_FLOW, MXP_UNIT_NONE);
    bench_session_configure("/dev/null", path, 0);
    bench_session_run();
    const uint64_t before = rank == 0 ? RANKS - 1 : rank - 1;
    for (uint64_t i = 0; i < RECORDS / MESSAGE_EACH; i++) {
        for (int j = 0; j < MESSAGE_EACH - 2; j++) {
            mxp_end(span, mxp_begin(MXP_CLASS_ALL, span));
        }
        keep_pace(rank, i);
        mxp_flow(MXP_CLASS_ALL, flow, MXP_FLOW_START, (uint64_t)rank << 44 | (i + 1));
        mxp_flow(MXP_CLASS_ALL, flow, MXP_FLOW_END, before << 44 | (i + 1));
    }
    atomic_store(&progress[rank], UINT64_MAX / 2);
    tell_clock(rank);
    bench_session_stop();
    bench_session_dump();
}

static void make_files(void)
{
    static bool are_made;
    if (are_made) {
        return;
    }
    bench_unpin();
    progress = mmap(NULL, RANKS * sizeof *progress, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_require(progress != MAP_FAILED, "mmap");
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        snprintf(paths[rank], sizeof paths[rank], ".rank%u.mxp", (unsigned)rank);
        const char *path = bench_scratch_path(paths[rank]);
        const pid_t child = fork();
        bench_require(child >= 0, "fork");
        if (child == 0) {
            make_rank(rank, path);
            _exit(0);
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        int status;
        bench_require(wait(&status) > 0 && status == 0, "a rank's process failed");
    }
    are_made = true;
}

static mxp_source *open_all(void)
{
    mxp_source *sources[RANKS], *all;
    for (size_t i = 0; i < RANKS; i++) {
        bench_require(mxp__native_open(bench_scratch_path(paths[i]), &sources[i], NULL) == MXP_OK,
                      mxp_last_error());
    }
    bench_require(mxp__merge_open(sources, RANKS, &all) == MXP_OK, mxp_last_error());
    return all;
}

static void read_all(void *unused, bench_stretch *stretch)
{
    (void)unused;
    uint64_t records = 0;
    int64_t sum = 0;
    bench_start(stretch);
    mxp_source *all = open_all();
    for (size_t i = 0; i < all->process_count; i++) {
        mxp_source *process = all->processes[i];
        mxp_record_range range;
        for (size_t j = 0; process->range(process, j, &range) == 1; j++) {
            mxp_decoder decoder;
            mxp_event event;
            mxp__decoder_begin(&decoder, process->timebase, &range);
            while (mxp__decoder_next(&decoder, &event) == 1) {
                sum += event.end_ns;
                records++;
            }
        }
    }
    mxp__source_close(all);
    bench_stop(stretch, (double)records);
    __asm__ volatile("" ::"r"(sum));
    bench_require(records >= (uint64_t)RANKS * RECORDS,
                  "the files have fewer records than were made");
}

static void put_on_one_clock(void *unused, bench_stretch *stretch)
{
    (void)unused;
    mxp_one_clock *clocks;
    bench_start(stretch);
    mxp_source *all = open_all();
    bench_require(mxp__one_clock_open(all, true, &clocks) == MXP_OK, mxp_last_error());
    bench_require(mxp__one_clock_check(clocks) == MXP_OK, mxp_last_error());
    const uint64_t checked = clocks->arrows.checked;
    bench_require(clocks->clocks[1].known == MXP__CLOCK_BY_CUTS, "a clock is not known");
    mxp__source_close(&clocks->source);
    bench_stop(stretch, (double)RANKS * RECORDS);
    bench_require(checked > 0, "no arrow was checked");
}

static void measure_merge(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    make_files();
    bench_plan plan = {.subject = put_on_one_clock, .reference = read_all, .rounds = 5};
    bench_compare(claim, &plan);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"DK13 widest doubt of a clock, over the shortest exchange", "exchanges", false, 5, 1,
         measure_doubt},
        {"DK14 8 ranks of 1 M records on one clock, arrows checked, over reading them", "ns/record",
         false, 2.0, 1.3, measure_merge},
    };
    const int code = bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
    for (size_t i = 0; i < RANKS; i++) {
        if (paths[i][0] != '\0') {
            bench_scratch_remove(paths[i]);
        }
    }
    return code;
}
