// SPDX-License-Identifier: Apache-2.0
#include "import/import_spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// The number of a record stands in its second word, its kind in the first.
static void add(mxp_import_spool *spool, uint32_t rank, uint64_t begin, uint64_t end, uint32_t kind,
                uint64_t number)
{
    int error;
    mxp_spooled *record = mxp__import_spool_add(spool, 1 + (uint32_t)number % 3, &error);
    assert_non_null(record);
    record->rank = rank;
    record->begin_ticks = begin;
    record->end_ticks = end;
    record->words[0] = kind;
    record->words[1] = number;
}

static mxp_import_spool *open_spool(void)
{
    mxp_import_spool *spool;
    assert_int_equal(mxp__import_spool_open(&spool), 0);
    return spool;
}

static void records_of_one_end_come_inner_ones_first(void **state)
{
    (void)state;
    static const uint64_t expected[] = {2, 4, 6, 5, 3, 1, 0, 7, 8};
    mxp_import_spool *spool = open_spool();
    add(spool, 0, 10, 20, MXP_KIND_SPAN, 0);
    add(spool, 0, 10, 20, MXP_KIND_SPAN, 1);  // like the one before: within it
    add(spool, 0, 20, 20, MXP_KIND_COUNTER, 2);
    add(spool, 0, 15, 20, MXP_KIND_SPAN_LONG, 3);
    add(spool, 0, 20, 20, MXP_KIND_COUNTER, 4);
    add(spool, 0, 16, 20, MXP_KIND_SPAN, 5);
    add(spool, 0, 20, 20, MXP_KIND_SPAN, 6);
    add(spool, 0, 0, 21, MXP_KIND_SPAN, 7);
    add(spool, 1, 0, 1, MXP_KIND_SPAN, 8);
    assert_int_equal(mxp__import_spool_finish(spool), 0);
    const mxp_spooled *record;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(mxp__import_spool_next(spool, &record), 1);
        assert_int_equal(record->words[1], expected[i]);
    }
    assert_int_equal(mxp__import_spool_next(spool, &record), 0);
    mxp__import_spool_close(spool);
}

// Many times what fits into memory, with many equal times.
static void parts_of_a_file_are_merged_into_the_same_order(void **state)
{
    (void)state;
    enum { RECORDS = 2000000, RANKS = 3 };
    mxp_import_spool *spool = open_spool();
    uint64_t random = 1;
    for (uint64_t i = 0; i < RECORDS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        add(spool, (uint32_t)(random >> 33) % RANKS, 0, (random >> 40) % 50000, MXP_KIND_COUNTER,
            i);
    }
    assert_int_equal(mxp__import_spool_finish(spool), 0);
    const mxp_spooled *record;
    uint64_t count = 0, end = 0, number = 0;
    uint32_t rank = 0;
    while (mxp__import_spool_next(spool, &record) == 1) {
        bool is_new = count == 0 || record->rank != rank || record->end_ticks != end;
        assert_true(record->rank >= rank);
        assert_true(record->rank > rank || record->end_ticks >= end);
        assert_true(is_new || record->words[1] > number);
        assert_int_equal(record->units, 1 + record->words[1] % 3);
        rank = record->rank;
        end = record->end_ticks;
        number = record->words[1];
        count++;
    }
    assert_int_equal(count, RECORDS);
    mxp__import_spool_close(spool);
}

static void nothing_comes_out_of_an_empty_one(void **state)
{
    (void)state;
    mxp_import_spool *spool = open_spool();
    const mxp_spooled *record;
    assert_int_equal(mxp__import_spool_finish(spool), 0);
    assert_int_equal(mxp__import_spool_next(spool, &record), 0);
    mxp__import_spool_close(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_one_end_come_inner_ones_first),
        cmocka_unit_test(parts_of_a_file_are_merged_into_the_same_order),
        cmocka_unit_test(nothing_comes_out_of_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
