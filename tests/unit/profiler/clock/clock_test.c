// SPDX-License-Identifier: Apache-2.0
#include "profiler/clock/clock.h"

#include "base/cpu/cpu.h"
#include "base/os/os.h"
#include "cmocka_all.h"
#include "profiler/clock/timebase.h"

static const uint32_t all_sources[] = {MXP_CLOCK_SOURCE_TSC, MXP_CLOCK_SOURCE_ARM,
                                       MXP_CLOCK_SOURCE_RAW, MXP_CLOCK_SOURCE_MONOTONIC};

static bool exists(uint32_t source)
{
    return source >= MXP_CLOCK_SOURCE_RAW || source == mxp__cpu_counter_source();
}

static void the_best_clock_is_one_that_can_be_trusted(void **state)
{
    (void)state;
    const char *warning = "set";
    uint32_t source = mxp__clock_choose(NULL, &warning);
    assert_null(warning);
    if (mxp__cpu_counter_source() != 0 && mxp__cpu_counter_invariant() &&
        mxp__os_trusts_cpu_counter()) {
        assert_int_equal(source, mxp__cpu_counter_source());
    } else {
        assert_int_equal(source, MXP_CLOCK_SOURCE_RAW);
    }
    assert_int_equal(mxp__clock_choose("", &warning), source);
    assert_null(warning);
}

static void a_forced_clock_is_taken(void **state)
{
    (void)state;
    const char *warning = "set";
    assert_int_equal(mxp__clock_choose("raw", &warning), MXP_CLOCK_SOURCE_RAW);
    assert_null(warning);
    warning = "set";
    assert_int_equal(mxp__clock_choose("monotonic", &warning), MXP_CLOCK_SOURCE_MONOTONIC);
    assert_null(warning);
    uint32_t best = mxp__clock_choose(NULL, &warning);
    uint32_t forced = mxp__clock_choose("tsc", &warning);
    uint32_t counter = mxp__cpu_counter_source();
    assert_int_equal(forced, counter != 0 ? counter : best);
    assert_true((warning != NULL) == (counter == 0 || counter != best));
}

static void an_unknown_word_warns_and_falls_back(void **state)
{
    (void)state;
    const char *warning;
    uint32_t best = mxp__clock_choose(NULL, &warning);
    const char *words[] = {"TSC", "raw ", "hpet", "\xff"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mxp__clock_choose(words[i], &warning), best);
        assert_non_null(warning);
    }
}

static void every_source_advances(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        if (!exists(all_sources[i])) {
            continue;
        }
        uint64_t before = mxp__clock_read_source(all_sources[i]);
        mxp__os_sleep_us(1000);
        assert_true(mxp__clock_read_source(all_sources[i]) > before);
    }
}

static void a_point_holds_one_moment_of_all_clocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        if (!exists(all_sources[i])) {
            continue;
        }
        mxp_clock_point point;
        uint64_t raw = mxp__os_raw_ns(), monotonic = mxp__os_monotonic_ns();
        uint64_t boottime = mxp__os_boottime_ns(), ticks = mxp__clock_read_source(all_sources[i]);
        mxp__clock_take_point(all_sources[i], &point);
        assert_in_range(point.raw_ns, raw, mxp__os_raw_ns());
        assert_in_range(point.monotonic_ns, monotonic, mxp__os_monotonic_ns());
        assert_in_range(point.boottime_ns, boottime, mxp__os_boottime_ns());
        assert_in_range(point.ticks, ticks, mxp__clock_read_source(all_sources[i]));
        assert_true(point.realtime_ns > UINT64_C(1600000000000000000));
        assert_true(point.bracket_ticks < UINT64_C(1) << 32);
        if (all_sources[i] == MXP_CLOCK_SOURCE_RAW) {
            assert_true(point.raw_ns == point.ticks);
        }
        if (all_sources[i] == MXP_CLOCK_SOURCE_MONOTONIC) {
            assert_true(point.monotonic_ns == point.ticks);
        }
    }
}

// The whole chain on the real clock: two points, and durations that the system's clock confirms.
static void real_points_convert_real_durations(void **state)
{
    (void)state;
    const char *warning;
    uint32_t source = mxp__clock_choose(NULL, &warning);
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, source);
    mxp_clock_point first, inner, last;
    mxp__clock_take_point(source, &first);
    mxp__os_sleep_us(20000);
    mxp__clock_take_point(source, &inner);
    mxp__os_sleep_us(20000);
    mxp__clock_take_point(source, &last);
    assert_int_equal(mxp__timebase_add(&timebase, &first), 0);
    assert_int_equal(mxp__timebase_add(&timebase, &last), 0);
    // What a busy machine lets pass within a bracket is not known better.
    double doubt = (double)(first.bracket_ticks + inner.bracket_ticks + last.bracket_ticks) *
                   mxp__timebase_ns_per_tick(&timebase);
    double expected = (double)(inner.raw_ns - first.raw_ns);
    double got = (double)mxp__timebase_ns(&timebase, inner.ticks);
    assert_true(got - expected < 2 + doubt && expected - got < 2 + doubt);
    mxp__timebase_fini(&timebase);
}

static void a_claimed_rate_is_the_measured_one(void **state)
{
    (void)state;
    uint64_t hz = mxp__cpu_counter_hz();
    if (mxp__cpu_counter_source() == 0 || hz == 0) {
        skip();
    }
    mxp_clock_point first, last;
    mxp__clock_take_point(mxp__cpu_counter_source(), &first);
    mxp__os_sleep_us(50000);
    mxp__clock_take_point(mxp__cpu_counter_source(), &last);
    double measured =
        (double)(last.ticks - first.ticks) * 1e9 / (double)(last.raw_ns - first.raw_ns);
    assert_true(measured > 0.95 * (double)hz && measured < 1.05 * (double)hz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_clock_is_one_that_can_be_trusted),
        cmocka_unit_test(a_forced_clock_is_taken),
        cmocka_unit_test(an_unknown_word_warns_and_falls_back),
        cmocka_unit_test(every_source_advances),
        cmocka_unit_test(a_point_holds_one_moment_of_all_clocks),
        cmocka_unit_test(real_points_convert_real_durations),
        cmocka_unit_test(a_claimed_rate_is_the_measured_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
