// SPDX-License-Identifier: Apache-2.0
// What is recorded beside operations, so that analyses know why a thread went on: waits with what
// ended them, operations that tables do not show, and how a worker came to an operation.
#include <pthread.h>
#include <stdlib.h>

#include <mxprof/record.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum {
    LONG_US = 20000,  // a thread that waits so long sleeps
    IDLE_US = 10 * LONG_US  // so does a worker without work, which needs a core once before
};

static mxn_var *a, *b;

static int begin(void **state)
{
    (void)state;
    a = mxn_var_new();
    b = mxn_var_new();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    return 0;
}

static live_events take(void)
{
    mxp__recorder_stop(1);
    return live_events_take(MXP__CONSUMER_FILE);
}

static int end(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxn_var_delete(a, NULL, NULL, 0);
    mxn_var_delete(b, NULL, NULL, 0);
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

// ---- a gate that somebody else opens ----------------------------------------------------------

typedef struct late_gate {
    engine_gate gate;
    pthread_t opener;
} late_gate;

static void *open_late(void *gate)
{
    mxp__os_sleep_us(LONG_US);
    engine_gate_open(gate);
    return NULL;
}

static void late_gate_push(late_gate *late, mxn_var *read, mxn_var *write)
{
    late->gate = (engine_gate){0};
    mxn_work work = {.function.sync = engine_gate_function,
                     .argument = &late->gate,
                     .name = mxp_span_name("operator", "gate")};
    assert_int_equal(engine_push_work(work, read, write), 0);
    engine_gate_wait_entered(&late->gate);
    assert_int_equal(pthread_create(&late->opener, NULL, open_late, &late->gate), 0);
}

static void late_gate_end(late_gate *late)
{
    pthread_join(late->opener, NULL);
}

// ---- what was recorded ------------------------------------------------------------------------

static const mxp_event *only(const live_events *live, int kind, const char *name)
{
    const mxp_event *event = live_events_find(live, kind, name, 0);
    assert_non_null(event);
    assert_null(live_events_find(live, kind, name, 1));
    return event;
}

static mxp_operator_view operator_of(const mxp_event *event)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    return view;
}

static mxp_wait_view wait_of(const mxp_event *event)
{
    mxp_wait_view view;
    mxp__event_wait(event, &view);
    return view;
}

static uint32_t flags_of(const live_events *live, const char *name)
{
    return only(live, MXP_KIND_OPERATOR, name)->flags;
}

// ---- waits ------------------------------------------------------------------------------------

static void a_wait_for_nothing_takes_no_time(void **state)
{
    (void)state;
    assert_int_equal(mxn_var_wait(a), 0);
    live_events live = take();
    const mxp_event *event = only(&live, MXP_KIND_WAIT, "WaitForVar");
    assert_int_equal(event->flags, 0);
    assert_true(event->begin_ticks == event->end_ticks);
    assert_int_equal(wait_of(event).what, MXP_WAIT_WRITTEN);
    assert_int_equal(wait_of(event).ended_by, 0);
    assert_int_equal(wait_of(event).variable, mxn_var_id(a));
    live_events_free(&live);
}

static void a_wait_names_the_operator_that_ended_it(void **state)
{
    (void)state;
    late_gate late;
    late_gate_push(&late, NULL, a);
    assert_int_equal(mxn_var_wait(a), 0);
    late_gate_end(&late);
    live_events live = take();
    const mxp_event *event = only(&live, MXP_KIND_WAIT, NULL);
    const mxp_event *wait = only(&live, MXP_KIND_OPERATOR, "WaitForVar");
    const mxp_event *gate = only(&live, MXP_KIND_OPERATOR, "gate");
    assert_int_equal(event->flags, MXP_WAIT_BLOCKED | MXP_WAIT_SLEPT);
    assert_int_equal(wait_of(event).what, MXP_WAIT_WRITTEN);
    assert_int_equal(wait_of(event).ended_by, operator_of(wait).id);
    assert_int_equal(wait_of(event).variable, mxn_var_id(a));
    assert_int_equal(operator_of(wait).released_by, operator_of(gate).id);
    assert_int_equal(event->thread, mxp_thread_index());
    // One clock read is both: the begin of the wait and the push of its operator.
    assert_true(event->begin_ticks == operator_of(wait).push_ticks);
    assert_true(event->end_ticks >= wait->end_ticks);
    live_events_free(&live);
}

// It pushes a write, which waits for the readers, and then waits for that.
static void a_wait_until_unused_leads_to_the_last_reader(void **state)
{
    (void)state;
    late_gate late;
    late_gate_push(&late, a, NULL);
    assert_int_equal(mxn_var_wait_write(a), 0);
    late_gate_end(&late);
    live_events live = take();
    const mxp_event *event = only(&live, MXP_KIND_WAIT, NULL);
    const mxp_operator_view wait = operator_of(only(&live, MXP_KIND_OPERATOR, "WaitForVar"));
    const mxp_operator_view write = operator_of(only(&live, MXP_KIND_HIDDEN, NULL));
    const mxp_operator_view gate = operator_of(only(&live, MXP_KIND_OPERATOR, "gate"));
    assert_int_equal(event->flags, MXP_WAIT_BLOCKED | MXP_WAIT_SLEPT);
    assert_int_equal(wait_of(event).what, MXP_WAIT_UNUSED);
    assert_int_equal(wait_of(event).ended_by, wait.id);
    assert_int_equal(wait.released_by, write.id);
    assert_int_equal(write.released_by, gate.id);
    assert_int_equal(write.variable_count, 1);
    live_events_free(&live);
}

static void a_wait_for_all_says_whether_it_blocked(void **state)
{
    (void)state;
    late_gate late;
    assert_int_equal(mxn_wait_all(), 0);
    late_gate_push(&late, NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    late_gate_end(&late);
    live_events live = take();
    const mxp_event *idle = live_events_find(&live, MXP_KIND_WAIT, "WaitForAll", 0);
    const mxp_event *event = live_events_find(&live, MXP_KIND_WAIT, "WaitForAll", 1);
    assert_true(idle != NULL && event != NULL);
    assert_true(idle->flags == 0 && idle->begin_ticks == idle->end_ticks);
    assert_int_equal(event->flags, MXP_WAIT_BLOCKED | MXP_WAIT_SLEPT);
    assert_int_equal(wait_of(event).what, MXP_WAIT_ALL);
    assert_int_equal(wait_of(event).ended_by, 0);
    assert_int_equal(wait_of(event).variable, 0);
    // What ended it is the operator with the last end before its own.
    const mxp_event *gate = only(&live, MXP_KIND_OPERATOR, "gate");
    assert_true(gate->end_ticks <= event->end_ticks && gate->end_ticks > event->begin_ticks);
    live_events_free(&live);
}

static void *push_and_wait(void *unused)
{
    push_named("naive", NULL, a);
    return mxn_var_wait(a) == 0 ? unused : a;
}

static void with_naive_engine_waits_are_those_for_other_threads(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, push_and_wait, NULL), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    live_events live = take();
    assert_int_equal(only(&live, MXP_KIND_WAIT, "WaitForVar")->flags, 0);
    live_events_free(&live);
    engine_use(NULL);
}

static void without_operators_there_are_no_waits(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_API | MXP_CLASS_MEMORY | MXP_CLASS_USER, 0);
    assert_int_equal(mxn_var_wait(a), 0);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    assert_int_equal(live_events_count(&live, MXP_KIND_WAIT, NULL), 0);
    live_events_free(&live);
}

// ---- how an operation came to its worker ------------------------------------------------------

static void a_worker_that_slept_says_so_once(void **state)
{
    (void)state;
    engine_gate gate = {0};
    mxp__os_sleep_us(IDLE_US);
    const mxn_work work = {.function.sync = engine_gate_function,
                           .argument = &gate,
                           .name = mxp_span_name("operator", "woke")};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    push_named("went on", NULL, a);
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    assert_int_equal(flags_of(&live, "woke"), MXP_OP_WOKE);
    assert_int_equal(flags_of(&live, "went on"), 0);
    live_events_free(&live);
}

static void the_first_of_a_bulk_says_it_too(void **state)
{
    (void)state;
    mxp__os_sleep_us(IDLE_US);
    mxn_bulk_size_set(2);
    push_named("first", NULL, a);
    push_named("second", NULL, a);
    mxn_bulk_size_set(0);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    assert_int_equal(flags_of(&live, "ImperativeBulk"), MXP_OP_BULK_PARENT | MXP_OP_WOKE);
    assert_int_equal(flags_of(&live, "first"), MXP_OP_WOKE);
    assert_int_equal(flags_of(&live, "second"), 0);
    live_events_free(&live);
}

// What slept while nothing was recorded is not said of a later operation.
static void sleep_from_before_recording_is_forgotten(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp__os_sleep_us(IDLE_US);
    engine_gate gate = {0};
    engine_gate_push(&gate, NULL);
    engine_gate_wait_entered(&gate);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    push_named("later", NULL, a);
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    assert_int_equal(flags_of(&live, "later"), 0);
    live_events_free(&live);
}

static void push_to(const char *name, uint32_t flags, int property)
{
    mxn_work work = {.function.sync = engine_do_nothing,
                     .name = mxp_span_name("operator", name),
                     .flags = flags,
                     .property = property};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
}

static void push_template(void)
{
    const mxn_work work = {.function.sync = engine_do_nothing,
                           .flags = MXP_KERNEL_OWN << MXN_WORK_FAMILY_SHIFT,
                           .name = mxp_span_name("operator", "member")};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(&work, 1, &made), 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    mxn_bulk_template_free(made);
}

static void complete_at_once(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    (void)argument;
    mxn_complete(completion, 0);
}

static void push_handing_over(const char *name)
{
    const mxn_work work = {.function.async = complete_at_once,
                           .form = MXN_ASYNC_FUNCTION,
                           .name = mxp_span_name("operator", name),
                           .flags = MXN_WORK_HANDS_OVER};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
}

static void operators_tell_their_queue(void **state)
{
    (void)state;
    setenv("MXNET_CPU_WORKER_NTHREADS", "2", 1);
    engine_use(NULL);
    push_template();
    push_to("parallel", MXN_WORK_PARALLEL, MXN_NORMAL);
    push_to("small", 0, MXN_NORMAL);
    push_to("urgent", 0, MXN_CPU_PRIORITIZED);
    push_handing_over("handed over");
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    const uint32_t mask = 3u << MXP_OP_QUEUE_SHIFT;
    assert_int_equal(flags_of(&live, "parallel") & mask, MXP_QUEUE_COMPUTE << MXP_OP_QUEUE_SHIFT);
    assert_int_equal(flags_of(&live, "small") & mask, MXP_QUEUE_LIGHT << MXP_OP_QUEUE_SHIFT);
    assert_int_equal(flags_of(&live, "urgent") & mask, MXP_QUEUE_PRIORITY << MXP_OP_QUEUE_SHIFT);
    assert_int_equal(flags_of(&live, "handed over") & mask, MXP_QUEUE_NONE << MXP_OP_QUEUE_SHIFT);
    assert_int_equal(flags_of(&live, "ImperativeBulk") & mask,
                     MXP_QUEUE_LIGHT << MXP_OP_QUEUE_SHIFT);
    const uint32_t member = flags_of(&live, "member");
    assert_int_equal(member & mask, MXP_QUEUE_LIGHT << MXP_OP_QUEUE_SHIFT);
    assert_int_equal(member >> MXP_OP_FAMILY_SHIFT, MXP_KERNEL_OWN);
    live_events_free(&live);
    unsetenv("MXNET_CPU_WORKER_NTHREADS");
    engine_use(NULL);
}

// ---- asynchronous operations ------------------------------------------------------------------

static void keep_completion(const mxn_run *run, void *place, mxn_completion *completion)
{
    (void)run;
    *(mxn_completion **)place = completion;
}

static int complete_it(const mxn_run *run, void *place)
{
    (void)run;
    mxn_complete(*(mxn_completion **)place, 0);
    return 0;
}

// From its start on the worker to its completion inside of another operation.
static void an_asynchronous_operator_ends_inside_of_who_completes_it(void **state)
{
    (void)state;
    mxn_completion *completion = NULL;
    const mxn_work work = {.function.async = keep_completion,
                           .form = MXN_ASYNC_FUNCTION,
                           .argument = &completion,
                           .name = mxp_span_name("operator", "async")};
    assert_int_equal(engine_push_work(work, NULL, a), 0);
    push_named("between", NULL, b);
    const mxn_work completer = {.function.sync = complete_it,
                                .argument = &completion,
                                .name = mxp_span_name("operator", "completer")};
    assert_int_equal(engine_push_work(completer, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    const mxp_event *async = only(&live, MXP_KIND_OPERATOR, "async");
    const mxp_event *between = only(&live, MXP_KIND_OPERATOR, "between");
    const mxp_event *ended = only(&live, MXP_KIND_OPERATOR, "completer");
    assert_true((async->flags & MXP_OP_ASYNC) != 0);
    assert_int_equal((between->flags | ended->flags) & MXP_OP_ASYNC, 0);
    assert_true(async->begin_ticks <= between->begin_ticks);
    assert_true(async->end_ticks >= ended->begin_ticks && async->end_ticks <= ended->end_ticks);
    live_events_free(&live);
}

// ---- who computes it --------------------------------------------------------------------------

static int say_family(const mxn_run *run, void *family)
{
    (void)run;
    mxn_running_family(*(uint32_t *)family);
    return 0;
}

static void a_family_is_known_at_the_push_or_told_later(void **state)
{
    (void)state;
    uint32_t own = MXP_KERNEL_OWN;
    mxn_work work = {.function.sync = engine_do_nothing,
                     .flags = MXP_KERNEL_ONEDNN << MXN_WORK_FAMILY_SHIFT,
                     .name = mxp_span_name("operator", "pushed")};
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    work.function.sync = say_family;
    work.argument = &own;
    work.name = mxp_span_name("operator", "told");
    assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    push_named("unknown", NULL, NULL);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = take();
    assert_int_equal(flags_of(&live, "pushed") >> MXP_OP_FAMILY_SHIFT, MXP_KERNEL_ONEDNN);
    assert_int_equal(flags_of(&live, "told") >> MXP_OP_FAMILY_SHIFT, MXP_KERNEL_OWN);
    assert_int_equal(flags_of(&live, "unknown") >> MXP_OP_FAMILY_SHIFT, MXP_KERNEL_UNKNOWN);
    live_events_free(&live);
}

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(a_wait_for_nothing_takes_no_time),
        WAIT_TEST(a_wait_names_the_operator_that_ended_it),
        WAIT_TEST(a_wait_until_unused_leads_to_the_last_reader),
        WAIT_TEST(a_wait_for_all_says_whether_it_blocked),
        WAIT_TEST(with_naive_engine_waits_are_those_for_other_threads),
        WAIT_TEST(without_operators_there_are_no_waits),
        WAIT_TEST(a_worker_that_slept_says_so_once),
        WAIT_TEST(the_first_of_a_bulk_says_it_too),
        WAIT_TEST(sleep_from_before_recording_is_forgotten),
        WAIT_TEST(operators_tell_their_queue),
        WAIT_TEST(an_asynchronous_operator_ends_inside_of_who_completes_it),
        WAIT_TEST(a_family_is_known_at_the_push_or_told_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
