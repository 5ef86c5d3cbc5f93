// SPDX-License-Identifier: Apache-2.0
// A1 to A3: what analyses of a file of 10 M records cost, half operators and half calls, over a
// bare reader of the same file: decode each record, add up its end.
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/analysis/path/path_rows.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/time/time_tree.h"
#include "profiler/trace/file/native.h"
#include "support/recording.h"
#include "support/scratch.h"

enum { OPERATORS = 5000000, STEPS = 1000, NAMES = 64, SCOPES = 16, CALLS = 4, VARIABLES = 3 };

static uint32_t program_thread;
static _Atomic uint32_t made[2];  // operators and calls
static mxp_name names[NAMES], scopes[SCOPES], calls[CALLS];

// ---- the file ----------------------------------------------------------------------------------
static mxp_name numbered(const char *category, const char *format, int number)
{
    char text[32];
    snprintf(text, sizeof text, format, number);
    return mxp_span_name(category, text);
}

static void make_names(void)
{
    for (int i = 0; i < NAMES; i++) {
        names[i] = numbered("operator", "operator %d", i);
    }
    for (int i = 0; i < SCOPES; i++) {
        char text[32];
        snprintf(text, sizeof text, "net:layer%d:", i);
        scopes[i] = mxp_scope_id(text);
    }
    for (int i = 0; i < CALLS; i++) {
        calls[i] = numbered("MXNET_C_API", "MXCall%d", i);
    }
}

// Both threads go on side by side, however the machine shares its cores out, so that every file has
// as many operators as calls in each step, and a path of the same kind.
static void keep_pace(int self, uint32_t number)
{
    enum { AHEAD_MAX = 16 };
    atomic_store_explicit(&made[self], number, memory_order_relaxed);
    for (int spins = 0;
         number > atomic_load_explicit(&made[1 - self], memory_order_relaxed) + AHEAD_MAX;
         spins++) {
        if (spins % 1024 == 1023) {
            sched_yield();
        }
    }
}

// A worker's operators. Each waits for the one before it, every eighth for its push.
static void *run_operators(void *unused)
{
    (void)unused;
    uint64_t before = mxp_ticks();
    for (uint32_t i = 1; i <= OPERATORS; i++) {
        keep_pace(0, i);
        const uint64_t now = mxp_ticks();
        const uint32_t uses[VARIABLES] = {i % 97 + 1, i % 89 + 100,
                                          (i % 83 + 200) | MXP_VARIABLE_WRITTEN};
        const bool was_pushed_late = i == 1 || i % 8 == 0;
        const mxp_operator op = {.name = names[i % NAMES],
                                 .id = i,
                                 .released_by = was_pushed_late ? 0 : i - 1,
                                 .push_ticks = was_pushed_late ? before + 1 : before - 2000,
                                 .ready_ticks = was_pushed_late ? before + 1 : before,
                                 .start_ticks = before + 2,
                                 .end_ticks = now > before + 3 ? now : before + 3,
                                 .flags = i % NAMES % 3 +
                                          1,  // as of layers: each has its phase and scope
                                 .push_thread = program_thread,
                                 .scope = scopes[i % NAMES % SCOPES],
                                 .variable_count = VARIABLES,
                                 .variables = uses};
        mxp_operator_emit(MXP_CLASS_ALL, &op);
        before = op.end_ticks;
    }
    return NULL;
}

static void run_calls(void)
{
    for (uint32_t i = 0; i < OPERATORS; i++) {
        keep_pace(1, i);
        if (i % (OPERATORS / STEPS) == 0) {
            mxp_step(i / (OPERATORS / STEPS));
        }
        const mxp_name call = calls[i % CALLS];
        mxp_end(call, mxp_begin(MXP_CLASS_ALL, call));
    }
}

static void make_file(void)
{
    static bool is_made;
    if (is_made) {
        return;
    }
    bench_unpin();
    bench_session_configure("/dev/null", bench_scratch_path(".mxp"), 0);
    make_names();
    bench_session_run();
    program_thread = mxp_thread_index();
    pthread_t worker;
    bench_require(pthread_create(&worker, NULL, run_operators, NULL) == 0, "pthread_create");
    run_calls();
    pthread_join(worker, NULL);
    bench_session_stop();
    bench_session_dump();
    is_made = true;
}

static mxp_source *open_file(void)
{
    mxp_source *source;
    mxp_damage damage;
    bench_require(mxp__native_open(bench_scratch_path(".mxp"), &source, &damage) == MXP_OK,
                  mxp_last_error());
    return source;
}

// ---- the floor ---------------------------------------------------------------------------------
static void read_bare(void *context, bench_stretch *stretch)
{
    mxp_source *source = context;
    mxp_record_range range;
    uint64_t records = 0;
    int64_t sum = 0;
    bench_start(stretch);
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        while (mxp__decoder_next(&decoder, &event) == 1) {
            sum += event.end_ns;
            records++;
        }
    }
    bench_stop(stretch, (double)records);
    __asm__ volatile("" ::"r"(sum));
    bench_require(records >= 2 * (uint64_t)OPERATORS, "the file has fewer records than were made");
}

// ---- A1 ----------------------------------------------------------------------------------------
static void make_tree(void *context, bench_stretch *stretch)
{
    mxp_source *source = context;
    mxp_steps steps;
    mxp_choice choice;
    mxp_time_rows rows = {0};
    mxp_time_tree tree;
    const mxp_choice_wish all = {.steps = MXP_STEPS_RANGE, .last = UINT64_MAX};
    bench_start(stretch);
    bench_require(mxp__steps_find(source, &steps) == MXP_OK &&
                      mxp__choice_make(&steps, &all, &choice) == MXP_OK &&
                      mxp__time_rows_add(&rows, source, &choice, NULL) == MXP_OK &&
                      mxp__scope_time_tree(&rows, &tree) == MXP_OK &&
                      mxp__time_tree_rank(&tree, MXP_KEY_TOTAL) == MXP_OK,
                  mxp_last_error());
    bench_stop(stretch, 2.0 * OPERATORS);
    bench_require(rows.operators + rows.spans > OPERATORS && tree.count > NAMES,
                  "the tree lacks records");
    mxp__time_tree_fini(&tree);
    mxp__time_rows_fini(&rows);
    mxp__choice_fini(&choice);
    mxp__steps_fini(&steps);
}

// ---- A2 ----------------------------------------------------------------------------------------
static void find_path(void *context, bench_stretch *stretch)
{
    mxp_source *source = context;
    mxp_steps steps;
    mxp_path_rows rows = {0};
    bench_start(stretch);
    bench_require(mxp__steps_find(source, &steps) == MXP_OK, mxp_last_error());
    bench_require(mxp__path_rows_of_steps(source, &steps, NULL, MXP__GRAPH_BYTES_MAX, &rows) ==
                      MXP_OK,
                  mxp_last_error());
    bench_stop(stretch, 2.0 * OPERATORS);
    bench_require(rows.count > NAMES && rows.total_ns > 0, "the path has no rows");
    mxp__path_rows_fini(&rows);
    mxp__steps_fini(&steps);
}

// ---- A3 ----------------------------------------------------------------------------------------
typedef struct replayed_file {
    mxp_source *source;
    mxp_steps steps;
    mxp_graph graph;
    mxp_replay_plan plan;
    double *factors;  // by name
} replayed_file;

static void open_replay(replayed_file *file)
{
    *file = (replayed_file){.source = open_file()};
    bench_require(mxp__steps_find(file->source, &file->steps) == MXP_OK, mxp_last_error());
    const mxp_steps *steps = &file->steps;
    const size_t end = steps->count - 1;  // the last one has no end
    bench_require(mxp__graph_load(file->source, steps->all[0].begin_ns, steps->all[end - 1].end_ns,
                                  UINT64_MAX, &file->graph) == MXP_OK &&
                      mxp__replay_plan_make(&file->graph, steps, 0, end, &file->plan) == MXP_OK,
                  mxp_last_error());
    file->factors = malloc(file->source->name_count * sizeof *file->factors);
    bench_require(file->factors != NULL, "malloc");
    for (uint32_t i = 0; i < file->source->name_count; i++) {
        file->factors[i] = i == names[7] ? 0.5 : 1;
    }
}

static void close_replay(replayed_file *file)
{
    free(file->factors);
    mxp__replay_plan_fini(&file->plan);
    mxp__graph_fini(&file->graph);
    mxp__steps_fini(&file->steps);
    mxp__source_close(file->source);
}

// One more replay of what is there already: what each candidate of the command costs.
static void replay(void *context, bench_stretch *stretch)
{
    const replayed_file *file = context;
    mxp_changes changes = mxp__no_changes;
    mxp_replayed replayed;
    changes.by_name = file->factors;
    bench_start(stretch);
    bench_require(mxp__replay_run(&file->plan, &changes, &replayed) == MXP_OK, mxp_last_error());
    bench_stop(stretch, 2.0 * OPERATORS);
    bench_require(replayed.changed > 0, "no operator was changed");
    mxp__replayed_fini(&replayed);
}

static void read_bare_of(void *context, bench_stretch *stretch)
{
    read_bare(((const replayed_file *)context)->source, stretch);
}

static void measure_replay(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    make_file();
    replayed_file file;
    open_replay(&file);
    bench_plan plan = {.subject = replay, .reference = read_bare_of, .context = &file, .rounds = 5};
    bench_compare(claim, &plan);
    close_replay(&file);
}

static void compare(const bench_claim *claim, bench_side subject)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    make_file();
    mxp_source *source = open_file();
    bench_plan plan = {.subject = subject,
                       .reference = read_bare,
                       .context = source,
                       .rounds = 5,
                       .many_threads = true,
                       .note = "the subject on as many threads as pay, the bare reader on one"};
    bench_compare(claim, &plan);
    mxp__source_close(source);
}

static void measure_tree(const bench_claim *claim)
{
    compare(claim, make_tree);
}

static void measure_path(const bench_claim *claim)
{
    compare(claim, find_path);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"A1 tree of 10 M records by scope and name with own times, over a bare reader",
         "ns/record", false, 1.6, 1.25, measure_tree},
        {"A2 critical path of 10 M records, over a bare reader", "ns/record", false, 3.0, 2.0,
         measure_path},
        {"A3 one replay of 10 M records with a changed name, over a bare reader", "ns/record",
         false, 2.5, 1.5, measure_replay},
    };
    const int code = bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
    bench_scratch_remove(".mxp");
    return code;
}
