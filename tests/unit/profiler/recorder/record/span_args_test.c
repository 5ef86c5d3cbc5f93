// SPDX-License-Identifier: Apache-2.0
// Arguments that are given at a span's end, and texts in records: what is kept, and what misuse
// does.
#include "cmocka_all.h"

#include <mxprof/record.h>
#include <pthread.h>
#include <string.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"

static mxp_name span_name, key;

static int start(void **state)
{
    span_name = mxp_span_name("test", "with arguments");
    key = mxp_string("key");
    return live_events_start(state);
}

// The only span there is; the caller frees `live`.
static const mxp_event *only_span(live_events *live)
{
    *live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(live, MXP_KIND_SPAN, "with arguments"), 1);
    return live_events_find(live, MXP_KIND_SPAN, "with arguments", 0);
}

static uint64_t lost_so_far(void)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    uint64_t lost = live_events_lost(&live);
    live_events_free(&live);
    return lost;
}

static void assert_number(const mxp_event *event, uint32_t i, uint32_t type, uint64_t value)
{
    uint32_t seen_key, seen_type;
    uint64_t seen_value;
    mxp__event_arg(event, i, &seen_key, &seen_type, &seen_value);
    assert_int_equal(seen_key, key);
    assert_int_equal(seen_type, type);
    assert_int_equal(seen_value, value);
}

static void assert_text(const mxp_event *event, uint32_t i, const char *text, uint32_t length,
                        uint32_t whole)
{
    uint32_t seen_length, seen_whole;
    const char *seen = mxp__event_arg_text(event, i, &seen_length, &seen_whole);
    assert_non_null(seen);
    assert_int_equal(seen_length, length);
    assert_int_equal(seen_whole, whole);
    assert_memory_equal(seen, text, length);
}

static void arguments_of_each_type_are_those_given(void **state)
{
    (void)state;
    uint64_t token = mxp_span_begin(span_name);
    const mxp_arg args[] = {
        mxp_u64(key, UINT64_MAX),   mxp_text(key, "GET /", 5),    mxp_i64(key, -3),
        mxp_text(key, "\0in\0", 4), mxp_name_arg(key, span_name), mxp_f64(key, 0.5)};
    mxp_end_args(span_name, token, args, 6);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->begin_ticks, token);
    assert_true(event->end_ticks >= token);
    assert_int_equal(event->flags, 0);
    assert_int_equal(mxp__event_arg_count(event), 6);
    assert_number(event, 0, MXP_ARG_U64, UINT64_MAX);
    assert_text(event, 1, "GET /", 5, 5);
    assert_number(event, 2, MXP_ARG_I64, (uint64_t)-3);
    assert_text(event, 3, "\0in\0", 4, 4);
    assert_number(event, 4, MXP_ARG_NAME, span_name);
    assert_number(event, 5, MXP_ARG_F64, UINT64_C(0x3fe0000000000000));
    live_events_free(&live);
}

static void an_end_in_the_past_keeps_what_was_told_before(void **state)
{
    (void)state;
    const mxp_arg first = mxp_u64(key, 1), last = mxp_u64(key, 2);
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, span_name, &first, 1);
    mxp_end_args_at(span_name, token, token + 7, &last, 1);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->end_ticks, token + 7);
    assert_int_equal(mxp__event_arg_count(event), 2);
    assert_number(event, 0, MXP_ARG_U64, 1);
    assert_number(event, 1, MXP_ARG_U64, 2);
    live_events_free(&live);
}

static void an_end_before_the_begin_is_the_begin(void **state)
{
    (void)state;
    const mxp_arg arg = mxp_u64(key, 1);
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, span_name, &arg, 1);
    mxp_end_args_at(span_name, token, token - 100, NULL, 0);
    live_events live;
    assert_int_equal(only_span(&live)->end_ticks, token);
    live_events_free(&live);
}

static void a_span_without_arguments_is_a_plain_one(void **state)
{
    (void)state;
    mxp_end_args(span_name, mxp_span_begin(span_name), NULL, 0);
    mxp_end_args(span_name, 0, NULL, 0);
    live_events live;
    assert_int_equal(only_span(&live)->words[0] & 0xff, MXP_KIND_SPAN);
    live_events_free(&live);
}

static void texts_of_each_length_are_whole_up_to_the_limit(void **state)
{
    (void)state;
    static char text[2000];
    memset(text, 'x', sizeof text);
    const uint32_t lengths[] = {0, 1, 7, 8, 9, 15, 16, 17, 1023, 1024, 1025, 2000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint32_t kept = lengths[i] < 1024 ? lengths[i] : 1024;
        const mxp_arg args[] = {mxp_text(key, text, lengths[i]), mxp_u64(key, 7)};
        mxp_end_args(span_name, mxp_span_begin(span_name), args, 2);
        live_events live;
        const mxp_event *event = only_span(&live);
        assert_text(event, 0, text, kept, lengths[i]);
        assert_number(event, 1, MXP_ARG_U64, 7);
        live_events_free(&live);
    }
}

static void a_character_is_not_cut_in_two(void **state)
{
    (void)state;
    char text[1030];
    memset(text, 'x', sizeof text);
    memcpy(text + 1022, "\xe2\x82\xac", 3);  // the euro sign
    mxp_arg arg = mxp_text(key, text, sizeof text);
    mxp_end_args(span_name, mxp_span_begin(span_name), &arg, 1);
    live_events live;
    assert_text(only_span(&live), 0, text, 1022, sizeof text);
    live_events_free(&live);
    memset(text, 0x80, sizeof text);  // no text at all: it is cut somewhere
    mxp_end_args(span_name, mxp_span_begin(span_name), &arg, 1);
    assert_text(only_span(&live), 0, text, 1021, sizeof text);
    live_events_free(&live);
}

// The longest record has 4,080 bytes: the arguments stay, of the texts there is less.
static void what_does_not_fit_into_a_record_is_cut(void **state)
{
    (void)state;
    enum { GIVEN = 200 };
    static char text[1024];
    memset(text, 'y', sizeof text);
    mxp_arg args[GIVEN];
    for (int i = 0; i < GIVEN; i++) {
        args[i] = mxp_text(key, text, sizeof text);
    }
    mxp_end_args(span_name, mxp_span_begin(span_name), args, GIVEN);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->flags, MXP_SPAN_ARGS_CUT);
    assert_int_equal(mxp__event_arg_count(event), MXP_SPAN_ARGS_MAX);
    assert_text(event, 0, text, 1024, 1024);
    assert_text(event, 1, text, 1024, 1024);
    assert_text(event, 2, text, 64, 1024);
    assert_text(event, MXP_SPAN_ARGS_MAX - 1, text, 0, 1024);
    live_events_free(&live);
}

static void a_null_text_is_empty(void **state)
{
    (void)state;
    mxp_arg arg = mxp_text(key, NULL, 10);
    mxp_end_args(span_name, mxp_span_begin(span_name), &arg, 1);
    live_events live;
    assert_text(only_span(&live), 0, "", 0, 10);
    live_events_free(&live);
}

static void a_span_that_a_stop_has_closed_is_there_once(void **state)
{
    (void)state;
    uint64_t token = mxp_span_begin(span_name);
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_arg arg = mxp_u64(key, 1);
    mxp_end_args(span_name, token, &arg, 1);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(mxp__event_arg_count(event), 0);
    live_events_free(&live);
}

static void spans_ended_out_of_order_keep_their_arguments(void **state)
{
    (void)state;
    uint64_t lost = lost_so_far();
    mxp_name other = mxp_span_name("test", "other");
    uint64_t outer = mxp_span_begin(span_name);
    uint64_t inner = mxp_span_begin(other);
    mxp_arg arg = mxp_u64(key, 1);
    mxp_end_args(span_name, outer, &arg, 1);
    mxp_span_end(other, inner);
    live_events live;
    assert_number(only_span(&live), 0, MXP_ARG_U64, 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "other"), 1);
    assert_int_equal(live_events_lost(&live), lost);
    live_events_free(&live);
}

static void *end_elsewhere(void *token)
{
    mxp_arg arg = mxp_text(key, "elsewhere", 9);
    mxp_end_args(span_name, *(const uint64_t *)token, &arg, 1);
    return NULL;
}

static void an_end_on_another_thread_has_its_arguments(void **state)
{
    (void)state;
    uint64_t token = mxp_span_begin(span_name);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &token), 0);
    pthread_join(thread, NULL);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->begin_ticks, token);
    assert_text(event, 0, "elsewhere", 9, 9);
    live_events_free(&live);
    mxp_end(span_name, token);  // the mark on this thread's stack
    live_events_stop(NULL);
}

static void a_token_that_was_given_back_makes_no_second_span(void **state)
{
    (void)state;
    uint64_t lost = lost_so_far();
    uint64_t token = mxp_span_begin(span_name);
    mxp_arg arg = mxp_u64(key, 1);
    mxp_end_args(span_name, token, &arg, 1);
    mxp_end_args(span_name, token, &arg, 1);
    live_events live;
    only_span(&live);
    assert_int_equal(live_events_lost(&live), lost + 1);
    live_events_free(&live);
}

static void an_emitted_span_may_have_texts(void **state)
{
    (void)state;
    mxp_arg arg = mxp_text(key, "given", 5);
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = span_name,
                                              .begin_ticks = 1,
                                              .end_ticks = mxp_ticks(),
                                              .arg_count = 1,
                                              .args = &arg});
    live_events live;
    assert_text(only_span(&live), 0, "given", 5, 5);
    live_events_free(&live);
}

// ---- while it is open --------------------------------------------------------------------------
static void arguments_come_in_the_order_in_which_they_were_given(void **state)
{
    (void)state;
    const mxp_arg begun[] = {mxp_u64(key, 1), mxp_text(key, "two", 3)};
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, span_name, begun, 2);
    uint64_t other = mxp_begin_args(MXP_CLASS_USER, mxp_span_name("test", "other"), begun, 1);
    const mxp_arg more = mxp_u64(key, 3), last = mxp_u64(key, 4);
    mxp_open_args(token, &more, 1);
    mxp_end_args(mxp_span_name("test", "other"), other, &more, 1);
    mxp_end_args(span_name, token, &last, 1);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(mxp__event_arg_count(event), 4);
    assert_number(event, 0, MXP_ARG_U64, 1);
    assert_text(event, 1, "two", 3, 3);
    assert_number(event, 2, MXP_ARG_U64, 3);
    assert_number(event, 3, MXP_ARG_U64, 4);
    event = live_events_find(&live, MXP_KIND_SPAN, "other", 0);
    assert_int_equal(mxp__event_arg_count(event), 2);
    assert_number(event, 1, MXP_ARG_U64, 3);
    live_events_free(&live);
}

static void a_text_that_was_cut_while_open_is_cut_at_the_same_place(void **state)
{
    (void)state;
    char text[1030];
    memset(text, 'x', sizeof text);
    memcpy(text + 1022, "\xe2\x82\xac", 3);
    const mxp_arg begun = mxp_text(key, text, sizeof text);
    mxp_end_args(span_name, mxp_begin_args(MXP_CLASS_USER, span_name, &begun, 1), NULL, 0);
    live_events live;
    assert_text(only_span(&live), 0, text, 1022, sizeof text);
    live_events_free(&live);
}

static void texts_beyond_what_a_record_holds_find_no_place(void **state)
{
    (void)state;
    enum { TEXTS = 8 };
    static char text[1100];
    memset(text, 'x', sizeof text);
    mxp_arg args[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        args[i] = mxp_text(key, text, sizeof text);
    }
    uint64_t before = mxp_atomic_load(&mxp__rec.arguments_left_out);
    mxp_end_args(span_name, mxp_begin_args(MXP_CLASS_USER, span_name, args, TEXTS), NULL, 0);
    assert_int_equal(mxp_atomic_load(&mxp__rec.arguments_left_out), before + 1);
    live_events live;
    assert_int_equal(mxp__event_arg_count(only_span(&live)), 0);
    live_events_free(&live);
}

// The place of ended spans is used again, also of those that ended without taking their arguments.
static void spans_without_end_of_their_arguments_fill_no_room(void **state)
{
    (void)state;
    uint64_t before = mxp_atomic_load(&mxp__rec.arguments_left_out);
    mxp_name other = mxp_span_name("test", "other");
    const mxp_arg begun[] = {mxp_u64(key, 1), mxp_text(key, "two", 3)};
    for (int i = 0; i < 1000; i++) {
        mxp_span_end(other, mxp_begin_args(MXP_CLASS_USER, other, begun, 2));
    }
    mxp_end_args(span_name, mxp_begin_args(MXP_CLASS_USER, span_name, begun, 2), NULL, 0);
    assert_int_equal(mxp_atomic_load(&mxp__rec.arguments_left_out), before);
    live_events live;
    assert_int_equal(mxp__event_arg_count(only_span(&live)), 2);
    live_events_free(&live);
}

static void *open_elsewhere(void *token)
{
    const mxp_arg arg = mxp_u64(key, 1);
    mxp_open_args(*(const uint64_t *)token, &arg, 1);
    return NULL;
}

static void what_finds_no_place_is_counted(void **state)
{
    (void)state;
    uint64_t before = mxp_atomic_load(&mxp__rec.arguments_left_out);
    static char text[1024];
    memset(text, 'z', sizeof text);
    const mxp_arg arg = mxp_text(key, text, sizeof text);
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, span_name, &arg, 1);
    mxp_open_args(token, &arg, 1);  // the page has no room for two
    mxp_open_args(token + 1, &arg, 1);  // of no open span
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_elsewhere, &token), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mxp_atomic_load(&mxp__rec.arguments_left_out) - before, 3);
    mxp_open_args(0, &arg, 1);  // recording was off at the begin
    mxp_open_args(token, NULL, 0);
    assert_int_equal(mxp_atomic_load(&mxp__rec.arguments_left_out) - before, 3);
    mxp_end_args(span_name, token, NULL, 0);
    live_events live;
    assert_text(only_span(&live), 0, text, 1024, 1024);
    live_events_free(&live);
}

static void spans_deeper_than_the_stack_have_those_of_their_end(void **state)
{
    (void)state;
    enum { DEEP = 40 };
    uint64_t lost = lost_so_far();
    uint64_t tokens[DEEP];
    mxp_name other = mxp_span_name("test", "other");
    const mxp_arg begun = mxp_u64(key, 1), ended = mxp_u64(key, 2);
    for (int i = 0; i < DEEP - 1; i++) {
        tokens[i] = mxp_span_begin(other);
    }
    tokens[DEEP - 1] = mxp_begin_args(MXP_CLASS_USER, span_name, &begun, 1);
    mxp_end_args(span_name, tokens[DEEP - 1], &ended, 1);
    for (int i = DEEP - 1; i-- > 0;) {
        mxp_span_end(other, tokens[i]);
    }
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(mxp__event_arg_count(event), 1);
    assert_number(event, 0, MXP_ARG_U64, 2);
    assert_int_equal(live_events_lost(&live), lost);
    live_events_free(&live);
}

static void more_arguments_than_are_kept_are_flagged(void **state)
{
    (void)state;
    mxp_arg args[MXP_SPAN_ARGS_MAX];
    for (uint32_t i = 0; i < MXP_SPAN_ARGS_MAX; i++) {
        args[i] = mxp_u64(key, i);
    }
    const mxp_arg begun = mxp_u64(key, 1000);
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, span_name, &begun, 1);
    mxp_end_args(span_name, token, args, MXP_SPAN_ARGS_MAX);
    live_events live;
    const mxp_event *event = only_span(&live);
    assert_int_equal(event->flags, MXP_SPAN_ARGS_CUT);
    assert_int_equal(mxp__event_arg_count(event), MXP_SPAN_ARGS_MAX);
    assert_number(event, 0, MXP_ARG_U64, 1000);
    assert_number(event, MXP_SPAN_ARGS_MAX - 1, MXP_ARG_U64, MXP_SPAN_ARGS_MAX - 2);
    live_events_free(&live);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, live_events_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(arguments_of_each_type_are_those_given),
        TEST(an_end_in_the_past_keeps_what_was_told_before),
        TEST(an_end_before_the_begin_is_the_begin),
        TEST(a_span_without_arguments_is_a_plain_one),
        TEST(texts_of_each_length_are_whole_up_to_the_limit),
        TEST(a_character_is_not_cut_in_two),
        TEST(what_does_not_fit_into_a_record_is_cut),
        TEST(a_null_text_is_empty),
        TEST(a_span_that_a_stop_has_closed_is_there_once),
        TEST(spans_ended_out_of_order_keep_their_arguments),
        TEST(an_end_on_another_thread_has_its_arguments),
        TEST(a_token_that_was_given_back_makes_no_second_span),
        TEST(an_emitted_span_may_have_texts),
        TEST(arguments_come_in_the_order_in_which_they_were_given),
        TEST(a_text_that_was_cut_while_open_is_cut_at_the_same_place),
        TEST(texts_beyond_what_a_record_holds_find_no_place),
        TEST(spans_without_end_of_their_arguments_fill_no_room),
        TEST(what_finds_no_place_is_counted),
        TEST(spans_deeper_than_the_stack_have_those_of_their_end),
        TEST(more_arguments_than_are_kept_are_flagged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
