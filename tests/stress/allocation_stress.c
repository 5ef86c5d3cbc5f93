// SPDX-License-Identifier: Apache-2.0
// No memory: the n-th allocation fails, alone or with all that follow, for n = 1, 2, 3 ... until
// nothing fails any more, in a process of its own each time. Nothing aborts or hangs, a call that
// fails says why, and every span that was made while the session ran is in the file or counted.
// Without asserts each third n is taken, the same ones on no two configurations in a row; the
// debug build and MXPROF_TEST_LONG=1 take each.
// Then forks without end while threads record: 100 for each of four stores, 10,000 in
// all with MXPROF_TEST_LONG=1. Not under ThreadSanitizer, whose forked children may have no
// threads.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/trace/file/native.h"
#include "stress_time.h"

enum { SPANS = 12000, THREAD_SPANS = 300, NOTHING_FAILED = 10, NOT_COUNTED = 11, SILENT = 12 };

typedef struct variant {
    int store, policy, statistics;
} variant;

static const variant variants[] = {
    {MXP_STORE_MEMORY, MXP_FULL_GROW, 0}, {MXP_STORE_MEMORY, MXP_FULL_RING, 0},
    {MXP_STORE_FILE, MXP_FULL_GROW, 0},   {MXP_STORE_FILE, MXP_FULL_RING, 0},
    {MXP_STORE_MEMORY, MXP_FULL_GROW, 1}, {MXP_STORE_MEMORY, MXP_FULL_DROP, 0},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

// ---- an allocator that fails -------------------------------------------------------------------
static uint64_t calls, fail_at;  // atomic; 0: never
static bool fail_on;
static uint64_t refused;

static bool may_allocate(void)
{
    uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    uint64_t at = __atomic_load_n(&fail_at, __ATOMIC_RELAXED);
    bool fails = at != 0 && (fail_on ? call >= at : call == at);
    __atomic_fetch_add(&refused, fails, __ATOMIC_RELAXED);
    return !fails;
}

static void *reallocate(void *context, void *pointer, size_t old_bytes, size_t size_bytes)
{
    (void)context;
    if (size_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return size_bytes <= old_bytes || may_allocate() ? realloc(pointer, size_bytes) : NULL;
}

static void *map(void *context, size_t size_bytes)
{
    (void)context;
    return may_allocate() ? mxp__os_map_pages(size_bytes) : NULL;
}

static void unmap(void *context, void *pages, size_t size_bytes)
{
    (void)context;
    mxp__os_unmap_pages(pages, size_bytes);
}

// ---- recording ---------------------------------------------------------------------------------
static mxp_name name_a;

static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

static void *thread_spans(void *nothing)
{
    spans(THREAD_SPANS);
    return nothing;
}

static int configure(const variant *how)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = how->store;
    config.full_policy = how->policy;
    config.aggregate_stats = config.statistics_only = how->statistics;
    config.filename = "no_memory.json";
    config.native_filename = "no_memory.mxp";
    config.continuous_dump = 0;
    config.memory_limit_bytes = 8 << 20;
    return mxp_session_configure(mxp_session_get(), &config);
}

static uint64_t spans_in_file(void)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open("no_memory.mxp", &source, &damage) != 0 || damage.text != NULL) {
        return 0;
    }
    uint64_t found = count_source_spans(source);
    mxp__source_close(source);
    return found;
}

static void check(int error)
{
    if (error != 0 && mxp_last_error()[0] == '\0') {
        _exit(SILENT);
    }
}

static void use_everything(const variant *how)
{
    mxp_session *session = mxp_session_get();
    int configured = configure(how);
    check(configured);
    name_a = mxp_span_name("test", "a");
    int run = mxp_session_run(session);
    check(run);
    mxp_handle domain = NULL, counter = NULL;
    check(mxp_domain_create("domain", &domain));
    check(mxp_counter_create(domain, "counter", &counter));
    spans(SPANS);
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_spans, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    mxp_counter_set(counter, 1);
    const char *text;
    check(mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &text));
    check(mxp_session_snapshot(session, "no_memory.snapshot.mxp", 5));
    check(mxp_session_stop(session));
    check(mxp_session_dump(session, 1));
    __atomic_store_n(&fail_at, 0, __ATOMIC_RELAXED);
    mxp_session_dump(session, 1);  // what the first could not write
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_report(session, &report);
    uint64_t found = spans_in_file(), wanted = SPANS + THREAD_SPANS;
    bool ran = configured == 0 && (run == 0 || run == MXP_EIO);
    // A ring that gets no memory uses its oldest chunk again.
    bool all = !how->statistics && how->policy != MXP_FULL_RING;
    if (ran && all && found + report.lost < wanted) {
        fprintf(stderr, "%llu in the file, %llu lost\n", (unsigned long long)found,
                (unsigned long long)report.lost);
        _exit(NOT_COUNTED);
    }
}

static int in_child(const variant *how, uint64_t number, bool on)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        unlink("no_memory.mxp");
        mxp_set_allocator(&(mxp_allocator){sizeof(mxp_allocator), NULL, reallocate, map, unmap});
        fail_on = on;
        fail_at = number;
        use_everything(how);
        _exit(refused == 0 ? NOTHING_FAILED : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) {
        fail_msg("store %d, policy %d, allocation %llu%s: signal %d", how->store, how->policy,
                 (unsigned long long)number, on ? " and on" : "", WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static uint64_t step_of_numbers(void)
{
#ifdef NDEBUG
    return stress_is_long() ? 1 : 3;
#else
    return 1;
#endif
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const uint64_t step = step_of_numbers();
    for (int i = 0; i < 2 * VARIANTS; i++) {
        const variant *how = &variants[i / 2];
        uint64_t number = 1 + (uint64_t)i % step;
        int result;
        while ((result = in_child(how, number, i % 2 != 0)) == 0) {
            number += step;
        }
        if (result != NOTHING_FAILED) {
            fail_msg("store %d, policy %d, statistics %d, allocation %llu%s: result %d", how->store,
                     how->policy, how->statistics, (unsigned long long)number,
                     i % 2 != 0 ? " and on" : "", result);
        }
        assert_true(number > 20);
    }
}

// ---- forks -------------------------------------------------------------------------------------
static int done;

static void *record_on(void *nothing)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        spans(100);
        mxp__os_sleep_us(100);
    }
    return nothing;
}

static void fork_once(int number)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(30);
        spans(10);
        if (number % 3 == 0) {
            mxp_session_dump(mxp_session_get(), 1);
        }
        char own[64];
        snprintf(own, sizeof own, "no_memory.%d.mxp", (int)getpid());
        unlink(own);
        snprintf(own, sizeof own, "no_memory.%d.json", (int)getpid());
        unlink(own);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// What was recorded under the configuration before may be as much as the new file holds, while
// threads take room in it: that is told, and no other error.
static void configure_while_recording(const variant *how)
{
    if (configure(how) != 0) {
        assert_int_equal(how->store, MXP_STORE_FILE);
        assert_non_null(strstr(mxp_last_error(), "no room for what was recorded before"));
    }
}

static void forks_while_threads_record(void **state)
{
    (void)state;
    int forks = stress_is_long() ? 2500 : 100;
    name_a = mxp_span_name("test", "a");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record_on, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        configure_while_recording(&variants[i]);
        assert_int_equal(mxp_session_run(mxp_session_get()), 0);
        for (int k = 0; k < forks; k++) {
            fork_once(k);
        }
        assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    puts("skipped: forked children with threads are beyond ThreadSanitizer");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(forks_while_threads_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
