// SPDX-License-Identifier: Apache-2.0
// Lexical spans: what is recorded, in which form, and what happens around stop and pause.
#include "cmocka_all.h"

#include <math.h>
#include <pthread.h>

#include <mxprof/record.h>

#include "base/atomic.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/test_point.h"

static mxp_name name_a, name_b;

static int start(void **state)
{
    name_a = mxp_span_name("test", "a");
    name_b = mxp_span_name("test", "b");
    return live_events_start(state);
}

static uint64_t lost_for(const live_events *live, uint32_t reason)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < live->source->loss_count; i++) {
        const mxp_loss_entry *loss = &live->source->losses[i];
        lost += loss->reason == reason ? loss->count : 0;
    }
    return lost;
}

static uint64_t lost_so_far(uint32_t reason)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    uint64_t lost = lost_for(&live, reason);
    live_events_free(&live);
    return lost;
}

static void nested_spans_keep_order_and_times(void **state)
{
    (void)state;
    uint64_t a = mxp_span_begin(name_a);
    uint64_t b = mxp_span_begin(name_b);
    mxp_span_end(name_b, b);
    mxp_span_end(name_a, a);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *outer = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    const mxp_event *inner = live_events_find(&live, MXP_KIND_SPAN, "b", 0);
    assert_non_null(outer);
    assert_non_null(inner);
    assert_true(inner < outer);
    assert_int_equal(outer->begin_ticks, a);
    assert_int_equal(inner->begin_ticks, b);
    assert_true(outer->end_ticks >= inner->end_ticks);
    assert_true(outer->begin_ns <= inner->begin_ns && inner->end_ns <= outer->end_ns);
    assert_int_equal(outer->flags, 0);
    live_events_free(&live);
}

static void nothing_is_recorded_while_off(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    assert_int_equal(mxp_span_begin(name_a), 0);
    mxp_span_end(name_a, 0);
    mxp_counter_u64(MXP_CLASS_USER, name_a, 3);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, NULL), 0);
    live_events_free(&live);
}

static void span_open_at_stop_is_closed_once_and_flagged(void **state)
{
    (void)state;
    uint64_t a = mxp_span_begin(name_a);
    uint64_t b = mxp_span_begin(name_b);
    uint64_t off = mxp__recorder_stop(1);
    mxp_span_end(name_b, b);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name_a, a);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 2);
    const mxp_event *closed = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_int_equal(closed->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(closed->end_ticks, off);
    assert_int_equal(closed->begin_ticks, a);
    assert_non_null(live_events_find(&live, MXP_KIND_SPAN, "b", 0));
    live_events_free(&live);
}

static void span_ended_while_paused_is_clipped_at_the_pause(void **state)
{
    (void)state;
    uint64_t a = mxp_span_begin(name_a);
    uint64_t b = mxp_span_begin(name_b);
    uint64_t off = mxp__recorder_stop(0);
    mxp_span_end(name_b, b);
    mxp__recorder_start(MXP_CLASS_ALL, 1);
    mxp_span_end(name_a, a);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *clipped = live_events_find(&live, MXP_KIND_SPAN, "b", 0);
    assert_non_null(clipped);
    assert_int_equal(clipped->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(clipped->end_ticks, off);
    const mxp_event *whole = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_non_null(whole);
    assert_int_equal(whole->flags, 0);
    assert_true(whole->end_ticks > off);
    live_events_free(&live);
}

static void stop_in_a_pause_closes_at_the_pause(void **state)
{
    (void)state;
    uint64_t a = mxp_span_begin(name_a);
    uint64_t off = mxp__recorder_stop(0);
    mxp__recorder_stop(1);
    mxp_span_end(name_a, a);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 1);
    assert_int_equal(live_events_find(&live, MXP_KIND_SPAN, "a", 0)->end_ticks, off);
    live_events_free(&live);
}

static void spans_ended_out_of_order_are_all_recorded(void **state)
{
    (void)state;
    uint64_t a = mxp_span_begin(name_a);
    uint64_t b = mxp_span_begin(name_b);
    mxp_span_end(name_a, a);
    mxp__recorder_stop(1);  // b is still open: closed here
    mxp_span_end(name_b, b);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "b"), 1);
    assert_int_equal(live_events_find(&live, MXP_KIND_SPAN, "a", 0)->flags, 0);
    assert_int_equal(live_events_find(&live, MXP_KIND_SPAN, "b", 0)->flags,
                     MXP_SPAN_CLOSED_BY_STOP);
    live_events_free(&live);
}

static void recursion_deeper_than_the_stack_is_recorded(void **state)
{
    (void)state;
    enum { DEPTH = 100 };
    uint64_t tokens[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        tokens[i] = mxp_span_begin(name_a);
    }
    for (int i = DEPTH - 1; i >= 0; i--) {
        mxp_span_end(name_a, tokens[i]);
    }
    // The stack is empty again: nothing is closed by the stop.
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), DEPTH);
    for (size_t i = 0; i < DEPTH; i++) {
        const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "a", i);
        assert_int_equal(span->flags, 0);
        assert_int_equal(span->begin_ticks, tokens[DEPTH - 1 - i]);
    }
    live_events_free(&live);
}

static void span_longer_than_32_bits_is_a_long_span(void **state)
{
    (void)state;
    uint64_t now = mxp_ticks();
    mxp_span_emit(
        MXP_CLASS_USER,
        &(mxp_span){.name = name_a, .begin_ticks = now - (UINT64_C(5) << 32), .end_ticks = now});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_non_null(span);
    assert_int_equal(span->end_ticks - span->begin_ticks, UINT64_C(5) << 32);
    live_events_free(&live);
}

static void arguments_that_do_not_fit_are_flagged(void **state)
{
    (void)state;
    mxp_arg args[MXP_SPAN_ARGS_MAX + 1];
    for (uint32_t i = 0; i <= MXP_SPAN_ARGS_MAX; i++) {
        args[i] = (mxp_arg){mxp_string("count"), MXP_ARG_U64, {.u64 = i}};
    }
    for (uint32_t more = 0; more < 2; more++) {
        mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = name_a,
                                                  .args = args,
                                                  .arg_count = MXP_SPAN_ARGS_MAX + more,
                                                  .begin_ticks = mxp_ticks(),
                                                  .end_ticks = mxp_ticks()});
        live_events live = live_events_take(MXP__CONSUMER_FILE);
        const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
        assert_int_equal(mxp__event_arg_count(span), MXP_SPAN_ARGS_MAX);
        assert_int_equal(span->flags, more == 0 ? 0 : MXP_SPAN_ARGS_CUT);
        live_events_free(&live);
    }
}

static void long_span_keeps_arguments_lane_and_flags(void **state)
{
    (void)state;
    mxp_arg args[] = {{mxp_string("count"), MXP_ARG_U64, {.u64 = 7}},
                      {mxp_string("ratio"), MXP_ARG_F64, {.f64 = 0.5}}};
    mxp_name lane = mxp_string("gpu/0");
    uint64_t now = mxp_ticks();
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = name_a,
                                              .begin_ticks = now - 10,
                                              .end_ticks = now,
                                              .lane = lane,
                                              .arg_count = 2,
                                              .args = args});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_non_null(span);
    assert_int_equal(span->lane, lane);
    assert_int_equal(mxp__event_arg_count(span), 2);
    uint32_t key, type;
    uint64_t value;
    mxp__event_arg(span, 0, &key, &type, &value);
    assert_int_equal(key, args[0].key);
    assert_int_equal(type, MXP_ARG_U64);
    assert_int_equal(value, 7);
    live_events_free(&live);
}

static void *end_elsewhere(void *token)
{
    mxp_span_end(name_a, *(uint64_t *)token);
    return NULL;
}

static void span_ended_on_another_thread_is_recorded_there(void **state)
{
    (void)state;
    uint64_t token = mxp_span_begin(name_a);
    pthread_t thread;
    pthread_create(&thread, NULL, end_elsewhere, &token);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1);
    live_events_free(&live);
    mxp_span_end(name_a, token);  // takes it off this thread's stack
}

static void a_token_that_is_given_back_twice_makes_one_span(void **state)
{
    (void)state;
    uint64_t token = mxp_span_begin(name_a);
    mxp_span_end(name_a, token);
    mxp_span_end(name_a, token);
    uint64_t outer = mxp_span_begin(name_b);
    mxp_span_end(name_a, token);
    mxp_span_end(name_a, outer + 1);  // never given out
    mxp_span_end(name_b, outer);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "b"), 1);
    assert_int_equal(lost_for(&live, MXP_LOSS_MISUSE), 3);
    live_events_free(&live);
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name_a, token);  // after the stop it is no span of then either
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 0);
    assert_int_equal(lost_for(&live, MXP_LOSS_MISUSE), 4);
    live_events_free(&live);
}

static void *begin_and_leave(void *token)
{
    *(uint64_t *)token = mxp_span_begin(name_a);
    return NULL;
}

static void a_span_of_a_thread_that_is_gone_can_be_ended_elsewhere(void **state)
{
    (void)state;
    uint64_t token;
    pthread_t thread;
    pthread_create(&thread, NULL, begin_and_leave, &token);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    mxp__threads_reclaim();
    mxp_span_end(name_a, token);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1);
    live_events_free(&live);
}

// Beyond the outermost 31 a stop knows no names. What it counts its end does not record.
static void open_spans_deeper_than_the_stack_are_counted_once(void **state)
{
    (void)state;
    enum { DEPTH = 100 };
    uint64_t tokens[DEPTH], before = lost_so_far(MXP_LOSS_DEEPER);
    for (int i = 0; i < DEPTH; i++) {
        tokens[i] = mxp_span_begin(name_a);
    }
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), MXP_OPEN_MAX);
    assert_int_equal(lost_for(&live, MXP_LOSS_DEEPER) - before, DEPTH - MXP_OPEN_MAX);
    live_events_free(&live);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int i = DEPTH; i-- > DEPTH / 2;) {
        mxp_span_end(name_a, tokens[i]);
    }
    for (int i = DEPTH / 2; i < DEPTH; i++) {
        tokens[i] = mxp_span_begin(name_b);
    }
    mxp__recorder_stop(1);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(lost_for(&live, MXP_LOSS_DEEPER) - before, DEPTH - MXP_OPEN_MAX + DEPTH / 2);
    live_events_free(&live);
    for (int i = DEPTH; i-- > 0;) {
        mxp_span_end(i < DEPTH / 2 ? name_a : name_b, tokens[i]);
    }
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    live_events_free(&live);
}

static void open_spans_that_began_in_one_tick_are_told_apart(void **state)
{
    (void)state;
    for (int when = 0; when < 2; when++) {
        uint64_t now = mxp_ticks();
        uint64_t outer = mxp_begin_at(MXP_CLASS_USER, name_a, now);
        uint64_t inner = mxp_begin_at(MXP_CLASS_USER, name_b, now);
        assert_int_equal(outer, inner);
        if (when == 0) {
            mxp__recorder_stop(1);
            mxp__recorder_start(MXP_CLASS_ALL, 0);
        }
        mxp_end_at(name_b, inner, 0);
        mxp_end_at(name_a, outer, 0);
        live_events live = live_events_take(MXP__CONSUMER_FILE);
        assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 1);
        assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "b"), 1);
        live_events_free(&live);
    }
}

static void samples_that_are_no_numbers_are_counted(void **state)
{
    (void)state;
    mxp_name level = mxp_intern("test", "level", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    mxp_counter_f64(MXP_CLASS_USER, level, (double)NAN);
    mxp_counter_f64(MXP_CLASS_USER, level, (double)-INFINITY);
    mxp_counter_f64(MXP_CLASS_USER, level, 2.5);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, "level"), 1);
    assert_int_equal(lost_for(&live, MXP_LOSS_NO_NUMBER), 2);
    live_events_free(&live);
}

static void scoped_block(void)
{
    MXP_SPAN_SCOPE("test", "scoped");
}

static void scope_macro_records_its_block(void **state)
{
    (void)state;
    scoped_block();
    scoped_block();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "scoped"), 2);
    live_events_free(&live);
}

static void times_that_the_caller_has_read_are_kept(void **state)
{
    (void)state;
    uint64_t outer = mxp_ticks();
    assert_int_equal(mxp_begin_at(MXP_CLASS_USER, name_a, outer), outer);
    uint64_t inner = mxp_begin_at(MXP_CLASS_USER, name_b, 0);
    assert_true(inner >= outer);
    mxp_end_at(name_b, inner, 0);
    uint64_t end = mxp_ticks();
    mxp_end_at(name_a, outer, end);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *a = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    const mxp_event *b = live_events_find(&live, MXP_KIND_SPAN, "b", 0);
    assert_int_equal(a->begin_ticks, outer);
    assert_int_equal(a->end_ticks, end);
    assert_int_equal(b->begin_ticks, inner);
    assert_true(b->end_ticks >= inner && b->end_ticks <= end);
    live_events_free(&live);
}

static void end_before_its_begin_counts_as_the_begin(void **state)
{
    (void)state;
    uint64_t token = mxp_begin_at(MXP_CLASS_USER, name_a, mxp_ticks());
    mxp_end_at(name_a, token, token - 1000);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *a = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_int_equal(a->begin_ticks, token);
    assert_int_equal(a->end_ticks, token);
    live_events_free(&live);
}

// The thread was held up between its look at the clock and the begin, and a stop went by.
static void begin_read_before_a_stop_is_a_span_of_the_next_start(void **state)
{
    (void)state;
    uint64_t before = mxp_ticks();
    uint64_t off = mxp__recorder_stop(1);
    assert_int_equal(mxp_begin_at(MXP_CLASS_USER, name_a, before), 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    uint64_t token = mxp_begin_at(MXP_CLASS_USER, name_a, before);
    assert_true(token > off);
    mxp_end_at(name_a, token, mxp_ticks());
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *a = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_int_equal(a->flags, 0);
    assert_int_equal(a->begin_ticks, token);
    live_events_free(&live);
}

static void begin_read_while_stopped_is_a_span_of_the_next_start(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    uint64_t before = mxp_ticks();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    uint64_t token = mxp_begin_at(MXP_CLASS_USER, name_a, before);
    assert_true(token > before);
    mxp_end_at(name_a, token, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_find(&live, MXP_KIND_SPAN, "a", 0)->begin_ticks, token);
    live_events_free(&live);
}

// The thread had passed the gate when the stop came, and read the clock after it.
static void span_begun_while_stopped_is_none(void **state)
{
    (void)state;
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    mxp__recorder_stop(1);
    uint64_t token = mxp_inline_begin(gate, name_a);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    uint64_t inner = mxp_inline_begin(gate, name_b);
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name_b, inner);
    mxp_span_end(name_a, token);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "b"), 1);
    live_events_free(&live);
}

// Deeper than the stack keeps spans by name, so that no stop can close them: the first one counts
// them.
static void spans_end_with_the_first_stop_they_met_or_are_counted_by_it(void **state)
{
    (void)state;
    enum { DEPTH = 40, STOPS = 3 };
    uint64_t tokens[DEPTH], off[STOPS], lost_before = lost_so_far(MXP_LOSS_DEEPER);
    for (int i = 0; i < DEPTH; i++) {
        tokens[i] = mxp_span_begin(name_a);
    }
    for (int i = 0; i < STOPS; i++) {
        off[i] = mxp__recorder_stop(1);
        mxp__recorder_start(MXP_CLASS_ALL, 0);
    }
    for (int i = DEPTH - 1; i >= 0; i--) {
        mxp_span_end(name_a, tokens[i]);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), MXP_OPEN_MAX);
    assert_int_equal(lost_for(&live, MXP_LOSS_DEEPER) - lost_before, DEPTH - MXP_OPEN_MAX);
    for (size_t i = 0; i < MXP_OPEN_MAX; i++) {
        const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "a", i);
        assert_int_equal(span->flags, MXP_SPAN_CLOSED_BY_STOP);
        assert_int_equal(span->end_ticks, off[0]);
    }
    live_events_free(&live);
}

#ifdef MXP_TEST_POINTS
static uint64_t off_ticks;

static void stop_and_start_once(mxp_test_point point)
{
    if (point == MXP_POINT_BEGIN) {
        mxp_atomic_set(&mxp__test_point_hook, NULL);
        off_ticks = mxp__recorder_stop(1);
        mxp__recorder_start(MXP_CLASS_ALL, 0);
    }
}

// A stop counts those that are deeper than the stack keeps and are there: not one whose time is
// read and which comes there after it. That one is written at its end.
static void deep_span_that_a_stop_came_into_the_begin_of_is_recorded(void **state)
{
    (void)state;
    enum { DEPTH = MXP_OPEN_MAX + 2 };
    uint64_t tokens[DEPTH], lost_before = lost_so_far(MXP_LOSS_DEEPER);
    for (int i = 0; i < DEPTH - 1; i++) {
        tokens[i] = mxp_span_begin(name_a);
    }
    mxp_atomic_set(&mxp__test_point_hook, stop_and_start_once);
    tokens[DEPTH - 1] = mxp_begin_at(MXP_CLASS_USER, name_b, mxp_ticks());
    for (int i = DEPTH; i-- > 0;) {
        mxp_span_end(i == DEPTH - 1 ? name_b : name_a, tokens[i]);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(lost_for(&live, MXP_LOSS_DEEPER) - lost_before, 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), MXP_OPEN_MAX);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "b"), 1);
    const mxp_event *span = live_events_find(&live, MXP_KIND_SPAN, "b", 0);
    assert_int_equal(span->begin_ticks, tokens[DEPTH - 1]);
    assert_int_equal(span->end_ticks, off_ticks);
    assert_int_equal(span->flags, MXP_SPAN_CLOSED_BY_STOP);
    live_events_free(&live);
}

enum { MANY = MXP_OPEN_MAX + 9 };
static uint64_t late_tokens[MANY];

static void begin_many_once(mxp_test_point point)
{
    if (point == MXP_POINT_OFF) {
        mxp_atomic_set(&mxp__test_point_hook, NULL);
        for (int i = 0; i < MANY; i++) {
            late_tokens[i] = mxp_begin_at(MXP_CLASS_USER, name_a, mxp_ticks());
        }
    }
}

// They are not in the profile that ends there, so that nothing is lost of them.
static void deep_spans_that_begin_after_a_stops_moment_are_not_counted(void **state)
{
    (void)state;
    uint64_t lost_before = lost_so_far(MXP_LOSS_DEEPER);
    mxp_atomic_set(&mxp__test_point_hook, begin_many_once);
    mxp__recorder_stop(1);
    assert_true(late_tokens[MANY - 1] > mxp__recorder_off_ticks());
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int i = MANY; i-- > 0;) {
        mxp_span_end(name_a, late_tokens[i]);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(lost_for(&live, MXP_LOSS_DEEPER), lost_before);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "a"), 0);
    live_events_free(&live);
}
#endif

// It ended before the pause and was noticed after it.
static void end_read_before_a_pause_is_kept(void **state)
{
    (void)state;
    uint64_t token = mxp_begin_at(MXP_CLASS_USER, name_a, mxp_ticks());
    uint64_t end = mxp_ticks();
    mxp__recorder_stop(0);
    mxp_end_at(name_a, token, end);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *a = live_events_find(&live, MXP_KIND_SPAN, "a", 0);
    assert_int_equal(a->end_ticks, end);
    assert_int_equal(a->flags, 0);
    live_events_free(&live);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, live_events_stop)
    const struct CMUnitTest tests[] = {
        TEST(nested_spans_keep_order_and_times),
        TEST(times_that_the_caller_has_read_are_kept),
        TEST(end_before_its_begin_counts_as_the_begin),
        TEST(begin_read_before_a_stop_is_a_span_of_the_next_start),
        TEST(begin_read_while_stopped_is_a_span_of_the_next_start),
        TEST(span_begun_while_stopped_is_none),
        TEST(spans_end_with_the_first_stop_they_met_or_are_counted_by_it),
        TEST(end_read_before_a_pause_is_kept),
        TEST(nothing_is_recorded_while_off),
        TEST(span_open_at_stop_is_closed_once_and_flagged),
        TEST(span_ended_while_paused_is_clipped_at_the_pause),
        TEST(stop_in_a_pause_closes_at_the_pause),
        TEST(spans_ended_out_of_order_are_all_recorded),
        TEST(recursion_deeper_than_the_stack_is_recorded),
        TEST(span_longer_than_32_bits_is_a_long_span),
        TEST(long_span_keeps_arguments_lane_and_flags),
        TEST(arguments_that_do_not_fit_are_flagged),
        TEST(span_ended_on_another_thread_is_recorded_there),
        TEST(a_token_that_is_given_back_twice_makes_one_span),
        TEST(a_span_of_a_thread_that_is_gone_can_be_ended_elsewhere),
        TEST(open_spans_deeper_than_the_stack_are_counted_once),
#ifdef MXP_TEST_POINTS
        TEST(deep_span_that_a_stop_came_into_the_begin_of_is_recorded),
        TEST(deep_spans_that_begin_after_a_stops_moment_are_not_counted),
#endif
        TEST(open_spans_that_began_in_one_tick_are_told_apart),
        TEST(samples_that_are_no_numbers_are_counted),
        TEST(scope_macro_records_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
