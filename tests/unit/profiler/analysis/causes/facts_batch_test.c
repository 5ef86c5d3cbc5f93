// SPDX-License-Identifier: Apache-2.0
// What is told of steps does not depend on how many of them have their graphs made together: every
// figure of the facts and each piece of the paths, of simulated programs and of a file of the fuzz
// corpus, is the same for one, two, three, seven and all of them. 200 seeds; 10,000 with
// MXPROF_TEST_LONG=1.
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "profiler/analysis/causes/facts.h"
#include "profiler/analysis/path/step_bounds.h"
#include "profiler/trace/file/native.h"
#include "random.h"
#include "sim_trace.h"

// A piece without places of its graph, which are of a batch.
typedef struct kept_piece {
    size_t step;
    int64_t from_ns, to_ns;
    uint32_t op_id, name, thread, kind;
} kept_piece;

typedef struct told {
    const char *of;
    uint64_t seed;
    mxp_facts facts;
    mxp_choice choice;
    kept_piece *pieces;
    size_t piece_count, piece_capacity;
    double program_ns;
    uint64_t contradictions;
} told;

static int keep_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                     const mxp_path *path)
{
    told *to = context;
    to->program_ns += (double)mxp__step_program_ns(graph, steps, step);
    to->contradictions += path->contradictions;
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        if (to->piece_count == to->piece_capacity) {
            to->piece_capacity = 2 * to->piece_capacity + 64;
            to->pieces = realloc(to->pieces, to->piece_capacity * sizeof *to->pieces);
            assert_non_null(to->pieces);
        }
        to->pieces[to->piece_count++] =
            (kept_piece){.step = step,
                         .from_ns = piece->from_ns,
                         .to_ns = piece->to_ns,
                         .op_id = piece->op == MXP__NO_OP ? 0 : graph->ops[piece->op].id,
                         .name = piece->op == MXP__NO_OP ? piece->name : 0,
                         .thread = piece->thread,
                         .kind = piece->kind};
    }
    return MXP_OK;
}

static void tell(mxp_source *source, mxp_steps *steps, const mxp_choice_wish *wish, size_t at_once,
                 told *to)
{
    const mxp_path_listener listener = {.each = keep_step, .context = to};
    steps->at_once = at_once;
    assert_int_equal(mxp__choice_make(steps, wish, &to->choice), MXP_OK);
    assert_int_equal(
        mxp__facts_make(source, steps, &to->choice, MXP__GRAPH_BYTES_MAX, &listener, &to->facts),
        MXP_OK);
}

static void forget(told *of)
{
    mxp__facts_fini(&of->facts);
    mxp__choice_fini(&of->choice);
    free(of->pieces);
}

// ---- the same ----------------------------------------------------------------------------------
static void fail_at(const told *some, size_t at_once, size_t step, const char *what)
{
    fail_msg("%s, seed %llu, %zu at once, step %zu: %s", some->of, (unsigned long long)some->seed,
             at_once, step, what);
}

static void check_pieces(const told *all, const told *some, size_t at_once)
{
    for (size_t i = 0; i < all->piece_count && i < some->piece_count; i++) {
        const kept_piece *a = &all->pieces[i], *b = &some->pieces[i];
        if (a->step != b->step || a->from_ns != b->from_ns || a->to_ns != b->to_ns ||
            a->op_id != b->op_id || a->name != b->name || a->thread != b->thread ||
            a->kind != b->kind) {
            printf("%lld..%lld kind %u op %u name %u thread %u in place of %lld..%lld kind %u op "
                   "%u name %u thread %u\n",
                   (long long)b->from_ns, (long long)b->to_ns, b->kind, b->op_id, b->name,
                   b->thread, (long long)a->from_ns, (long long)a->to_ns, a->kind, a->op_id,
                   a->name, a->thread);
            fail_at(some, at_once, a->step, "a piece of the path");
        }
    }
    assert_int_equal(all->piece_count, some->piece_count);
    assert_int_equal(all->contradictions, some->contradictions);
    if (all->program_ns != some->program_ns) {
        fail_at(some, at_once, 0, "what the program needs");
    }
}

static void check_step(const told *all, const told *some, size_t at_once, size_t i)
{
    const mxp_facts_step *a = &all->facts.at[i], *b = &some->facts.at[i];
    const struct {
        const char *what;
        double a, b;
    } figures[] = {
        {"wall_ns", a->wall_ns, b->wall_ns},
        {"records", (double)a->records, (double)b->records},
        {"takings", (double)a->takings, (double)b->takings},
        {"pushed", (double)a->pushed, (double)b->pushed},
        {"tiny", (double)a->tiny, (double)b->tiny},
        {"push_ns", a->push_ns, b->push_ns},
        {"tiny_run_ns", a->tiny_run_ns, b->tiny_run_ns},
        {"input_wait_ns", a->input_wait_ns, b->input_wait_ns},
        {"run_ns", a->run_ns, b->run_ns},
        {"dependent_ns", a->dependent_ns, b->dependent_ns},
        {"fresh_ns", a->fresh_ns, b->fresh_ns},
    };
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++) {
        if (figures[k].a != figures[k].b) {
            printf("%.1f in place of %.1f\n", figures[k].b, figures[k].a);
            fail_at(some, at_once, a->place, figures[k].what);
        }
    }
}

// Rows come in the order of what was met first, which is the same.
static void check_rows(const told *some, size_t at_once, const mxp_path_rows *a,
                       const mxp_path_rows *b)
{
    bool same = a->count == b->count && a->cell_count == b->cell_count && a->steps == b->steps &&
                a->total_ns == b->total_ns;
    for (size_t i = 0; same && i < a->count; i++) {
        const mxp_path_row *x = &a->rows[i], *y = &b->rows[i];
        same = x->kind == y->kind && x->name == y->name && x->scope == y->scope &&
               x->phase == y->phase && x->total_ns == y->total_ns && x->pieces == y->pieces &&
               x->steps == y->steps;
    }
    for (size_t i = 0; same && i < a->cell_count; i++) {
        same = a->cells[i].row == b->cells[i].row && a->cells[i].step == b->cells[i].step &&
               a->cells[i].ns == b->cells[i].ns;
    }
    if (!same) {
        fail_at(some, at_once, 0, "rows");
    }
}

static void check_same(const told *all, const told *some, size_t at_once)
{
    assert_int_equal(all->facts.count, some->facts.count);
    for (size_t i = 0; i < all->facts.count; i++) {
        check_step(all, some, at_once, i);
    }
    check_pieces(all, some, at_once);
    check_rows(some, at_once, &all->facts.rows, &some->facts.rows);
    check_rows(some, at_once, &all->facts.chains, &some->facts.chains);
    assert_int_equal(all->facts.workers, some->facts.workers);
    assert_int_equal(all->facts.has_waits, some->facts.has_waits);
    assert_int_equal(all->facts.cut_ops, some->facts.cut_ops);
}

// Where libraries of before recorded no waits: figures of operators are the same; of waits before a
// graph's window less may be known, so the program's own time is at most longer, up to all of it.
static void check_without_waits(const told *all, const told *some, size_t at_once)
{
    double longest_ns = 0;
    for (size_t i = 0; i < all->facts.count; i++) {
        const mxp_step_window *step = &all->facts.steps->all[all->facts.at[i].place];
        longest_ns += (double)(step->next_ns - step->mark_ns);
        check_step(all, some, at_once, i);
    }
    check_rows(some, at_once, &all->facts.chains, &some->facts.chains);
    assert_int_equal(all->facts.rows.total_ns, some->facts.rows.total_ns);
    assert_true(some->program_ns >= all->program_ns && some->program_ns <= longest_ns);
}

typedef void check_two(const told *all, const told *some, size_t at_once);

static size_t check_source(mxp_source *source, const char *of, uint64_t seed, check_two *check)
{
    const mxp_choice_wish *wish = &(mxp_choice_wish){0};
    static const size_t counts[] = {1, 2, 3, 7};
    mxp_steps steps;
    assert_int_equal(mxp__steps_find(source, &steps), MXP_OK);
    if (steps.count == 0) {
        mxp__steps_fini(&steps);
        return 0;
    }
    told all = {.of = of, .seed = seed};
    tell(source, &steps, wish, 0, &all);
    const size_t chosen = all.facts.count;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        told some = {.of = of, .seed = seed};
        tell(source, &steps, wish, counts[i], &some);
        check(&all, &some, counts[i]);
        forget(&some);
    }
    forget(&all);
    mxp__steps_fini(&steps);
    return chosen;
}

// ---- programs ----------------------------------------------------------------------------------
static uint64_t seed_count(void)
{
    const char *text = getenv("MXPROF_TEST_LONG");
    return text != NULL && strcmp(text, "1") == 0 ? 10000 : 200;
}

// With any features together; false: without records of waits.
static size_t check_program(uint64_t seed, bool has_waits)
{
    uint64_t chance = seed ^ 0xba7c;
    const uint32_t with = (uint32_t)random_next(&chance) & SIM_WITH_ALL;
    sim_program *program = sim_program_draw(seed, with, 3 + (uint32_t)random_below(&chance, 12));
    sim_run *run = sim_run_program(program, &sim_unchanged);
    uint32_t names[SIM_NAME_END];
    run->wait_count = has_waits ? run->wait_count : 0;
    mxp_source *source = sim_trace(run, names);
    const size_t chosen = check_source(source, "a simulated program", seed,
                                       has_waits ? check_same : check_without_waits);
    mxp__source_close(source);
    sim_run_free(run);
    sim_program_free(program);
    return chosen;
}

static void of_simulated_programs(void **state)
{
    (void)state;
    size_t chosen = 0;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        chosen += check_program(seed, true);
    }
    assert_true(chosen > 3 * seed_count());
}

static void of_programs_without_records_of_waits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        check_program(seed, false);
    }
}

static void of_a_file(void **state)
{
    (void)state;
    const char *root = getenv("MXPROF_SOURCE");
    char path[4096];
    assert_non_null(root);
    (void)snprintf(path, sizeof path, "%s/tests/fuzz/corpus/analysis/steps_3.mxp", root);
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open(path, &source, &damage), MXP_OK);
    assert_true(check_source(source, path, 0, check_same) > 1);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_file),
        cmocka_unit_test(of_simulated_programs),
        cmocka_unit_test(of_programs_without_records_of_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
