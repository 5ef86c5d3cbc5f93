// SPDX-License-Identifier: Apache-2.0
// The timebase on a fake clock whose truth is known: ticks at a rate that may drift or change, seen
// by a system clock through brackets with noise.
#include "profiler/clock/timebase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/cpu/cpu.h"
#include "cmocka_all.h"
#include "fake_alloc.h"
#include "random.h"

// ---- fake clock -------------------------------------------------------------------------------

typedef struct fake_clock {
    double true_ns;  // since the first point, without jumps
    double ticks_per_ns;  // at this moment
    double ticks;  // exact
    double raw_jump_ns;  // what RAW has jumped against true time
    double noise_ns;  // a point's RAW is off by up to this; its bracket says so
    uint64_t random;
} fake_clock;

static const uint64_t first_ticks = UINT64_C(1) << 45;
static const uint64_t first_raw_ns = UINT64_C(5000000000000);

static fake_clock clock_at(double ticks_per_ns, double noise_ns)
{
    return (fake_clock){.ticks_per_ns = ticks_per_ns, .noise_ns = noise_ns, .random = 7};
}

static void advance(fake_clock *clock, double ns)
{
    clock->true_ns += ns;
    clock->ticks += ns * clock->ticks_per_ns;
}

static uint64_t ticks_now(const fake_clock *clock)
{
    return first_ticks + (uint64_t)clock->ticks;
}

static mxp_clock_point take_point(fake_clock *clock)
{
    double unit = (double)(random_next(&clock->random) >> 11) / 0x1p53;
    double noise = (2 * unit - 1) * clock->noise_ns;
    int64_t raw_ns = (int64_t)llround(clock->true_ns + clock->raw_jump_ns + noise);
    return (mxp_clock_point){
        .ticks = ticks_now(clock),
        .raw_ns = first_raw_ns + (uint64_t)raw_ns,
        .bracket_ticks = (uint64_t)(2 * clock->noise_ns * clock->ticks_per_ns),
    };
}

static void add_point(mxp_timebase *timebase, fake_clock *clock)
{
    mxp_clock_point point = take_point(clock);
    assert_int_equal(mxp__timebase_add(timebase, &point), 0);
}

// ---- first points -----------------------------------------------------------------------------

static void without_points_everything_is_zero(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    assert_int_equal(mxp__timebase_ns(&timebase, 12345), 0);
    assert_int_equal(mxp__timebase_ticks(&timebase, 12345), 0);
    assert_int_equal(mxp__timebase_find(&timebase, 12345, 3), 0);
    assert_true(mxp__timebase_ns_per_tick(&timebase) > 0);
    mxp_timebase copy;
    assert_int_equal(mxp__timebase_copy(&copy, &timebase), 0);
    mxp__timebase_fini(&copy);
    mxp__timebase_fini(&timebase);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void one_point_has_the_rate_of_its_source(void **state)
{
    (void)state;
    const uint32_t sources[] = {MXP_CLOCK_SOURCE_RAW, MXP_CLOCK_SOURCE_MONOTONIC};
    const mxp_clock_point point = {.ticks = 1000, .raw_ns = 777777};
    for (int i = 0; i < 2; i++) {
        mxp_timebase timebase;
        mxp__timebase_init(&timebase, sources[i]);
        assert_int_equal(mxp__timebase_add(&timebase, &point), 0);
        assert_int_equal(timebase.segment_count, 1);
        assert_true(timebase.segments[0].mult == UINT64_C(1) << 32);
        assert_int_equal(mxp__timebase_ns(&timebase, 1000), 0);
        assert_int_equal(mxp__timebase_ns(&timebase, 1500), 500);
        assert_int_equal(mxp__timebase_ns(&timebase, 400), -600);
        mxp__timebase_fini(&timebase);
    }
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    assert_int_equal(mxp__timebase_add(&timebase, &point), 0);
    uint64_t hz = mxp__cpu_counter_hz();
    double expected = hz != 0 ? 1e9 / (double)hz : 1;
    assert_true(fabs(mxp__timebase_ns_per_tick(&timebase) - expected) < 1e-6);
    mxp__timebase_fini(&timebase);
}

static void two_points_define_the_rate_exactly(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    const mxp_clock_point first = {.ticks = 1000, .raw_ns = 5000};
    const mxp_clock_point second = {.ticks = 1000 + 2600000, .raw_ns = 5000 + 1000000};
    mxp__timebase_add(&timebase, &first);
    mxp__timebase_add(&timebase, &second);
    assert_int_equal(timebase.segment_count, 1);
    assert_int_equal(mxp__timebase_ns(&timebase, 1000), 0);
    assert_int_equal(mxp__timebase_ns(&timebase, 1000 + 26), 10);
    assert_int_equal(mxp__timebase_ns(&timebase, 1000 + 1300000), 500000);
    assert_int_equal(mxp__timebase_ns(&timebase, second.ticks), 1000000);
    assert_true(timebase.residual_ns < 1e-9);
    mxp__timebase_fini(&timebase);
}

static void raw_ticks_are_nanoseconds_for_ever(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_RAW);
    uint64_t random = 8, now = 123456789;
    for (int i = 0; i < 1000; i++) {
        const mxp_clock_point point = {.ticks = now, .raw_ns = now};
        mxp__timebase_add(&timebase, &point);
        now += 1 + random_below(&random, 100000000);
    }
    assert_int_equal(timebase.segment_count, 1);
    assert_true(mxp__timebase_ns(&timebase, now) == (int64_t)(now - 123456789));
    assert_true(timebase.residual_ns < 1e-9);
    mxp__timebase_fini(&timebase);
}

static void earlier_points_are_ignored(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(3, 0);
    add_point(&timebase, &clock);
    advance(&clock, 1e6);
    mxp_clock_point same = take_point(&clock), before = same;
    add_point(&timebase, &clock);
    before.ticks -= 5;
    before.raw_ns += 1000000000;
    same.raw_ns += 1000000000;
    assert_int_equal(mxp__timebase_add(&timebase, &before), 0);
    assert_int_equal(mxp__timebase_add(&timebase, &same), 0);
    assert_int_equal(timebase.point_count, 2);
    assert_in_range(mxp__timebase_ns(&timebase, ticks_now(&clock)), 999999, 1000000);
    mxp__timebase_fini(&timebase);
}

static void points_in_the_same_instant_give_a_usable_rate(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_RAW);
    // RAW has not moved, or has even gone back, while the counter went on by one.
    mxp_clock_point point = {.ticks = 10, .raw_ns = 1000};
    mxp__timebase_add(&timebase, &point);
    for (int i = 0; i < 10; i++) {
        point.ticks++;
        point.raw_ns -= (uint64_t)(i & 1);
        mxp__timebase_add(&timebase, &point);
    }
    for (size_t i = 0; i < timebase.segment_count; i++) {
        assert_true(timebase.segments[i].mult > 0);
    }
    assert_true(mxp__timebase_ns_per_tick(&timebase) > 0);
    assert_true(mxp__timebase_ns(&timebase, 2000000) > mxp__timebase_ns(&timebase, 1000000));
    mxp__timebase_fini(&timebase);
}

// ---- accuracy ---------------------------------------------------------------------------------

// Durations of many lengths that end at random moments up to now must be right within 100 ppm and
// the rounding of both ends.
static void check_durations(const mxp_timebase *timebase, const fake_clock *clock)
{
    uint64_t random = 9;
    for (int i = 0; i < 200; i++) {
        double end = clock->ticks * (double)random_below(&random, 1000001) / 1e6;
        double length = fmin(end, clock->ticks / (double)(1 + random_below(&random, 1000)));
        uint64_t begin_ticks = first_ticks + (uint64_t)(end - length);
        uint64_t end_ticks = first_ticks + (uint64_t)end;
        double expected = (double)(end_ticks - begin_ticks) / clock->ticks_per_ns;
        double got = (double)(mxp__timebase_ns(timebase, end_ticks) -
                              mxp__timebase_ns(timebase, begin_ticks));
        assert_true(fabs(got - expected) <= 1.5 + 100e-6 * expected);
    }
}

static void durations_are_right_at_every_interval(void **state)
{
    (void)state;
    const double intervals_ns[] = {1e6, 1.1e6, 3e6, 1e7, 3e7, 1e8, 1e9, 1e10};
    const double rates[] = {2.6, 0.024, 1.0, 4.7};
    for (size_t i = 0; i < sizeof intervals_ns / sizeof *intervals_ns; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            mxp_timebase timebase;
            mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
            fake_clock clock = clock_at(rates[j], 30);
            add_point(&timebase, &clock);
            for (int k = 0; k < 300; k++) {
                advance(&clock, intervals_ns[i]);
                add_point(&timebase, &clock);
            }
            check_durations(&timebase, &clock);
            // And the end is where RAW is, but for the points' noise and half a tick of the
            // counter.
            double end = (double)mxp__timebase_ns(&timebase, ticks_now(&clock));
            assert_true(fabs(end - clock.true_ns) < 100 + 2 / rates[j]);
            assert_true(timebase.residual_ns < 60 + 100e-6 * intervals_ns[i] + 2 / rates[j]);
            mxp__timebase_fini(&timebase);
        }
    }
}

static void mixed_intervals_are_as_good(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    add_point(&timebase, &clock);
    advance(&clock, 1e6);
    add_point(&timebase, &clock);
    uint64_t random = 10;
    for (int i = 0; i < 3000; i++) {
        advance(&clock, 100 + pow(10, 2 + 7 * (double)random_below(&random, 1000) / 1000));
        add_point(&timebase, &clock);
        assert_true(fabs((double)mxp__timebase_ns(&timebase, ticks_now(&clock)) - clock.true_ns) <
                    200);
    }
    check_durations(&timebase, &clock);
    mxp__timebase_fini(&timebase);
}

static void a_drifting_clock_is_followed(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_MONOTONIC);
    fake_clock clock = clock_at(1, 30);
    add_point(&timebase, &clock);
    double worst = 0;
    for (int second = 0; second < 900; second++) {
        clock.ticks_per_ns = 1 + 400e-6 * sin(second / 200.0);
        advance(&clock, 1e9);
        add_point(&timebase, &clock);
        double end = (double)mxp__timebase_ns(&timebase, ticks_now(&clock));
        worst = fmax(worst, fabs(end - clock.true_ns));
    }
    assert_true(worst < 100);
    // What the segments said before each point was off by what the rate changes in a second.
    assert_in_range((uint64_t)timebase.residual_ns, 1000, 10000);
    mxp__timebase_fini(&timebase);
}

static void a_long_trace_stays_small_and_right(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 15);
    add_point(&timebase, &clock);
    for (int second = 0; second < 10000; second++) {
        advance(&clock, 1e9);
        add_point(&timebase, &clock);
    }
    assert_true(timebase.segment_count < 3000);
    assert_true(timebase.point_count <= 4096);
    check_durations(&timebase, &clock);
    double end = (double)mxp__timebase_ns(&timebase, ticks_now(&clock));
    assert_true(fabs(end - clock.true_ns) < 200);
    mxp__timebase_fini(&timebase);
}

static void segments_are_bounded_on_a_restless_clock(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_MONOTONIC);
    fake_clock clock = clock_at(1, 20);
    add_point(&timebase, &clock);
    for (int second = 0; second < 60000; second++) {
        clock.ticks_per_ns = second & 1 ? 1.0002 : 0.9998;
        advance(&clock, 1e9);
        add_point(&timebase, &clock);
    }
    assert_in_range(timebase.segment_count, 1024, 4096);
    assert_in_range(timebase.point_count, 2048, 4096);
    double end = (double)mxp__timebase_ns(&timebase, ticks_now(&clock));
    assert_true(fabs(end - clock.true_ns) < 1e-3 * clock.true_ns);
    mxp__timebase_fini(&timebase);
}

// ---- jumps ------------------------------------------------------------------------------------

// Only one of the two clocks went on for `jump_ns` between two points.
static void check_jump(double raw_jump_ns, double tick_jump_ns)
{
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    for (int i = 0; i < 20; i++) {
        add_point(&timebase, &clock);
        advance(&clock, 1e8);
    }
    uint64_t before = ticks_now(&clock);
    clock.ticks += tick_jump_ns * clock.ticks_per_ns;
    clock.raw_jump_ns += raw_jump_ns;
    uint64_t after = ticks_now(&clock);
    advance(&clock, 1e8);
    for (int i = 0; i < 20; i++) {
        add_point(&timebase, &clock);
        advance(&clock, 1e8);
    }
    int64_t across = mxp__timebase_ns(&timebase, after) - mxp__timebase_ns(&timebase, before);
    assert_true(fabs((double)across - tick_jump_ns) < 2 + 20e-6 * tick_jump_ns);
    // Durations on both sides are what the counter says.
    uint64_t second = 2600000000;
    double first = (double)(mxp__timebase_ns(&timebase, before) -
                            mxp__timebase_ns(&timebase, before - second / 10));
    double last =
        (double)(mxp__timebase_ns(&timebase, after + second) - mxp__timebase_ns(&timebase, after));
    assert_true(fabs(first - 1e8) < 1e8 * 20e-6);
    assert_true(fabs(last - 1e9) < 1e9 * 20e-6);
    assert_true(timebase.residual_ns > 0.9 * fmax(raw_jump_ns, tick_jump_ns));
    mxp__timebase_fini(&timebase);
}

static void a_jump_of_one_clock_bends_no_durations(void **state)
{
    (void)state;
    check_jump(3.6e12, 0);  // the counter stood still in a suspend
    check_jump(0, 3.6e12);  // RAW did
    check_jump(1e6, 0);
    check_jump(0, 1e6);
}

static void a_new_rate_for_good_is_learnt(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    for (int i = 0; i < 20; i++) {
        add_point(&timebase, &clock);
        advance(&clock, 1e8);
    }
    clock.ticks_per_ns = 3.1;  // moved to another host
    for (int i = 0; i < 20; i++) {
        advance(&clock, 1e8);
        add_point(&timebase, &clock);
    }
    uint64_t now = ticks_now(&clock);
    double got =
        (double)(mxp__timebase_ns(&timebase, now) - mxp__timebase_ns(&timebase, now - 3100000000));
    assert_true(fabs(got - 1e9) < 1e9 * 20e-6);
    mxp__timebase_fini(&timebase);
}

static void a_point_taken_badly_does_no_harm(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    for (int i = 0; i < 50; i++) {
        advance(&clock, 1e8);
        if (i == 0 || i % 10 != 0) {
            add_point(&timebase, &clock);
            continue;
        }
        // The thread lost the processor inside the bracket: half a millisecond of doubt.
        mxp_clock_point point = take_point(&clock);
        point.raw_ns += 400000;
        point.bracket_ticks = 2600000;
        mxp__timebase_add(&timebase, &point);
    }
    mxp_timebase whole = timebase;
    double end = (double)mxp__timebase_ns(&whole, ticks_now(&clock));
    assert_true(fabs(end - (clock.true_ns - 1e8)) < 200);
    uint64_t step = 260000000;
    for (int i = 1; i < 49; i++) {
        uint64_t from = first_ticks + step * (uint64_t)i;
        double got =
            (double)(mxp__timebase_ns(&whole, from + step) - mxp__timebase_ns(&whole, from));
        assert_true(fabs(got - 1e8) < 1e8 * 100e-6);
    }
    mxp__timebase_fini(&timebase);
}

// ---- properties -------------------------------------------------------------------------------

static void random_point(mxp_clock_point *point, uint64_t *random)
{
    uint64_t step = 1 + (random_size(random) >> 24);
    point->ticks += step;
    switch (random_below(random, 8)) {
    case 0:
        point->raw_ns += random_size(random) >> 24;  // anything, far from the rate
        break;
    case 1:
        point->raw_ns -= random_below(random, 1000);
        break;
    default:
        point->raw_ns += step * 10 / 26 + random_below(random, 60);
    }
    point->bracket_ticks = random_below(random, 300);
}

// Segments join, rise, and never go backwards, whatever the points were.
static void check_shape(const mxp_timebase *timebase)
{
    for (size_t i = 0; i < timebase->segment_count; i++) {
        const mxp_clock_segment *segment = &timebase->segments[i];
        assert_true(segment->mult > 0);
        if (i > 0) {
            assert_true(segment->ticks0 > segment[-1].ticks0);
            assert_true(segment->ns0 == mxp__segment_ns(&segment[-1], segment->ticks0));
        }
    }
}

static void check_monotone(const mxp_timebase *timebase, uint64_t *random)
{
    uint64_t first = timebase->points[0].ticks;
    uint64_t last = timebase->points[timebase->point_count - 1].ticks;
    for (int i = 0; i < 20; i++) {
        uint64_t ticks = first - 1000 + random_below(random, last - first + 2000);
        if (i % 2 == 1) {  // just around where segments join
            size_t which = random_below(random, timebase->segment_count);
            ticks = timebase->segments[which].ticks0 - 3 + random_below(random, 6);
        }
        uint64_t later = ticks + (random_size(random) >> 30);
        assert_true(mxp__timebase_ns(timebase, ticks) <= mxp__timebase_ns(timebase, later));
        assert_true(mxp__timebase_ns(timebase, ticks) <= mxp__timebase_ns(timebase, ticks + 1));
    }
}

static void conversion_never_goes_backwards(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 300; round++) {
        mxp_timebase timebase;
        mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
        mxp_clock_point point = {.ticks = 1000000, .raw_ns = UINT64_C(1) << 50};
        for (int i = 0; i < 60; i++) {
            mxp__timebase_add(&timebase, &point);
            random_point(&point, &random);
        }
        check_shape(&timebase);
        check_monotone(&timebase, &random);
        mxp__timebase_fini(&timebase);
    }
}

static void what_was_converted_stays(void **state)
{
    (void)state;
    enum { KEPT = 40 };
    uint64_t random = 12;
    for (int round = 0; round < 100; round++) {
        mxp_timebase timebase;
        mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
        mxp_clock_point point = {.ticks = 1000000, .raw_ns = UINT64_C(1) << 50};
        mxp__timebase_add(&timebase, &point);
        const uint64_t first = point.ticks;
        uint64_t ticks[KEPT];
        int64_t ns[KEPT];
        for (int i = 0; i < KEPT; i++) {
            random_point(&point, &random);
            mxp__timebase_add(&timebase, &point);
            ticks[i] = i % 4 == 0 ? point.ticks
                                  : first - 50 + random_below(&random, point.ticks - first + 51);
            ns[i] = mxp__timebase_ns(&timebase, ticks[i]);
            for (int j = 0; j <= i; j++) {
                assert_true(mxp__timebase_ns(&timebase, ticks[j]) == ns[j]);
            }
        }
        mxp__timebase_fini(&timebase);
    }
}

static void finding_agrees_for_every_hint(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    uint64_t random = 13;
    mxp_clock_point point = {.ticks = 1000000, .raw_ns = UINT64_C(1) << 50};
    for (int i = 0; i < 100; i++) {
        mxp__timebase_add(&timebase, &point);
        random_point(&point, &random);
    }
    assert_true(timebase.segment_count > 10);
    for (int i = 0; i < 2000; i++) {
        size_t which = random_below(&random, timebase.segment_count);
        uint64_t ticks = timebase.segments[which].ticks0 - 1 + random_below(&random, 3);
        size_t expected = 0;
        while (expected + 1 < timebase.segment_count &&
               timebase.segments[expected + 1].ticks0 <= ticks) {
            expected++;
        }
        for (size_t hint = 0; hint < timebase.segment_count + 3; hint++) {
            assert_int_equal(mxp__timebase_find(&timebase, ticks, hint), expected);
        }
        assert_int_equal(mxp__timebase_find(&timebase, ticks, SIZE_MAX), expected);
    }
    assert_int_equal(mxp__timebase_find(&timebase, 0, 0), 0);
    assert_int_equal(mxp__timebase_find(&timebase, UINT64_MAX, 0), timebase.segment_count - 1);
    mxp__timebase_fini(&timebase);
}

static void the_inverse_is_the_smallest_ticks(void **state)
{
    (void)state;
    uint64_t random = 14;
    for (int round = 0; round < 200; round++) {
        mxp_timebase timebase;
        mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
        mxp_clock_point point = {.ticks = UINT64_C(1) << 44, .raw_ns = UINT64_C(1) << 50};
        for (int i = 0; i < 30; i++) {
            mxp__timebase_add(&timebase, &point);
            random_point(&point, &random);
        }
        int64_t last = mxp__timebase_ns(&timebase, point.ticks);
        for (int i = 0; i < 50; i++) {
            int64_t ns = (int64_t)random_below(&random, (uint64_t)last + 2000) - 1000;
            if (i % 3 == 0) {
                ns = timebase.segments[random_below(&random, timebase.segment_count)].ns0;
            }
            uint64_t ticks = mxp__timebase_ticks(&timebase, ns);
            assert_true(mxp__timebase_ns(&timebase, ticks) >= ns);
            assert_true(mxp__timebase_ns(&timebase, ticks - 1) < ns);
        }
        mxp__timebase_fini(&timebase);
    }
}

static void the_inverse_stops_at_the_ends(void **state)
{
    (void)state;
    mxp_timebase timebase;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    const mxp_clock_point first = {.ticks = 1000, .raw_ns = 0};
    const mxp_clock_point second = {.ticks = 2000, .raw_ns = 1};
    mxp__timebase_add(&timebase, &first);
    mxp__timebase_add(&timebase, &second);
    assert_int_equal(mxp__timebase_ticks(&timebase, -1000000), 0);
    assert_true(mxp__timebase_ticks(&timebase, INT64_MAX) == UINT64_MAX);
    assert_true(mxp__timebase_ticks(&timebase, INT64_MIN) == 0);
    mxp__timebase_fini(&timebase);
}

// Segments read from a damaged file: any numbers at all.
static void damaged_segments_convert_without_a_trap(void **state)
{
    (void)state;
    uint64_t random = 15;
    mxp_clock_segment segments[4];
    mxp_timebase timebase = {.segments = segments, .segment_count = 4};
    for (int i = 0; i < 20000; i++) {
        for (int j = 0; j < 4; j++) {
            segments[j] = (mxp_clock_segment){
                .ticks0 = random_size(&random),
                .ns0 = (int64_t)random_next(&random),
                .mult = random_below(&random, 5) == 0 ? 0 : random_size(&random),
            };
        }
        uint64_t ticks = random_size(&random);
        assert_true(mxp__timebase_find(&timebase, ticks, random_below(&random, 8)) < 4);
        int64_t ns = mxp__timebase_ns(&timebase, ticks);
        uint64_t back = mxp__timebase_ticks(&timebase, ns);
        assert_true(mxp__timebase_ticks(&timebase, ns) == back);
    }
}

// ---- memory -----------------------------------------------------------------------------------

static void a_copy_is_independent(void **state)
{
    (void)state;
    mxp_timebase timebase, copy;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    for (int i = 0; i < 20; i++) {
        add_point(&timebase, &clock);
        advance(&clock, 5e5);
    }
    assert_int_equal(mxp__timebase_copy(&copy, &timebase), 0);
    assert_int_equal(copy.point_count, timebase.point_count);
    assert_int_equal(copy.segment_count, timebase.segment_count);
    assert_int_equal(copy.source, MXP_CLOCK_SOURCE_TSC);
    assert_true(copy.residual_ns >= timebase.residual_ns);
    int64_t ns = mxp__timebase_ns(&timebase, ticks_now(&clock));
    clock.ticks_per_ns = 2.6001;
    advance(&clock, 1e9);
    add_point(&timebase, &clock);
    mxp__timebase_fini(&timebase);
    assert_true(mxp__timebase_ns(&copy, first_ticks + (uint64_t)(5e5 * 2.6 * 20)) == ns);
    mxp__timebase_fini(&copy);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void lack_of_memory_changes_nothing(void **state)
{
    (void)state;
    mxp_timebase timebase, copy;
    mxp__timebase_init(&timebase, MXP_CLOCK_SOURCE_TSC);
    fake_clock clock = clock_at(2.6, 30);
    size_t refusals = 0;
    for (int i = 0; i < 100; i++) {
        mxp_clock_point point = take_point(&clock);
        size_t points = timebase.point_count, segments = timebase.segment_count;
        for (size_t count = 0;; count++) {
            fake_alloc_fail_after(count);
            int error = mxp__timebase_add(&timebase, &point);
            size_t refused = fake_alloc_failed();
            fake_alloc_fail_never();
            if (refused == 0) {
                assert_int_equal(error, 0);
                break;
            }
            refusals++;
            assert_int_equal(error, MXP_ENOMEM);
            assert_int_equal(timebase.point_count, points);
            assert_int_equal(timebase.segment_count, segments);
        }
        advance(&clock, 5e5);
    }
    assert_true(refusals > 4);
    for (size_t count = 0; count < 2; count++) {
        fake_alloc_fail_after(count);
        assert_int_equal(mxp__timebase_copy(&copy, &timebase), MXP_ENOMEM);
        fake_alloc_fail_never();
        assert_int_equal(copy.point_count, 0);
        mxp__timebase_fini(&copy);
    }
    mxp__timebase_fini(&timebase);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_points_everything_is_zero),
        cmocka_unit_test(one_point_has_the_rate_of_its_source),
        cmocka_unit_test(two_points_define_the_rate_exactly),
        cmocka_unit_test(raw_ticks_are_nanoseconds_for_ever),
        cmocka_unit_test(earlier_points_are_ignored),
        cmocka_unit_test(points_in_the_same_instant_give_a_usable_rate),
        cmocka_unit_test(durations_are_right_at_every_interval),
        cmocka_unit_test(mixed_intervals_are_as_good),
        cmocka_unit_test(a_drifting_clock_is_followed),
        cmocka_unit_test(a_long_trace_stays_small_and_right),
        cmocka_unit_test(segments_are_bounded_on_a_restless_clock),
        cmocka_unit_test(a_jump_of_one_clock_bends_no_durations),
        cmocka_unit_test(a_new_rate_for_good_is_learnt),
        cmocka_unit_test(a_point_taken_badly_does_no_harm),
        cmocka_unit_test(conversion_never_goes_backwards),
        cmocka_unit_test(what_was_converted_stays),
        cmocka_unit_test(finding_agrees_for_every_hint),
        cmocka_unit_test(the_inverse_is_the_smallest_ticks),
        cmocka_unit_test(the_inverse_stops_at_the_ends),
        cmocka_unit_test(damaged_segments_convert_without_a_trap),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(lack_of_memory_changes_nothing),
    };
    fake_alloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
