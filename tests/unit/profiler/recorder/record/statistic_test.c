// SPDX-License-Identifier: Apache-2.0
// Values that are counted in place of records, beside records.
#include "cmocka_all.h"

#include <mxprof/record.h>
#include <string.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum { CLASS = MXP_CLASS_IMPERATIVE };

static const mxp_histogram *counted(const live_events *live, const char *text)
{
    for (size_t i = 0; i < live->source->stats_count; i++) {
        const mxp_stats_view *view = &live->source->stats[i];
        if (strcmp(live->source->name(live->source, view->name).text, text) == 0) {
            return view->histogram;
        }
    }
    return NULL;
}

static void values_are_counted_and_not_recorded(void **state)
{
    (void)state;
    const mxp_name bytes = mxp_intern("test", "bytes", MXP_STYLE_NONE, MXP_UNIT_BYTES);
    const mxp_name time = mxp_intern("test", "time", MXP_STYLE_NONE, MXP_UNIT_NONE);
    mxp_statistic(CLASS, bytes, 7);  // nothing records yet
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        mxp_statistic(CLASS, bytes, i);
    }
    const uint64_t begin = mxp_ticks();
    mxp_statistic_span(CLASS, time, begin, begin + 1000);
    mxp_statistic_span(CLASS, time, begin, begin - 1);  // counts as nothing
    mxp__recorder_stop(1);
    mxp_statistic(CLASS, bytes, 7);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    const mxp_histogram *of = counted(&live, "bytes");
    assert_non_null(of);
    assert_int_equal(of->count, 1000);
    assert_int_equal(of->total, 500500);
    assert_int_equal(of->min, 1);
    assert_int_equal(of->max, 1000);
    assert_in_range(mxp__histogram_quantile(of, 0.9), 900 * 3 / 4, 900 * 5 / 4);
    of = counted(&live, "time");
    assert_non_null(of);
    assert_int_equal(of->count, 2);
    assert_int_equal(of->min, 0);
    const double wanted_ns = 1000 * mxp__timebase_ns_per_tick(live.source->timebase);
    assert_in_range(of->max, (uint64_t)(wanted_ns * 0.9), (uint64_t)(wanted_ns * 1.1) + 1);
    live_events_free(&live);
}

static void classes_that_do_not_record_are_not_counted(void **state)
{
    (void)state;
    const mxp_name name = mxp_intern("test", "of another class", MXP_STYLE_NONE, MXP_UNIT_NONE);
    mxp__recorder_start(MXP_CLASS_USER, 0);
    mxp_statistic(CLASS, name, 7);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_null(counted(&live, "of another class"));
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(values_are_counted_and_not_recorded, live_events_stop),
        cmocka_unit_test_teardown(classes_that_do_not_record_are_not_counted, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
