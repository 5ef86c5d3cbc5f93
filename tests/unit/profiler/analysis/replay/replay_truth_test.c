// SPDX-License-Identifier: Apache-2.0
// Replays of simulated programs: without a change each step comes out to the nanosecond; with one
// it takes what the program takes when it is really run with that change, as long as everything
// happens in the same order; and a small change of one name gains its time on the path. 200 seeds;
// 10,000 with MXPROF_TEST_LONG=1.
#include <math.h>
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "profiler/analysis/path/path.h"
#include "profiler/analysis/replay/replay.h"
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
    const uint32_t without = SIM_WITH_CUSTOM | SIM_WITH_VARYING_GAPS | SIM_WITH_BACKDATED;
    uint64_t compared = 0, other_order = 0;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene s;
        scene_open(&s, seed, features(seed, without));
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

// ---- small changes -----------------------------------------------------------------------------
// A push bears the stamp of its call's begin. Where the call waited before it pushed, the path has
// no more than that stamp, and the replay knows of the wait: they differ, so there are no such
// calls.
//
// The graph and the plan of one step alone: before its window everything is as recorded.
typedef struct step_scene {
    mxp_graph graph;
    mxp_replay_plan plan;
} step_scene;

static void step_open(const scene *s, const mxp_steps *steps, size_t step, step_scene *alone)
{
    assert_int_equal(mxp__graph_load(s->source, steps->all[step].begin_ns, steps->all[step].end_ns,
                                     MXP__GRAPH_BYTES_MAX, &alone->graph),
                     MXP_OK);
    assert_int_equal(mxp__replay_plan_make(&alone->graph, steps, step, step + 1, &alone->plan),
                     MXP_OK);
}

static void step_close(step_scene *alone)
{
    mxp__replay_plan_fini(&alone->plan);
    mxp__graph_fini(&alone->graph);
}

typedef struct small_changes {
    const scene *s;
    uint64_t compared, switched, overtaken;
} small_changes;

static double gain_of(const step_scene *alone, const scene *s, uint32_t name, double factor,
                      uint64_t *switched)
{
    tables t;
    no_tables(&t);
    t.names[s->names[name]] = factor;
    mxp_changes changes = mxp__no_changes;
    changes.by_name = t.names;
    mxp_replayed replayed;
    assert_int_equal(mxp__replay_run(&alone->plan, &changes, &replayed), MXP_OK);
    const double gain_ns = replayed.gains_ns[0];
    *switched += replayed.switched;
    mxp__replayed_fini(&replayed);
    return gain_ns;
}

static int64_t on_path(const mxp_graph *graph, const mxp_path *path, uint32_t name)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        const bool is_its = piece->kind == MXP__PATH_RUN || piece->kind == MXP__PATH_CUSTOM;
        if (is_its && piece->op != MXP__NO_OP && graph->ops[piece->op].name == name) {
            sum_ns += piece->to_ns - piece->from_ns;
        }
    }
    return sum_ns;
}

static int check_small_changes(void *context, const mxp_graph *graph, const mxp_steps *steps,
                               size_t step, const mxp_path *path)
{
    (void)graph;
    (void)path;  // that of the step's own graph is held against its replay
    small_changes *all = context;
    const scene *s = all->s;
    if (s->run->is_ambiguous || s->run->windows[step].is_ambiguous) {
        return MXP_OK;
    }
    step_scene alone;
    step_open(s, steps, step, &alone);
    mxp_path own = {0};
    assert_int_equal(mxp__path_walk(&alone.graph, steps->all[step].begin_ns,
                                    steps->all[step].end_ns, steps->thread, &own),
                     MXP_OK);
    for (uint32_t name = SIM_NAME_DENSE; name <= SIM_NAME_WAIT_FOR_VAR; name++) {
        uint64_t switched = 0;
        const double gain_ns = gain_of(&alone, s, name, 0.999, &switched);
        const double loss_ns = -gain_of(&alone, s, name, 1.001, &switched);
        const double path_ns = (double)on_path(&alone.graph, &own, s->names[name]);
        all->switched += switched > 0;
        if (switched > 0) {
            continue;
        }
        const double most = path_ns / 1000 + 2;  // what is left of rounding to 1/1024 ns
        // Longer: what is not on the path can only add; shorter: it can only hold up.
        assert_true(loss_ns * 1000 >= path_ns - most && gain_ns * 1000 <= path_ns + most);
        all->overtaken += loss_ns * 1000 > path_ns + most || gain_ns * 1000 < path_ns - most;
        all->compared++;
    }
    mxp__path_fini(&own);
    step_close(&alone);
    return MXP_OK;
}

static void each_path(const scene *s, mxp_path_each *each, void *context)
{
    bool chosen[64] = {0};
    memset(chosen, 1, s->plan.end);
    assert_int_equal(
        mxp__path_steps(s->source, &s->steps, chosen, MXP__GRAPH_BYTES_MAX, each, context), MXP_OK);
}

static void small_change_gains_its_time_on_the_path(void **state)
{
    (void)state;
    scene s;
    small_changes all = {.s = &s};
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene_open(&s, seed, features(seed, SIM_WITH_BACKDATED));
        each_path(&s, check_small_changes, &all);
        scene_close(&s);
    }
    printf("%llu names compared, %llu changed a situation, %llu were overtaken\n",
           (unsigned long long)all.compared, (unsigned long long)all.switched,
           (unsigned long long)all.overtaken);
    assert_true(all.switched < all.compared / 20);
    assert_true(all.overtaken < all.compared / 200);  // by another path that was nearly as long
}

// ---- slack -------------------------------------------------------------------------------------
static bool ends_later(const sim_run *run, const sim_run *other)
{
    bool later = false;
    for (size_t i = 0; i < run->window_count; i++) {
        later |= other->windows[i].end_ns > run->windows[i].end_ns;
    }
    return later;
}

static uint32_t place_of(const scene *s, uint32_t id)
{
    return mxp__graph_find(&s->graph, id, INT64_MAX);
}

// The operator is run longer by its slack, and by a little more.
static void check_slack(const scene *s, int number, int64_t slack_ns, uint64_t counts[3])
{
    const int64_t last_ns = s->run->windows[s->run->window_count - 1].end_ns;
    const bool is_all = slack_ns == last_ns - s->run->ops[number].end_ns;
    for (int more = 0; more < 2; more++) {
        sim_change change = sim_unchanged;
        change.longer_op = number;
        change.longer_ns = slack_ns + 8 * more;
        sim_run *other = sim_run_program(s->program, &change);
        if (!sim_same_order(s->run, other) || (more == 1 && is_all)) {
            counts[2]++;
        } else {
            if (ends_later(s->run, other) != (more == 1)) {
                printf("seed %llu, operator %d (%s) and %lld ns more than its end %lld\n",
                       (unsigned long long)s->program->seed, number,
                       sim_name(s->run->ops[number].name), (long long)change.longer_ns,
                       (long long)s->run->ops[number].end_ns);
            }
            assert_int_equal(ends_later(s->run, other), more == 1);
            counts[more]++;
        }
        sim_run_free(other);
    }
}

static void slack_is_what_an_operator_may_be_longer(void **state)
{
    (void)state;
    const uint32_t without = SIM_WITH_CUSTOM | SIM_WITH_VARYING_GAPS | SIM_WITH_BACKDATED;
    uint64_t counts[3] = {0};
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene s;
        scene_open(&s, seed, features(seed, without));
        int64_t *slack;
        assert_int_equal(mxp__replay_slack(&s.plan, &slack), MXP_OK);
        uint64_t random = seed;
        for (int i = 0; i < 6 && is_clear(s.run); i++) {
            const int number = (int)random_below(&random, s.run->op_count);
            const sim_ran *op = &s.run->ops[number];
            const uint32_t place = place_of(&s, op->id);
            const bool is_parent = op->op->kind == SIM_OP_BULK && op->parent == SIM_NONE;
            if (op->end_ns > s.run->windows[s.run->window_count - 1].end_ns) {
                continue;
            }
            if (place != MXP__NO_OP && !is_parent && op->op->child == NULL) {
                check_slack(&s, number, slack[place], counts);
            }
        }
        mxp__free(slack, s.graph.op_count * sizeof *slack);
        scene_close(&s);
    }
    printf("%llu may be longer, %llu not by more, %llu not compared\n",
           (unsigned long long)counts[0], (unsigned long long)counts[1],
           (unsigned long long)counts[2]);
    assert_true(counts[0] > seed_count() && counts[1] > seed_count() / 2);
}

static int check_path_slack(void *context, const mxp_graph *graph, const mxp_steps *steps,
                            size_t step, const mxp_path *path)
{
    const scene *s = context;
    if (s->run->is_ambiguous || s->run->windows[step].is_ambiguous) {
        return MXP_OK;
    }
    step_scene alone;
    step_open(s, steps, step, &alone);
    int64_t *slack;
    assert_int_equal(mxp__replay_slack(&alone.plan, &slack), MXP_OK);
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        if (piece->kind == MXP__PATH_RUN && piece->to_ns == graph->ops[piece->op].end_ns) {
            assert_int_equal(
                slack[mxp__graph_find(&alone.graph, graph->ops[piece->op].id, INT64_MAX)], 0);
        }
    }
    mxp__free(slack, alone.graph.op_count * sizeof *slack);
    step_close(&alone);
    return MXP_OK;
}

static void operators_on_the_path_have_no_slack(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        scene s;
        scene_open(&s, seed, features(seed, SIM_WITH_BACKDATED));
        each_path(&s, check_path_slack, &s);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_replay_is_exact),
        cmocka_unit_test(changed_replay_is_what_the_program_does),
        cmocka_unit_test(small_change_gains_its_time_on_the_path),
        cmocka_unit_test(slack_is_what_an_operator_may_be_longer),
        cmocka_unit_test(operators_on_the_path_have_no_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
