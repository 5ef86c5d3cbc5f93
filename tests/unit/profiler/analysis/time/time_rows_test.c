// SPDX-License-Identifier: Apache-2.0
// Two steps of a network of two layers, by hand: every figure is known.
#include "profiler/analysis/time/time_rows.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/analysis/time/time_tree.h"
#include "random.h"

enum { MAIN, WORKER, STEP = 1000 };

typedef struct ids {
    uint32_t conv, back, sgd, call, user, frame, conv0, relu0, conv1;
} ids;

static void add_op(mxp_source *source, uint32_t name, uint32_t scope, uint32_t phase, uint32_t id,
                   uint64_t push, uint64_t ready, uint64_t start, uint64_t end)
{
    const mxp_operator op = {.name = name,
                             .id = id,
                             .push_ticks = push,
                             .ready_ticks = ready,
                             .start_ticks = start,
                             .end_ticks = end,
                             .flags = phase,
                             .push_thread = MAIN,
                             .scope = scope};
    fake_operator(source, WORKER, &op);
}

// conv0 forward 100, its relu 50 (forward), conv1 forward 200, backward 300, an update 10.
static void add_step(mxp_source *source, const ids *of, uint64_t at, uint32_t id)
{
    fake_meta(source, MAIN, MXP_META_STEP, 0, at, id / 10);
    add_op(source, of->conv, of->conv0, MXP_PHASE_FORWARD, id + 1, at + 10, at + 10, at + 20,
           at + 120);
    add_op(source, of->user, of->relu0, MXP_PHASE_FORWARD, id + 2, at + 15, at + 120, at + 121,
           at + 171);
    add_op(source, of->conv, of->conv1, MXP_PHASE_FORWARD, id + 3, at + 16, at + 171, at + 180,
           at + 380);
    add_op(source, of->back, of->conv1, MXP_PHASE_BACKWARD, id + 4, at + 17, at + 380, at + 390,
           at + 690);
    add_op(source, of->sgd, of->conv1, MXP_PHASE_UPDATE, id + 5, at + 18, at + 690, at + 700,
           at + 710);
    // On the program's thread: a span with two calls in it, and a frame across.
    fake_span(source, MAIN, of->call, at + 10, at + 14);
    fake_span(source, MAIN, of->call, at + 15, at + 25);
    fake_span(source, MAIN, of->user, at + 5, at + 100);
    fake_span(source, MAIN, of->frame, at, at + 900);
}

static mxp_source *make_source(ids *of)
{
    mxp_source *source = fake_source_create();
    fake_thread(source, "main");
    fake_thread(source, "compute worker");
    of->conv = fake_span_name(source, "operator", "Convolution");
    of->back = fake_span_name(source, "operator", "_backward_Convolution");
    of->sgd = fake_span_name(source, "operator", "sgd_update");
    of->user = fake_span_name(source, "user", "work");
    of->call = fake_span_name(source, "MXNET_C_API", "MXImperativeInvoke");
    of->frame = fake_name(source, "training", "frame", MXP_STYLE_ASYNC, 0);
    of->conv0 = fake_scope(source, 0, "net:conv0:");
    of->relu0 = fake_scope(source, 0, "net:conv0:relu0:");
    of->conv1 = fake_scope(source, 0, "net:conv1:");
    add_step(source, of, STEP, 10);
    add_step(source, of, 2 * STEP, 20);
    fake_meta(source, MAIN, MXP_META_STEP, 0, 3 * STEP, 3);
    return source;
}

typedef struct made {
    ids of;
    mxp_source *source;
    mxp_steps steps;
    mxp_choice choice;
    mxp_time_rows rows;
} made;

static void make(made *all, const mxp_choice_wish *wish, const mxp_filter_wish *filters)
{
    mxp_filter filter;
    *all = (made){.source = make_source(&all->of)};
    assert_int_equal(mxp__steps_find(all->source, &all->steps), MXP_OK);
    assert_int_equal(mxp__choice_make(&all->steps, wish, &all->choice), MXP_OK);
    if (filters != NULL) {
        assert_int_equal(mxp__filter_make(all->source, filters, &filter), MXP_OK);
    }
    assert_int_equal(
        mxp__time_rows_add(&all->rows, all->source, &all->choice, filters != NULL ? &filter : NULL),
        MXP_OK);
    assert_int_equal(mxp__time_rows_add_path(&all->rows, all->source, &all->choice,
                                             filters != NULL ? &filter : NULL, 1 << 20),
                     MXP_OK);
    if (filters != NULL) {
        mxp__filter_fini(&filter);
    }
}

static void unmake(made *all)
{
    mxp__time_rows_fini(&all->rows);
    mxp__choice_fini(&all->choice);
    mxp__steps_fini(&all->steps);
    mxp__source_close(all->source);
}

static mxp_time_row *row(made *all, const char *name, const char *scope)
{
    for (size_t i = 0; i < all->rows.count; i++) {
        mxp_time_row *at = &all->rows.rows[i];
        const char *path = mxp__scope_tree_path(&all->rows.scopes, at->scope, NULL);
        if (strcmp(mxp__time_row_name(&all->rows, at, NULL), name) == 0 &&
            strcmp(path, scope) == 0) {
            return at;
        }
    }
    fail_msg("no row %s in '%s'", name, scope);
    return NULL;
}

static void check(const mxp_time_row *at, uint64_t count, uint64_t total, uint64_t self,
                  uint64_t waited, uint64_t queued)
{
    assert_int_equal(at->count, count);
    assert_int_equal(at->total_ns, total);
    assert_int_equal(at->self_ns, self);
    assert_int_equal(at->waited_ns, waited);
    assert_int_equal(at->queued_ns, queued);
}

static void rows_have_the_time_of_the_chosen_steps(void **state)
{
    (void)state;
    made all;
    make(&all, &(mxp_choice_wish){0}, NULL);  // without the last, which has no end
    assert_int_equal(all.rows.steps, 2);
    assert_int_equal(all.rows.wall_ns, 2 * STEP);
    check(row(&all, "Convolution", "net:conv0"), 2, 200, 200, 0, 20);
    check(row(&all, "Convolution", "net:conv1"), 2, 400, 400, 2 * 155, 18);
    check(row(&all, "sgd_update", "net:conv1"), 2, 20, 20, 2 * 672, 20);
    check(row(&all, "MXImperativeInvoke", ""), 4, 28, 28, 0, 0);
    check(row(&all, "work", ""), 2, 190, 162, 0, 0);
    check(row(&all, "frame", ""), 2, 1800, 1800, 0, 0);
    assert_true(row(&all, "frame", "")->overlaps);
    assert_int_equal(all.rows.operators, 10);
    unmake(&all);
    make(&all, &(mxp_choice_wish){.steps = MXP_STEPS_RANGE, .first = 2, .last = 2}, NULL);
    check(row(&all, "Convolution", "net:conv1"), 1, 200, 200, 155, 9);
    check(row(&all, "work", ""), 1, 95, 81, 0, 0);
    unmake(&all);
}

// Its worker comes to it in the next step.
static void an_operator_belongs_to_the_step_of_its_push(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 2; number++) {
        made all = {.source = make_source(&all.of)};
        add_op(all.source, all.of.sgd, all.of.conv0, MXP_PHASE_UPDATE, 99, STEP + 999, STEP + 999,
               3 * STEP + 1, 3 * STEP + 2);
        const mxp_choice_wish wish = {.steps = MXP_STEPS_RANGE, .first = number, .last = number};
        assert_int_equal(mxp__steps_find(all.source, &all.steps), MXP_OK);
        assert_int_equal(mxp__choice_make(&all.steps, &wish, &all.choice), MXP_OK);
        assert_int_equal(mxp__time_rows_add(&all.rows, all.source, &all.choice, NULL), MXP_OK);
        assert_int_equal(all.rows.operators, number == 1 ? 6 : 5);
        unmake(&all);
    }
}

static void a_time_takes_what_begins_in_it(void **state)
{
    (void)state;
    made all;
    make(&all,
         &(mxp_choice_wish){.from = {MXP_TIME_FROM_ZERO, STEP + 121},
                            .until = {MXP_TIME_FROM_ZERO, STEP + 390}},
         NULL);
    assert_int_equal(all.rows.steps, 0);
    assert_int_equal(all.rows.wall_ns, 269);
    assert_int_equal(all.rows.operators, 2);
    check(row(&all, "work", "net:conv0:relu0"), 1, 50, 50, 105, 1);
    unmake(&all);
}

static uint64_t kinds_ns(const mxp_time_rows *rows)
{
    uint64_t sum = 0;
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        sum += rows->path_kinds_ns[kind];
    }
    return sum;
}

// Nothing of the path is lost between the walk and the rows.
static void the_path_fills_the_windows(void **state)
{
    (void)state;
    made all;
    make(&all, &(mxp_choice_wish){0}, NULL);
    uint64_t run = 0;
    for (size_t i = 0; i < all.rows.count; i++) {
        run += all.rows.rows[i].is_operator ? all.rows.rows[i].path_ns : 0;
    }
    assert_true(all.rows.has_path);
    assert_int_equal(kinds_ns(&all.rows), all.rows.wall_ns);
    assert_int_equal(run, all.rows.path_kinds_ns[MXP__PATH_RUN]);
    unmake(&all);
}

static void a_filter_takes_rows_and_no_totals(void **state)
{
    (void)state;
    static const char *const scopes[] = {"net:conv0"};
    const mxp_filter_wish wish = {.globs = {[MXP_FILTER_SCOPE] = scopes},
                                  .counts = {[MXP_FILTER_SCOPE] = 1}};
    made all;
    make(&all, &(mxp_choice_wish){0}, &wish);
    assert_int_equal(all.rows.operators, 4);
    assert_int_equal(all.rows.spans, 0);
    assert_int_equal(all.rows.wall_ns, 2 * STEP);
    assert_int_equal(kinds_ns(&all.rows), 2 * STEP);
    check(row(&all, "Convolution", "net:conv0"), 2, 200, 200, 0, 20);
    unmake(&all);
}

// ---- layers ------------------------------------------------------------------------------------
static void layers_add_up_by_phase(void **state)
{
    (void)state;
    made all;
    mxp_layers layers;
    make(&all, &(mxp_choice_wish){0}, NULL);
    assert_int_equal(mxp__layers_make(&all.rows, 2, MXP_KEY_TOTAL, &layers), MXP_OK);
    assert_int_equal(layers.count, 2);
    const mxp_layer *first = &layers.all[0], *second = &layers.all[1];
    assert_string_equal(mxp__scope_tree_path(&all.rows.scopes, first->scope, NULL), "net:conv1");
    assert_int_equal(first->phases_ns[MXP_PHASE_FORWARD], 400);
    assert_int_equal(first->phases_ns[MXP_PHASE_BACKWARD], 600);
    assert_int_equal(first->phases_ns[MXP_PHASE_UPDATE], 20);
    assert_int_equal(first->sum_ns, 1020);
    assert_int_equal(second->phases_ns[MXP_PHASE_FORWARD], 300);  // with its relu
    assert_int_equal(layers.total.sum_ns, 1320);
    assert_int_equal(layers.total.path_ns, first->path_ns + second->path_ns);
    mxp__layers_fini(&layers);
    assert_int_equal(mxp__layers_make(&all.rows, UINT32_MAX, MXP_KEY_TOTAL, &layers), MXP_OK);
    assert_int_equal(layers.count, 3);
    mxp__layers_fini(&layers);
    assert_int_equal(mxp__layers_make(&all.rows, 1, MXP_KEY_TOTAL, &layers), MXP_OK);
    assert_int_equal(layers.count, 1);
    assert_int_equal(layers.all[0].sum_ns, 1320);
    mxp__layers_fini(&layers);
    unmake(&all);
}

static void rows_are_ranked_by_what_is_asked_for(void **state)
{
    (void)state;
    made all;
    size_t count;
    make(&all, &(mxp_choice_wish){0}, NULL);
    static const struct {
        mxp_time_key key;
        const char *first;
    } cases[] = {{MXP_KEY_TOTAL, "_backward_Convolution"},
                 {MXP_KEY_P99, "_backward_Convolution"},
                 {MXP_KEY_WAITED, "sgd_update"}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t *order = mxp__time_rows_rank(&all.rows, true, cases[i].key, &count);
        assert_int_equal(count, 5);
        assert_string_equal(mxp__time_row_name(&all.rows, &all.rows.rows[order[0]], NULL),
                            cases[i].first);
        mxp__free(order, all.rows.count * sizeof *order);
    }
    uint32_t *order = mxp__time_rows_rank(&all.rows, false, MXP_KEY_SELF, &count);
    assert_int_equal(count, 3);
    assert_string_equal(mxp__time_row_name(&all.rows, &all.rows.rows[order[2]], NULL), "frame");
    mxp__free(order, all.rows.count * sizeof *order);
    unmake(&all);
}

// ---- trees -------------------------------------------------------------------------------------
static void every_level_adds_up(const mxp_time_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        uint64_t inside_ns = 0;
        for (uint32_t c = tree->nodes[i].first_child; c != MXP_NO_NODE; c = tree->nodes[c].next) {
            assert_int_equal(tree->nodes[c].parent, i);
            inside_ns += tree->nodes[c].total_ns;
        }
        assert_int_equal(tree->nodes[i].total_ns, tree->nodes[i].self_ns + inside_ns);
    }
}

static uint32_t child(const mxp_time_tree *tree, uint32_t parent, const char *text)
{
    for (uint32_t c = tree->nodes[parent].first_child; c != MXP_NO_NODE; c = tree->nodes[c].next) {
        if (strcmp(mxp__time_tree_text(tree, c, NULL), text) == 0) {
            return c;
        }
    }
    fail_msg("no child %s", text);
    return 0;
}

static void operators_are_leaves_of_their_scopes(void **state)
{
    (void)state;
    made all;
    mxp_time_tree tree;
    make(&all, &(mxp_choice_wish){0}, NULL);
    assert_int_equal(mxp__scope_time_tree(&all.rows, &tree), MXP_OK);
    assert_int_equal(mxp__time_tree_rank(&tree, MXP_KEY_TOTAL), MXP_OK);
    every_level_adds_up(&tree);
    assert_int_equal(tree.nodes[0].total_ns, 1320);
    const uint32_t net = child(&tree, 0, "net"), conv0 = child(&tree, net, "conv0");
    assert_int_equal(tree.nodes[conv0].total_ns, 300);
    assert_int_equal(tree.nodes[conv0].self_ns, 0);
    // Operators before scopes.
    assert_string_equal(mxp__time_tree_text(&tree, tree.nodes[conv0].first_child, NULL),
                        "Convolution");
    assert_int_equal(tree.nodes[child(&tree, child(&tree, conv0, "relu0"), "work")].total_ns, 100);
    mxp__time_tree_fini(&tree);
    unmake(&all);
}

static void calls_are_in_what_is_around_them(void **state)
{
    (void)state;
    made all;
    mxp_time_tree tree = {0};
    make(&all, &(mxp_choice_wish){0}, NULL);
    assert_int_equal(mxp__call_tree_add(&tree, all.source, &all.choice, NULL, ""), MXP_OK);
    assert_int_equal(mxp__time_tree_rank(&tree, MXP_KEY_TOTAL), MXP_OK);
    every_level_adds_up(&tree);
    const uint32_t thread = child(&tree, 0, "main"), work = child(&tree, thread, "work");
    const uint32_t call = child(&tree, work, "MXImperativeInvoke");
    assert_int_equal(tree.nodes[thread].total_ns, 190);  // without frames
    assert_int_equal(tree.nodes[work].self_ns, 162);
    assert_int_equal(tree.nodes[call].count, 4);
    assert_int_equal(tree.nodes[call].total_ns, 28);
    mxp__time_tree_fini(&tree);
    unmake(&all);
}

// Own times by the two ways of finding them: forwards here, backwards in the tree of calls.
static void random_spans_have_the_same_own_time_in_rows_and_tree(void **state)
{
    (void)state;
    uint64_t seed = 26;
    for (int round = 0; round < 50; round++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "main"), names[4];
        const char *const texts[] = {"a", "b", "c", "d"};
        for (int i = 0; i < 4; i++) {
            names[i] = fake_span_name(source, "user", texts[i]);
        }
        uint64_t begins[8], now = 1;
        uint32_t open[8], depth = 0;
        for (int i = 0; i < 200 || depth > 0; i++) {
            now += 1 + random_below(&seed, 20);
            if (depth < 8 && i < 200 && random_below(&seed, 2) == 0) {
                begins[depth] = now;
                open[depth++] = names[random_below(&seed, 4)];
            } else if (depth > 0) {
                depth--;
                fake_span(source, thread, open[depth], begins[depth], now);
            }
        }
        mxp_steps steps;
        mxp_choice choice;
        mxp_time_rows rows = {0};
        mxp_time_tree tree = {0};
        assert_int_equal(mxp__steps_find(source, &steps), MXP_OK);
        assert_int_equal(mxp__choice_make(&steps, &(mxp_choice_wish){0}, &choice), MXP_OK);
        assert_int_equal(mxp__time_rows_add(&rows, source, &choice, NULL), MXP_OK);
        assert_int_equal(mxp__call_tree_add(&tree, source, &choice, NULL, ""), MXP_OK);
        assert_int_equal(mxp__time_tree_rank(&tree, MXP_KEY_TOTAL), MXP_OK);
        every_level_adds_up(&tree);
        for (size_t r = 0; r < rows.count; r++) {
            uint64_t self_ns = 0, count = 0;
            const char *name = mxp__time_row_name(&rows, &rows.rows[r], NULL);
            for (uint32_t n = 1; n < tree.count; n++) {
                if (strcmp(mxp__time_tree_text(&tree, n, NULL), name) == 0) {
                    self_ns += tree.nodes[n].self_ns;
                    count += tree.nodes[n].count;
                }
            }
            assert_int_equal(self_ns, rows.rows[r].self_ns);
            assert_int_equal(count, rows.rows[r].count);
        }
        mxp__time_tree_fini(&tree);
        mxp__time_rows_fini(&rows);
        mxp__choice_fini(&choice);
        mxp__steps_fini(&steps);
        mxp__source_close(source);
    }
}

// More calls than are kept for what is around them: only those are forgotten that nothing can be
// around, and spans of any length have their own time to the nanosecond.
static void own_time_is_exact_however_many_calls_there_are(void **state)
{
    (void)state;
    enum { CALLS = 100000, PERIOD = 10, CALL_NS = 4, LONG = 60000, SHORT = 20 };
    made all = {.source = make_source(&all.of)};
    const uint32_t outer = fake_span_name(all.source, "user", "outer");
    const uint32_t inner = fake_span_name(all.source, "user", "inner");
    const uint64_t begin = 10 * STEP;
    for (uint64_t i = 1; i <= CALLS; i++) {
        const uint64_t at = begin + i * PERIOD;
        fake_span(all.source, MAIN, all.of.call, at + 1, at + 1 + CALL_NS);
        if (i % SHORT == 0) {  // around the last three
            fake_span(all.source, MAIN, inner, at - 2 * PERIOD, at + 8);
        }
        if (i == LONG) {  // around the second half of those up to here, and then around all
            fake_span(all.source, MAIN, outer, begin + LONG / 2 * PERIOD + PERIOD, at + 9);
        }
    }
    fake_span(all.source, MAIN, all.of.user, begin, begin + (CALLS + 1) * PERIOD);
    assert_int_equal(mxp__steps_find(all.source, &all.steps), MXP_OK);
    assert_int_equal(mxp__choice_make(&all.steps,
                                      &(mxp_choice_wish){.from = {MXP_TIME_FROM_ZERO, begin}},
                                      &all.choice),
                     MXP_OK);
    assert_int_equal(mxp__time_rows_add(&all.rows, all.source, &all.choice, NULL), MXP_OK);
    const uint64_t inner_ns = 2 * PERIOD + 8, inners = CALLS / SHORT;
    const uint64_t outer_ns = (LONG / 2 - 1) * PERIOD + 9, halves = LONG / 2 / SHORT;
    check(row(&all, "inner", ""), inners, inners * inner_ns, inners * (inner_ns - 3 * CALL_NS), 0,
          0);
    check(row(&all, "outer", ""), 1, outer_ns,
          outer_ns - halves * inner_ns - (LONG / 2 - 3 * halves) * CALL_NS, 0, 0);
    const uint64_t all_ns = (CALLS + 1) * PERIOD, beside = inners - halves;
    check(row(&all, "work", ""), 1, all_ns,
          all_ns - outer_ns - beside * inner_ns - (CALLS - LONG / 2 - 3 * beside) * CALL_NS, 0, 0);
    unmake(&all);
}

// ---- percentiles -------------------------------------------------------------------------------
static void percentiles_are_exact_until_there_are_too_many(void **state)
{
    (void)state;
    mxp_samples samples = {0};
    bool is_exact;
    for (uint64_t i = 100; i > 0; i--) {
        assert_int_equal(mxp__samples_add(&samples, i), MXP_OK);
    }
    assert_int_equal(mxp__samples_quantile(&samples, 0.5, &is_exact), 50);
    assert_int_equal(mxp__samples_quantile(&samples, 0.07, &is_exact), 7);
    assert_int_equal(mxp__samples_quantile(&samples, 0.99, &is_exact), 99);
    assert_int_equal(mxp__samples_quantile(&samples, 1, &is_exact), 100);
    assert_true(is_exact);
    // Some that take more than four seconds.
    assert_int_equal(mxp__samples_add(&samples, UINT64_C(1) << 40), MXP_OK);
    assert_int_equal(mxp__samples_quantile(&samples, 1, &is_exact), UINT64_C(1) << 40);
    assert_int_equal(mxp__samples_quantile(&samples, 0.5, &is_exact), 51);
    assert_true(is_exact);
    // However many short ones there are: 1 to 100, 7 and 4095, 2^40.
    for (uint64_t i = 0; i < MXP_SAMPLES_MAX; i++) {
        assert_int_equal(mxp__samples_add(&samples, 7), MXP_OK);
        assert_int_equal(mxp__samples_add(&samples, MXP_SAMPLES_SHORT - 1), MXP_OK);
    }
    const double all = 2.0 * MXP_SAMPLES_MAX + 101;
    assert_int_equal(mxp__samples_quantile(&samples, 6 / all, &is_exact), 6);
    assert_int_equal(mxp__samples_quantile(&samples, 7 / all, &is_exact), 7);
    assert_int_equal(mxp__samples_quantile(&samples, (MXP_SAMPLES_MAX + 7) / all, &is_exact), 7);
    assert_int_equal(mxp__samples_quantile(&samples, (MXP_SAMPLES_MAX + 8) / all, &is_exact), 8);
    assert_int_equal(mxp__samples_quantile(&samples, (all - 1) / all, &is_exact),
                     MXP_SAMPLES_SHORT - 1);
    assert_int_equal(mxp__samples_quantile(&samples, 1, &is_exact), UINT64_C(1) << 40);
    assert_true(is_exact);
    for (uint64_t i = 0; i < MXP_SAMPLES_MAX; i++) {
        assert_int_equal(mxp__samples_add(&samples, 10000), MXP_OK);
    }
    const uint64_t median = mxp__samples_quantile(&samples, 0.5, &is_exact);
    assert_false(is_exact);
    assert_in_range(median, 3072, 5120);
    assert_in_range(mxp__samples_quantile(&samples, 0.9, &is_exact), 7500, 12500);
    assert_int_equal(mxp__samples_quantile(&samples, 0, &is_exact), 1);
    mxp__samples_fini(&samples);
    assert_int_equal(mxp__samples_quantile(&samples, 0.5, &is_exact), 0);
}

// Of two that were added up nobody can tell: few and many, short and long, lists and histograms.
static void percentiles_of_two_are_those_of_all(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 50, 5000, MXP_SAMPLES_MAX + 10};
    uint64_t seed = 28;
    for (size_t i = 0; i < 25; i++) {
        if (i / 5 == 4 && i % 5 != 3) {
            continue;  // slow, and no other way
        }
        const size_t of[2] = {counts[i / 5], counts[i % 5]};
        mxp_samples two[2] = {0}, all = {0};
        for (size_t k = 0; k < of[0] + of[1]; k++) {
            const uint64_t most = random_below(&seed, 3) == 0 ? 100 : UINT64_C(1) << 33;
            const uint64_t value = random_below(&seed, most);
            assert_int_equal(mxp__samples_add(&two[k < of[0] ? 0 : 1], value), MXP_OK);
            assert_int_equal(mxp__samples_add(&all, value), MXP_OK);
        }
        assert_int_equal(mxp__samples_merge(&two[0], &two[1]), MXP_OK);
        for (int percent = 0; percent <= 100; percent += 5) {
            bool is_exact[2];
            assert_int_equal(mxp__samples_quantile(&two[0], percent / 100.0, &is_exact[0]),
                             mxp__samples_quantile(&all, percent / 100.0, &is_exact[1]));
            assert_int_equal(is_exact[0], is_exact[1]);
        }
        mxp__samples_fini(&two[0]);
        mxp__samples_fini(&two[1]);
        mxp__samples_fini(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_time_of_the_chosen_steps),
        cmocka_unit_test(an_operator_belongs_to_the_step_of_its_push),
        cmocka_unit_test(a_time_takes_what_begins_in_it),
        cmocka_unit_test(the_path_fills_the_windows),
        cmocka_unit_test(a_filter_takes_rows_and_no_totals),
        cmocka_unit_test(layers_add_up_by_phase),
        cmocka_unit_test(rows_are_ranked_by_what_is_asked_for),
        cmocka_unit_test(operators_are_leaves_of_their_scopes),
        cmocka_unit_test(calls_are_in_what_is_around_them),
        cmocka_unit_test(random_spans_have_the_same_own_time_in_rows_and_tree),
        cmocka_unit_test(own_time_is_exact_however_many_calls_there_are),
        cmocka_unit_test(percentiles_are_exact_until_there_are_too_many),
        cmocka_unit_test(percentiles_of_two_are_those_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
