// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/causes/first_runs.h"

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/analysis/causes/fresh_runs.h"

static void the_first_by_time_is_compared_with_the_others(void **state)
{
    (void)state;
    mxp_first_runs runs = {0};
    for (int64_t i = 20; i > 0; i--) {  // the last one that comes is the first in time
        assert_int_equal(mxp__first_runs_add(&runs, 7, 9, 100 * i, 4), MXP_OK);
    }
    assert_int_equal(mxp__first_runs_add(&runs, 7, 9, 50, 1000), MXP_OK);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.all[0].count, 21);
    assert_int_equal(mxp__first_run_excess_ns(&runs.all[0]), 996);
    mxp__first_runs_fini(&runs);
}

static void of_few_runs_and_of_no_slower_ones_nothing_is_said(void **state)
{
    (void)state;
    mxp_first_runs runs = {0};
    for (int64_t i = 0; i < MXP__FIRST_RUN_OTHERS_MIN; i++) {
        assert_int_equal(mxp__first_runs_add(&runs, 1, 0, i, i == 0 ? 1000 : 4), MXP_OK);
    }
    assert_int_equal(mxp__first_run_excess_ns(&runs.all[0]), 0);
    for (int64_t i = 0; i < 20; i++) {
        assert_int_equal(mxp__first_runs_add(&runs, 2, 0, i, i == 0 ? 5 : 6), MXP_OK);
    }
    assert_int_equal(mxp__first_run_excess_ns(&runs.all[1]), 0);
    mxp__first_runs_fini(&runs);
}

static void add(mxp_fresh_runs *runs, const mxp_source *source)
{
    mxp_record_range range;
    mxp_decoder decoder;
    mxp_event event;
    for (size_t i = 0; ((mxp_source *)source)->range((mxp_source *)source, i, &range) == 1; i++) {
        mxp__decoder_begin(&decoder, source->timebase, &range);
        while (mxp__decoder_next(&decoder, &event) == 1) {
            assert_int_equal(mxp__fresh_runs_add(runs, &event, source->thread_count), MXP_OK);
        }
    }
}

static void block(mxp_source *source, uint64_t at, uint32_t flags, uint64_t bytes)
{
    fake_memory(source, 0, at,
                &(mxp_memory){.block = at,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes,
                              .live_bytes = bytes});
}

static void run(mxp_source *source, uint32_t name, uint32_t id, uint64_t start, uint64_t end)
{
    fake_operator(source, 0,
                  &(mxp_operator){.name = name, .id = id, .start_ticks = start, .end_ticks = end});
}

// 100 bytes of the pool take 50: 200 fresh ones would take 100, and took 400.
static void fresh_memory_is_compared_by_bytes(void **state)
{
    (void)state;
    mxp_fresh_runs runs = {0};
    mxp_source *source = fake_source_create();
    fake_thread(source, "worker");
    const uint32_t name = fake_span_name(source, "operator", "zeros");
    const uint32_t other = fake_span_name(source, "operator", "ones");
    block(source, 1010, MXP_MEM_REUSED, 100);
    run(source, name, 1, 1000, 1050);
    block(source, 2010, 0, 200);
    run(source, name, 2, 2000, 2400);
    block(source, 2500, 0, 200);  // before the operator: not its own
    run(source, name, 3, 3000, 3400);
    block(source, 4010, 0, 200);
    run(source, other, 4, 4000, 4400);
    add(&runs, source);
    assert_int_equal(mxp__fresh_excess_ns(&runs, 1, name, 1000, 50), 0);
    assert_int_equal(mxp__fresh_excess_ns(&runs, 2, name, 2000, 400), 300);
    assert_int_equal(mxp__fresh_excess_ns(&runs, 3, name, 3000, 400), 0);
    assert_int_equal(mxp__fresh_excess_ns(&runs, 4, other, 4000, 400), 0);
    mxp__fresh_runs_fini(&runs);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_by_time_is_compared_with_the_others),
        cmocka_unit_test(of_few_runs_and_of_no_slower_ones_nothing_is_said),
        cmocka_unit_test(fresh_memory_is_compared_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
