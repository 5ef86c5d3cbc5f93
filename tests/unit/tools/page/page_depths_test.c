// SPDX-License-Identifier: Apache-2.0
#include "page/depths.h"

#include "cmocka_all.h"
#include "page/levels.h"

static void spans_that_nest_have_the_depth_of_their_nesting(void **state)
{
    (void)state;
    static const int64_t spans[][3] = {// begin, end, depth: by their ends, the last first
                                       {0, 100, 0}, {50, 90, 1}, {60, 90, 2},
                                       {60, 70, 3}, {10, 40, 1}, {10, 20, 2},
                                       {0, 5, 1},   {-9, 0, 0},  {-5, -5, 1}};
    mxp_page_depths depths = {0};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        assert_int_equal(mxp__page_depth(&depths, spans[i][0], spans[i][1]), spans[i][2]);
    }
    assert_false(depths.is_full);
}

// Of a lane that several threads write, for one.
static void what_comes_late_overlaps_nothing_of_its_row(void **state)
{
    (void)state;
    mxp_page_depths depths = {0};
    assert_int_equal(mxp__page_depth(&depths, 50, 60), 0);
    assert_int_equal(mxp__page_depth(&depths, 55, 58), 1);
    assert_int_equal(mxp__page_depth(&depths, 60, 80), 0);  // behind all of row 0
    assert_int_equal(mxp__page_depth(&depths, 70, 75), 1);
    assert_int_equal(mxp__page_depth(&depths, 59, 61), 2);
    assert_int_equal(mxp__page_depth(&depths, 40, 80), 3);
    assert_int_equal(mxp__page_depth(&depths, 10, 50), 0);
}

static void widths_are_quarters_and_classes_count_those_that_are_longer(void **state)
{
    (void)state;
    for (uint64_t length_ns = 1; length_ns < UINT64_C(1) << 52; length_ns = length_ns * 3 + 1) {
        const mxp_page_levels levels = mxp__page_levels_of(length_ns);
        assert_true(levels.count <= MXP_PAGE_LEVELS);
        assert_int_equal(levels.count == 0, length_ns < 1024 * (MXP_PAGE_LEAST_WIDTH_NS - 1));
        for (size_t i = 0; i + 1 < levels.count; i++) {
            assert_int_equal(levels.width_ns[i], 4 * levels.width_ns[i + 1]);
        }
        if (levels.count > 0) {
            assert_true(length_ns / levels.width_ns[0] < MXP_PAGE_TOP_BINS);
            assert_true(levels.width_ns[levels.count - 1] >= MXP_PAGE_LEAST_WIDTH_NS);
            assert_int_equal(mxp__page_class(&levels, levels.width_ns[0]), 0);
            assert_int_equal(mxp__page_class(&levels, levels.width_ns[0] - 1), 1);
            assert_int_equal(mxp__page_class(&levels, 0), levels.count);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_nest_have_the_depth_of_their_nesting),
        cmocka_unit_test(what_comes_late_overlaps_nothing_of_its_row),
        cmocka_unit_test(widths_are_quarters_and_classes_count_those_that_are_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
