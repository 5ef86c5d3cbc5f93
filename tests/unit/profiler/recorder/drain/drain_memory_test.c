// SPDX-License-Identifier: Apache-2.0
// Every allocation of a drain of statistics fails once. What such a drain has not delivered comes
// with the next one.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/record.h>

#include "fake_alloc.h"
#include "profiler/recorder/recorder.h"

enum { SAMPLES = 5, ROUNDS_MAX = 500 };

static mxp_name span_name, counter_name;

static void record(void)
{
    for (uint64_t i = 0; i < SAMPLES; i++) {
        mxp_span_end(span_name, mxp_span_begin(span_name));
        mxp_counter_u64(MXP_CLASS_USER, counter_name, i);
    }
}

static uint64_t spans_of(const mxp_source *source)
{
    uint64_t count = 0;
    for (size_t i = 0; i < source->stats_count; i++) {
        count += source->stats[i].name == span_name ? source->stats[i].histogram->count : 0;
    }
    return count;
}

static uint64_t samples_of(const mxp_source *source)
{
    uint64_t count = 0;
    for (size_t i = 0; i < source->counter_count; i++) {
        count += source->counters[i].name == counter_name ? source->counters[i].count : 0;
    }
    return count;
}

// A drain whose allocations fail after the first `allocations`, then one that has memory: the two
// deliver all. False: none was refused.
static bool drain_after(size_t allocations)
{
    mxp_source *source;
    record();
    fake_alloc_fail_after(allocations);
    int error = mxp__live_open(MXP__CONSUMER_STATS, &source);
    size_t refused = fake_alloc_failed();
    fake_alloc_fail_never();
    if (error != MXP_OK) {
        assert_int_equal(error, MXP_ENOMEM);
        assert_int_equal(mxp__live_open(MXP__CONSUMER_STATS, &source), MXP_OK);
    }
    assert_int_equal(spans_of(source), SAMPLES);
    assert_int_equal(samples_of(source), SAMPLES);
    mxp__live_consume(MXP__CONSUMER_STATS, source);
    mxp__source_close(source);
    return refused != 0;
}

static void a_drain_without_memory_takes_nothing(void **state)
{
    (void)state;
    size_t allocations = 0;
    while (drain_after(allocations) && allocations < ROUNDS_MAX) {
        allocations++;
    }
    assert_true(allocations > 10 && allocations < ROUNDS_MAX);
}

static void a_drain_that_is_not_consumed_takes_no_spans(void **state)
{
    (void)state;
    mxp_source *source;
    record();
    assert_int_equal(mxp__live_open(MXP__CONSUMER_STATS, &source), MXP_OK);
    mxp__source_close(source);
    record();
    assert_int_equal(mxp__live_open(MXP__CONSUMER_STATS, &source), MXP_OK);
    assert_int_equal(spans_of(source), 2 * SAMPLES);
    assert_int_equal(samples_of(source), SAMPLES);  // counters begin anew when a drain is opened
    mxp__live_consume(MXP__CONSUMER_STATS, source);
    mxp__source_close(source);
}

static int start(void **state)
{
    (void)state;
    span_name = mxp_span_name("test", "span");
    counter_name = mxp_intern("test", "counter", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    mxp__recorder_limits_set(
        &(mxp_recorder_limits){.memory_limit_bytes = 4 << 20, .statistics_only = 1});
    mxp__consumer_set_active(MXP__CONSUMER_STATS, 1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    return 0;
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drain_without_memory_takes_nothing),
        cmocka_unit_test(a_drain_that_is_not_consumed_takes_no_spans),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
