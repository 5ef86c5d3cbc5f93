// SPDX-License-Identifier: Apache-2.0
// A process that records into a file is killed at a random moment, again and again. In the file the
// numbers of each of its threads are without a gap and reach at least the last one that a call
// returned for, names are the ones that were interned, and what was open is shown. Every second
// time the file is a ring: then the numbers begin anywhere. 100 kills, or 1,000 with
// MXPROF_TEST_LONG=1.
#include "cmocka_all.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>

#include "base/os/os.h"
#include "numbered.h"
#include "random.h"
#include "stress_time.h"

static const char path[] = "killed.mxp";
static numbered_page *page;

// ---- the process that dies ---------------------------------------------------------------------
static void *record(void *thread)
{
    numbered_record(page, (uintptr_t)thread);
    return NULL;
}

static void run_and_wait_for_death(bool ring)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    if (ring) {
        config.full_policy = MXP_FULL_RING;
        config.memory_limit_bytes = 2 << 20;
    }
    config.native_filename = path;
    config.continuous_dump = 0;
    mxp_session *session = mxp_session_get();
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        _exit(3);
    }
    __atomic_store_n(&page->started, 1, __ATOMIC_RELEASE);
    pthread_t threads[NUMBERED_THREADS];
    for (uintptr_t i = 1; i < NUMBERED_THREADS; i++) {
        pthread_create(&threads[i], NULL, record, (void *)i);
    }
    record(NULL);
}

// ---- the one that reads ------------------------------------------------------------------------
static void check_file(bool ring)
{
    numbered_file found;
    mxp_source *source = numbered_open(path, ring, &found);
    mxp__source_close(source);
    assert_string_equal(found.damage, "");
    uint64_t begun = 0;
    for (size_t i = 0; i < NUMBERED_THREADS; i++) {
        if (found.last[i] < page->returned[i]) {
            fail_msg("thread %zu: number %llu had returned, the file ends at %llu", i,
                     (unsigned long long)page->returned[i], (unsigned long long)found.last[i]);
        }
        assert_true(found.last[i] <= page->returned[i] + 1);
        begun += page->returned[i] > 0;
    }
    assert_true(found.open_spans >= begun);  // who has begun to count is inside of `outer`
}

static void wait_for_a_record(void)
{
    for (int i = 0; i < 600000; i++) {
        if (__atomic_load_n(&page->returned[0], __ATOMIC_ACQUIRE) > 0) {
            return;
        }
        mxp__os_sleep_us(100);
    }
}

// Often very early, sometimes after several chunks.
static void kill_once(uint64_t *seed, bool ring, bool recording)
{
    *page = (numbered_page){.quota = UINT64_MAX};
    unlink(path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_and_wait_for_death(ring);
        _exit(4);
    }
    if (recording) {
        wait_for_a_record();  // which a busy machine may take long to get to
    }
    uint64_t scale = UINT64_C(1) << random_below(seed, 17);
    mxp__os_sleep_us(random_below(seed, scale));
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    bool there = access(path, F_OK) == 0;
    assert_true(there || !page->started);
    if (there) {
        check_file(ring);
    }
}

static void killed_at_any_moment_everything_returned_is_there(void **state)
{
    (void)state;
    int kills = stress_is_long() ? 1000 : 100;
    uint64_t seed = 20;
    uint64_t records = 0;
    for (int i = 0; i < kills; i++) {
        kill_once(&seed, i % 2 != 0, i % 8 < 2);
        for (size_t k = 0; k < NUMBERED_THREADS; k++) {
            records += page->returned[k];
        }
    }
    print_message("%d kills, %llu records\n", kills, (unsigned long long)records);
    assert_true(records > 0);
}

int main(void)
{
    page = shared_page(sizeof *page);
    if (page == NULL) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_any_moment_everything_returned_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
