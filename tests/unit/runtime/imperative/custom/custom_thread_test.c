// SPDX-License-Identifier: Apache-2.0
// Threads of custom operators: how many there are, and that waiting functions keep nobody waiting.
#include "cmocka_all.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/imperative/custom/custom_thread.h"

enum { TASKS = 300, THREADS_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done, inner_done;

static mxn_custom_task outer[TASKS], inner[TASKS];

static void count_done(int *counter)
{
    pthread_mutex_lock(&lock);
    (*counter)++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const int *counter, int count)
{
    pthread_mutex_lock(&lock);
    while (*counter < count) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static int threads_of_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

static void take_a_while(mxn_custom_task *task)
{
    (void)task;
    usleep(1000);
    count_done(&done);
}

static void *end_at_once(void *unused)
{
    return unused;
}

// Some runtimes (ThreadSanitizer's) start a thread of their own with the program's first one.
static void start_a_first_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_at_once, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void many_functions_share_some_threads(void **state)
{
    (void)state;
    done = 0;
    start_a_first_thread();
    int before = threads_of_process();
    for (int i = 0; i < TASKS; i++) {
        outer[i].run = take_a_while;
        assert_int_equal(mxn__custom_thread_put(&outer[i]), 0);
    }
    int more = threads_of_process() - before;
    wait_for(&done, TASKS);
    assert_in_range(more, 1, THREADS_MAX);
}

static void run_inner(mxn_custom_task *task)
{
    (void)task;
    count_done(&inner_done);
}

// Ends when all inner functions have ended, as those that wait for operators of their own do.
static void run_outer(mxn_custom_task *task)
{
    inner[task - outer].run = run_inner;
    if (mxn__custom_thread_put(&inner[task - outer]) == 0) {
        mxn__custom_thread_waits(true);
        wait_for(&inner_done, TASKS);
        mxn__custom_thread_waits(false);
    }
    count_done(&done);
}

static void functions_that_wait_make_room(void **state)
{
    (void)state;
    done = inner_done = 0;
    for (int i = 0; i < TASKS; i++) {
        outer[i].run = run_outer;
        assert_int_equal(mxn__custom_thread_put(&outer[i]), 0);
    }
    wait_for(&done, TASKS);
    assert_int_equal(inner_done, TASKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_functions_share_some_threads),
        cmocka_unit_test(functions_that_wait_make_room),
    };
    alarm(100);  // nothing hangs
    return cmocka_run_group_tests(tests, NULL, NULL);
}
