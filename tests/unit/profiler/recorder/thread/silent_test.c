// SPDX-License-Identifier: Apache-2.0
// Records that a signal handler leaves by a jump: the thread notices, and nobody waits for it
// again.
#include "cmocka_all.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include <mxprof/error.h>
#include <mxprof/record.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "live_events.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/test_point.h"
#include "profiler/recorder/thread/silent.h"

#if !defined(MXP_TEST_POINTS) || defined(__SANITIZE_THREAD__)
int main(void)
{
    return 77;  // compiled without, or handlers are called like functions
}
#else

enum { SPANS = 50, DEEP_BYTES = 8192 };

static mxp_name name_span;
static sigjmp_buf place;
static mxp_test_point jumps_at;
static bool jumps, records;  // what the handler does
static unsigned waits;

static void handler(int number)
{
    (void)number;
    if (records) {
        mxp_span_end(name_span, mxp_span_begin(name_span));
    }
    if (jumps) {
        siglongjmp(place, 1);
    }
}

static void at_point(mxp_test_point point)
{
    waits += point == MXP_POINT_WAIT;
    if (point == jumps_at && point != MXP_POINT_NONE) {
        jumps_at = MXP_POINT_NONE;
        raise(SIGUSR1);
    }
}

static void record(int count)
{
    for (int i = 0; i < count; i++) {
        mxp_span_end(name_span, mxp_span_begin(name_span));
    }
}

static __attribute__((noinline)) void record_deep(int count)
{
    volatile char deep[DEEP_BYTES];
    deep[0] = deep[DEEP_BYTES - 1] = 0;
    record(count);
    deep[1] = deep[0];
}

static void interrupt(mxp_test_point point, bool by_jump)
{
    jumps = by_jump;
    jumps_at = point;
    if (sigsetjmp(place, 1) == 0) {
        record(1);
    }
}

static uint64_t lost_for(const live_events *live, uint32_t reason)
{
    uint64_t count = 0;
    for (size_t i = 0; i < live->source->loss_count; i++) {
        const mxp_loss_entry *loss = &live->source->losses[i];
        count += loss->reason == reason ? loss->count : 0;
    }
    return count;
}

static void check(size_t spans, uint64_t jumped, uint64_t in_signal)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "span"), spans);
    assert_int_equal(lost_for(&live, MXP_LOSS_JUMP), jumped);
    assert_int_equal(lost_for(&live, MXP_LOSS_IN_SIGNAL), in_signal);
    live_events_free(&live);
}

static uint64_t jumped, in_signal;  // so far

static void a_thread_records_again_when_a_record_was_left_by_a_jump(void **state)
{
    (void)state;
    for (int point = MXP_POINT_BUSY; point <= MXP_POINT_WORDS; point++) {
        interrupt((mxp_test_point)point, true);
        record(SPANS);
        mxp_counter_u64(MXP_CLASS_USER, name_span, 1);
        check(SPANS, ++jumped, in_signal);
    }
    assert_int_equal(mxp__threads_unanswered(), 0);
}

enum { CHUNK_SPANS = MXP_CHUNK_BYTES / 16 };

// Records until `point` is met, where the handler jumps. How many spans were whole.
static size_t record_up_to(mxp_test_point point)
{
    volatile size_t whole = 0;
    jumps = true;
    jumps_at = point;
    if (sigsetjmp(place, 1) == 0) {
        for (; jumps_at != MXP_POINT_NONE && whole < 3 * CHUNK_SPANS; whole++) {
            record(1);
        }
    }
    return whole;
}

// The next chunk is one that was given back: that way signals are not blocked.
static void a_jump_between_two_chunks_costs_one_record(void **state)
{
    (void)state;
    for (int point = MXP_POINT_ENTERED; point <= MXP_POINT_NEXT; point++) {
        record(3 * CHUNK_SPANS);
        check(3 * CHUNK_SPANS, jumped, in_signal);
        size_t whole = record_up_to((mxp_test_point)point);
        assert_in_range(whole, 1, CHUNK_SPANS);
        check(whole, ++jumped, in_signal);  // which writes a record, and so notices
        record(2 * CHUNK_SPANS);
        check(2 * CHUNK_SPANS, jumped, in_signal);
    }
    assert_int_equal(mxp__threads_unanswered(), 0);
}

static void a_jump_is_noticed_by_the_next_hold(void **state)
{
    (void)state;
    waits = 0;
    interrupt(MXP_POINT_WORDS, true);
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    assert_int_equal(waits, 0);
    check(0, ++jumped, in_signal);
}

// From where it records it cannot know: a handler might do the same.
static void deep_below_a_jump_records_are_counted_as_lost(void **state)
{
    (void)state;
    interrupt(MXP_POINT_WORDS, true);
    record_deep(SPANS);
    in_signal += SPANS;
    record(SPANS);
    check(SPANS, ++jumped, in_signal);
}

static void a_handler_inside_a_record_records_nothing(void **state)
{
    (void)state;
    records = true;
    for (int point = MXP_POINT_BUSY; point <= MXP_POINT_WORDS; point++) {
        interrupt((mxp_test_point)point, false);
        check(1, jumped, ++in_signal);
    }
    records = false;
}

static void a_handler_on_a_stack_of_its_own_records_nothing(void **state)
{
    (void)state;
    const stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t before;
    assert_int_equal(sigaltstack(&stack, &before), 0);
    sigaction(SIGUSR1, &action, NULL);
    a_handler_inside_a_record_records_nothing(state);
    sigaltstack(&before, NULL);
    free(stack.ss_sp);
}

static bool allocator_records;
static unsigned maps;

static void *map_and_record(void *nothing, size_t size_bytes)
{
    (void)nothing;
    if (allocator_records) {
        maps++;
        record(1);
    }
    return mxp__os_map_pages(size_bytes);
}

static void unmap(void *nothing, void *pages, size_t size_bytes)
{
    (void)nothing;
    mxp__os_unmap_pages(pages, size_bytes);
}

static void an_allocator_that_records_is_inside_of_a_record(void **state)
{
    (void)state;
    enum { CHUNKS_OF_SPANS = 20000 };
    mxp__pool_trim(0);
    allocator_records = true;
    record(CHUNKS_OF_SPANS);
    allocator_records = false;
    assert_true(maps > 0);
    in_signal += maps;
    check(CHUNKS_OF_SPANS, jumped, in_signal);
}

static int set_up(void **state)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    mxp_atomic_store_release(&mxp__test_point_hook, at_point);
    return live_events_start(state);
}

int main(void)
{
    const mxp_allocator allocator = {
        .size_bytes = sizeof allocator, .map_pages = map_and_record, .unmap_pages = unmap};
    assert_int_equal(mxp_set_allocator(&allocator), MXP_OK);
    name_span = mxp_span_name("test", "span");
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thread_records_again_when_a_record_was_left_by_a_jump,
                                        set_up, live_events_stop),
        cmocka_unit_test_setup_teardown(a_jump_between_two_chunks_costs_one_record, set_up,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(a_jump_is_noticed_by_the_next_hold, set_up,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(deep_below_a_jump_records_are_counted_as_lost, set_up,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(a_handler_inside_a_record_records_nothing, set_up,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(a_handler_on_a_stack_of_its_own_records_nothing, set_up,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(an_allocator_that_records_is_inside_of_a_record, set_up,
                                        live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
