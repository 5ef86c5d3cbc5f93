// SPDX-License-Identifier: Apache-2.0
// Every kind of record but spans goes in and comes out with all its fields.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/names.h"

static void counters_keep_type_and_value(void **state)
{
    (void)state;
    mxp_name name = mxp_intern("d", "c", MXP_STYLE_COUNTER, MXP_UNIT_BYTES);
    mxp_counter_u64(MXP_CLASS_USER, name, UINT64_MAX);
    mxp_counter_i64(MXP_CLASS_USER, name, -5);
    mxp_counter_f64(MXP_CLASS_USER, name, 0.25);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, "c"), 3);
    assert_true(live_events_find(&live, MXP_KIND_COUNTER, "c", 0)->value.u64 == UINT64_MAX);
    assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "c", 1)->value.i64, -5);
    assert_true(live_events_find(&live, MXP_KIND_COUNTER, "c", 2)->value.f64 == 0.25);
    assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "c", 2)->phase, MXP_ARG_F64);
    assert_int_equal(live.source->name(live.source, name).unit, MXP_UNIT_BYTES);
    live_events_free(&live);
}

static void operator_keeps_every_field(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("operator", "dot");
    uint32_t variables[20];
    for (uint32_t i = 0; i < 20; i++) {
        variables[i] = i + 100 + (i == 19 ? MXP_VARIABLE_WRITTEN : 0);
    }
    uint64_t now = mxp_ticks();
    mxp_operator op = {.name = name,
                       .id = 7,
                       .released_by = 5,
                       .bulk_parent = 3,
                       .push_ticks = now - 400,
                       .ready_ticks = now - 300,
                       .start_ticks = now - 200,
                       .end_ticks = now - 50,
                       .flags = MXP_PHASE_BACKWARD | MXP_OP_SYMBOLIC,
                       .push_thread = 12,
                       .device = 1,
                       .scope = 9,
                       .shape = 11,
                       .flops = 2e9f,
                       .bytes = 1e6f,
                       .variable_count = 20,
                       .variables = variables};
    mxp_operator_emit(MXP_CLASS_SYMBOLIC, &op);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_OPERATOR, "dot", 0);
    assert_non_null(event);
    assert_int_equal(event->begin_ticks, now - 200);
    assert_int_equal(event->end_ticks, now - 50);
    assert_int_equal(event->flags, MXP_PHASE_BACKWARD | MXP_OP_SYMBOLIC);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    assert_int_equal(view.id, 7);
    assert_int_equal(view.released_by, 5);
    assert_int_equal(view.bulk_parent, 3);
    assert_int_equal(view.push_ticks, now - 400);
    assert_int_equal(view.ready_ticks, now - 300);
    assert_int_equal(view.push_thread, 12);
    assert_int_equal(view.device, 1);
    assert_int_equal(view.scope, 9);
    assert_int_equal(view.shape, 11);
    assert_true(view.flops == 2e9f && view.bytes == 1e6f);
    assert_int_equal(view.variable_count, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(mxp__event_variable(event, i), variables[i]);
    }
    live_events_free(&live);
}

static void too_many_variables_are_cut_and_flagged(void **state)
{
    (void)state;
    static uint32_t variables[1000];
    mxp_name name = mxp_span_name("operator", "many");
    uint64_t now = mxp_ticks();
    mxp_operator op = {.name = name,
                       .id = 1,
                       .start_ticks = now,
                       .end_ticks = now,
                       .push_thread = 12,
                       .variable_count = 1000,
                       .variables = variables};
    mxp_operator_emit(MXP_CLASS_IMPERATIVE, &op);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_OPERATOR, "many", 0);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    assert_int_equal(view.variable_count, MXP_VARIABLES_PER_RECORD * MXP_VARIABLES_RECORDS_MAX);
    assert_int_equal(event->flags & MXP_OP_VARIABLES_CUT, MXP_OP_VARIABLES_CUT);
    assert_int_equal(view.push_thread, 0xffff);  // of a push that is not known
    live_events_free(&live);
}

static void memory_instant_and_flow_keep_their_fields(void **state)
{
    (void)state;
    mxp_name array = mxp_string("weight"),
             name = mxp_intern("d,instant_marker", "m", MXP_STYLE_INSTANT, 0);
    mxp_memory_emit(&(mxp_memory){.name = array,
                                  .scope = 3,
                                  .block = 0x123456789abc,
                                  .device = 2,
                                  .flags = MXP_MEM_FREE,
                                  .category = 4,
                                  .requested_bytes = 100,
                                  .rounded_bytes = 128,
                                  .live_bytes = 4096});
    mxp_instant(MXP_CLASS_USER, name, MXP_INSTANT_GLOBAL);
    mxp_flow(MXP_CLASS_USER, name, MXP_FLOW_END, UINT64_C(0xffffffffff));
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *memory = live_events_find(&live, MXP_KIND_MEMORY, "weight", 0);
    mxp_memory_view view;
    mxp__event_memory(memory, &view);
    assert_int_equal(memory->flags, MXP_MEM_FREE);
    assert_int_equal(view.block, 0x123456789abc);
    assert_int_equal(view.device, 2);
    assert_int_equal(view.category, 4);
    assert_int_equal(view.scope, 3);
    assert_int_equal(view.requested_bytes, 100);
    assert_int_equal(view.rounded_bytes, 128);
    assert_int_equal(view.live_bytes, 4096);
    assert_int_equal(live_events_find(&live, MXP_KIND_INSTANT, "m", 0)->phase, MXP_INSTANT_GLOBAL);
    const mxp_event *flow = live_events_find(&live, MXP_KIND_FLOW, "m", 0);
    assert_int_equal(flow->phase, MXP_FLOW_END);
    assert_int_equal(flow->value.u64, UINT64_C(0xffffffffff));
    live_events_free(&live);
}

static void classes_that_are_off_record_nothing(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_USER, 0);
    mxp_memory_emit(&(mxp_memory){.live_bytes = 1});
    mxp_counter_u64(MXP_CLASS_API, 0, 1);
    mxp_counter_u64(MXP_CLASS_USER, 0, 1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_MEMORY, NULL), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, NULL), 1);
    live_events_free(&live);
}

static size_t meta(const live_events *live, unsigned what)
{
    size_t count = 0;
    for (size_t i = 0; i < live->count; i++) {
        count += live->events[i].kind == MXP_KIND_META && live->events[i].phase == what;
    }
    return count;
}

static void scopes_nest_and_are_written_again_at_start(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    uint32_t outer = mxp_scope_push("net");
    uint32_t inner = mxp_scope_push("dense0");
    assert_int_equal(mxp_scope_current(), inner);
    assert_int_equal(mxp__name_view(inner).category, outer);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_step(41);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(meta(&live, MXP_META_SCOPE_PUSH), 1);  // the inner one names the outer
    assert_int_equal(meta(&live, MXP_META_STEP), 1);
    live_events_free(&live);
    mxp_scope_pop();
    mxp_scope_pop();
    mxp_scope_pop();  // one too many does nothing
    assert_int_equal(mxp_scope_current(), 0);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(meta(&live, MXP_META_SCOPE_POP), 2);
    live_events_free(&live);
    // Out of all scopes: the next run is told that, too.
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_step(42);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(meta(&live, MXP_META_SCOPE_PUSH), 0);
    assert_int_equal(meta(&live, MXP_META_SCOPE_POP), 1);
    live_events_free(&live);
}

static void names_are_interned_once_and_whole(void **state)
{
    (void)state;
    static char big[300000];
    memset(big, 'x', sizeof big - 1);
    mxp_name name = mxp_intern("cat", big, MXP_STYLE_SPAN, 0);
    assert_int_equal(name, mxp_intern("cat", big, MXP_STYLE_SPAN, 0));
    assert_int_not_equal(name, mxp_intern("other", big, MXP_STYLE_SPAN, 0));
    assert_int_equal(mxp__name_view(name).length, sizeof big - 1);
    assert_int_equal(mxp_intern(NULL, NULL, MXP_STYLE_NONE, 0), MXP_NAME_NONE);
    assert_string_equal(mxp__name_view(MXP_NAME_FULL).text, "<names full>");
    assert_string_equal(mxp__name_view(0xfffffff0).text, "<bad name>");
}

static void *intern_many(void *ids)
{
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "many %d", i);
        ((mxp_name *)ids)[i] = mxp_string(text);
    }
    return NULL;
}

static void threads_agree_on_ids(void **state)
{
    (void)state;
    static mxp_name ids[2][5000];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, intern_many, ids[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_memory_equal(ids[0], ids[1], sizeof ids[0]);
}

static int tap_calls;
static void count_tap(void *context, const mxp_tap_event *event)
{
    assert_ptr_equal(context, &tap_calls);
    assert_int_equal(event->size_bytes, sizeof *event);
    assert_true(event->kind == MXP_KIND_SPAN || event->kind == MXP_KIND_INSTANT);
    assert_true(event->begin_ticks <= event->end_ticks);
    tap_calls++;
}

static void taps_see_spans_and_instants(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("t", "tapped");
    assert_int_equal(mxp_tap_add(count_tap, &tap_calls), 0);
    mxp_span_end(name, mxp_span_begin(name));
    mxp_instant(MXP_CLASS_USER, name, MXP_INSTANT_THREAD);
    assert_int_equal(tap_calls, 2);
    assert_int_equal(mxp_tap_remove(count_tap, &tap_calls), 0);
    assert_int_equal(mxp_tap_remove(count_tap, &tap_calls), MXP_EINVAL);
    mxp_span_end(name, mxp_span_begin(name));
    assert_int_equal(tap_calls, 2);
    assert_int_equal(mxp_tap_add(NULL, NULL), MXP_EINVAL);
}

// Must be the first test: what a record costs is measured once in a process.
static void a_tap_sees_nothing_of_the_measurement(void **state)
{
    (void)state;
    assert_int_equal(mxp_tap_add(count_tap, &tap_calls), 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp__recorder_stop(1);
    assert_int_equal(mxp_tap_remove(count_tap, &tap_calls), 0);
    assert_int_equal(tap_calls, 0);
    mxp_report report = {.size_bytes = sizeof report};
    mxp__recorder_report(&report);
    assert_true(report.record_cost_ns > 0);
}

static void operators_keep_any_number_of_variables(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("operator", "counted");
    uint32_t variables[40];
    for (uint32_t i = 0; i < 40; i++) {
        variables[i] = i + 1 + (i % 3 == 0 ? MXP_VARIABLE_WRITTEN : 0);
    }
    for (uint32_t count = 0; count <= 40; count++) {
        mxp_operator op = {.name = name,
                           .id = count + 1,
                           .start_ticks = mxp_ticks(),
                           .end_ticks = mxp_ticks(),
                           .variable_count = count,
                           .variables = variables};
        mxp_operator_emit(MXP_CLASS_IMPERATIVE, &op);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 41);
    for (uint32_t count = 0; count <= 40; count++) {
        const mxp_event *event = live_events_find(&live, MXP_KIND_OPERATOR, "counted", count);
        mxp_operator_view view;
        mxp__event_operator(event, &view);
        assert_int_equal(view.id, count + 1);
        assert_int_equal(view.variable_count, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(mxp__event_variable(event, i), variables[i]);
        }
    }
    live_events_free(&live);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, live_events_start, live_events_stop)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tap_sees_nothing_of_the_measurement),
        TEST(counters_keep_type_and_value),
        TEST(operator_keeps_every_field),
        TEST(operators_keep_any_number_of_variables),
        TEST(too_many_variables_are_cut_and_flagged),
        TEST(memory_instant_and_flow_keep_their_fields),
        TEST(classes_that_are_off_record_nothing),
        TEST(scopes_nest_and_are_written_again_at_start),
        TEST(names_are_interned_once_and_whole),
        TEST(threads_agree_on_ids),
        TEST(taps_see_spans_and_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
