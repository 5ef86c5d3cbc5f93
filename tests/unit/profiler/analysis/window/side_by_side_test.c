// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/window/side_by_side.h"

#include <mxprof/error.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/fail.h"
#include "cmocka_all.h"

enum { PIECES = 100 };

typedef struct pieces {
    int done[PIECES];  // how often
    size_t failing[2];  // pieces that fail, each with a line of its own
    pthread_t caller;
    bool first_is_callers;
} pieces;

static int do_piece(void *context, size_t piece)
{
    pieces *all = context;
    all->done[piece]++;
    if (piece == 0) {
        all->first_is_callers = pthread_equal(all->caller, pthread_self()) != 0;
    }
    for (int i = 0; i < 2; i++) {
        if (all->failing[i] == piece) {
            return mxp__fail(i == 0 ? MXP_EFORMAT : MXP_EIO, "piece %zu failed", piece);
        }
    }
    return MXP_OK;
}

static void each_piece_is_done_once(void **state)
{
    (void)state;
    for (size_t count = 0; count <= PIECES; count += 25) {
        pieces all = {.failing = {PIECES, PIECES}, .caller = pthread_self()};
        assert_int_equal(mxp__side_by_side(count, do_piece, &all), MXP_OK);
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(all.done[i], i < count);
        }
        assert_int_equal(all.first_is_callers, count > 0);
    }
}

// Whoever had it and whenever, and the rest is done all the same.
static void the_error_is_that_of_the_first_piece(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        pieces all = {.failing = {71, 17}, .caller = pthread_self()};
        assert_int_equal(mxp__side_by_side(PIECES, do_piece, &all), MXP_EIO);
        assert_string_equal(mxp_last_error(), "piece 17 failed");
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(all.done[i], 1);
        }
    }
}

static void little_is_one_piece(void **state)
{
    (void)state;
    assert_int_equal(mxp__side_by_side_count(0), 1);
    assert_int_equal(mxp__side_by_side_count(1 << 20), 1);
    assert_in_range(mxp__side_by_side_count(UINT64_MAX), 1, MXP__SIDES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_is_done_once),
        cmocka_unit_test(the_error_is_that_of_the_first_piece),
        cmocka_unit_test(little_is_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
