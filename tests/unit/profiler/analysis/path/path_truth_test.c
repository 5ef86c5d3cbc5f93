// SPDX-License-Identifier: Apache-2.0
// Steps and critical paths of simulated programs against what truly happened: windows, pieces and
// their causes to the nanosecond. 200 seeds; 10,000 with MXPROF_TEST_LONG=1.
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "profiler/analysis/path/path.h"
#include "profiler/trace/file/native.h"
#include "random.h"
#include "sim_trace.h"

typedef struct check {
    const sim_run *run;
    const uint32_t *names;
    uint64_t compared, skipped;  // windows
    uint64_t kinds[MXP__PATH_KINDS + 1];
    uint64_t paused, lost;  // windows in which a pause or a loss was found
} check;

// ---- pieces ------------------------------------------------------------------------------------
static int number_of(const sim_run *run, uint32_t id)
{
    for (size_t i = 0; i < run->op_count; i++) {
        if (run->ops[i].id == id) {
            return (int)i;
        }
    }
    return SIM_NONE;
}

static int what_of(const mxp_path_piece *piece)
{
    switch (piece->kind) {
    case MXP__PATH_RUN:
        return SIM_IS_RUN;
    case MXP__PATH_DISPATCH:
        return SIM_IS_DISPATCH;
    case MXP__PATH_WAKE:
        return SIM_IS_WAKE;
    case MXP__PATH_CUSTOM:
        return SIM_IS_CUSTOM;
    case MXP__PATH_HANDOFF:
        return SIM_IS_HAND_OFF;
    default:
        return mxp__path_kind_is_host(piece->kind) ? (int)SIM_IS_HOST : -1;
    }
}

static uint32_t host_name(const check *c, const mxp_path_piece *piece)
{
    for (uint32_t i = 1; i < SIM_NAME_END; i++) {
        if (c->names[i] == piece->name && piece->name != 0) {
            return i;
        }
    }
    return SIM_NAME_NONE;
}

static sim_piece piece_of(const check *c, const mxp_graph *graph, const mxp_path_piece *piece)
{
    sim_piece made = {.from_ns = piece->from_ns,
                      .to_ns = piece->to_ns,
                      .what = (sim_what)what_of(piece),
                      .op = SIM_NONE,
                      .thread = piece->thread};
    if (made.what == SIM_IS_HOST) {
        made.name = host_name(c, piece);
    } else if (made.what != SIM_IS_CUSTOM && piece->op != MXP__NO_OP) {
        made.op = number_of(c->run, graph->ops[piece->op].id);
    }
    return made;
}

static bool same_piece(const sim_piece *a, const sim_piece *b, bool with_times)
{
    bool same = a->what == b->what && a->op == b->op;
    if (a->what == SIM_IS_HOST) {
        same = same && a->name == b->name && a->thread == b->thread;
    }
    return same && (!with_times || (a->from_ns == b->from_ns && a->to_ns == b->to_ns));
}

static size_t join(sim_piece *pieces, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && same_piece(&pieces[kept - 1], &pieces[i], false)) {
            pieces[kept - 1].to_ns = pieces[i].to_ns;
        } else {
            pieces[kept++] = pieces[i];
        }
    }
    return kept;
}

static void print_pieces(const char *title, const sim_piece *pieces, size_t count)
{
    printf("%s\n", title);
    for (size_t i = 0; i < count; i++) {
        printf("  %lld..%lld what %d op %d name %s thread %u\n", (long long)pieces[i].from_ns,
               (long long)pieces[i].to_ns, (int)pieces[i].what, pieces[i].op,
               sim_name(pieces[i].name), pieces[i].thread);
    }
}

static void check_tiles(const mxp_step_window *step, const mxp_path *path)
{
    int64_t at = step->begin_ns;
    for (size_t i = 0; i < path->count; i++) {
        assert_int_equal(path->pieces[i].from_ns, at);
        assert_true(path->pieces[i].to_ns > at);
        at = path->pieces[i].to_ns;
    }
    assert_int_equal(at, step->end_ns);
}

static int check_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                      const mxp_path *path)
{
    check *c = context;
    check_tiles(&steps->all[step], path);
    const sim_window *window = &c->run->windows[step];
    if (window->is_cut || window->is_ambiguous || c->run->is_ambiguous) {
        c->skipped++;
        return MXP_OK;
    }
    sim_piece *found = malloc((path->count + 1) * sizeof *found);
    for (size_t i = 0; i < path->count; i++) {
        found[i] = piece_of(c, graph, &path->pieces[i]);
        c->kinds[path->pieces[i].kind]++;
    }
    size_t count = join(found, path->count), true_count;
    sim_piece *truth = sim_window_path(window, &true_count);
    true_count = join(truth, true_count);
    bool same = count == true_count;
    for (size_t i = 0; same && i < count; i++) {
        same = same_piece(&found[i], &truth[i], true);
    }
    if (!same) {
        printf("seed %llu, step %llu\n", (unsigned long long)c->run->program->seed,
               (unsigned long long)window->step);
        print_pieces("truth:", truth, true_count);
        print_pieces("path:", found, count);
        assert_true(same);
    }
    assert_int_equal(path->contradictions, 0);
    c->compared++;
    free(found);
    free(truth);
    return MXP_OK;
}

// ---- steps -------------------------------------------------------------------------------------
static void check_windows(check *c, const sim_run *run, const mxp_steps *steps)
{
    size_t open = steps->count > 0 && steps->all[steps->count - 1].is_open;
    assert_int_equal(steps->count - open, run->window_count);
    for (size_t i = 0; i < run->window_count; i++) {
        const mxp_step_window *step = &steps->all[i];
        const sim_window *window = &run->windows[i];
        assert_int_equal(step->number, window->step);
        assert_int_equal(step->begin_ns, window->begin_ns);
        assert_int_equal(step->end_ns, window->end_ns);
        c->paused += step->has_pause;
        c->lost += step->has_loss;
    }
}

// The same trace, written and read as a native file.
static mxp_source *through_a_file(mxp_source *source)
{
    static const char path[] = "path_truth.mxp";
    mxp_source *read;
    mxp_damage damage;
    assert_int_equal(mxp__native_write(path, source), MXP_OK);
    mxp__source_close(source);
    assert_int_equal(mxp__native_open(path, &read, &damage), MXP_OK);
    assert_null(damage.text);
    assert_int_equal(remove(path), 0);
    return read;
}

static void check_program(check *c, uint64_t seed, uint32_t with)
{
    uint64_t state = seed;
    sim_program *program = sim_program_draw(seed, with, 3 + (uint32_t)random_below(&state, 8));
    sim_run *run = sim_run_program(program, &sim_unchanged);
    uint32_t names[SIM_NAME_END];
    mxp_source *source = sim_trace(run, names);
    if (seed % 16 == 0) {
        source = through_a_file(source);
    }
    mxp_steps steps;
    assert_int_equal(mxp__steps_find(source, &steps), MXP_OK);
    check_windows(c, run, &steps);
    steps.at_once = seed % 3;  // 0: all of them
    c->run = run;
    c->names = names;
    if (steps.count > 0 && steps.all[steps.count - 1].is_open) {
        steps.all[steps.count - 1].end_ns = steps.all[steps.count - 1].begin_ns;  // no window
    }
    bool *chosen = calloc(steps.count + 1, sizeof *chosen);
    for (size_t i = 0; i < run->window_count; i++) {
        chosen[i] = true;
    }
    assert_int_equal(mxp__path_steps(source, &steps, chosen, MXP__GRAPH_BYTES_MAX, check_step, c),
                     MXP_OK);
    free(chosen);
    mxp__steps_fini(&steps);
    mxp__source_close(source);
    sim_run_free(run);
    sim_program_free(program);
}

static uint64_t seed_count(void)
{
    const char *text = getenv("MXPROF_TEST_LONG");
    return text != NULL && strcmp(text, "1") == 0 ? 10000 : 200;
}

// Any features together; pauses and losses seldom, because their windows are not compared.
static uint32_t features(uint64_t seed)
{
    uint64_t state = seed ^ 0x5eed;
    uint32_t with = (uint32_t)random_next(&state) & SIM_WITH_ALL & ~SIM_WITH_PAUSE & ~SIM_WITH_LOSS;
    with |= seed % 10 == 3 ? SIM_WITH_PAUSE : 0;
    return with | (seed % 10 == 7 ? SIM_WITH_LOSS : 0);
}

static void paths_are_the_true_ones(void **state)
{
    (void)state;
    check c = {0};
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        check_program(&c, seed, features(seed));
    }
    printf("%llu windows compared, %llu not\n", (unsigned long long)c.compared,
           (unsigned long long)c.skipped);
    assert_true(c.compared > 4 * c.skipped);
    assert_true(c.paused > 0 && c.lost > 0);
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        bool drawn = kind != MXP__PATH_COMMUNICATION && kind != MXP__PATH_BACK_PRESSURE &&
                     kind != MXP__PATH_UNKNOWN;
        assert_int_equal(c.kinds[kind] > 0, drawn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_the_true_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
