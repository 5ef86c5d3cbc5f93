// SPDX-License-Identifier: Apache-2.0
// What each kind of record becomes in Chrome JSON, line by line.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_source.h"

// One source with one thread "main" (tid 1000), its text, and what must be in it.
typedef struct fixture {
    mxp_source *source;
    uint32_t thread;
    char *text;
} fixture;

static fixture start(void)
{
    fixture made = {.source = fake_source_create()};
    made.thread = fake_thread(made.source, "main");
    return made;
}

static void finish(fixture *fix)
{
    free(fix->text);
    mxp__source_close(fix->source);
}

static void expect(fixture *fix, const char *line)
{
    if (fix->text == NULL) {
        fix->text = export_text("chrome", fix->source, NULL);
        assert_json(fix->text, strlen(fix->text));
    }
    if (strstr(fix->text, line) == NULL) {
        print_error("missing: %s\nin: %s\n", line, fix->text);
    }
    assert_non_null(strstr(fix->text, line));
}

static void container_is_the_original_ones(void **state)
{
    (void)state;
    fixture fix = start();
    fake_info(fix.source, "command", "/usr/bin/program\"1\" --option /a/path");
    fix.text = export_text("chrome", fix.source, NULL);
    assert_string_equal(
        fix.text,
        "{\n    \"traceEvents\": [\n"
        "{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"process_name\",\"pid\":4711,\"tid\":4711,"
        "\"args\":{\"name\":\"program\\\"1\\\"\"}},\n"
        "{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"thread_name\",\"pid\":4711,\"tid\":1000,"
        "\"args\":{\"name\":\"main\"}},\n"
        "{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"thread_sort_index\",\"pid\":4711,"
        "\"tid\":1000,\"args\":{\"sort_index\":0}}\n"
        "\n    ],\n    \"otherData\": {\n"
        "        \"command\": \"/usr/bin/program\\\"1\\\" --option /a/path\",\n"
        "        \"start_realtime_ns\": \"1700000000000000000\",\n"
        "        \"lost_records\": \"0\"\n    },\n    \"displayTimeUnit\": \"ms\"\n}\n");
    assert_json(fix.text, strlen(fix.text));
    finish(&fix);
}

static void nested_spans_are_complete_events(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t name = fake_span_name(fix.source, "layer", "conv");
    fake_span(fix.source, fix.thread, name, 1000001, 1000999);
    fake_span(fix.source, fix.thread, name, 5, 5);
    fake_span(fix.source, fix.thread, name, 7, (UINT64_C(1) << 40) + 7);
    expect(&fix, ",\n{\"ph\":\"X\",\"cat\":\"layer\",\"name\":\"conv\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":1000.001,\"dur\":0.998},\n");
    expect(&fix, "\"ts\":0.005,\"dur\":0.000}");
    expect(&fix, "\"ts\":0.007,\"dur\":1099511627.776}");
    finish(&fix);
}

// Whatever lies before the trace's start is cut off there.
static void times_before_the_start_are_clamped(void **state)
{
    (void)state;
    fixture fix = start();
    mxp_clock_segment *segment = fix.source->timebase->segments;
    segment->ns0 = -1000;
    uint32_t name = fake_span_name(fix.source, "c", "early");
    fake_span(fix.source, fix.thread, name, 100, 200);
    fake_span(fix.source, fix.thread, name, 500, 1500);
    expect(&fix, "\"ts\":0.000,\"dur\":0.000}");
    expect(&fix, "\"ts\":0.000,\"dur\":0.500}");
    finish(&fix);
}

static void overlapping_spans_are_async_pairs_in_their_domains_row(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t domain = fake_string(fix.source, "Dom");
    uint32_t name = fake_name(fix.source, "Dom", "task1", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    fake_span(fix.source, fix.thread, name, 1000, 5000);
    fake_span(fix.source, fix.thread, name, 2000, 6000);
    char line[256];
    snprintf(line, sizeof line,
             ",\n{\"ph\":\"b\",\"cat\":\"Dom\",\"name\":\"task1\",\"pid\":4711,\"tid\":%u,"
             "\"ts\":1.000,\"id2\":{\"local\":\"0x0\"}},\n"
             "{\"ph\":\"e\",\"cat\":\"Dom\",\"name\":\"task1\",\"pid\":4711,\"tid\":%u,"
             "\"ts\":5.000,\"id2\":{\"local\":\"0x0\"}}",
             10000000 + domain, 10000000 + domain);
    expect(&fix, line);
    expect(&fix, "\"ts\":6.000,\"id2\":{\"local\":\"0x1\"}}");
    snprintf(line, sizeof line,
             "\"thread_name\",\"pid\":4711,\"tid\":%u,\"args\":{\"name\":\"Dom\"}",
             10000000 + domain);
    expect(&fix, line);
    finish(&fix);
}

static void long_spans_carry_lane_arguments_and_flags(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t other = fake_thread(fix.source, "other");
    uint32_t name = fake_span_name(fix.source, "copy", "to device");
    uint32_t lane = fake_string(fix.source, "stream 7");
    const mxp_arg args[] = {
        {.key = fake_string(fix.source, "bytes"), .type = MXP_ARG_U64, .value.u64 = 4096},
        {.key = fake_string(fix.source, "big"), .type = MXP_ARG_U64, .value.u64 = UINT64_MAX},
        {.key = fake_string(fix.source, "delta"), .type = MXP_ARG_I64, .value.i64 = -5},
        {.key = fake_string(fix.source, "rate"), .type = MXP_ARG_F64, .value.f64 = 0.5},
        {.key = fake_string(fix.source, "none"), .type = MXP_ARG_F64, .value.f64 = NAN},
        {.key = fake_string(fix.source, "kind"), .type = MXP_ARG_NAME, .value.u64 = lane},
    };
    mxp_span span = {.name = name,
                     .begin_ticks = 1000,
                     .end_ticks = 3000,
                     .lane = lane,
                     .flags = MXP_SPAN_BEGIN_CLIPPED | MXP_SPAN_CLOSED_BY_STOP,
                     .arg_count = sizeof args / sizeof args[0],
                     .args = args};
    fake_long_span(fix.source, fix.thread, &span);
    span.lane = MXP_LANE_THREAD | other;
    span.arg_count = 0;
    span.flags = MXP_SPAN_OPEN_AT_CRASH;
    fake_long_span(fix.source, fix.thread, &span);
    char line[512];
    snprintf(line, sizeof line,
             "\"tid\":%u,\"ts\":1.000,\"dur\":2.000,\"args\":{\"bytes\":4096,"
             "\"big\":\"18446744073709551615\",\"delta\":-5,\"rate\":0.5,\"none\":null,"
             "\"kind\":\"stream 7\",\"begun\":\"before recording\",\"closed\":\"stop\"}}",
             10000000 + lane);
    expect(&fix, line);
    expect(&fix, "\"tid\":1001,\"ts\":1.000,\"dur\":2.000,\"args\":{\"ended\":\"never\"}}");
    expect(&fix, "\"args\":{\"name\":\"stream 7\"}}");
    finish(&fix);
}

// A text of 12 bytes, of which 8 are in the record, and one that is outside of it.
static void texts_of_long_spans_are_quoted_and_tell_what_is_cut(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t name = fake_span_name(fix.source, "http", "GET");
    const uint64_t text = (uint64_t)MXP_ARG_TEXT << 32 | UINT64_C(8) << 40;
    uint64_t words[14] = {MXP_KIND_SPAN_LONG | 7 << 8 | 1000 << 16, name | UINT64_C(3) << 48, 2000,
                          1000};
    words[6] = text | fake_string(fix.source, "whole");
    words[7] = 96 | UINT64_C(8) << 32;
    words[8] = text | fake_string(fix.source, "cut");
    words[9] = 96 | UINT64_C(12) << 32;
    words[10] = text | fake_string(fix.source, "outside");
    words[11] = 112 | UINT64_C(8) << 32;
    memcpy(words + 12, "/a\"b\n\xff\t.", 8);
    fake_words(fix.source, fix.thread, 1000, words, 14);
    expect(&fix, "\"args\":{\"whole\":\"/a\\\"b\\n\xef\xbf\xbd\\t.\","
                 "\"cut\":\"/a\\\"b\\n\xef\xbf\xbd\\t.... (8 of 12 bytes)\","
                 "\"outside\":\"<bad text>\"}}");
    finish(&fix);
}

static void operators_tell_what_they_waited_for(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t net = fake_scope(fix.source, 0, "net");
    const mxp_operator op = {.name = fake_span_name(fix.source, "operator", "Convolution"),
                             .id = 12,
                             .released_by = 11,
                             .bulk_parent = 3,
                             .push_ticks = 1000,
                             .ready_ticks = 3000,
                             .start_ticks = 7000,
                             .end_ticks = 9500,
                             .flags = MXP_PHASE_BACKWARD | MXP_OP_FAILED,
                             .device = 1,
                             .scope = fake_scope(fix.source, net, "conv1"),
                             .shape = fake_string(fix.source, "(64,3)")};
    fake_operator(fix.source, fix.thread, &op);
    const mxp_operator plain = {.name = op.name, .id = 13, .start_ticks = 9500, .end_ticks = 9600};
    fake_operator(fix.source, fix.thread, &plain);
    expect(&fix, "{\"ph\":\"X\",\"cat\":\"operator\",\"name\":\"Convolution\",\"pid\":4711,"
                 "\"tid\":1000,\"ts\":7.000,\"dur\":2.500,\"args\":{\"op\":12,\"queued_us\":4.000,"
                 "\"blocked_us\":2.000,\"after\":11,\"bulk\":3,\"device\":1,\"phase\":\"backward\","
                 "\"scope\":\"net/conv1\",\"shape\":\"(64,3)\",\"failed\":true}}");
    expect(&fix, "\"dur\":0.100,\"args\":{\"op\":13}}");
    finish(&fix);
}

// A thread has several under way, and viewers drop slices of one row that overlap.
static void exchanges_are_asynchronous(void **state)
{
    (void)state;
    fixture fix = start();
    const mxp_operator push = {.name = fake_span_name(fix.source, "operator", "Push"),
                               .id = 12,
                               .start_ticks = 7000,
                               .end_ticks = 9500,
                               .flags = MXP_PHASE_COMMUNICATION | MXP_OP_ASYNC};
    const mxp_operator sum = {.name = fake_span_name(fix.source, "operator", "Sum"),
                              .id = 13,
                              .start_ticks = 8000,
                              .end_ticks = 9600,
                              .flags = MXP_PHASE_COMMUNICATION,
                              .push_thread = 0xffff};
    const mxp_operator reduce = {.name = fake_span_name(fix.source, "operator", "Reduce"),
                                 .id = 14,
                                 .start_ticks = 9600,
                                 .end_ticks = 9700,
                                 .flags = MXP_PHASE_COMMUNICATION};
    fake_operator(fix.source, fix.thread, &push);
    fake_operator(fix.source, fix.thread, &sum);
    fake_operator(fix.source, fix.thread, &reduce);
    expect(&fix, "{\"ph\":\"b\",\"cat\":\"operator\",\"name\":\"Push\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":7.000,\"id2\":{\"local\":\"0x");
    expect(&fix, "{\"ph\":\"e\",\"cat\":\"operator\",\"name\":\"Push\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":9.500,\"id2\":{\"local\":\"0x");
    expect(&fix, "{\"ph\":\"b\",\"cat\":\"operator\",\"name\":\"Sum\"");
    expect(&fix, "{\"ph\":\"X\",\"cat\":\"operator\",\"name\":\"Reduce\"");
    finish(&fix);
}

static void counters_keep_every_digit(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t name = fake_name(fix.source, "Dom", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    fake_counter_u64(fix.source, fix.thread, name, 1000, UINT64_MAX);
    fake_counter_i64(fix.source, fix.thread, name, 2000, INT64_MIN);
    fake_counter_f64(fix.source, fix.thread, name, 3000, 0.1);
    fake_counter_f64(fix.source, fix.thread, name, 4000, INFINITY);  // no number, no sample
    expect(&fix, "{\"ph\":\"C\",\"cat\":\"Dom\",\"name\":\"count\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":1.000,\"args\":{\"count\":18446744073709551615}}");
    expect(&fix, "\"ts\":2.000,\"args\":{\"count\":-9223372036854775808}}");
    expect(&fix, "\"ts\":3.000,\"args\":{\"count\":0.1}}");
    assert_null(strstr(fix.text, "\"ts\":4.000"));
    finish(&fix);
}

// Viewers tell counters apart by name alone.
static void counters_of_one_name_in_two_domains_get_an_id(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t first = fake_name(fix.source, "A", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    uint32_t second = fake_name(fix.source, "B", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    fake_counter_u64(fix.source, fix.thread, first, 1000, 1);
    fake_counter_u64(fix.source, fix.thread, second, 2000, 2);
    expect(&fix, "\"ts\":1.000,\"args\":{\"count\":1}}");
    char line[64];
    snprintf(line, sizeof line, "\"ts\":2.000,\"id\":\"0x%x\",\"args\":{\"count\":2}}", second);
    expect(&fix, line);
    finish(&fix);
}

static void memory_is_a_counter_of_its_device(void **state)
{
    (void)state;
    fixture fix = start();
    const mxp_memory memory = {
        .block = 1, .device = 2, .requested_bytes = 36, .rounded_bytes = 4096, .live_bytes = 96024};
    fake_memory(fix.source, fix.thread, 1500, &memory);
    expect(&fix, "{\"ph\":\"C\",\"cat\":\"Device Storage\",\"name\":\"Memory: cpu/2\",\"pid\":4711,"
                 "\"tid\":1000,\"ts\":1.500,\"args\":{\"Memory: cpu/2\":96024}}");
    finish(&fix);
}

static void instants_have_the_scope_viewers_know(void **state)
{
    (void)state;
    static const struct {
        int scope;
        char letter;
    } scopes[] = {{MXP_INSTANT_GLOBAL, 'g'},
                  {MXP_INSTANT_PROCESS, 'p'},
                  {MXP_INSTANT_THREAD, 't'},
                  {MXP_INSTANT_TASK, 'p'},
                  {MXP_INSTANT_MARKER, 'p'}};
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        fixture fix = start();
        uint32_t name = fake_name(fix.source, "Dom,instant_marker", "mark", MXP_STYLE_INSTANT, 0);
        fake_instant(fix.source, fix.thread, name, 42, scopes[i].scope);
        char line[256];
        snprintf(line, sizeof line,
                 "{\"ph\":\"i\",\"cat\":\"Dom,instant_marker\",\"name\":\"mark\",\"pid\":4711,"
                 "\"tid\":1000,\"ts\":0.042,\"s\":\"%c\"}",
                 scopes[i].letter);
        expect(&fix, line);
        finish(&fix);
    }
}

static void flows_bind_to_the_enclosing_slice(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t name = fake_name(fix.source, "data", "batch", MXP_STYLE_FLOW, MXP_UNIT_NONE);
    fake_flow(fix.source, fix.thread, name, 1000, MXP_FLOW_START, 0xabc);
    fake_flow(fix.source, fix.thread, name, 2000, MXP_FLOW_STEP, 0xabc);
    fake_flow(fix.source, fix.thread, name, 3000, MXP_FLOW_END, 0xabc);
    expect(&fix, "{\"ph\":\"s\",\"cat\":\"data\",\"name\":\"batch\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":1.000,\"id\":\"0xabc\"}");
    expect(&fix, "{\"ph\":\"t\",\"cat\":\"data\",\"name\":\"batch\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":2.000,\"id\":\"0xabc\",\"bp\":\"e\"}");
    expect(&fix, "\"ts\":3.000,\"id\":\"0xabc\",\"bp\":\"e\"}");
    finish(&fix);
}

static void a_flow_on_a_lane_is_in_its_row(void **state)
{
    (void)state;
    fixture fix = start();
    uint32_t worker = fake_thread(fix.source, "worker");
    uint32_t name = fake_name(fix.source, "data", "batch", MXP_STYLE_FLOW, MXP_UNIT_NONE);
    uint32_t queue = fake_name(fix.source, "", "queue", MXP_STYLE_NONE, MXP_UNIT_NONE);
    fake_flow_on(fix.source, fix.thread, name, 1000, MXP_FLOW_START, 0xabc,
                 MXP_LANE_THREAD | worker);
    fake_flow_on(fix.source, fix.thread, name, 2000, MXP_FLOW_END, 0xabc, queue);
    expect(&fix, "\"name\":\"batch\",\"pid\":4711,\"tid\":1001,\"ts\":1.000,\"id\":\"0xabc\"}");
    expect(&fix, "\"args\":{\"name\":\"queue\"}}");
    assert_int_equal(count_text(fix.text, "\"tid\":1000,\"ts\""), 0);
    finish(&fix);
}

static void steps_and_states_are_marked(void **state)
{
    (void)state;
    fixture fix = start();
    fake_meta(fix.source, fix.thread, MXP_META_STATE, 0, 1000, 1);
    fake_meta(fix.source, fix.thread, MXP_META_STEP, 0, 2000, 17);
    fake_meta(fix.source, fix.thread, MXP_META_STATE, 0, 3000, 2);
    fake_meta(fix.source, fix.thread, MXP_META_SCOPE_PUSH, fake_scope(fix.source, 0, "s"), 4000, 0);
    fake_meta(fix.source, fix.thread, MXP_META_STEP_END, 0, 5000, UINT64_MAX);
    expect(&fix, "{\"ph\":\"i\",\"cat\":\"step_end\",\"name\":\"step 18446744073709551615 ends\","
                 "\"pid\":4711,\"tid\":1000,\"ts\":5.000,\"s\":\"p\"}");
    expect(&fix, "{\"ph\":\"i\",\"cat\":\"mxprof\",\"name\":\"profiler run\",\"pid\":4711,"
                 "\"tid\":1000,\"ts\":1.000,\"s\":\"p\"}");
    expect(&fix, "{\"ph\":\"i\",\"cat\":\"step\",\"name\":\"step 17\",\"pid\":4711,\"tid\":1000,"
                 "\"ts\":2.000,\"s\":\"p\"}");
    expect(&fix, "\"name\":\"profiler pause\"");
    assert_null(strstr(fix.text, "\"ts\":4.000"));
    finish(&fix);
}

static void losses_are_visible_in_the_trace(void **state)
{
    (void)state;
    fixture fix = start();
    fake_loss(fix.source, &(mxp_loss_entry){.thread = fix.thread,
                                            .reason = MXP_LOSS_MEMORY_FULL,
                                            .count = 5,
                                            .from_ticks = 1000,
                                            .to_ticks = 9000});
    fake_loss(fix.source, &(mxp_loss_entry){.thread = UINT32_MAX,
                                            .reason = MXP_LOSS_NAMES_FULL,
                                            .count = 7,
                                            .from_ticks = 2000,
                                            .to_ticks = 2000});
    expect(&fix,
           "{\"ph\":\"i\",\"cat\":\"mxprof\",\"name\":\"5 records lost (memory full)\","
           "\"pid\":4711,\"tid\":1000,\"ts\":1.000,\"s\":\"t\",\"args\":{\"until_us\":9.000}}");
    expect(&fix, "\"name\":\"7 records without a name (name table full)\",\"pid\":4711,"
                 "\"tid\":4711,\"ts\":2.000,\"s\":\"p\"");
    expect(&fix, "\"lost_records\": \"5\"");
    finish(&fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_is_the_original_ones),
        cmocka_unit_test(nested_spans_are_complete_events),
        cmocka_unit_test(times_before_the_start_are_clamped),
        cmocka_unit_test(overlapping_spans_are_async_pairs_in_their_domains_row),
        cmocka_unit_test(long_spans_carry_lane_arguments_and_flags),
        cmocka_unit_test(texts_of_long_spans_are_quoted_and_tell_what_is_cut),
        cmocka_unit_test(operators_tell_what_they_waited_for),
        cmocka_unit_test(exchanges_are_asynchronous),
        cmocka_unit_test(counters_keep_every_digit),
        cmocka_unit_test(counters_of_one_name_in_two_domains_get_an_id),
        cmocka_unit_test(memory_is_a_counter_of_its_device),
        cmocka_unit_test(instants_have_the_scope_viewers_know),
        cmocka_unit_test(flows_bind_to_the_enclosing_slice),
        cmocka_unit_test(a_flow_on_a_lane_is_in_its_row),
        cmocka_unit_test(steps_and_states_are_marked),
        cmocka_unit_test(losses_are_visible_in_the_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
