// SPDX-License-Identifier: Apache-2.0
// Replays of simulated programs: without a change each step comes out to the nanosecond; with one
// it takes what the program takes when it is really run with that change, as long as everything
// happens in the same order; and a small change of one name gains its time on the path. 200 seeds;
// 10,000 with MXPROF_TEST_LONG=1.
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "profiler/analysis/path.h"
#include "profiler/analysis/replay.h"
#include "random.h"
#include "sim_trace.h"

// A recorded program, and the plan of its replay.
typedef struct scene {
    sim_program *program;
    sim_run *run;
    uint32_t names[SIM_NAME_END];
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

static void scene_record(scene *s)
{
    s->run = sim_run_program(s->program, &sim_unchanged);
    s->source = sim_trace(s->run, s->names);
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

static void scene_open(scene *s, uint64_t seed, uint32_t with)
{
    uint64_t state = seed;
    *s = (scene){.program = sim_program_draw(seed, with, 3 + (uint32_t)random_below(&state, 8))};
    scene_record(s);
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

static uint32_t features(uint64_t seed, uint32_t without)
{
    uint64_t state = seed ^ 0x5eed;
    return (uint32_t)random_next(&state) & SIM_WITH_ALL & ~without & ~SIM_WITH_PAUSE &
           ~SIM_WITH_LOSS;
}

// ---- without a change --------------------------------------------------------------------------
static void unchanged_replay_is_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene s;
        scene_open(&s, seed, features(seed, 0));
        mxp_replayed replayed;
        assert_int_equal(mxp__replay_run(&s.plan, &mxp__no_changes, &replayed), MXP_OK);
        if (replayed.wrong_op != MXP__NO_OP || s.plan.contradictions != 0) {
            printf("seed %llu: %llu contradictions, wrong op %d\n", (unsigned long long)seed,
                   (unsigned long long)s.plan.contradictions, (int)replayed.wrong_op);
        }
        assert_int_equal(replayed.wrong_op, MXP__NO_OP);
        assert_int_equal(s.plan.contradictions, 0);
        assert_int_equal(s.plan.unknown_releases, 0);
        assert_int_equal(replayed.switched, 0);
        for (size_t i = 0; i < replayed.count; i++) {
            assert_int_equal(replayed.lengths_ns[i],
                             s.run->windows[i].end_ns - s.run->windows[i].begin_ns);
        }
        mxp__replayed_fini(&replayed);
        scene_close(&s);
    }
}

// ---- with a change -----------------------------------------------------------------------------
typedef struct tables {
    double names[256], calls[256];
    bool waits[256];
} tables;

static void no_tables(tables *t)
{
    for (size_t i = 0; i < 256; i++) {
        t->names[i] = t->calls[i] = 1;
        t->waits[i] = false;
    }
}

// One of the changes that both sides know.
static mxp_changes draw_change(uint64_t *random, const scene *s, sim_change *truth, tables *t)
{
    static const uint32_t nums[] = {0, 4, 6, 7, 7, 9, 9, 10, 12, 16};  // eighths
    *truth = sim_unchanged;
    no_tables(t);
    assert_true(s->source->name_count <= 256);
    mxp_changes changes = mxp__no_changes;
    const uint32_t num = nums[random_below(random, 10)];
    if (random_below(random, 4) == 0) {
        truth->host_num = num;
        truth->host_den = 8;
        changes.host = num / 8.0;
        return changes;
    }
    truth->num = num;
    truth->den = 8;
    if (random_below(random, 3) == 0) {
        truth->scope = (int)random_below(random, 4);
        t->names[sim_trace_scope(s->source, (uint32_t)truth->scope)] = num / 8.0;
        changes.by_scope = t->names;
    } else {
        truth->name = SIM_NAME_DENSE + (uint32_t)random_below(random, 6);
        t->names[s->names[truth->name]] = num / 8.0;
        changes.by_name = t->names;
    }
    return changes;
}

static bool is_clear(const sim_run *run)
{
    bool ambiguous = run->is_ambiguous;
    for (size_t i = 0; i < run->window_count; i++) {
        ambiguous |= run->windows[i].is_ambiguous;
    }
    return !ambiguous;
}

static void changed_replay_is_what_the_program_does(void **state)
{
    (void)state;
    uint64_t compared = 0, other_order = 0;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene s;
        scene_open(&s, seed, features(seed, SIM_WITH_CUSTOM | SIM_WITH_VARYING_GAPS));
        uint64_t random = seed * 31;
        for (int i = 0; i < 4; i++) {
            sim_change truth;
            tables t;
            const mxp_changes changes = draw_change(&random, &s, &truth, &t);
            sim_run *other = sim_run_program(s.program, &truth);
            if (!is_clear(s.run) || !is_clear(other) || !sim_same_order(s.run, other)) {
                other_order++;
                sim_run_free(other);
                continue;
            }
            mxp_replayed replayed;
            assert_int_equal(mxp__replay_run(&s.plan, &changes, &replayed), MXP_OK);
            for (size_t k = 0; k < replayed.count; k++) {
                const int64_t true_ns = other->windows[k].end_ns - other->windows[k].begin_ns;
                if (replayed.lengths_ns[k] != true_ns) {
                    printf("seed %llu, change %d, step %zu: %lld predicted, %lld true, %lld "
                           "recorded; name %s scope %d host %u factor %u/8\n",
                           (unsigned long long)seed, i, k + 1, (long long)replayed.lengths_ns[k],
                           (long long)true_ns, (long long)replayed.recorded_ns[k],
                           sim_name(truth.name), truth.scope, truth.host_den,
                           truth.host_den ? truth.host_num : truth.num);
                }
                assert_int_equal(replayed.lengths_ns[k], true_ns);
            }
            compared++;
            mxp__replayed_fini(&replayed);
            sim_run_free(other);
        }
        scene_close(&s);
    }
    printf("%llu changes compared, %llu led to another order\n", (unsigned long long)compared,
           (unsigned long long)other_order);
    assert_true(compared > seed_count() / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_replay_is_exact),
        cmocka_unit_test(changed_replay_is_what_the_program_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
