// SPDX-License-Identifier: Apache-2.0
// Clocks that are simulated: the truth is known, and must lie inside of the stated bounds, always.
#include "profiler/analysis/clocks/clock_curve.h"

#include <math.h>
#include <mxprof/clock_cut.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "random.h"

enum { RUNS = 100, SYNCS = 6, BURST = 16, EXCHANGES = SYNCS * BURST, MOMENTS = 21 };
static const double syncs_apart_ns = 50e6;

// The own clock reads time x (1 + skew) + shift + what it wanders. At jump_at_ns it jumps ahead by
// jump_ns, or stands for as long if that is below 0, as that of a machine that is suspended: no
// clock goes back. The other one reads the time.
typedef struct own_clock {
    double shift_ns, skew, wander, period_ns, jump_ns, jump_at_ns;
} own_clock;

typedef struct sim_run {
    own_clock clock;
    mxp_cut cuts[EXCHANGES];
    double length_ns[EXCHANGES];  // of the exchanges
    double least_ns;  // the shortest of them
    double end_ns;
} sim_run;

static double uniform(uint64_t *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) / 9007199254740992.0;
}

static double read_clock(const own_clock *clock, double now_ns)
{
    // The slope changes by `wander` on either side: a cosine of the period.
    const double turn = 2 * 3.14159265358979323846 / clock->period_ns;
    const double past_ns = now_ns - clock->jump_at_ns;
    now_ns += past_ns < 0          ? 0
              : clock->jump_ns > 0 ? clock->jump_ns
                                   : fmax(clock->jump_ns, -past_ns);
    const double wandered_ns = clock->wander / turn * sin(turn * now_ns);
    return now_ns * (1 + clock->skew) + clock->shift_ns + wandered_ns;
}

static bool stands(const own_clock *clock, double now_ns)
{
    return now_ns >= clock->jump_at_ns && now_ns <= clock->jump_at_ns - clock->jump_ns;
}

// Delays of some 100 ns, a few of them long; asymmetric ones of 5 ms where they are planted.
static double delay_ns(uint64_t *random, bool is_planted)
{
    const double usual_ns = 150 + uniform(random, 0, 200);
    const bool is_late = random_below(random, 8) == 0;
    return (is_late ? usual_ns + uniform(random, 0, 100e3) : usual_ns) + (is_planted ? 5e6 : 0);
}

static mxp_cut cut_of(double sent_ns, double received_ns, double answered_ns, double back_ns)
{
    // The own clock may stand below 0: ticks are counted from far enough before.
    static const int64_t zero = INT64_C(1) << 50;
    const mxp_clock_cut cut = mxp_clock_cut_of((uint64_t)((int64_t)floor(sent_ns) + zero),
                                               (uint64_t)((int64_t)ceil(received_ns) + zero),
                                               (uint64_t)((int64_t)floor(answered_ns) + zero),
                                               (uint64_t)((int64_t)ceil(back_ns) + zero), 1, 0);
    const int64_t at_ns = (int64_t)cut.ticks;
    return (mxp_cut){at_ns - zero, (int64_t)cut.low_ns - at_ns, (int64_t)cut.high_ns - at_ns};
}

static void exchange_all(sim_run *run, uint64_t *random, bool is_planted)
{
    double now_ns = 1e6;
    run->least_ns = INFINITY;
    for (size_t i = 0; i < EXCHANGES; i++) {
        const double sent_ns = now_ns;
        const double received_ns = sent_ns + delay_ns(random, is_planted && i % 2 == 0);
        const double answered_ns = received_ns + 50;
        const double back_ns = answered_ns + delay_ns(random, is_planted && i % 2 != 0);
        run->cuts[i] = cut_of(read_clock(&run->clock, sent_ns), received_ns, answered_ns,
                              read_clock(&run->clock, back_ns));
        run->length_ns[i] = back_ns - sent_ns;
        run->least_ns = fmin(run->least_ns, run->length_ns[i]);
        now_ns = back_ns + 100 + ((i + 1) % BURST == 0 ? syncs_apart_ns : 0);
        if (stands(&run->clock, now_ns)) {
            now_ns += syncs_apart_ns - run->clock.jump_ns;
        }
    }
    run->end_ns = now_ns;
}

// How many of the moments have the truth inside of what is stated, and inside of the bounds.
static size_t count_inside(const sim_run *run, const mxp_clock_curve *curve)
{
    size_t inside = 0;
    for (size_t i = 0; i < MOMENTS; i++) {
        const double now_ns = run->end_ns * (double)i / (MOMENTS - 1);
        const double own_ns = read_clock(&run->clock, now_ns);
        const int64_t when_ns = (int64_t)own_ns;
        const double truth_ns = now_ns - own_ns;
        const mxp_bounds bounds = mxp__clock_curve_bounds(curve, when_ns);
        const double error_ns = fabs((double)mxp__clock_curve_ahead(curve, when_ns) - truth_ns);
        inside += stands(&run->clock, now_ns) ||
                  (error_ns <= (double)mxp__clock_curve_doubt(curve, when_ns) + 1 &&
                   truth_ns >= (double)bounds.low_ns - 1 && truth_ns <= (double)bounds.high_ns + 1);
    }
    return inside;
}

static void make(const sim_run *run, mxp_clock_curve *curve)
{
    assert_int_equal(mxp__clock_curve_make(
                         run->cuts, EXCHANGES, NULL, 0, (int64_t)read_clock(&run->clock, 0),
                         (int64_t)read_clock(&run->clock, run->end_ns), &mxp__cut_model, curve),
                     MXP_OK);
}

static own_clock any_clock(uint64_t *random)
{
    return (own_clock){.shift_ns = uniform(random, -10e9, 10e9),
                       .skew = uniform(random, -200e-6, 200e-6),
                       .period_ns = 1e9,
                       .jump_at_ns = INFINITY};
}

typedef enum sim_trouble { NONE, ASYMMETRIC, WANDER, JUMP, TROUBLES } sim_trouble;

static void prepare(sim_run *run, uint64_t *random, sim_trouble trouble)
{
    run->clock = any_clock(random);
    run->clock.wander = trouble == WANDER ? 0.5e-7 : 0;
    if (trouble == JUMP) {
        // Between two synchronisations; forwards and back, from 10 us to 10 s.
        run->clock.jump_at_ns = 1e6 + syncs_apart_ns * (double)(1 + random_below(random, 4)) + 30e6;
        run->clock.jump_ns = pow(10, uniform(random, 4, 10)) * (random_below(random, 2) ? 1 : -1);
    }
    exchange_all(run, random, trouble == ASYMMETRIC);
}

static void the_truth_is_inside_of_what_is_stated_in_every_run(void **state)
{
    (void)state;
    for (sim_trouble trouble = NONE; trouble < TROUBLES; trouble++) {
        uint64_t random = 4711 + (uint64_t)trouble;
        size_t whole = 0;
        for (size_t i = 0; i < RUNS; i++) {
            sim_run run;
            mxp_clock_curve curve;
            prepare(&run, &random, trouble);
            make(&run, &curve);
            whole += count_inside(&run, &curve) == MOMENTS;
            mxp__clock_curve_fini(&curve);
        }
        assert_int_equal(whole, RUNS);
    }
}

// What the test above is worth: it fails with bounds that are too narrow by the slack.
static void without_slack_the_truth_is_outside(void **state)
{
    (void)state;
    uint64_t random = 4711 + (uint64_t)ASYMMETRIC;
    size_t whole = 0;
    for (size_t i = 0; i < RUNS; i++) {
        sim_run run;
        mxp_clock_curve curve;
        prepare(&run, &random, ASYMMETRIC);
        for (size_t j = 0; j < EXCHANGES; j++) {
            const int64_t slack_ns = (int64_t)(run.length_ns[j] * MXP_CLOCK_CUT_SLACK);
            run.cuts[j].low_ns += slack_ns;
            run.cuts[j].high_ns -= slack_ns;
        }
        make(&run, &curve);
        whole += count_inside(&run, &curve) == MOMENTS;
        mxp__clock_curve_fini(&curve);
    }
    assert_true(whole < 3 * RUNS / 4);
}

static void bounds_are_as_narrow_as_the_shortest_exchanges(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (size_t i = 0; i < RUNS; i++) {
        sim_run run;
        mxp_clock_curve curve;
        prepare(&run, &random, NONE);
        make(&run, &curve);
        const int64_t when_ns = (int64_t)read_clock(&run.clock, run.end_ns / 2);
        assert_true((double)mxp__clock_curve_doubt(&curve, when_ns) < 15 * run.least_ns);
        const int64_t at_ns = run.cuts[EXCHANGES / 2].at_ns;
        assert_true((double)mxp__clock_curve_doubt(&curve, at_ns) < 2 * run.least_ns);
        mxp__clock_curve_fini(&curve);
    }
}

static void a_jump_is_found_with_its_place_and_size(void **state)
{
    (void)state;
    uint64_t random = 5;
    sim_run run = {.clock = any_clock(&random)};
    run.clock.jump_at_ns = 130e6;
    run.clock.jump_ns = -2.1e9;
    exchange_all(&run, &random, false);
    mxp_clock_curve curve;
    make(&run, &curve);
    assert_int_equal(curve.part_count, 2);
    assert_true(llabs(mxp__clock_curve_jump(&curve, 1) - INT64_C(2100000000)) < 10000);
    const double before_ns = read_clock(&run.clock, 129e6),
                 behind_ns = read_clock(&run.clock, 2.3e9);
    assert_true((double)curve.parts[0].until_ns < before_ns);
    assert_true((double)curve.parts[1].from_ns > behind_ns);
    mxp__clock_curve_fini(&curve);
}

static void one_burst_without_a_jump_is_one_part(void **state)
{
    (void)state;
    uint64_t random = 6;
    sim_run run;
    mxp_clock_curve curve;
    prepare(&run, &random, NONE);
    make(&run, &curve);
    assert_int_equal(curve.part_count, 1);
    mxp__clock_curve_fini(&curve);
}

// Messages have one bound each. Those of both directions make the bounds between two
// synchronisations narrower, and the truth stays inside.
// No message that was used as a cut goes backwards by the curve itself, whatever lies between.
static void assert_forward(const mxp_clock_curve *curve, const mxp_cut *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t ahead_ns = mxp__clock_curve_ahead(curve, messages[i].at_ns);
        assert_true(messages[i].low_ns == MXP__CUT_NO_LOW || ahead_ns >= messages[i].low_ns - 1);
        assert_true(messages[i].high_ns == MXP__CUT_NO_HIGH || ahead_ns <= messages[i].high_ns + 1);
    }
}

// Between two loose exchanges, where the curve has no other reason to bend.
static void tight_messages_go_forward_between_exchanges(void **state)
{
    (void)state;
    enum { BOTH = 2, MESSAGES = 6 };
    uint64_t random = 7;
    for (size_t i = 0; i < RUNS; i++) {
        mxp_cut exchanges[BOTH], messages[MESSAGES];
        mxp_clock_curve curve;
        for (size_t j = 0; j < BOTH; j++) {
            exchanges[j] =
                (mxp_cut){(int64_t)j * 100000000, -1000 - (int64_t)random_below(&random, 40000),
                          1000 + (int64_t)random_below(&random, 40000)};
        }
        for (int64_t j = 0; j < MESSAGES; j++) {
            const int64_t late_ns = (int64_t)random_below(&random, 300);
            messages[j] = (mxp_cut){30000000 + j * 5000000, j % 2 == 0 ? -late_ns : MXP__CUT_NO_LOW,
                                    j % 2 == 0 ? MXP__CUT_NO_HIGH : late_ns};
        }
        assert_int_equal(mxp__clock_curve_make(exchanges, BOTH, messages, MESSAGES, 0, 100000000,
                                               &mxp__cut_model, &curve),
                         MXP_OK);
        assert_forward(&curve, messages, MESSAGES);
        mxp__clock_curve_fini(&curve);
    }
}

static void messages_cut_too(void **state)
{
    (void)state;
    enum { MESSAGES = 400 };
    uint64_t random = 99;
    size_t whole = 0, narrower = 0;
    for (size_t i = 0; i < RUNS; i++) {
        sim_run run;
        mxp_cut messages[MESSAGES];
        mxp_clock_curve alone, with;
        prepare(&run, &random, NONE);
        for (size_t j = 0; j < EXCHANGES; j++) {  // as on a busy machine
            run.cuts[j].low_ns -= 20000;
            run.cuts[j].high_ns += 20000;
        }
        for (size_t j = 0; j < MESSAGES; j++) {
            const double sent_ns = run.end_ns * (double)j / MESSAGES;
            const double heard_ns = sent_ns + delay_ns(&random, false);
            const bool is_ours = j % 2 == 0;
            const double own_ns = read_clock(&run.clock, is_ours ? sent_ns : heard_ns);
            const int64_t ahead_ns =
                (int64_t)((is_ours ? ceil(heard_ns) : floor(sent_ns)) - floor(own_ns));
            messages[j] = (mxp_cut){.at_ns = (int64_t)floor(own_ns),
                                    .low_ns = is_ours ? MXP__CUT_NO_LOW : ahead_ns - 1,
                                    .high_ns = is_ours ? ahead_ns + 1 : MXP__CUT_NO_HIGH};
        }
        make(&run, &alone);
        assert_int_equal(mxp__clock_curve_make(run.cuts, EXCHANGES, messages, MESSAGES,
                                               (int64_t)read_clock(&run.clock, 0),
                                               (int64_t)read_clock(&run.clock, run.end_ns),
                                               &mxp__cut_model, &with),
                         MXP_OK);
        const int64_t when_ns = (int64_t)read_clock(&run.clock, 1e6 + 1.5 * syncs_apart_ns);
        whole += count_inside(&run, &with) == MOMENTS;
        assert_forward(&with, messages, MESSAGES);
        const mxp_bounds wide = mxp__clock_curve_bounds(&alone, when_ns);
        const mxp_bounds narrow = mxp__clock_curve_bounds(&with, when_ns);
        assert_true(narrow.low_ns >= wide.low_ns - 1 && narrow.high_ns <= wide.high_ns + 1);
        narrower += narrow.high_ns - narrow.low_ns < (wide.high_ns - wide.low_ns) / 10;
        mxp__clock_curve_fini(&alone);
        mxp__clock_curve_fini(&with);
    }
    assert_int_equal(whole, RUNS);
    assert_int_equal(narrower, RUNS);
}

// However the own clock jumps back, the time that is made of it does not.
static void time_never_goes_back(void **state)
{
    (void)state;
    uint64_t random = 8;
    for (size_t i = 0; i < RUNS; i++) {
        sim_run run;
        mxp_clock_curve curve;
        prepare(&run, &random, JUMP);
        make(&run, &curve);
        for (size_t j = 1; j < curve.node_count; j++) {
            const mxp_curve_node *before = &curve.nodes[j - 1], *node = &curve.nodes[j];
            assert_true(node->at_ns > before->at_ns);
            assert_true(node->at_ns + node->ahead_ns >= before->at_ns + before->ahead_ns);
        }
        mxp__clock_curve_fini(&curve);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_inside_of_what_is_stated_in_every_run),
        cmocka_unit_test(without_slack_the_truth_is_outside),
        cmocka_unit_test(bounds_are_as_narrow_as_the_shortest_exchanges),
        cmocka_unit_test(a_jump_is_found_with_its_place_and_size),
        cmocka_unit_test(one_burst_without_a_jump_is_one_part),
        cmocka_unit_test(tight_messages_go_forward_between_exchanges),
        cmocka_unit_test(messages_cut_too),
        cmocka_unit_test(time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
