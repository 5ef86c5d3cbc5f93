// SPDX-License-Identifier: Apache-2.0
// One call at a time, each on a thread that knows of the calls before it only what the library lets
// it know (relay.h). For ThreadSanitizer: two calls that touch the same without an order of the
// library's own are found whenever one follows the other, not only when they meet. Threads that
// come to an end are never joined. 2000 calls, 20000 with MXPROF_TEST_LONG=1; the same in every
// run.
#define MXP_INLINE
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "profiler/recorder/recorder.h"
#include "random.h"
#include "relay.h"
#include "stress_time.h"

enum { THREADS = 4, NOBODY = -1, HELD_MAX = 8 };

static mxp_session *session;
static mxp_handle domain, counter, task;
static mxp_name name_span, name_counter;

// ---- recording ---------------------------------------------------------------------------------
static __thread uint64_t held[HELD_MAX];  // spans that are open
static __thread unsigned held_count;

static void spans(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        mxp_span_end(name_span, mxp_span_begin(name_span));
    }
}

static void one_span(unsigned number)
{
    (void)number;
    spans(1);
}

static void chunks_of_spans(unsigned number)
{
    (void)number;
    spans(6000);
}

static void open_span(unsigned number)
{
    (void)number;
    if (held_count < HELD_MAX) {
        held[held_count++] = mxp_span_begin(name_span);
    }
}

static void close_span(unsigned number)
{
    (void)number;
    if (held_count > 0) {
        mxp_span_end(name_span, held[--held_count]);
    }
}

static void long_span(unsigned number)
{
    const mxp_arg arg = {.key = name_span, .type = MXP_ARG_U64, .value = {.u64 = number}};
    uint64_t now = mxp_ticks();
    mxp_span_emit(
        MXP_CLASS_USER,
        &(mxp_span){
            .name = name_span, .begin_ticks = now, .end_ticks = now, .arg_count = 1, .args = &arg});
}

static void records_of_other_kinds(unsigned number)
{
    const uint32_t variables[] = {1, 2, 3};
    uint64_t now = mxp_ticks();
    mxp_counter_u64(MXP_CLASS_USER, name_counter, number);
    mxp_instant(MXP_CLASS_USER, name_span, MXP_INSTANT_THREAD);
    mxp_step(number);
    mxp_memory_emit(&(mxp_memory){.name = name_span, .block = number});
    mxp_operator_emit(MXP_CLASS_IMPERATIVE, &(mxp_operator){.name = name_span,
                                                            .start_ticks = now,
                                                            .end_ticks = now,
                                                            .variable_count = 3,
                                                            .variables = variables});
}

static void scopes_and_names(unsigned number)
{
    static __thread unsigned depth;
    char name[32];
    snprintf(name, sizeof name, "name %u", number);
    if (number % 2 == 0 && depth < 5) {
        mxp_scope_push(name);
        depth++;
    } else if (depth > 0) {
        mxp_scope_pop();
        depth--;
    }
    mxp_thread_name(name);
}

static void long_name(unsigned number)
{
    static __thread char name[40000];  // each with a section of its own in a file
    memset(name, 'n', sizeof name - 1);
    name[snprintf(name, sizeof name, "%u", number % 100)] = 'n';
    mxp_string(name);
}

static void objects(unsigned number)
{
    mxp_handle other, event;
    char name[32];
    snprintf(name, sizeof name, "domain %u", number % 50);
    mxp_counter_adjust(counter, number % 2 == 0 ? 1 : -1);
    mxp_marker_set(domain, "marker", "process");
    if (number % 3 == 0) {
        mxp_duration_start(task);
    } else {
        mxp_duration_stop(task);
    }
    if (mxp_domain_create(name, &other) == 0 && mxp_task_create(other, "task", &event) == 0) {
        mxp_duration_start(event);
        mxp_object_destroy(event);
    }
}

static int tid;

static void *record_and_end(void *count)
{
    mxp_scope_push("left behind");
    spans((unsigned)(uintptr_t)count);
    __atomic_store_n(&tid, (int)mxp__os_thread_id(), __ATOMIC_RELAXED);
    return NULL;
}

static void short_thread(unsigned number)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    __atomic_store_n(&tid, 0, __ATOMIC_RELAXED);
    pthread_t thread;
    void *count = (void *)(uintptr_t)(number % 2 == 0 ? 9000 : 3);
    if (pthread_create(&thread, &detached, record_and_end, count) == 0) {
        while (__atomic_load_n(&tid, __ATOMIC_RELAXED) == 0) {
            sched_yield();
        }
        relay_wait_gone(&tid);
    }
    pthread_attr_destroy(&detached);
}

// ---- the session -------------------------------------------------------------------------------
static void run(unsigned number)
{
    (void)number;
    mxp_session_run(session);
}

static void stop_or_pause(unsigned number)
{
    if (number % 3 == 0) {
        mxp_session_stop(session);
    } else {
        mxp_session_pause(session, number % 3 == 1);
    }
}

static void dump(unsigned number)
{
    mxp_session_dump(session, number % 2 == 0);
}

static void print(unsigned number)
{
    const char *text;
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, number % 2 == 0, &text);
    mxp_session_report(session, &report);
}

static void snapshot(unsigned number)
{
    mxp_session_snapshot(session, number % 2 == 0 ? "relay_shot.mxp" : "relay_shot.json",
                         number % 3 == 0 ? 0 : 1);
}

static void tidy(unsigned number)
{
    (void)number;
    mxp__threads_reclaim();
}

static void configure(unsigned number)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = number % 2 == 0 ? "relay_a.json" : "relay_b.json";
    config.native_filename = number % 3 == 0 ? "relay.mxp" : NULL;
    config.continuous_dump = number % 4 == 0;
    config.dump_period_s = 0.005;
    config.aggregate_stats = number % 5 != 0;
    config.statistics_only = number % 11 == 5;
    config.memory_limit_bytes = (number % 2 == 0 ? 64 : 4) << 20;
    config.store = number / 7 % 2 == 0 ? MXP_STORE_MEMORY : MXP_STORE_FILE;
    config.full_policy = (int)(number / 3 % 3);
    if (config.full_policy != MXP_FULL_GROW) {
        config.memory_limit_bytes = 4 << 20;
    }
    if (config.full_policy == MXP_FULL_RING) {
        config.aggregate_stats = config.statistics_only = 0;
    }
    if (number % 4 == 1) {
        config.snapshot_step_factor = 3;
        config.snapshot_counter = "relay:number>1000";
        config.snapshot_filename = "relay_asked.mxp";
    }
    mxp_session_configure(session, &config);
}

static uint32_t tapped;

static void count_tap(void *count, const mxp_tap_event *event)
{
    (void)event;
    __atomic_fetch_add((uint32_t *)count, 1, __ATOMIC_RELAXED);
}

static void change_taps(unsigned number)
{
    if (number % 2 == 0) {
        mxp_tap_add(count_tap, &tapped);
    } else {
        mxp_tap_remove(count_tap, &tapped);
    }
}

static void look(void *context, const mxp_config *config)
{
    (void)context;
    assert_true(strlen(config->filename) > 0 && strlen(config->snapshot_filename) > 0);
}

// ---- the relay ---------------------------------------------------------------------------------
static void (*const calls[])(unsigned number) = {
    one_span,
    one_span,
    chunks_of_spans,
    open_span,
    close_span,
    long_span,
    one_span,
    records_of_other_kinds,
    scopes_and_names,
    long_name,
    objects,
    objects,
    short_thread,
    short_thread,
    run,
    run,
    run,
    stop_or_pause,
    dump,
    print,
    snapshot,
    tidy,
    configure,
    change_taps,
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static int turn = NOBODY;
static unsigned next_call, next_number;

static void *take_turns(void *which)
{
    int mine = (int)(intptr_t)which;
    for (;;) {
        relay_wait(&turn, mine);
        unsigned call = __atomic_load_n(&next_call, __ATOMIC_RELAXED);
        if (call == CALLS) {
            return NULL;
        }
        calls[call](__atomic_load_n(&next_number, __ATOMIC_RELAXED));
        relay_pass(&turn, NOBODY);
    }
}

static void take_turn(int thread, unsigned call, unsigned number)
{
    __atomic_store_n(&next_call, call, __ATOMIC_RELAXED);
    __atomic_store_n(&next_number, number, __ATOMIC_RELAXED);
    relay_pass(&turn, thread);
}

static void calls_of_threads_that_only_the_library_orders(void **state)
{
    (void)state;
    session = mxp_session_get();
    name_span = mxp_span_name("relay", "span");
    name_counter = mxp_intern("relay", "number", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    assert_int_equal(mxp_domain_create("relay", &domain), 0);
    assert_int_equal(mxp_task_create(domain, "task", &task), 0);
    assert_int_equal(mxp_counter_create(domain, "counter", &counter), 0);
    assert_int_equal(mxp_session_observe(session, look, NULL), 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        void *which = (void *)(intptr_t)i;
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, which), 0);
    }
    uint64_t random = 1;
    for (int steps = stress_is_long() ? 20000 : 2000; steps > 0; steps--) {
        take_turn((int)random_below(&random, THREADS), (unsigned)random_below(&random, CALLS),
                  (unsigned)random_below(&random, 1 << 20));
        relay_wait(&turn, NOBODY);
    }
    for (int i = 0; i < THREADS; i++) {
        take_turn(i, CALLS, 0);
        pthread_join(threads[i], NULL);
    }
    mxp_session_stop(session);
    configure(0);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_threads_that_only_the_library_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
