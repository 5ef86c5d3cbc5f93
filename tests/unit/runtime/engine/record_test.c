// SPDX-License-Identifier: Apache-2.0
// What the profiler learns about operations: every field, true predecessors, as many records as the
// engine counts.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/record.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/engine/operation_record.h"

static mxn_var *a, *b, *c;

static int begin(void **state)
{
    (void)state;
    a = mxn_var_new();
    b = mxn_var_new();
    c = mxn_var_new();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    return 0;
}

static live_events take(void)
{
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_stop(1);
    return live_events_take(MXP__CONSUMER_FILE);
}

static int end(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxn_bulk_size_set(0);
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
    mxn_var_delete(c, NULL, NULL, 0);
    int failed = mxn_wait_all();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    return failed;
}

static void push_named(const char *name, mxn_var *read, mxn_var *write)
{
    mxn_work work = {.function.sync = engine_do_nothing, .name = mxp_span_name("operator", name)};
    assert_int_equal(engine_push_work(work, read, write), 0);
}

// An event and its operator fields.
typedef struct seen {
    uint64_t begin, end;
    uint32_t flags, thread;
    const mxp_event *event;
    mxp_operator_view op;
} seen;

static seen view_of(const mxp_event *event)
{
    seen view = {.begin = event->begin_ticks,
                 .end = event->end_ticks,
                 .flags = event->flags,
                 .thread = event->thread,
                 .event = event};
    mxp__event_operator(event, &view.op);
    return view;
}

static seen operator_named(const live_events *live, const char *name)
{
    const mxp_event *event = live_events_find(live, MXP_KIND_OPERATOR, name, 0);
    assert_non_null(event);
    assert_null(live_events_find(live, MXP_KIND_OPERATOR, name, 1));
    return view_of(event);
}

static void every_field_arrives(void **state)
{
    (void)state;
    uint32_t scope = mxp_scope_push("layer1");
    mxn_work work = {.function.sync = engine_do_nothing,
                     .name = mxp_span_name("operator", "dot"),
                     .device = 3,
                     .flags = MXP_PHASE_BACKWARD | MXN_WORK_SYMBOLIC,
                     .shape = mxp_string("(2,3)"),
                     .flops = 12,
                     .bytes = 24};
    assert_int_equal(engine_push_work(work, a, b), 0);
    mxp_scope_pop();
    live_events live = take();
    const seen event = operator_named(&live, "dot");
    const mxp_operator_view *op = &event.op;
    assert_int_equal(op->device, 3);
    assert_int_equal(event.flags & MXP_OP_PHASE_MASK, MXP_PHASE_BACKWARD);
    assert_true((event.flags & MXP_OP_SYMBOLIC) != 0);
    assert_int_equal(op->scope, scope);
    assert_int_equal(op->shape, mxp_string("(2,3)"));
    assert_true(op->flops > 11 && op->flops < 13 && op->bytes > 23 && op->bytes < 25);
    assert_int_equal(op->push_thread, mxp_thread_index());
    assert_int_not_equal(event.thread, mxp_thread_index());  // it ran on the compute worker
    assert_int_equal(op->variable_count, 2);
    assert_int_equal(mxp__event_variable(event.event, 0), mxn_var_id(a));
    assert_int_equal(mxp__event_variable(event.event, 1), mxn_var_id(b) | MXP_VARIABLE_WRITTEN);
    assert_int_equal(op->released_by, 0);
    live_events_free(&live);
}

static void predecessors_are_the_ones_that_ended_last(void **state)
{
    (void)state;
    engine_gate gate;
    engine_gate_push(&gate, NULL);  // holds the worker, so that all are pushed before any runs
    push_named("writer", NULL, a);
    push_named("reader1", a, b);
    push_named("reader2", a, c);
    push_named("overwriter", NULL, a);
    push_named("unrelated", NULL, NULL);
    engine_gate_open(&gate);
    live_events live = take();
    const seen writer = operator_named(&live, "writer");
    const seen reader1 = operator_named(&live, "reader1");
    const seen reader2 = operator_named(&live, "reader2");
    const seen overwriter = operator_named(&live, "overwriter");
    assert_int_equal(writer.op.released_by, 0);
    assert_int_equal(reader1.op.released_by, writer.op.id);
    assert_int_equal(reader2.op.released_by, writer.op.id);
    assert_int_equal(overwriter.op.released_by, reader2.op.id);
    assert_int_equal(operator_named(&live, "unrelated").op.released_by, 0);
    assert_true(reader1.op.ready_ticks == writer.end);
    assert_true(reader2.op.ready_ticks == writer.end);
    assert_true(overwriter.op.ready_ticks == reader2.end);
    for (size_t i = 0; i < live.count; i++) {
        if (live.events[i].kind == MXP_KIND_OPERATOR) {
            const seen event = view_of(&live.events[i]);
            assert_true(event.op.push_ticks <= event.op.ready_ticks);
            assert_true(event.op.ready_ticks <= event.begin);
            assert_true(event.begin <= event.end);
        }
    }
    live_events_free(&live);
}

static void a_later_push_has_no_binding_predecessor(void **state)
{
    (void)state;
    push_named("early", NULL, a);
    assert_int_equal(mxn_var_wait(a), 0);
    push_named("late", a, NULL);
    live_events live = take();
    const seen late = operator_named(&live, "late");
    assert_int_equal(late.op.released_by, 0);
    assert_true(late.op.ready_ticks == late.op.push_ticks);
    live_events_free(&live);
}

// Every operation would have to clean up after the profile otherwise.
static void a_wait_for_all_ends_what_a_profile_leaves_behind(void **state)
{
    (void)state;
    push_named("recorded", NULL, a);
    live_events live = take();
    live_events_free(&live);
    assert_int_equal(mxp_atomic_load(&mxn__engine.stamped), MXN__STAMPED_YES);
    push_named("off", NULL, a);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(mxp_atomic_load(&mxn__engine.stamped), MXN__STAMPED_NO);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    push_named("again", NULL, a);  // long after the writer that left its stamp
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(mxp_atomic_load(&mxn__engine.stamped), MXN__STAMPED_YES);
    live = take();
    seen again = operator_named(&live, "again");
    assert_int_equal(again.op.released_by, 0);
    live_events_free(&live);
}

static void a_bulk_is_shown_with_its_members(void **state)
{
    (void)state;
    mxn_bulk_size_set(3);
    push_named("one", NULL, a);
    push_named("two", a, b);
    push_named("three", b, c);
    mxn_bulk_size_set(0);
    push_named("outside", c, NULL);
    live_events live = take();
    const seen bulk = operator_named(&live, "ImperativeBulk");
    const char *const names[] = {"one", "two", "three"};
    assert_true((bulk.flags & MXP_OP_BULK_PARENT) != 0);
    assert_int_equal(bulk.op.variable_count, 3);
    uint64_t before = bulk.begin;
    for (int i = 0; i < 3; i++) {
        const seen member = operator_named(&live, names[i]);
        assert_int_equal(member.op.bulk_parent, bulk.op.id);
        assert_true(member.begin >= before && member.end <= bulk.end);
        before = member.end;
    }
    assert_int_equal(operator_named(&live, "two").op.released_by,
                     operator_named(&live, "one").op.id);
    const seen outside = operator_named(&live, "outside");
    assert_int_equal(outside.op.bulk_parent, 0);
    if (outside.op.released_by != 0) {  // 0 if it was pushed after the bulk had ended
        assert_int_equal(outside.op.released_by, bulk.op.id);
    }
    live_events_free(&live);
}

static void hidden_and_unnamed_operations_have_records_of_their_own(void **state)
{
    (void)state;
    push_named("Custom", NULL, a);
    push_named("_backward_Custom", NULL, a);
    push_named("CustomOperatorWait", NULL, a);
    engine_push(engine_do_nothing, NULL, NULL, a);
    mxn_work work = {.function.sync = engine_do_nothing,
                     .name = mxp_span_name("operator", "secret"),
                     .flags = MXN_WORK_HIDDEN};
    assert_int_equal(engine_push_work(work, NULL, a), 0);
    push_named("seen", NULL, a);
    live_events live = take();
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_HIDDEN, NULL), 5);
    const seen last = operator_named(&live, "seen");
    const char *const names[] = {"Custom", "_backward_Custom", "CustomOperatorWait", "", "secret"};
    uint32_t before = 0;
    for (size_t i = 0; i < 5; i++) {
        const mxp_event *event = live_events_find(&live, MXP_KIND_HIDDEN, names[i], 0);
        assert_non_null(event);
        const seen hidden = view_of(event);
        assert_int_equal(hidden.op.variable_count, 1);
        assert_int_equal(mxp__event_variable(event, 0), mxn_var_id(a) | MXP_VARIABLE_WRITTEN);
        assert_true(hidden.op.released_by == 0 || hidden.op.released_by == before);
        before = hidden.op.id;
    }
    assert_true(last.op.released_by == 0 || last.op.released_by == before);
    live_events_free(&live);
}

static void an_operation_pushed_while_off_is_not_recorded(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    engine_gate gate;
    engine_gate_push(&gate, NULL);
    push_named("off", NULL, a);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    push_named("on", a, b);
    engine_gate_open(&gate);
    live_events live = take();
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "off"), 0);
    // Its predecessor has no record, but the moment it became ready is known.
    const seen on = operator_named(&live, "on");
    assert_true(on.op.ready_ticks > on.op.push_ticks);
    live_events_free(&live);
}

static void a_push_before_recording_was_interrupted_is_of_no_thread(void **state)
{
    (void)state;
    engine_gate gate;
    engine_gate_push(&gate, a);
    push_named("before", NULL, a);
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    push_named("after", NULL, a);
    engine_gate_open(&gate);
    live_events live = take();
    const seen before = operator_named(&live, "before"), after = operator_named(&live, "after");
    assert_int_equal(before.op.push_thread, 0xffff);
    assert_int_equal(before.op.push_ticks, before.begin);
    assert_int_equal(after.op.push_thread, mxp_thread_index());
    assert_true(after.op.push_ticks < after.begin);
    live_events_free(&live);
}

static void classes_choose(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_SYMBOLIC, 0);
    push_named("imperative", NULL, a);
    mxn_work work = {.function.sync = engine_do_nothing,
                     .name = mxp_span_name("operator", "symbolic"),
                     .flags = MXN_WORK_SYMBOLIC};
    assert_int_equal(engine_push_work(work, NULL, a), 0);
    live_events live = take();
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 1);
    operator_named(&live, "symbolic");
    live_events_free(&live);
}

static void skipped_operations_leave_a_flagged_record(void **state)
{
    (void)state;
    mxn_work work = {.function.sync = engine_fail,
                     .argument = "boom",
                     .name = mxp_span_name("operator", "failing")};
    assert_int_equal(engine_push_work(work, NULL, a), 0);
    push_named("skipped", a, b);
    assert_int_equal(mxn_var_wait(b), MXP_EVALUE);
    live_events live = take();
    assert_true((operator_named(&live, "failing").flags & MXP_OP_FAILED) != 0);
    assert_true((operator_named(&live, "skipped").flags & MXP_OP_FAILED) != 0);
    live_events_free(&live);
}

static void deletions_and_waits_are_operators(void **state)
{
    (void)state;
    engine_gate gate;
    mxn_var *gone = mxn_var_new();
    engine_gate_push(&gate, gone);
    mxn_var_delete(gone, NULL, NULL, 2);
    push_named("last", NULL, a);
    engine_gate_open(&gate);
    assert_int_equal(mxn_var_wait(a), 0);
    live_events live = take();
    const seen deletion = operator_named(&live, "DeleteVariable");
    assert_int_equal(deletion.op.device, 2);
    live_events_free(&live);
}

static void the_engine_counts_what_the_profile_holds(void **state)
{
    (void)state;
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    mxn_var *const vars[] = {a, b, c};
    mxn_bulk_size_set(5);
    for (uint32_t i = 0; i < 5000; i++) {
        mxn_work work = {.function.sync = engine_do_nothing,
                         .name = i % 3 != 0 ? mxp_span_name("operator", "counted") : 0,
                         .property = i % 7 == 0 ? MXN_CPU_PRIORITIZED : MXN_NORMAL};
        assert_int_equal(engine_push_work(work, vars[i % 3], vars[(i + 1 + i % 2) % 3]), 0);
        if (i % 100 == 99) {
            mxn_var *temporary = mxn_var_new();
            mxn_var_delete(temporary, NULL, NULL, 0);
            assert_int_equal(mxn_var_wait(a), 0);
        }
    }
    live_events live = take();
    mxn_engine_counts_get(&after);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL),
                     after.visible - before.visible + after.bulks - before.bulks);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "DeleteVariable"),
                     after.deletions - before.deletions);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "WaitForVar"),
                     after.waits - before.waits);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "ImperativeBulk"),
                     after.bulks - before.bulks);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "counted"), 3333);
    assert_int_equal(after.deletions - before.deletions, 50);
    assert_true(live_events_lost(&live) == 0);
    live_events_free(&live);
}

// Two reads that ended side by side leave their stamps in the wrong order.
static void the_last_read_counts_whoever_comes_late(void **state)
{
    (void)state;
    enum { EARLY = 1000, LATE = 1005, NOW = 2000 };
    mxn_operation *reader = calloc(1, mxn__operation_bytes(1, false));
    mxn_operation *writer = calloc(1, mxn__operation_bytes(1, false));
    assert_true(reader != NULL && writer != NULL);
    reader->count = writer->count = 1;
    reader->uses[0].var = (uintptr_t)a;
    writer->uses[0].var = (uintptr_t)a | 1;
    mxn_thread *self = mxn__thread_self();
    reader->id = 7;
    mxn__operation_record(self, reader, &(mxn_execution){.end_ticks = LATE});
    reader->id = 8;
    mxn__operation_record(self, reader, &(mxn_execution){.end_ticks = EARLY});
    mxn_releaser latest = mxn__operation_releaser(writer, NOW);
    assert_int_equal(latest.ticks, LATE);
    assert_int_equal(latest.id, 7);
    mxn__operation_record_none(self, reader);
    latest = mxn__operation_releaser(writer, NOW);
    assert_int_equal(latest.id, 0);
    free(reader);
    free(writer);
}

#define RECORD_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

// ---- who pushed it ----------------------------------------------------------------------------

enum { LARGE_READS = 80 };
static mxn_var *large_reads[LARGE_READS];

static void *push_large_and_end(void *trace_index)
{
    mxn_work work = {.function.sync = engine_do_nothing,
                     .name = mxp_span_name("operator", "large"),
                     .reads = large_reads,
                     .read_count = LARGE_READS,
                     .writes = &a,
                     .write_count = 1};
    *(uint32_t *)trace_index = mxp_thread_index();
    return mxn_push(&work) == 0 ? trace_index : NULL;
}

static void *touch_engine(void *gate)
{
    mxn_var_delete(mxn_var_new(), NULL, NULL, 0);  // now the thread has a state of its own
    engine_gate_open(gate);
    return (void *)(uintptr_t)mxn_wait_all();
}

// The next thread must not be taken for it.
static void a_thread_may_end_before_its_large_operation(void **state)
{
    (void)state;
    engine_gate gate;
    uint32_t pushed_by = 0;
    void *result;
    pthread_t thread;
    for (int i = 0; i < LARGE_READS; i++) {
        large_reads[i] = mxn_var_new();
    }
    engine_gate_push(&gate, a);
    assert_int_equal(pthread_create(&thread, NULL, push_large_and_end, &pushed_by), 0);
    pthread_join(thread, &result);
    assert_non_null(result);
    assert_int_equal(pthread_create(&thread, NULL, touch_engine, &gate), 0);
    pthread_join(thread, &result);
    assert_null(result);
    live_events live = take();
    assert_int_equal(operator_named(&live, "large").op.push_thread, pushed_by);
    live_events_free(&live);
    for (int i = 0; i < LARGE_READS; i++) {
        mxn_var_delete(large_reads[i], NULL, NULL, 0);
    }
}

static int do_two(const mxn_run *run, void *scope)
{
    (void)run;
    const mxn_part parts[] = {{.name = mxp_span_name("operator", "first part"),
                               .scope = *(uint32_t *)scope,
                               .shape = mxp_string("(7,)"),
                               .flops = 5,
                               .bytes = 6},
                              {.name = mxp_span_name("operator", "second part")}};
    mxn_record_parts(parts, 2);
    mxp__os_sleep_us(200);
    return 0;
}

static void parts_lie_in_their_operation_without_a_time(void **state)
{
    (void)state;
    uint32_t scope = mxp_scope_id("layer2");
    const mxn_work work = {.function.sync = do_two,
                           .argument = &scope,
                           .name = mxp_span_name("operator", "both"),
                           .flags = MXP_PHASE_FORWARD | MXN_WORK_SYMBOLIC};
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    assert_int_equal(engine_push_work(work, a, b), 0);
    live_events live = take();
    mxn_engine_counts_get(&after);
    assert_int_equal(after.visible - before.visible, 3);
    const seen both = operator_named(&live, "both"), first = operator_named(&live, "first part"),
               second = operator_named(&live, "second part");
    assert_int_equal(first.flags, MXP_PHASE_FORWARD | MXP_OP_SYMBOLIC | MXP_OP_SHARED);
    assert_int_equal(first.op.bulk_parent, both.op.id);
    assert_int_equal(second.op.bulk_parent, both.op.id);
    assert_true(first.op.id != both.op.id && first.op.id != second.op.id && first.op.id != 0);
    assert_true(both.begin <= first.begin && first.begin == first.end && first.end <= both.end);
    assert_int_equal(first.op.scope, scope);
    assert_int_equal(first.op.shape, mxp_string("(7,)"));
    assert_true(both.end > both.begin && (both.flags & MXP_OP_SHARED) == 0);
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORD_TEST(every_field_arrives),
        RECORD_TEST(predecessors_are_the_ones_that_ended_last),
        RECORD_TEST(the_last_read_counts_whoever_comes_late),
        RECORD_TEST(a_later_push_has_no_binding_predecessor),
        RECORD_TEST(a_wait_for_all_ends_what_a_profile_leaves_behind),
        RECORD_TEST(a_bulk_is_shown_with_its_members),
        RECORD_TEST(hidden_and_unnamed_operations_have_records_of_their_own),
        RECORD_TEST(an_operation_pushed_while_off_is_not_recorded),
        RECORD_TEST(a_push_before_recording_was_interrupted_is_of_no_thread),
        RECORD_TEST(classes_choose),
        RECORD_TEST(skipped_operations_leave_a_flagged_record),
        RECORD_TEST(deletions_and_waits_are_operators),
        RECORD_TEST(the_engine_counts_what_the_profile_holds),
        RECORD_TEST(a_thread_may_end_before_its_large_operation),
        RECORD_TEST(parts_lie_in_their_operation_without_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
