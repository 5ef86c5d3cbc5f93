// SPDX-License-Identifier: Apache-2.0
// The time that intervals cover, whatever their order.
#include "profiler/export/table/cover.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"

enum { LENGTH = 400 };

static void random_intervals_cover_what_a_row_of_cells_says(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 200; round++) {
        mxp_cover cover = {.join_at = 1 + random_below(&seed, 8)};  // joined on the way, too
        char cells[LENGTH] = {0};
        for (uint64_t i = random_below(&seed, 40); i > 0; i--) {
            uint64_t begin = random_below(&seed, LENGTH);
            uint64_t end = begin + random_below(&seed, LENGTH / 8);
            end = end < LENGTH ? end : LENGTH;
            memset(cells + begin, 1, end - begin);
            assert_int_equal(mxp__cover_add(&cover, (int64_t)begin, (int64_t)end), MXP_OK);
        }
        mxp__cover_join(&cover);
        for (size_t at = 0, from = 0; at < LENGTH;) {
            size_t end = at + 1 + random_below(&seed, 50);
            end = end < LENGTH ? end : LENGTH;
            uint64_t covered = 0;
            for (size_t i = at; i < end; i++) {
                covered += (uint64_t)cells[i];
            }
            assert_int_equal(mxp__cover_within(&cover, &from, (int64_t)at, (int64_t)end), covered);
            at = end;
        }
        mxp__cover_fini(&cover);
    }
}

static void nested_intervals_take_the_room_of_the_outer_ones(void **state)
{
    (void)state;
    mxp_cover cover = {0};
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(mxp__cover_add(&cover, 10 * i, 10 * i + 5), MXP_OK);
        if (i % 100 == 99) {
            assert_int_equal(mxp__cover_add(&cover, 10 * (i - 99), 10 * i + 8), MXP_OK);
        }
    }
    assert_int_equal(cover.count, 10);
    mxp__cover_fini(&cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_intervals_cover_what_a_row_of_cells_says),
        cmocka_unit_test(nested_intervals_take_the_room_of_the_outer_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
