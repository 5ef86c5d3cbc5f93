// SPDX-License-Identifier: Apache-2.0
// The decoder: every kind, stamps around the wrap of 48 bits, segments of the clock, and records
// that make no sense.
#include "profiler/trace/event.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_source.h"

#define WRAP (UINT64_C(7) << 48)

// The decoder on range `number`.
static mxp_decoder decoder_on(mxp_source *source, size_t number)
{
    mxp_record_range range;
    mxp_decoder decoder;
    assert_int_equal(source->range(source, number, &range), 1);
    mxp__decoder_begin(&decoder, source->timebase, &range);
    return decoder;
}

static mxp_event only_event(mxp_source *source)
{
    mxp_decoder decoder = decoder_on(source, 0);
    mxp_event event, none;
    assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
    assert_int_equal(mxp__decoder_next(&decoder, &none), 0);
    assert_int_equal(mxp__decoder_next(&decoder, &none), 0);
    return event;
}

static void assert_times(const mxp_event *event, uint64_t begin, uint64_t end)
{
    assert_int_equal(event->begin_ticks, begin);
    assert_int_equal(event->end_ticks, end);
    assert_int_equal(event->begin_ns, (int64_t)begin);
    assert_int_equal(event->end_ns, (int64_t)end);
}

// ---- kinds -------------------------------------------------------------------------------------
static void lean_span_has_both_ends(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_span(source, thread, 12, 1000, UINT64_C(1000) + UINT32_MAX);
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_SPAN);
    assert_int_equal(event.name, 12);
    assert_int_equal(event.flags, 0);
    assert_int_equal(event.lane, 0);
    assert_int_equal(mxp__event_clock(&event), MXP_CLOCK_TRACE);
    assert_int_equal(mxp__event_arg_count(&event), 0);
    assert_times(&event, 1000, UINT64_C(1000) + UINT32_MAX);
    mxp__source_close(source);
}

static void long_span_has_lane_flags_and_arguments(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    mxp_arg args[] = {{.key = 5, .type = MXP_ARG_I64, .value.i64 = -3},
                      {.key = 6, .type = MXP_ARG_NAME, .value.u64 = 9}};
    fake_long_span(source, thread,
                   &(mxp_span){.name = 3,
                               .flags = MXP_SPAN_BEGIN_CLIPPED,
                               .begin_ticks = 5,
                               .end_ticks = UINT64_C(1) << 50,
                               .lane = MXP_LANE_THREAD | 4,
                               .scope = 8,
                               .arg_count = 2,
                               .args = args});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_SPAN);
    assert_int_equal(event.flags, MXP_SPAN_BEGIN_CLIPPED);
    assert_int_equal(event.lane, MXP_LANE_THREAD | 4);
    assert_times(&event, 5, UINT64_C(1) << 50);
    uint32_t key, type;
    uint64_t value;
    assert_int_equal(mxp__event_arg_count(&event), 2);
    mxp__event_arg(&event, 0, &key, &type, &value);
    assert_int_equal(key, 5);
    assert_int_equal(type, MXP_ARG_I64);
    assert_int_equal((int64_t)value, -3);
    mxp__event_arg(&event, 1, &key, &type, &value);
    assert_int_equal(key, 6);
    assert_int_equal(value, 9);
    mxp__source_close(source);
}

enum { TEXT_WORDS = 12 };  // a long span with one argument, and two words for its text

static mxp_source *source_with_text(uint64_t offset, uint64_t length, uint64_t whole)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint64_t words[TEXT_WORDS] = {
        MXP_KIND_SPAN_LONG | TEXT_WORDS / 2 << 8 | 5 << 16, 3 | UINT64_C(1) << 48, 2, 5, 0, 0,
        7 | (uint64_t)MXP_ARG_TEXT << 32 | length << 40,    offset | whole << 32};
    memcpy(words + 8, "sixteen letters.", 16);
    fake_words(source, thread, 5, words, TEXT_WORDS);
    return source;
}

static void a_text_is_within_its_record_or_none(void **state)
{
    (void)state;
    const struct {
        uint64_t offset, length;
        const char *text;
    } cases[] = {
        {64, 16, "sixteen letters."},
        {64, 0, ""},
        {72, 8, "letters."},
        {96, 0, ""},
        {64, 33, NULL},
        {63, 4, NULL},
        {96, 1, NULL},
        {0xffffffff, 8, NULL},
        {64, 0xffffff, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_source *source = source_with_text(cases[i].offset, cases[i].length, 99);
        mxp_event event = only_event(source);
        uint32_t length, whole;
        const char *text = mxp__event_arg_text(&event, 0, &length, &whole);
        assert_int_equal(text != NULL, cases[i].text != NULL);
        assert_int_equal(whole, 99);
        if (text != NULL) {
            assert_int_equal(length, cases[i].length);
            assert_memory_equal(text, cases[i].text, length);
        }
        mxp__source_close(source);
    }
}

static void span_of_another_clock_keeps_its_values(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_segment(source, 10, UINT64_C(2) << 32);
    uint32_t thread = fake_thread(source, "t");
    fake_long_span(
        source, thread,
        &(mxp_span){.name = 3, .clock = 2, .begin_ticks = 100, .end_ticks = 250, .lane = 1});
    mxp_event event = only_event(source);
    assert_int_equal(mxp__event_clock(&event), 2);
    assert_times(&event, 100, 250);
    mxp__source_close(source);
}

static void operator_has_all_fields_and_variables(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t variables[30];
    for (uint32_t i = 0; i < 30; i++) {
        variables[i] = i * 3 | (i % 2 != 0 ? MXP_VARIABLE_WRITTEN : 0);
    }
    fake_operator(source, thread,
                  &(mxp_operator){.name = 4,
                                  .id = 0xfffffff0,
                                  .released_by = 11,
                                  .bulk_parent = 12,
                                  .push_ticks = 100,
                                  .ready_ticks = 200,
                                  .start_ticks = 300,
                                  .end_ticks = 450,
                                  .flags = MXP_OP_FAILED | MXP_PHASE_UPDATE,
                                  .push_thread = 3,
                                  .device = 200,
                                  .scope = 13,
                                  .shape = 14,
                                  .flops = 0.5f,
                                  .bytes = 3e9f,
                                  .variable_count = 30,
                                  .variables = variables});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_OPERATOR);
    assert_int_equal(event.flags, MXP_OP_FAILED | MXP_PHASE_UPDATE);
    assert_times(&event, 300, 450);
    mxp_operator_view view;
    mxp__event_operator(&event, &view);
    assert_int_equal(view.id, 0xfffffff0);
    assert_int_equal(view.released_by, 11);
    assert_int_equal(view.bulk_parent, 12);
    assert_int_equal(view.push_ticks, 100);
    assert_int_equal(view.ready_ticks, 200);
    assert_int_equal(view.push_thread, 3);
    assert_int_equal(view.device, 200);
    assert_int_equal(view.scope, 13);
    assert_int_equal(view.shape, 14);
    assert_true(view.flops == 0.5f && view.bytes == 3e9f);
    assert_int_equal(view.variable_count, 30);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(mxp__event_variable(&event, i), variables[i]);
    }
    mxp__source_close(source);
}

static void variables_of_another_operator_are_not_taken(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t variable = 1;
    fake_operator(source, thread,
                  &(mxp_operator){.name = 4, .id = 5, .start_ticks = 1, .end_ticks = 2});
    uint64_t stray[8] = {MXP_KIND_VARIABLES | 4u << 8 | 1u << 16 | UINT64_C(6) << 32, variable};
    fake_words(source, thread, 2, stray, 8);
    mxp_event event = only_event(source);
    mxp_operator_view view;
    mxp__event_operator(&event, &view);
    assert_int_equal(view.variable_count, 0);
    mxp__source_close(source);
}

static void hidden_operator_is_an_operator_of_another_kind(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t variables[20] = {1, 2 | MXP_VARIABLE_WRITTEN, [19] = 20};
    fake_hidden_operator(source, thread,
                         &(mxp_operator){.id = 5,
                                         .push_ticks = 10,
                                         .start_ticks = 30,
                                         .end_ticks = 40,
                                         .flags = MXP_OP_ASYNC | MXP_OP_WOKE,
                                         .variable_count = 20,
                                         .variables = variables});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_HIDDEN);
    assert_true(mxp__event_is_operator(&event));
    assert_int_equal(event.flags, MXP_OP_ASYNC | MXP_OP_WOKE);
    assert_times(&event, 30, 40);
    mxp_operator_view view;
    mxp__event_operator(&event, &view);
    assert_int_equal(view.push_ticks, 10);
    assert_int_equal(view.variable_count, 20);
    assert_int_equal(mxp__event_variable(&event, 1), 2 | MXP_VARIABLE_WRITTEN);
    assert_int_equal(mxp__event_variable(&event, 19), 20);
    mxp__source_close(source);
}

static void wait_has_all_fields(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_wait(source, thread,
              &(fake_wait_record){.begin_ticks = 100,
                                  .end_ticks = 250,
                                  .name = 7,
                                  .ended_by = 0xfffffff1,
                                  .variable = 9,
                                  .what = MXP_WAIT_PROGRAM,
                                  .flags = MXP_WAIT_BLOCKED | MXP_WAIT_IN_CUSTOM});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_WAIT);
    assert_int_equal(event.name, 7);
    assert_int_equal(event.flags, MXP_WAIT_BLOCKED | MXP_WAIT_IN_CUSTOM);
    assert_times(&event, 100, 250);
    mxp_wait_view view;
    mxp__event_wait(&event, &view);
    assert_int_equal(view.what, MXP_WAIT_PROGRAM);
    assert_int_equal(view.ended_by, 0xfffffff1);
    assert_int_equal(view.variable, 9);
    mxp__source_close(source);
}

static void census_has_the_fields_of_memory(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_census(
        source, thread, 77,
        &(mxp_memory){.block = 5, .scope = 3, .requested_bytes = 100, .rounded_bytes = 128});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_CENSUS);
    mxp_memory_view view;
    mxp__event_memory(&event, &view);
    assert_int_equal(view.block, 5);
    assert_int_equal(view.scope, 3);
    assert_int_equal(view.requested_bytes, 100);
    assert_int_equal(view.rounded_bytes, 128);
    mxp__source_close(source);
}

static void memory_has_all_fields(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_memory(source, thread, 77,
                &(mxp_memory){.name = 4,
                              .scope = 5,
                              .block = UINT64_C(0xfedcba987654),
                              .device = 6,
                              .flags = MXP_MEM_FREE,
                              .category = 9,
                              .requested_bytes = 10,
                              .rounded_bytes = 16,
                              .live_bytes = UINT64_MAX});
    mxp_event event = only_event(source);
    assert_int_equal(event.kind, MXP_KIND_MEMORY);
    assert_int_equal(event.flags, MXP_MEM_FREE);
    assert_times(&event, 77, 77);
    mxp_memory_view view;
    mxp__event_memory(&event, &view);
    assert_int_equal(view.block, UINT64_C(0xfedcba987654));
    assert_int_equal(view.device, 6);
    assert_int_equal(view.category, 9);
    assert_int_equal(view.scope, 5);
    assert_int_equal(view.requested_bytes, 10);
    assert_int_equal(view.rounded_bytes, 16);
    assert_true(view.live_bytes == UINT64_MAX);
    mxp__source_close(source);
}

static void small_kinds_have_phase_and_value(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_counter_u64(source, thread, 2, 10, UINT64_MAX);
    fake_counter_i64(source, thread, 2, 11, -5);
    fake_counter_f64(source, thread, 2, 12, 0.25);
    fake_instant(source, thread, 3, 13, MXP_INSTANT_TASK);
    fake_flow(source, thread, 4, 14, MXP_FLOW_STEP, 99);
    fake_meta(source, thread, MXP_META_STEP, 0, 15, 1234);
    mxp_decoder decoder = decoder_on(source, 0);
    mxp_event event[6];
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(mxp__decoder_next(&decoder, &event[i]), 1);
        assert_times(&event[i], 10 + i, 10 + i);
    }
    assert_int_equal(event[0].phase, MXP_ARG_U64);
    assert_true(event[0].value.u64 == UINT64_MAX);
    assert_int_equal(event[1].phase, MXP_ARG_I64);
    assert_int_equal(event[1].value.i64, -5);
    assert_int_equal(event[2].phase, MXP_ARG_F64);
    assert_true(event[2].value.f64 == 0.25);
    assert_int_equal(event[3].phase, MXP_INSTANT_TASK);
    assert_int_equal(event[4].phase, MXP_FLOW_STEP);
    assert_int_equal(event[4].value.u64, 99);
    assert_int_equal(event[5].phase, MXP_META_STEP);
    assert_int_equal(event[5].value.u64, 1234);
    mxp__source_close(source);
}

static void unknown_kinds_are_skipped(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint64_t words[2 * 255] = {0};
    fake_instant(source, thread, 1, 1, MXP_INSTANT_THREAD);
    for (unsigned kind = MXP_KIND_END; kind < 256; kind++) {
        unsigned units = 1 + kind % 255;
        words[0] = kind | (uint64_t)units << 8;
        fake_words(source, thread, 2, words, 2 * (size_t)units);
    }
    words[0] = 0 | 1u << 8;  // kind 0 is none either
    fake_words(source, thread, 2, words, 2);
    fake_instant(source, thread, 1, 3, MXP_INSTANT_THREAD);
    unsigned seen = 0;
    for (size_t number = 0;; number++) {
        mxp_record_range range;
        if (source->range(source, number, &range) == 0) {
            break;
        }
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        while (mxp__decoder_next(&decoder, &event) == 1) {
            assert_int_equal(event.kind, MXP_KIND_INSTANT);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    mxp__source_close(source);
}

static void ids_are_unique(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint64_t last = 0;
    for (int t = 0; t < 3; t++) {
        uint32_t thread = fake_thread(source, "t");
        for (uint64_t b = 0; b < 3; b++) {
            fake_range(source, thread, b, 0);
            fake_span(source, thread, 1, b, b);
            fake_counter_u64(source, thread, 1, b, 0);
            fake_span(source, thread, 1, b, b);
        }
    }
    for (size_t number = 0; number < 9; number++) {
        mxp_decoder decoder = decoder_on(source, number);
        mxp_event event;
        while (mxp__decoder_next(&decoder, &event) == 1) {
            assert_true(event.id > last || (number == 0 && event.id == 0));
            last = event.id;
        }
    }
    mxp__source_close(source);
}

// ---- time --------------------------------------------------------------------------------------
static void stamps_are_widened_on_both_sides_of_the_base(void **state)
{
    (void)state;
    static const int64_t distances[] = {
        0, 1, -1, 1000000, -1000000, (INT64_C(1) << 47) - 1, -(INT64_C(1) << 47)};
    static const uint64_t bases[] = {WRAP, WRAP - 1, WRAP + 1, WRAP + (UINT64_C(1) << 47),
                                     WRAP - (UINT64_C(1) << 47)};
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++) {
            uint64_t moment = bases[b] + (uint64_t)distances[d];
            mxp_source *source = fake_source_create();
            uint32_t thread = fake_thread(source, "t");
            fake_range(source, thread, bases[b], 0);
            fake_span(source, thread, 1, moment - UINT32_MAX, moment);
            fake_instant(source, thread, 1, moment, MXP_INSTANT_THREAD);
            fake_operator(source, thread,
                          &(mxp_operator){.id = 1,
                                          .start_ticks = moment - (UINT64_C(1) << 46),
                                          .end_ticks = moment});
            mxp_decoder decoder = decoder_on(source, 0);
            mxp_event event;
            assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
            assert_times(&event, moment - UINT32_MAX, moment);
            assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
            assert_times(&event, moment, moment);
            assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
            assert_times(&event, moment - (UINT64_C(1) << 46), moment);
            mxp__source_close(source);
        }
    }
}

static void each_end_is_converted_in_its_own_segment(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_segment(source, 1000, UINT64_C(3) << 31);
    fake_segment(source, 2000, UINT64_C(1) << 31);
    fake_segment(source, 2001, UINT64_C(10) << 32);
    uint32_t thread = fake_thread(source, "t");
    static const uint64_t ends[][2] = {{0, 10},      {999, 1000},  {900, 1100}, {1500, 2000},
                                       {10, 2010},   {2000, 2001}, {1, 2},      {2001, 5000},
                                       {1999, 1999}, {2000, 2000}};
    size_t count = sizeof ends / sizeof ends[0];
    for (size_t i = 0; i < count; i++) {
        fake_span(source, thread, 1, ends[i][0], ends[i][1]);
    }
    mxp_decoder decoder = decoder_on(source, 0);
    for (size_t i = 0; i < count; i++) {
        mxp_event event;
        assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
        assert_int_equal(event.begin_ns, mxp__timebase_ns(source->timebase, ends[i][0]));
        assert_int_equal(event.end_ns, mxp__timebase_ns(source->timebase, ends[i][1]));
    }
    mxp__source_close(source);
}

static void a_trace_without_a_clock_has_no_times(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_span(source, thread, 1, 10, 20);
    mxp_record_range range;
    assert_int_equal(source->range(source, 0, &range), 1);
    mxp_timebase none = {0};
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, &none, &range);
    assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
    assert_int_equal(event.end_ticks, 20);
    assert_int_equal(event.end_ns, 0);
    mxp__source_close(source);
}

// Whatever ticks a record holds, its times are in order and small enough to be subtracted.
static void impossible_times_are_moved_into_range(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,
                                      1,
                                      UINT64_C(1) << 47,
                                      UINT64_C(1) << 48,
                                      UINT64_C(1) << 61,
                                      (UINT64_C(1) << 61) + 1,
                                      UINT64_C(1) << 62,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    const size_t count = sizeof values / sizeof values[0];
    for (size_t i = 0; i < count * count * count; i++) {
        uint64_t base = values[i % count];
        uint64_t begin = values[i / count % count];
        uint64_t duration = values[i / count / count];
        mxp_source *source = fake_source_create();
        if (i % 2 == 0) {
            fake_segment(source, 1000, UINT64_C(1) << 52);
        }
        uint32_t thread = fake_thread(source, "t");
        fake_range(source, thread, base, 0);
        uint64_t words[] = {
            MXP_KIND_SPAN | 1 << 8 | begin << 16,
            1 | duration << 32,
            MXP_KIND_SPAN_LONG | 3 << 8,
            1,
            duration,
            begin,
            0,
            0,
            MXP_KIND_SPAN_LONG | 3 << 8,
            1 | UINT64_C(1) << 56,
            duration,
            begin,
            0,
            0,
            MXP_KIND_OPERATOR | 4 << 8 | begin << 16,
            1,
            duration & MXP_STAMP_MASK,
            begin,
            begin,
            0,
            0,
            0,
            MXP_KIND_INSTANT | 1 << 8 | begin << 16,
            1,
        };
        fake_words(source, thread, base, words, sizeof words / sizeof words[0]);
        mxp_decoder decoder = decoder_on(source, 0);
        mxp_event event;
        int seen = 0;
        while (mxp__decoder_next(&decoder, &event) == 1) {
            assert_true(event.begin_ticks <= event.end_ticks || mxp__event_clock(&event) != 0);
            assert_true(event.begin_ns <= event.end_ns);
            assert_true(event.begin_ns >= -MXP__NS_MAX && event.end_ns <= MXP__NS_MAX);
            seen++;
        }
        assert_int_equal(seen, 5);
        mxp__source_close(source);
    }
}

// ---- damage ------------------------------------------------------------------------------------
static void assert_damaged(const uint64_t *words, size_t count, const char *what)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_span(source, thread, 1, 5, 6);
    fake_words(source, thread, 6, words, count);
    mxp_record_range range;
    assert_int_equal(source->range(source, 0, &range), 1);
    range.offset = 1000;
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, source->timebase, &range);
    assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
    assert_int_equal(mxp__decoder_next(&decoder, &event), MXP_EFORMAT);
    assert_non_null(strstr(mxp_last_error(), "offset 1016"));
    assert_non_null(strstr(mxp_last_error(), what));
    assert_int_equal(mxp__decoder_next(&decoder, &event), 0);
    mxp__source_close(source);
}

static void impossible_lengths_end_the_range_with_an_offset(void **state)
{
    (void)state;
    assert_damaged((uint64_t[]){MXP_KIND_SPAN, 1, 0, 0}, 4, "length is 0");
    assert_damaged((uint64_t[]){0, 0}, 2, "length is 0");
    assert_damaged((uint64_t[]){MXP_KIND_SPAN | 2 << 8, 1}, 2, "beyond");
    assert_damaged((uint64_t[]){0xee | 255 << 8, 1, 0, 0}, 4, "beyond");
    assert_damaged((uint64_t[]){MXP_KIND_SPAN | 1 << 8}, 1, "beyond");
#define UNITS(name, number, units, text) [number] = (units),
    static const uint8_t least[] = {MXP_RECORD_KINDS(UNITS)};
#undef UNITS
    for (unsigned kind = MXP_KIND_SPAN; kind < MXP_KIND_END; kind++) {
        if (least[kind] > 1) {
            assert_damaged((uint64_t[]){kind | 1 << 8, 1}, 2, "too short for its kind");
        }
    }
    assert_damaged((uint64_t[]){MXP_KIND_SPAN_LONG | 4 << 8, UINT64_C(2) << 48, 0, 0, 0, 0, 0, 0},
                   8, "too short for its arguments");
}

static void variables_beyond_the_range_are_not_counted(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t variables[28] = {0};
    fake_operator(source, thread,
                  &(mxp_operator){.id = 5,
                                  .start_ticks = 1,
                                  .end_ticks = 2,
                                  .variable_count = 28,
                                  .variables = variables});
    mxp_record_range range;
    assert_int_equal(source->range(source, 0, &range), 1);
    static const uint32_t expected[] = {28, 14, 14, 14, 14, 0, 0, 0, 0};
    for (size_t cut = 0; cut <= 8; cut++) {
        mxp_record_range less = range;
        less.end -= 2 * cut;
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, source->timebase, &less);
        assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
        mxp_operator_view view;
        mxp__event_operator(&event, &view);
        assert_int_equal(view.variable_count, expected[cut]);
        assert_int_equal(mxp__decoder_next(&decoder, &event), cut % 4 == 0 ? 0 : MXP_EFORMAT);
    }
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lean_span_has_both_ends),
        cmocka_unit_test(long_span_has_lane_flags_and_arguments),
        cmocka_unit_test(a_text_is_within_its_record_or_none),
        cmocka_unit_test(span_of_another_clock_keeps_its_values),
        cmocka_unit_test(operator_has_all_fields_and_variables),
        cmocka_unit_test(variables_of_another_operator_are_not_taken),
        cmocka_unit_test(hidden_operator_is_an_operator_of_another_kind),
        cmocka_unit_test(wait_has_all_fields),
        cmocka_unit_test(census_has_the_fields_of_memory),
        cmocka_unit_test(memory_has_all_fields),
        cmocka_unit_test(small_kinds_have_phase_and_value),
        cmocka_unit_test(unknown_kinds_are_skipped),
        cmocka_unit_test(ids_are_unique),
        cmocka_unit_test(stamps_are_widened_on_both_sides_of_the_base),
        cmocka_unit_test(each_end_is_converted_in_its_own_segment),
        cmocka_unit_test(a_trace_without_a_clock_has_no_times),
        cmocka_unit_test(impossible_times_are_moved_into_range),
        cmocka_unit_test(impossible_lengths_end_the_range_with_an_offset),
        cmocka_unit_test(variables_beyond_the_range_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
