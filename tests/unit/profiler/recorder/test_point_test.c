// SPDX-License-Identifier: Apache-2.0
// A recording thread stops at each point of its path while another stops, dumps, forks, changes
// the ring, ends, begins and ends a file: no record is read twice, and none is missing uncounted.
#include "cmocka_all.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/atomic.h"
#include "each_event.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/test_point.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/trace/file/native.h"

#ifndef MXP_TEST_POINTS
int main(void)
{
    return 77;  // compiled without
}
#else

enum { RUNS, STANDS, GOES_ON, ACTED, MADE_MOST = 40000, AFTER = 100, DEPTH = 40 };

static __thread mxp_test_point stops_at;
static MXP_ATOMIC(int) stage;
static mxp_name name_span, name_counter;
static uint64_t made[MADE_MOST], found[MADE_MOST], lost;
static size_t made_count, found_count;
static mxp_test_point wanted;
static bool answers;  // as soon as somebody waits for it; else not before all is done
static unsigned waits;  // how often somebody has looked whether it does
static bool counters;  // written by calls; else spans by the inline path

static int stage_now(void)
{
    return mxp_atomic_load_acquire(&stage);
}

static void set_stage(int to)
{
    mxp_atomic_store_release(&stage, to);
}

static void wait_for(int wished)
{
    while (stage_now() < wished) {
        sched_yield();
    }
}

static void at_point(mxp_test_point point)
{
    if (point == MXP_POINT_WAIT && stage_now() == STANDS) {
        waits++;
        answers ? set_stage(GOES_ON) : (void)0;
    }
    if (point == stops_at && stops_at != MXP_POINT_NONE) {
        stops_at = MXP_POINT_NONE;
        set_stage(STANDS);
        wait_for(GOES_ON);
    }
}

// ---- what is recorded --------------------------------------------------------------------------
static void make_one(void)
{
    assert_true(made_count < MADE_MOST);
    if (counters) {
        made[made_count] = made_count + 1;
        mxp_counter_u64(MXP_CLASS_USER, name_counter, ++made_count);
    } else {
        uint64_t token = mxp_span_begin(name_span);
        made[made_count++] = token;
        mxp_span_end(name_span, token);
    }
}

static void *make_and_stand(void *nothing)
{
    make_one();  // whatever the first record needs is there
    stops_at = wanted;
    while (stops_at != MXP_POINT_NONE) {
        make_one();
    }
    wait_for(ACTED);
    for (int i = 0; i < AFTER; i++) {
        make_one();
    }
    return nothing;
}

// ---- what is read ------------------------------------------------------------------------------
static void find(void *unused, const mxp_event *event)
{
    (void)unused;
    bool is_span = event->kind == MXP_KIND_SPAN && event->name == name_span;
    bool is_counter = event->kind == MXP_KIND_COUNTER && event->name == name_counter;
    if (is_span || is_counter) {
        assert_true(found_count < MADE_MOST);
        found[found_count++] = is_span ? event->begin_ticks : event->value.u64;
    }
}

static void read_live(void)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (size_t i = 0; i < live.count; i++) {
        find(NULL, &live.events[i]);
    }
    lost = live_events_lost(&live);  // since the process began
    live_events_free(&live);
}

static void read_file(const char *path)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    assert_null(damage.text);
    each_event(source, find, NULL);
    lost = 0;  // since the process began
    for (size_t i = 0; i < source->loss_count; i++) {
        lost += source->losses[i].count;
    }
    mxp__source_close(source);
    unlink(path);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

// Each record that was found was made, and none is found twice; how many are missing.
static size_t check_found(void)
{
    qsort(found, found_count, sizeof *found, compare);
    size_t at = 0;
    for (size_t i = 0; i < found_count; i++) {
        while (at < made_count && made[at] < found[i]) {
            at++;
        }
        assert_true(at < made_count && made[at] == found[i]);
        at++;
    }
    return made_count - found_count;
}

// ---- what is done meanwhile --------------------------------------------------------------------
static void set_policy(int policy)
{
    mxp_recorder_limits set = {UINT64_C(1) << 30, policy, 0, 0, 0, 0};
    assert_int_equal(mxp__recorder_limits_set(&set), 0);
}

static void stop_and_start(void)
{
    mxp__recorder_stop(1);
    read_live();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
}

static void ring_on_and_off(void)
{
    set_policy(MXP_FULL_RING);
    set_policy(MXP_FULL_GROW);
}

static int child_records(void)
{
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name_span, mxp_span_begin(name_span));
    mxp__recorder_stop(1);
    mxp_source *source;
    if (mxp__live_open(MXP__CONSUMER_FILE, &source) != 0) {
        return 1;
    }
    return source->thread_count != 1 || source->threads[0].records != 3;
}

static void fork_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(child_records());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void *record_once(void *nothing)
{
    mxp_instant(MXP_CLASS_USER, name_span, MXP_INSTANT_THREAD);
    return nothing;
}

static void end_a_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_once, NULL), 0);
    pthread_join(thread, NULL);
    read_live();
    mxp__threads_reclaim();
}

static void dump_twice(void)
{
    read_live();
    read_live();
}

static void (*const actions[])(void) = {stop_and_start, dump_twice, ring_on_and_off, fork_child,
                                        end_a_thread};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

// ---- the tests ---------------------------------------------------------------------------------
static pthread_t begin_maker(mxp_test_point point, bool with_counters)
{
    pthread_t maker;
    made_count = found_count = 0;
    wanted = point;
    counters = with_counters;
    set_stage(RUNS);
    assert_int_equal(pthread_create(&maker, NULL, make_and_stand, NULL), 0);
    wait_for(STANDS);
    return maker;
}

static void end_maker(pthread_t maker)
{
    set_stage(ACTED);
    pthread_join(maker, NULL);
}

static void meet(mxp_test_point point, bool with_counters, void (*act)(void))
{
    uint64_t lost_before = lost;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    pthread_t maker = begin_maker(point, with_counters);
    act();
    end_maker(maker);
    mxp__recorder_stop(1);
    read_live();
    // A call that has not yet seen the gate when recording stops records nothing.
    size_t unseen = point == MXP_POINT_BUSY && with_counters && act == stop_and_start;
    size_t missing = check_found();
    assert_in_range(missing, lost - lost_before, lost - lost_before + unseen);
}

static void every_record_is_read_once_or_counted(void **state)
{
    (void)state;
    for (int point = MXP_POINT_BUSY; point <= MXP_POINT_NEXT; point++) {
        for (int i = 0; i < 2 * ACTIONS; i++) {
            meet((mxp_test_point)point, i % 2 != 0, actions[i / 2]);
        }
    }
    assert_int_equal(lost, 0);
    assert_int_equal(mxp__threads_unanswered(), 0);
}

static void answer_nobody(void)
{
    answers = false;
    mxp__freeze_patience(100);
}

static void a_record_that_comes_after_the_stop_is_counted_as_lost(void **state)
{
    (void)state;
    answer_nobody();
    for (int point = MXP_POINT_BUSY; point <= MXP_POINT_NEXT; point++) {
        for (int i = 0; i < 2 * ACTIONS; i++) {
            meet((mxp_test_point)point, i % 2 != 0, actions[i / 2]);
        }
    }
    assert_true(mxp__threads_unanswered() > 0);
}

static void nobody_waits_twice_for_a_thread_that_does_not_answer(void **state)
{
    (void)state;
    answer_nobody();
    uint64_t before = mxp__threads_unanswered(), lost_before = lost;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    pthread_t maker = begin_maker(MXP_POINT_WORDS, true);
    waits = 0;
    mxp__recorder_stop(1);
    assert_true(waits > 1);
    waits = 0;
    stop_and_start();
    dump_twice();
    ring_on_and_off();
    assert_int_equal(waits, 0);
    mxp_report report;
    mxp__recorder_report(&report);
    assert_int_equal(report.unanswered, before + 1);
    end_maker(maker);
    read_live();
    assert_int_equal(check_found(), 1);  // the one that it was in the middle of
    assert_int_equal(lost, lost_before + 1);
    mxp__recorder_stop(1);
}

// The stop that has not waited for it continues while it answers.
static void answer_in_the_stop(mxp_test_point point)
{
    if (point != MXP_POINT_OFF || stage_now() != STANDS) {
        at_point(point);
        return;
    }
    const mxp_thread *maker = mxp__threads();
    assert_true(mxp__thread_is_silent(maker));
    set_stage(GOES_ON);
    while (mxp__thread_is_silent(maker)) {
        sched_yield();
    }
}

static uint64_t late(void)
{
    uint64_t count = 0;
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (size_t i = 0; i < live.source->loss_count; i++) {
        const mxp_loss_entry *loss = &live.source->losses[i];
        count += loss->reason == MXP_LOSS_LATE ? loss->count : 0;
    }
    lost = live_events_lost(&live);
    live_events_free(&live);
    return count;
}

static void a_record_whose_thread_answers_in_a_stop_is_late(void **state)
{
    (void)state;
    answer_nobody();
    uint64_t late_before = late(), lost_before = lost;
    mxp_atomic_store_release(&mxp__test_point_hook, answer_in_the_stop);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    pthread_t maker = begin_maker(MXP_POINT_GATE, true);
    dump_twice();
    mxp__recorder_stop(1);
    end_maker(maker);
    assert_int_equal(late() - late_before, 1);
    assert_int_equal(lost - lost_before, 1);
}

static void *nest_and_stand(void *nothing)
{
    uint64_t tokens[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        tokens[i] = mxp_span_begin(name_span);
        made[made_count++] = tokens[i];
    }
    stops_at = wanted;
    for (int i = DEPTH; i-- > 0;) {
        mxp_span_end(name_span, tokens[i]);
    }
    return nothing;
}

// The innermost one is late; the others are closed by the stop, some of which have no name there.
static void deep_spans_of_a_thread_that_does_not_answer_are_its_own(void **state)
{
    (void)state;
    answer_nobody();
    uint64_t late_before = late(), lost_before = lost;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    made_count = found_count = 0;
    wanted = MXP_POINT_WORDS;
    set_stage(RUNS);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, nest_and_stand, NULL), 0);
    wait_for(STANDS);
    mxp__recorder_stop(1);
    set_stage(GOES_ON);
    pthread_join(thread, NULL);
    read_live();
    assert_int_equal(check_found(), 1);
    assert_int_equal(lost - lost_before, 1);
    assert_int_equal(late() - late_before, 1);
}

// ---- files -------------------------------------------------------------------------------------
static void configure(int store, const char *path)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.filename = "/dev/null";
    config.native_filename = path;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
}

static void begin_a_file(void)
{
    configure(MXP_STORE_FILE, "begun.mxp");
}

static void end_a_file(void)
{
    assert_int_equal(mxp_session_stop(mxp_session_get()), 0);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    configure(MXP_STORE_FILE, "after.mxp");
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
}

static void meet_file(mxp_test_point point, bool with_counters, bool begins)
{
    mxp_session *session = mxp_session_get();
    read_live();
    uint64_t lost_before = lost;
    configure(begins ? MXP_STORE_MEMORY : MXP_STORE_FILE, "begun.mxp");
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t maker = begin_maker(point, with_counters);
    begins ? begin_a_file() : end_a_file();
    end_maker(maker);
    if (!begins) {
        read_file("begun.mxp");
    }
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    read_file(begins ? "begun.mxp" : "after.mxp");
    size_t unseen = point == MXP_POINT_BUSY && with_counters && !begins;
    size_t missing = check_found();
    assert_in_range(missing, lost - lost_before, lost - lost_before + unseen);
}

static void every_record_is_in_one_file(void **state)
{
    (void)state;
    for (int point = MXP_POINT_BUSY; point <= MXP_POINT_NEXT; point++) {
        for (int i = 0; i < 4; i++) {
            meet_file((mxp_test_point)point, i % 2 != 0, i / 2 != 0);
        }
    }
}

static void a_record_that_comes_after_a_file_is_in_none(void **state)
{
    answer_nobody();
    every_record_is_in_one_file(state);
}

static uint64_t open_token;

static void *begin_beside_the_exchange(void *nothing)
{
    make_one();  // it has a page
    set_stage(STANDS);
    wait_for(GOES_ON);
    open_token = mxp_span_begin(name_span);  // what the exchange takes away is its name alone
    made[made_count++] = open_token;
    set_stage(ACTED);
    make_one();  // waits for the end of the hold
    mxp_span_end(name_span, open_token);
    return nothing;
}

static void stand_at_pages(mxp_test_point point)
{
    if (point == MXP_POINT_PAGES && stage_now() == STANDS) {
        set_stage(GOES_ON);
        wait_for(ACTED);
    }
}

static void a_span_begun_while_pages_are_exchanged_is_recorded(void **state)
{
    (void)state;
    mxp_atomic_store_release(&mxp__test_point_hook, stand_at_pages);
    made_count = found_count = 0;
    counters = false;
    set_stage(RUNS);
    configure(MXP_STORE_MEMORY, "begun.mxp");
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, begin_beside_the_exchange, NULL), 0);
    wait_for(STANDS);
    configure(MXP_STORE_FILE, "begun.mxp");
    pthread_join(thread, NULL);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    read_file("begun.mxp");
    qsort(made, made_count, sizeof *made, compare);
    assert_int_equal(check_found(), 0);
}

static int set_hook(void **state)
{
    (void)state;
    mxp_atomic_store_release(&mxp__test_point_hook, at_point);
    mxp__freeze_patience(UINT_MAX);
    answers = true;
    return 0;
}

int main(void)
{
    name_span = mxp_span_name("test", "span");
    name_counter = mxp_intern("test", "counter", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_record_is_read_once_or_counted, set_hook),
        cmocka_unit_test_setup(a_record_that_comes_after_the_stop_is_counted_as_lost, set_hook),
        cmocka_unit_test_setup(nobody_waits_twice_for_a_thread_that_does_not_answer, set_hook),
        cmocka_unit_test_setup(a_record_whose_thread_answers_in_a_stop_is_late, set_hook),
        cmocka_unit_test_setup(deep_spans_of_a_thread_that_does_not_answer_are_its_own, set_hook),
        cmocka_unit_test_setup(every_record_is_in_one_file, set_hook),
        cmocka_unit_test_setup(a_record_that_comes_after_a_file_is_in_none, set_hook),
        cmocka_unit_test_setup(a_span_begun_while_pages_are_exchanged_is_recorded, set_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
