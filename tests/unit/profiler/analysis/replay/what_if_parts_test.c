// SPDX-License-Identifier: Apache-2.0
// Predictions in several parts, because little memory is allowed, against those in one. In a
// program that waits for everything in each step nothing goes on over the border of a part, so the
// parts must come to the same, if idle workers and waiting threads take no time to go on: what they
// usually take is looked for in each part. And whatever goes on there, each part comes out of its
// own replay.
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "profiler/analysis/graph/graph.h"
#include "profiler/analysis/replay/what_if.h"
#include "random.h"
#include "sim_trace.h"

enum { STEPS = 40, SETS = 5 };

// ---- a program that waits for everything in each step ------------------------------------------
static void push(sim_program *program, uint64_t *random, uint32_t name, uint32_t var)
{
    sim_op *op = sim_op_new(program, name, 800 + 8 * (uint32_t)random_below(random, 4000));
    op->queue = (uint32_t)random_below(random, 2) == 0 ? MXP_QUEUE_LIGHT : MXP_QUEUE_COMPUTE;
    if (random_below(random, 2) == 0) {
        sim_op_reads(op, 1 + (uint32_t)random_below(random, 3));
    }
    sim_op_writes(op, var);
    sim_add(&program->threads[0], SIM_PUSH, 400)->op = op;
    sim_add(&program->threads[0], SIM_HOST, 80 + 8 * (uint32_t)random_below(random, 200));
}

static sim_program *closed_program(uint64_t seed)
{
    sim_program *program = sim_program_new();
    uint64_t random = seed;
    program->seed = seed;
    program->steps = STEPS;
    program->var_count = 8;
    program->costs = (sim_costs){.spin_ns = program->costs.spin_ns};
    for (uint32_t step = 1; step <= STEPS; step++) {
        sim_add(&program->threads[0], SIM_STEP, 0)->var = step;
        sim_add(&program->threads[0], SIM_HOST, 160);
        const uint32_t count = 2 + (uint32_t)random_below(&random, 8);
        for (uint32_t i = 0; i < count; i++) {
            push(program, &random, SIM_NAME_DENSE + (uint32_t)random_below(&random, 4), 1 + i % 3);
        }
        sim_add(&program->threads[0], SIM_WAIT_ALL, 80)->site = program->sites++;
        sim_add(&program->threads[0], SIM_HOST, 8 * (1 + (uint32_t)random_below(&random, 900)));
    }
    sim_add(&program->threads[0], SIM_STEP, 0)->var = STEPS + 1;
    return program;
}

typedef struct scene {
    sim_program *program;
    sim_run *run;
    mxp_source *source;
    mxp_steps steps;
} scene;

static void scene_open(scene *s, sim_program *program)
{
    uint32_t names[SIM_NAME_END];
    *s = (scene){.program = program, .run = sim_run_program(program, &sim_unchanged)};
    s->source = sim_trace(s->run, names);
    assert_int_equal(mxp__steps_find(s->source, &s->steps), MXP_OK);
}

static void scene_close(scene *s)
{
    mxp__steps_fini(&s->steps);
    mxp__source_close(s->source);
    sim_run_free(s->run);
    sim_program_free(s->program);
}

static uint64_t bytes_of(const scene *s, size_t first, size_t last)
{
    mxp_graph graph;
    assert_int_equal(mxp__graph_load(s->source, s->steps.all[first].begin_ns,
                                     s->steps.all[last].end_ns, MXP__GRAPH_BYTES_MAX, &graph),
                     MXP_OK);
    const uint64_t bytes = graph.bytes;
    mxp__graph_fini(&graph);
    return bytes;
}

static size_t whole_steps(const scene *s)
{
    size_t count = s->steps.count;
    while (count > 0 && s->steps.all[count - 1].is_open) {
        count--;
    }
    return count;
}

// As little as each single step can do with: most parts are a step or two.
static uint64_t least_limit(const scene *s)
{
    uint64_t most = 0;
    for (size_t i = 0; i < whole_steps(s); i++) {
        const uint64_t bytes = bytes_of(s, i, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// ---- changes -----------------------------------------------------------------------------------
static const mxp_change changes[SETS] = {
    {.kind = MXP_CHANGE_NAME, .glob = "dense", .factor = 0.5},
    {.kind = MXP_CHANGE_NAME, .glob = "*", .factor = 3},
    {.kind = MXP_CHANGE_HOST, .factor = 0.25},
    {.kind = MXP_CHANGE_NAME, .glob = "conv", .factor = 0},
    {.kind = MXP_CHANGE_WORKERS, .count = 2},
};

static void predict(const scene *s, uint64_t limit_bytes, mxp_change_set *sets, mxp_what_if *result)
{
    for (size_t i = 0; i < SETS; i++) {
        sets[i] = (mxp_change_set){.changes = &changes[i], .count = 1};
    }
    assert_int_equal(
        mxp__what_if(s->source, &s->steps, NULL, limit_bytes, true, sets, SETS, result), MXP_OK);
}

static void check_same_set(const mxp_change_set *one, const mxp_change_set *parts, size_t steps)
{
    for (size_t k = 0; k < steps; k++) {
        assert_true(parts->gains_ns[k] == one->gains_ns[k]);
    }
    assert_true(parts->gain_ns == one->gain_ns);
    assert_true(parts->p50_ns == one->p50_ns);
    // Pieces of the program are cut at the borders, operators are not.
    const bool is_host = parts->changes[0].kind == MXP_CHANGE_HOST;
    assert_true(is_host ? parts->changed >= one->changed : parts->changed == one->changed);
    assert_true(parts->is_model == one->is_model);
}

static void parts_come_to_the_same_as_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        scene s;
        mxp_change_set one_sets[SETS], part_sets[SETS];
        mxp_what_if one, parts;
        scene_open(&s, closed_program(seed));
        const uint64_t least = least_limit(&s), most = bytes_of(&s, 0, whole_steps(&s) - 1);
        predict(&s, MXP__GRAPH_BYTES_MAX, one_sets, &one);
        for (uint64_t limit = least; limit < most; limit *= 3) {  // one step, three, nine and so on
            predict(&s, limit, part_sets, &parts);
            assert_int_equal(parts.count, STEPS);
            assert_int_equal(one.count, STEPS);
            assert_true(parts.mean_ns == one.mean_ns);
            for (size_t i = 0; i < SETS; i++) {
                assert_true(one_sets[i].changed > 0 && one_sets[i].gain_ns != 0);
                check_same_set(&one_sets[i], &part_sets[i], STEPS);
            }
            mxp__what_if_fini(&parts);
        }
        assert_true(3 * least < most);
        mxp__what_if_fini(&one);
        scene_close(&s);
    }
}

// ---- any program -------------------------------------------------------------------------------
static void each_part_of_any_program_comes_out_of_its_replay(void **state)
{
    (void)state;
    uint64_t in_parts = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed * 5;
        const uint32_t with =
            (uint32_t)random_next(&random) & SIM_WITH_ALL & ~SIM_WITH_PAUSE & ~SIM_WITH_LOSS;
        scene s;
        mxp_change_set sets[SETS];
        mxp_what_if result;
        scene_open(&s, sim_program_draw(seed, with, 12));
        const size_t count = whole_steps(&s);
        const uint64_t least = least_limit(&s);
        predict(&s, least, sets, &result);
        assert_int_equal(result.count, count);
        for (size_t k = 0; k < count; k++) {
            const sim_window *window = &s.run->windows[k];
            assert_true(result.lengths_ns[k] == (double)(window->end_ns - window->begin_ns));
        }
        in_parts += bytes_of(&s, 0, count - 1) > least;
        mxp__what_if_fini(&result);
        scene_close(&s);
    }
    assert_true(in_parts > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_to_the_same_as_one),
        cmocka_unit_test(each_part_of_any_program_comes_out_of_its_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
