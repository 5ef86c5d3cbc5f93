// SPDX-License-Identifier: Apache-2.0
// Room in a recording file is there before it is needed, and while one thread has the system make
// some, the others record on.
#include "cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/atomic.h"
#include "each_event.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_space.h"
#include "profiler/recorder/test_point.h"
#include "profiler/trace/file/native.h"

enum {
    AHEAD_LEAST_BYTES = 256 << 10,
    SPANS_OF_CHUNK = MXP_CHUNK_BYTES / 16,
    MANY = 300000,
    LIMIT_BYTES = 64 << 20
};

static const char path[] = "room.mxp";
static mxp_session *session;
static mxp_name name_a;
static MXP_ATOMIC(size_t) made;
static size_t found;

static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
    mxp_atomic_add(&made, count);
}

static int begin(void **state)
{
    (void)state;
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.native_filename = path;
    config.memory_limit_bytes = LIMIT_BYTES;
    mxp_atomic_set(&made, 0);
    found = 0;
    return mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0;
}

static void find(void *unused, const mxp_event *event)
{
    (void)unused;
    found += event->kind == MXP_KIND_SPAN && event->name == name_a;
}

// The file is ended, and holds every span.
static void assert_nothing_is_missing(void)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    each_event(source, find, NULL);
    mxp__source_close(source);
    assert_int_equal(found, mxp_atomic_own(&made));
}

static int end(void **state)
{
    (void)state;
    mxp_session_dump(session, 1);
    return unlink(path);
}

static uint64_t used_bytes(void)
{
    assert_true(mxp__spin_lock(&mxp__pool_lock));
    uint64_t used = mxp_atomic_own(&mxp__store_active)->used_bytes;
    mxp__spin_unlock(&mxp__pool_lock);
    return used;
}

static uint64_t reserved_bytes(void)
{
    return mxp_atomic_load_acquire(&mxp_atomic_own(&mxp__store_active)->file.reserved_bytes);
}

static uint64_t ready_bytes(void)
{
    uint64_t prepared =
        mxp_atomic_load_acquire(&mxp_atomic_own(&mxp__store_active)->file.prepared_bytes);
    uint64_t reserved = reserved_bytes();
    return (prepared < reserved ? prepared : reserved) - used_bytes();
}

// What becomes ready when `count` spans have been recorded, in chunks of these bytes.
static uint64_t ready_after(size_t count, uint64_t *used)
{
    mxp__store_keep_ahead();
    uint64_t before = used_bytes();
    spans(count);
    *used = used_bytes() - before;
    mxp__store_keep_ahead();
    return ready_bytes();
}

static void room_is_ready_for_as_much_as_was_recorded_since_the_last_look(void **state)
{
    (void)state;
    bool was_ready = false;
    for (int i = 0; i < 9 && !was_ready; i++) {  // the background thread may look in the middle
        uint64_t used;
        uint64_t ready = ready_after(MANY, &used);
        assert_true(used > 8 * AHEAD_LEAST_BYTES);
        assert_true(ready >= AHEAD_LEAST_BYTES);
        was_ready = ready >= used;
    }
    assert_true(was_ready);
    uint64_t ready = ready_bytes();
    mxp__store_keep_ahead();
    assert_int_equal(ready_bytes(), ready);  // nothing was used
    assert_nothing_is_missing();
}

static void room_ends_at_the_limit(void **state)
{
    (void)state;
    for (uint64_t used = 1; used != 0;) {
        (void)ready_after(10 * SPANS_OF_CHUNK, &used);
    }
    assert_true(reserved_bytes() <= LIMIT_BYTES);
    assert_true(used_bytes() > LIMIT_BYTES - MXP_CHUNK_BYTES);
}

// ---- while one stands ---------------------------------------------------------------------------
#ifdef MXP_TEST_POINTS
enum { RUNS, STANDS, GOES_ON };

static __thread bool stops;
static MXP_ATOMIC(int) stage;

static void wait_for(int wished)
{
    while (mxp_atomic_load_acquire(&stage) < wished) {
        sched_yield();
    }
}

static void at_point(mxp_test_point point)
{
    if (point == MXP_POINT_GROW && stops) {
        stops = false;
        mxp_atomic_store_release(&stage, STANDS);
        wait_for(GOES_ON);
    }
}

static void *stand_ahead(void *nothing)
{
    stops = true;
    mxp__store_keep_ahead();
    return nothing;
}

static void *stand_recording(void *nothing)
{
    stops = true;
    while (stops) {
        spans(SPANS_OF_CHUNK);
    }
    return nothing;
}

static void *record_many(void *nothing)
{
    spans(MANY);
    return nothing;
}

static pthread_t begin_to_stand(void *(*how)(void *))
{
    pthread_t thread;
    mxp_atomic_set(&stage, RUNS);
    mxp_atomic_store_release(&mxp__test_point_hook, at_point);
    assert_int_equal(pthread_create(&thread, NULL, how, NULL), 0);
    wait_for(STANDS);
    return thread;
}

static void let_go(pthread_t thread)
{
    mxp_atomic_store_release(&stage, GOES_ON);
    assert_int_equal(pthread_join(thread, NULL), 0);
    mxp_atomic_store_release(&mxp__test_point_hook, NULL);
}

static void room_that_is_there_is_taken_while_more_is_made(void **state)
{
    (void)state;
    uint64_t used;
    assert_true(ready_after(SPANS_OF_CHUNK, &used) >= AHEAD_LEAST_BYTES);
    pthread_t stands = begin_to_stand(stand_ahead);
    uint64_t before = used_bytes();
    spans(2 * SPANS_OF_CHUNK);
    assert_true(used_bytes() >= before + MXP_CHUNK_BYTES);
    pid_t child = fork();  // waits for nobody either
    if (child == 0) {
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    let_go(stands);
    assert_nothing_is_missing();
}

static void who_finds_no_room_waits_for_it_and_loses_nothing(void **state)
{
    (void)state;
    pthread_t stands = begin_to_stand(stand_recording);
    pthread_t others[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&others[i], NULL, record_many, NULL), 0);
    }
    usleep(20000);  // they may come to wait; nothing depends on it
    let_go(stands);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(others[i], NULL), 0);
    }
    assert_nothing_is_missing();
}
#endif

int main(void)
{
    session = mxp_session_get();
    name_a = mxp_span_name("test", "a");
#define RECORDING(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        RECORDING(room_is_ready_for_as_much_as_was_recorded_since_the_last_look),
        RECORDING(room_ends_at_the_limit),
#ifdef MXP_TEST_POINTS
        RECORDING(room_that_is_there_is_taken_while_more_is_made),
        RECORDING(who_finds_no_room_waits_for_it_and_loses_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
