// SPDX-License-Identifier: Apache-2.0
// What a ring records while it is pinned goes into spare room, which is spare again afterwards.
#include "cmocka_all.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "each_event.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/trace/event.h"
#include "whole_file.h"

enum { LIMIT_BYTES = 4 << 20, PINS = 500, CHUNK_RECORDS = 2100 };

static const char path[] = "pinned.mxp";
static mxp_session *session;
static mxp_name counter, late;
static uint64_t counted;

static void count_up(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        mxp_counter_u64(MXP_CLASS_USER, counter, ++counted);
    }
}

// ---- what there is -----------------------------------------------------------------------------
static mxp_report report(void)
{
    mxp_report now = {.size_bytes = sizeof now};
    assert_int_equal(mxp_session_report(session, &now), 0);
    return now;
}

static uint64_t file_bytes(void)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

typedef struct content {
    uint64_t count, last, held_by_late, lost;
} content;

static void take_in(void *context, const mxp_event *event)
{
    content *found = context;
    found->held_by_late += event->name == late && event->kind == MXP_KIND_COUNTER;
    if (event->name != counter || event->kind != MXP_KIND_COUNTER ||
        (event->flags & MXP_COUNTER_STANDING) != 0) {
        return;
    }
    assert_true(found->count == 0 || event->value.u64 == found->last + 1);
    found->last = event->value.u64;
    found->count++;
}

static content read_trace(const char *file)
{
    mxp_source *source = open_whole(file);
    content found = {0};
    each_event(source, take_in, &found);
    found.lost = losses_of(source);
    mxp__source_close(source);
    return found;
}

// ---- pins --------------------------------------------------------------------------------------
static void record_through_a_pin(uint64_t meanwhile)
{
    count_up(3000);
    mxp__ring_pin();
    count_up(meanwhile);
    mxp__ring_unpin();
}

static void record_through_pins(int pins)
{
    for (int i = 0; i < pins; i++) {
        record_through_a_pin(CHUNK_RECORDS);
    }
}

static void pins_in_memory_lose_nothing_and_keep_to_the_limit(void **state)
{
    (void)state;
    uint64_t lost = report().lost;
    record_through_pins(PINS);
    record_through_a_pin(20 * CHUNK_RECORDS);
    assert_in_range(report().memory_bytes, LIMIT_BYTES + MXP_CHUNK_BYTES, UINT32_MAX);
    count_up(100 * CHUNK_RECORDS);
    mxp_report now = report();
    assert_int_equal(now.lost, lost);
    assert_in_range(now.memory_bytes, LIMIT_BYTES / 2, LIMIT_BYTES);
}

static void pins_in_a_file_lose_nothing_and_keep_to_the_limit(void **state)
{
    (void)state;
    uint64_t lost = report().lost;
    count_up(100 * CHUNK_RECORDS);
    record_through_pins(PINS);  // if the room they take did not come back, there would be none left
    assert_int_equal(report().lost, lost);
    assert_in_range(file_bytes(), LIMIT_BYTES / 2, LIMIT_BYTES);
    content found = read_trace(path);  // as after a death
    assert_int_equal(found.last, counted);
    assert_in_range(found.count, 30 * CHUNK_RECORDS, LIMIT_BYTES / 32);
}

// ---- threads that come late --------------------------------------------------------------------
enum { LATE_RECORDS = 10, LATE_THREADS = 8, UNMAPPED = 400 };

static pthread_barrier_t recorded, over;

static void *record_late(void *nothing)
{
    for (uint64_t i = 0; i < LATE_RECORDS; i++) {
        mxp_counter_u64(MXP_CLASS_USER, late, i);
    }
    pthread_barrier_wait(&recorded);
    pthread_barrier_wait(&over);  // all are there at once
    return nothing;
}

static void start_late(pthread_t *threads, unsigned count)
{
    pthread_barrier_init(&recorded, NULL, count + 1);
    pthread_barrier_init(&over, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record_late, NULL), 0);
    }
    pthread_barrier_wait(&recorded);
}

static void end_late(const pthread_t *threads, unsigned count)
{
    pthread_barrier_wait(&over);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

// Until records are lost.
static void fill_the_spare_room(void)
{
    uint64_t lost = report().lost;
    while (report().lost == lost) {
        count_up(CHUNK_RECORDS);
    }
}

static void threads_that_come_when_nothing_is_spare_are_recorded(void **state)
{
    (void)state;
    pthread_t threads[LATE_THREADS];
    count_up(100 * CHUNK_RECORDS);
    mxp__ring_pin();
    fill_the_spare_room();
    start_late(threads, LATE_THREADS);
    mxp__ring_unpin();
    assert_int_equal(mxp_session_snapshot(session, "late.mxp", 0), 0);
    assert_int_equal(read_trace("late.mxp").held_by_late, LATE_THREADS * LATE_RECORDS);
    end_late(threads, LATE_THREADS);
}

// More than have room in it: as after a death, the file tells what those lost that are not there.
static void a_file_tells_what_threads_lost_that_are_not_in_it(void **state)
{
    (void)state;
    pthread_t threads[UNMAPPED];
    count_up(100 * CHUNK_RECORDS);
    mxp__ring_pin();
    fill_the_spare_room();
    uint64_t lost_in_file = read_trace(path).lost, lost = report().lost;
    start_late(threads, UNMAPPED);
    content found = read_trace(path);
    assert_in_range(found.held_by_late, 32 * LATE_RECORDS, (UNMAPPED - 32) * LATE_RECORDS);
    assert_int_equal(found.held_by_late + found.lost - lost_in_file, UNMAPPED * LATE_RECORDS);
    assert_int_equal(report().lost - lost, found.lost - lost_in_file);
    mxp__ring_unpin();
    end_late(threads, UNMAPPED);
}

static int begin(void **state)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = *(const int *)*state;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = LIMIT_BYTES;
    config.filename = "pinned.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    unlink(path);
    session = mxp_session_get();
    counter = mxp_intern("test", "number", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    late = mxp_intern("test", "late", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    counted = 0;
    int error = mxp_session_configure(session, &config);
    return error != 0 ? error : mxp_session_run(session);
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    return mxp_session_dump(session, 1);
}

int main(void)
{
    static int memory = MXP_STORE_MEMORY, file = MXP_STORE_FILE;
#define TEST(name, store) cmocka_unit_test_prestate_setup_teardown(name, begin, end, store)
    const struct CMUnitTest tests[] = {
        TEST(pins_in_memory_lose_nothing_and_keep_to_the_limit, &memory),
        TEST(pins_in_a_file_lose_nothing_and_keep_to_the_limit, &file),
        TEST(threads_that_come_when_nothing_is_spare_are_recorded, &memory),
        TEST(threads_that_come_when_nothing_is_spare_are_recorded, &file),
        TEST(a_file_tells_what_threads_lost_that_are_not_in_it, &file),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
