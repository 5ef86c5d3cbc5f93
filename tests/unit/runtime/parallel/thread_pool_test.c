// SPDX-License-Identifier: Apache-2.0
// The thread pool: every part runs once, one region at a time, forked children have a pool of their
// own, and the settings say how large it is.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>
#include <pthread.h>

#include "cmocka_all.h"
#include "runtime/op/op.h"
#include "runtime/parallel/thread_pool.h"

enum { THREADS = 4, REGIONS = 2000, COUNT = 1000 };

typedef struct region {
    int seen[THREADS];  // each by its own part
    int threads;
    int64_t sum[THREADS];
} region;

static void part(void *argument, int index, int threads)
{
    region *r = argument;
    assert_in_range(index, 0, THREADS - 1);
    r->seen[index]++;
    if (index == 0) {
        r->threads = threads;
    }
    int64_t end = mxn__part_begin(COUNT, index + 1, threads);
    for (int64_t i = mxn__part_begin(COUNT, index, threads); i < end; i++) {
        r->sum[index] += i;
    }
}

// True if all parts have run once and have shared the work.
static bool run_region(void)
{
    region r = {{0}, 0, {0}};
    mxn__parallel_run(THREADS, part, &r);
    int64_t sum = 0;
    for (int i = 0; i < r.threads; i++) {
        if (r.seen[i] != 1) {
            return false;
        }
        sum += r.sum[i];
    }
    return r.threads >= 1 && sum == COUNT * (COUNT - 1) / 2;
}

static void every_part_runs_once(void **state)
{
    (void)state;
    for (int i = 0; i < REGIONS; i++) {
        assert_true(run_region());
    }
    usleep(20000);  // helpers are asleep by now
    assert_true(run_region());
}

static void *run_many(void *failures)
{
    for (int i = 0; i < REGIONS; i++) {
        *(int *)failures += !run_region();
    }
    return NULL;
}

static void threads_that_meet_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t others[3];
    int failures[3] = {0}, own = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&others[i], NULL, run_many, &failures[i]), 0);
    }
    run_many(&own);
    for (int i = 0; i < 3; i++) {
        pthread_join(others[i], NULL);
        own += failures[i];
    }
    assert_int_equal(own, 0);
}

static void child_has_a_team_of_its_own(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();  // a forked child may not start threads there
#endif
    assert_true(run_region());
    pid_t child = fork();
    if (child == 0) {
        bool good = true;
        for (int i = 0; i < 10; i++) {
            good = good && run_region();
        }
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(run_region());
}

// What a child with these variables says.
static int size_with(const char *mxnet, const char *standard, bool parallel)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("MXNET_OMP_MAX_THREADS", mxnet, 1);
        setenv("OMP_NUM_THREADS", standard, 1);
        mxn__threads_enter(parallel);
        _exit(mxn_kernels_check() != 0 ? 255 : mxn__threads_for(1e9));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void variables_say_how_many(void **state)
{
    (void)state;
    assert_int_equal(size_with("", "3", true), 3);
    assert_int_equal(size_with("5", "3", true), 5);
    assert_int_equal(size_with("", "7,2", true), 7);
    int usual = size_with("", "", true);
    assert_int_equal(size_with("", "8x", true), usual);  // passed over, as OpenMP does
    assert_int_equal(size_with("", "x", true), usual);
    assert_int_equal(size_with("", "0", true), usual);
    assert_int_equal(size_with("", " 3 ", true), 3);
    assert_int_equal(size_with("5", "3", false), 1);
    assert_int_equal(size_with("none", "3", true), 255);
    assert_int_equal(size_with("0", "3", true), 255);
}

static void setting_counts_from_the_next_job_on(void **state)
{
    (void)state;
    mxn_thread_pool_resize(3);
    mxn__threads_enter(true);
    assert_int_equal(mxn__threads_for(1e9), 3);
    mxn_thread_pool_resize(2);
    assert_int_equal(mxn__threads_for(1e9), 3);
    mxn__threads_enter(true);
    assert_int_equal(mxn__threads_for(1e9), 2);
    assert_int_equal(mxn__threads_for(10), 1);  // not worth it
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_say_how_many),
        cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(threads_that_meet_do_not_disturb_each_other),
        cmocka_unit_test(child_has_a_team_of_its_own),
        cmocka_unit_test(setting_counts_from_the_next_job_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
