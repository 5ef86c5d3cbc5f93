// SPDX-License-Identifier: Apache-2.0
#include "text/text_table.h"

#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"

static const mxp_text_column columns[] = {
    {"layer", MXP_COLUMN_NAME, 0},
    {"sum", MXP_COLUMN_RIGHT, 0},
    {"", MXP_COLUMN_BAR, 2},
    {"waited", MXP_COLUMN_RIGHT, 1},
};

static void put_sample(const mxp_screen *screen, const char *name, mxp_strbuf *out)
{
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, 4);
    mxp__strbuf_puts(mxp__text_cell(&table), name);
    mxp__strbuf_puts(mxp__text_cell(&table), "5.22 ms");
    mxp__text_bar(&table, 0.5);
    mxp__strbuf_puts(mxp__text_cell(&table), "0 ns");
    mxp__text_row(&table, MXP_LOOK_LARGEST);
    mxp__text_row(&table, MXP_LOOK_PLAIN);
    mxp__strbuf_puts(mxp__text_wide_cell(&table, 2), "no operator: host 459 us");
    mxp__text_bar(&table, 0);
    mxp__strbuf_puts(mxp__text_cell(&table), "1.24 us");
    mxp__text_row(&table, MXP_LOOK_TOTAL);
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void check(const mxp_screen *screen, const char *name, const char *expected)
{
    mxp_strbuf out = {0};
    put_sample(screen, name, &out);
    assert_string_equal(mxp__strbuf_text(&out), expected);
    mxp__strbuf_fini(&out);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    const mxp_screen pipe = {.columns = 80};
    check(&pipe, "lenet:convolution",
          "layer                  sum   waited\n"
          "lenet:convolution  5.22 ms     0 ns\n"
          "\n"
          "no operator: host 459 us    1.24 us\n");
    const mxp_screen terminal = {.columns = 80, .is_bounded = true, .bar_columns = 8};
    check(&terminal, "lenet:convolution",
          "layer                  sum             waited\n"
          "lenet:convolution  5.22 ms  ####         0 ns\n"
          "\n"
          "no operator: host 459 us              1.24 us\n");
}

static void a_pipe_gets_whole_names(void **state)
{
    (void)state;
    const mxp_screen pipe = {.columns = 40};
    check(&pipe, "a_name_that_is_longer_than_what_a_screen_of_forty_shows",
          "layer                                                        sum   waited\n"
          "a_name_that_is_longer_than_what_a_screen_of_forty_shows  5.22 ms     0 ns\n"
          "\n"
          "no operator: host 459 us                                          1.24 us\n");
}

static void names_give_way_and_then_columns(void **state)
{
    (void)state;
    const mxp_screen narrow = {.columns = 40, .is_bounded = true, .bar_columns = 8};
    check(&narrow, "a_name_that_is_longer_than_what_a_screen_of_forty_shows",
          "layer                        sum  waited\n"
          "a_name_that..forty_shows 5.22 ms    0 ns\n"
          "\n"
          "no operator: host 459 us         1.24 us\n");
}

static void rows_stand_out_where_there_is_colour(void **state)
{
    (void)state;
    const mxp_screen screen = {.columns = 80, .has_colour = true};
    check(&screen, "a",
          "\033[4mlayer                sum   waited\033[0m\n"
          "\033[35ma                5.22 ms     0 ns\033[0m\n"
          "\n"
          "\033[1mno operator: host 459 us  1.24 us\033[0m\n");
}

static void a_lack_of_memory_is_seen_in_the_output(void **state)
{
    (void)state;
    const mxp_screen screen = {.columns = 80};
    bool failed = true;
    for (size_t after = 0; failed; after++) {
        mxp_strbuf out = {0};
        fake_alloc_fail_after(after);
        put_sample(&screen, "lenet:conv", &out);
        failed = fake_alloc_failed() > 0;
        assert_true(out.failed == failed);
        fake_alloc_fail_never();
        mxp__strbuf_fini(&out);
    }
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(a_pipe_gets_whole_names),
        cmocka_unit_test(names_give_way_and_then_columns),
        cmocka_unit_test(rows_stand_out_where_there_is_colour),
        cmocka_unit_test(a_lack_of_memory_is_seen_in_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
