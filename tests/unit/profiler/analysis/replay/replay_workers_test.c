// SPDX-License-Identifier: Apache-2.0
// Replays on another number of compute workers, held against simulated programs that were really
// run on so many, and pushed the same. In both the worker that is free takes the lowest id of all
// that is ready. To start on an idle worker and to wake up cost nothing there: which of several
// workers slept is up to the engine, and a program that never blocked does not tell what it costs.
// One thread pushes: with two, what a wait for everything is for depends on their times. 200 seeds;
// 10,000 with MXPROF_TEST_LONG=1.
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "profiler/analysis/replay/replay.h"
#include "random.h"
#include "sim_trace.h"

// A program that was recorded, and the plan of its replay.
typedef struct scene {
    sim_program *program;
    sim_run *run;
    mxp_source *source;
    mxp_steps steps;
    mxp_graph graph;
    mxp_replay_plan plan;
} scene;

static uint64_t seed_count(void)
{
    const char *text = getenv("MXPROF_TEST_LONG");
    return text != NULL && strcmp(text, "1") == 0 ? 10000 : 200;
}

static void scene_open(scene *s, uint64_t seed, uint32_t with, uint32_t workers)
{
    uint32_t names[SIM_NAME_END];
    uint64_t state = seed;
    *s = (scene){.program = sim_program_draw(seed, with, 3 + (uint32_t)random_below(&state, 6))};
    s->program->takes_by_id = true;
    s->program->workers[MXP_QUEUE_COMPUTE] = workers;
    s->program->costs.dispatch_ns = s->program->costs.woke_ns = s->program->costs.wake_ns = 0;
    s->run = sim_run_program(s->program, &sim_unchanged);
    s->source = sim_trace(s->run, names);
    assert_int_equal(mxp__steps_find(s->source, &s->steps), MXP_OK);
    size_t end = s->steps.count;
    while (end > 0 && s->steps.all[end - 1].is_open) {
        end--;
    }
    assert_true(end > 0);
    assert_int_equal(mxp__graph_load(s->source, s->steps.all[0].begin_ns,
                                     s->steps.all[end - 1].end_ns, MXP__GRAPH_BYTES_MAX, &s->graph),
                     MXP_OK);
    assert_int_equal(mxp__replay_plan_make(&s->graph, &s->steps, 0, end, &s->plan), MXP_OK);
}

static void scene_close(scene *s)
{
    mxp__replay_plan_fini(&s->plan);
    mxp__graph_fini(&s->graph);
    mxp__steps_fini(&s->steps);
    mxp__source_close(s->source);
    sim_run_free(s->run);
    sim_program_free(s->program);
}

static int compare_ends(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Whether two operators ended at one moment: which of them is first is up to the engine, and with
// it what the workers find.
static bool has_ties(const sim_run *run)
{
    int64_t *ends = calloc(run->op_count + 1, sizeof *ends);
    size_t count = 0;
    assert_non_null(ends);
    for (size_t i = 0; i < run->op_count; i++) {
        const bool is_bulk = run->ops[i].op->kind == SIM_OP_BULK;
        if (!is_bulk || run->ops[i].parent == SIM_NONE) {
            ends[count++] = run->ops[i].end_ns;
        }
    }
    qsort(ends, count, sizeof *ends, compare_ends);
    bool has = run->is_ambiguous;
    for (size_t i = 1; i < count; i++) {
        has |= ends[i] == ends[i - 1];
    }
    free(ends);
    return has;
}

static size_t step_of(const sim_run *run, int64_t ns)
{
    size_t step = 0;
    for (size_t i = 0; i < run->mark_count; i++) {
        step += run->marks[i].kind != MXP_META_STATE && run->marks[i].at_ns <= ns;
    }
    return step;
}

// Whether the same operators were pushed in the same order and steps: a wait that blocks pushes
// one, and what an operator pushes comes when that runs.
static bool has_same_pushes(const sim_run *a, const sim_run *b)
{
    bool has = a->op_count == b->op_count;
    for (size_t i = 0; i < a->op_count && has; i++) {
        has = a->ops[i].op->number == b->ops[i].op->number && a->ops[i].id == b->ops[i].id &&
              step_of(a, a->ops[i].push_ns) == step_of(b, b->ops[i].push_ns);
    }
    return has;
}

// Whether an operator was pushed from a worker just when one ended there: by that one, or by the
// next.
static bool has_push_at_an_end(const sim_run *run)
{
    bool has = false;
    for (size_t i = 0; i < run->op_count; i++) {
        for (size_t k = 0; k < run->op_count; k++) {
            has |= run->ops[i].push_thread == run->ops[k].thread &&
                   run->ops[i].push_ns == run->ops[k].end_ns;
        }
    }
    return has;
}

static bool check_steps(const scene *s, const sim_run *truth, uint32_t workers)
{
    mxp_changes changes = mxp__no_changes;
    mxp_replayed replayed;
    bool differs = false;
    changes.workers = workers;
    assert_int_equal(mxp__replay_run(&s->plan, &changes, &replayed), MXP_OK);
    for (size_t k = 0; k < replayed.count; k++) {
        const int64_t true_ns = truth->windows[k].end_ns - truth->windows[k].begin_ns;
        if (replayed.lengths_ns[k] != true_ns) {
            printf("seed %llu, %u workers for %u, step %zu: %lld predicted, %lld true, %lld "
                   "recorded\n",
                   (unsigned long long)s->program->seed, workers,
                   s->program->workers[MXP_QUEUE_COMPUTE], k + 1, (long long)replayed.lengths_ns[k],
                   (long long)true_ns, (long long)replayed.recorded_ns[k]);
        }

        assert_int_equal(replayed.lengths_ns[k], true_ns);
        differs |= true_ns != replayed.recorded_ns[k];
    }
    mxp__replayed_fini(&replayed);
    return differs;
}

static void other_workers_do_what_the_program_does_on_them(void **state)
{
    (void)state;
    const uint32_t with = SIM_WITH_BULKS | SIM_WITH_INLINE | SIM_WITH_CHILDREN | SIM_WITH_SPANS |
                          SIM_WITH_WRAP | SIM_WITH_STEP_ENDS | SIM_WITH_DELETIONS;
    uint64_t compared = 0, ties = 0, changed = 0;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        uint64_t random = seed * 77;
        scene s;
        scene_open(&s, seed, (uint32_t)random_next(&random) & with,
                   1 + (uint32_t)random_below(&random, 3));
        for (uint32_t workers = 1; workers <= SIM_WORKERS_MAX; workers++) {
            const uint32_t recorded = s.program->workers[MXP_QUEUE_COMPUTE];
            s.program->workers[MXP_QUEUE_COMPUTE] = workers;
            sim_run *truth = sim_run_program(s.program, &sim_unchanged);
            s.program->workers[MXP_QUEUE_COMPUTE] = recorded;
            if (has_push_at_an_end(s.run) || has_ties(s.run) || has_ties(truth) ||
                !has_same_pushes(s.run, truth)) {
                ties++;
            } else {
                changed += check_steps(&s, truth, workers);
                compared++;
            }
            sim_run_free(truth);
        }
        scene_close(&s);
    }
    printf("%llu compared, %llu of them other than recorded, %llu with ties or other operators\n",
           (unsigned long long)compared, (unsigned long long)changed, (unsigned long long)ties);
    assert_true(compared > seed_count() / 2 && changed > seed_count() / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_workers_do_what_the_program_does_on_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
