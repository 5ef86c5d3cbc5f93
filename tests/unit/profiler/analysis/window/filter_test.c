// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/window/filter.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "fake_source.h"

typedef struct ids {
    uint32_t conv, pool, call, conv0, relu0, conv1, net, outer, inner, main, worker;
} ids;

static mxp_source *make_source(ids *of)
{
    mxp_source *source = fake_source_create();
    of->main = fake_thread(source, NULL);
    of->worker = fake_thread(source, "mxprof worker");
    of->conv = fake_span_name(source, "operator", "Convolution");
    of->pool = fake_span_name(source, "operator", "Pooling");
    of->call = fake_span_name(source, "MXNET_C_API", "MXImperativeInvoke");
    of->net = fake_scope(source, 0, "lenet:");
    of->conv0 = fake_scope(source, 0, "lenet:conv0:");
    of->relu0 = fake_scope(source, 0, "lenet:conv0:relu0:");
    of->conv1 = fake_scope(source, of->net, "lenet:conv1:");
    of->outer = fake_scope(source, 0, "std::outer");
    of->inner = fake_scope(source, of->outer, "inner");
    return source;
}

static void check_path(const mxp_scope_tree *tree, uint32_t node, const char *path, uint32_t depth)
{
    assert_string_equal(mxp__scope_tree_path(tree, node, NULL), path);
    assert_int_equal(tree->nodes[node].depth, depth);
}

static void scopes_are_a_tree_by_their_names_and_by_what_is_around_them(void **state)
{
    (void)state;
    ids of;
    mxp_source *source = make_source(&of);
    mxp_scope_tree tree = {0};
    uint32_t *node_of, *again;
    assert_int_equal(mxp__scope_tree_add(&tree, source, &node_of), MXP_OK);
    check_path(&tree, node_of[of.conv0], "lenet:conv0", 2);
    check_path(&tree, node_of[of.relu0], "lenet:conv0:relu0", 3);
    check_path(&tree, node_of[of.conv1], "lenet:conv1", 2);
    check_path(&tree, node_of[of.net], "lenet", 1);
    check_path(&tree, node_of[of.inner], "std::outer/inner", 2);
    check_path(&tree, node_of[of.conv], "", 0);
    assert_int_equal(mxp__scope_tree_up(&tree, node_of[of.relu0], 2), node_of[of.conv0]);
    assert_true(mxp__scope_tree_within(&tree, node_of[of.relu0], node_of[of.net]));
    assert_false(mxp__scope_tree_within(&tree, node_of[of.relu0], node_of[of.conv1]));
    assert_string_equal(mxp__scope_tree_text(&tree, node_of[of.relu0], NULL), "relu0");
    const size_t count = tree.count;
    assert_int_equal(mxp__scope_tree_add(&tree, source, &again), MXP_OK);
    assert_int_equal(tree.count, count);
    assert_int_equal(again[of.relu0], node_of[of.relu0]);
    mxp__free(node_of, source->name_count * sizeof *node_of);
    mxp__free(again, source->name_count * sizeof *again);
    mxp__scope_tree_fini(&tree);
    mxp__source_close(source);
}

static void several_of_a_kind_are_or_and_kinds_are_and(void **state)
{
    (void)state;
    ids of;
    mxp_source *source = make_source(&of);
    static const char *const names[] = {"Conv*", "Pool*"}, *const scopes[] = {"*:conv0"};
    const mxp_filter_wish wish = {
        .globs = {names, scopes}, .counts = {2, 1}, .phases = 1u << MXP_PHASE_BACKWARD};
    mxp_filter filter;
    assert_int_equal(mxp__filter_make(source, &wish, &filter), MXP_OK);
    assert_int_equal(filter.empty_kind, MXP_FILTER_KINDS);
    assert_true(mxp__filter_takes(&filter, of.conv, of.conv0, 1, MXP_PHASE_BACKWARD));
    assert_true(mxp__filter_takes(&filter, of.pool, of.conv0, 1, MXP_PHASE_BACKWARD));
    assert_true(mxp__filter_takes(&filter, of.conv, of.relu0, 1, MXP_PHASE_BACKWARD));
    assert_false(mxp__filter_takes(&filter, of.call, of.conv0, 1, MXP_PHASE_BACKWARD));
    assert_false(mxp__filter_takes(&filter, of.conv, of.conv1, 1, MXP_PHASE_BACKWARD));
    assert_false(mxp__filter_takes(&filter, of.conv, 0, 1, MXP_PHASE_BACKWARD));
    assert_false(mxp__filter_takes(&filter, of.conv, of.conv0, 1, MXP_PHASE_FORWARD));
    mxp__filter_fini(&filter);
    mxp__source_close(source);
}

static void threads_are_chosen_by_name_or_number(void **state)
{
    (void)state;
    ids of;
    mxp_source *source = make_source(&of);
    static const char *const globs[] = {"*worker", "0", "thread 0"};
    for (size_t i = 0; i < 3; i++) {
        const mxp_filter_wish wish = {.globs = {[MXP_FILTER_THREAD] = &globs[i]},
                                      .counts = {[MXP_FILTER_THREAD] = 1}};
        mxp_filter filter;
        assert_int_equal(mxp__filter_make(source, &wish, &filter), MXP_OK);
        assert_int_equal(mxp__filter_takes(&filter, of.conv, 0, of.main, 0), i > 0);
        assert_int_equal(mxp__filter_takes(&filter, of.conv, 0, of.worker, 0), i == 0);
        mxp__filter_fini(&filter);
    }
    mxp__source_close(source);
}

static void a_glob_that_fits_nothing_has_nearest_names(void **state)
{
    (void)state;
    ids of;
    mxp_source *source = make_source(&of);
    static const char *const globs[] = {"convolutoin*"};
    const mxp_filter_wish wish = {.globs = {globs}, .counts = {1}};
    mxp_filter filter;
    mxp_strbuf nearest = {0};
    assert_int_equal(mxp__filter_make(source, &wish, &filter), MXP_OK);
    assert_int_equal(filter.empty_kind, MXP_FILTER_NAME);
    assert_string_equal(filter.empty_glob, globs[0]);
    assert_false(mxp__filter_takes(&filter, of.conv, 0, 0, 0));
    assert_int_equal(mxp__filter_nearest(source, filter.empty_kind, filter.empty_glob, &nearest),
                     MXP_OK);
    assert_memory_equal(mxp__strbuf_text(&nearest), "'Convolution', ", 15);
    mxp__strbuf_clear(&nearest);
    assert_int_equal(mxp__filter_nearest(source, MXP_FILTER_SCOPE, "conv9", &nearest), MXP_OK);
    assert_non_null(strstr(mxp__strbuf_text(&nearest), "'lenet:conv0'"));
    int quotes = 0;
    for (const char *c = mxp__strbuf_text(&nearest); *c != '\0'; c++) {
        quotes += *c == '\'';
    }
    assert_int_equal(quotes, 2 * MXP_NEAREST);
    mxp__strbuf_fini(&nearest);
    mxp__filter_fini(&filter);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_a_tree_by_their_names_and_by_what_is_around_them),
        cmocka_unit_test(several_of_a_kind_are_or_and_kinds_are_and),
        cmocka_unit_test(threads_are_chosen_by_name_or_number),
        cmocka_unit_test(a_glob_that_fits_nothing_has_nearest_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
