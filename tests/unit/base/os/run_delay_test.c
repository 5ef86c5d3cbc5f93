// SPDX-License-Identifier: Apache-2.0
// The run delay of a process against the sum that the test reads itself, and what becomes of the
// descriptors: programs close what they did not open, fork, execute others and have few to spare.
#include "base/os/run_delay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "cmocka_all.h"

enum { PATH_BYTES = 48 };

// ---- what the test knows itself ---------------------------------------------------------------
// False: the thread is gone.
static bool delay_of(const char *tid, uint64_t *sum_ns)
{
    char path[300], text[100] = "";
    unsigned long long run = 0, delay = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", tid);
    FILE *file = fopen(path, "r");
    bool found = file != NULL && fgets(text, sizeof text, file) != NULL;
    assert_true(!found || sscanf(text, "%llu %llu", &run, &delay) == 2);
    if (file != NULL) {
        fclose(file);
    }
    *sum_ns += delay;
    return found;
}

static uint64_t delay_of_all(unsigned *threads)
{
    uint64_t sum_ns = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    *threads = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        *threads += entry->d_name[0] != '.' && delay_of(entry->d_name, &sum_ns);
    }
    closedir(folder);
    return sum_ns;
}

// How many descriptors lead to schedstat files; all of them must be closed by an exec.
static unsigned schedstats(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char target[300];
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "schedstat") != NULL) {
            assert_int_equal(fcntl(atoi(entry->d_name), F_GETFD), FD_CLOEXEC);
            count++;
        }
    }
    closedir(folder);
    return count;
}

static void *end_at_once(void *path)
{
    snprintf(path, PATH_BYTES, "/proc/self/task/%ld", syscall(SYS_gettid));
    return NULL;
}

static int begin(void **state)
{
    (void)state;
    if (access("/proc/self/schedstat", R_OK) != 0) {
        print_message("the system has no schedstat\n");
        exit(77);
    }
    // A sanitizer begins a thread of its own, for good, when the program begins its first.
    pthread_t first;
    char path[PATH_BYTES];
    assert_int_equal(pthread_create(&first, NULL, end_at_once, path), 0);
    assert_int_equal(pthread_join(first, NULL), 0);
    while (access(path, F_OK) == 0) {  // the system lists a thread that was joined a little longer
        mxp__os_sleep_us(100);
    }
    return 0;
}

// ---- threads ----------------------------------------------------------------------------------
enum { THREADS = 3 };
static mxp_atomic_u32 there, may_end;
static bool spins;
static unsigned threads_before;

static void *stay(void *unused)
{
    (void)unused;
    mxp_atomic_add(&there, 1);
    while (mxp_atomic_load(&may_end) == 0) {
        if (!spins) {
            mxp__os_sleep_us(200);
        }
    }
    return NULL;
}

static void begin_threads(pthread_t *threads, bool spin)
{
    spins = spin;
    delay_of_all(&threads_before);
    mxp_atomic_set(&there, 0);
    mxp_atomic_store(&may_end, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, stay, NULL), 0);
    }
    while (mxp_atomic_load(&there) != THREADS) {
        mxp__os_sleep_us(100);
    }
}

static void end_threads(const pthread_t *threads)
{
    mxp_atomic_store(&may_end, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    // The system lists a thread that was joined for a little while yet.
    unsigned left;
    do {
        delay_of_all(&left);
    } while (left > threads_before);
}

// The sum lies between what the test reads before and after it: each thread's figure only grows.
static void assert_is_the_sum(void)
{
    unsigned threads;
    uint64_t before_ns = delay_of_all(&threads), ns = mxp__os_run_delay_ns();
    uint64_t after_ns = delay_of_all(&threads);
    if (ns < before_ns || ns > after_ns) {
        fail_msg("%llu is not from %llu to %llu", (unsigned long long)ns,
                 (unsigned long long)before_ns, (unsigned long long)after_ns);
    }
    assert_int_equal(schedstats(), threads);
}

static void of_each_thread_one_descriptor_is_kept_and_the_sum_is_the_systems(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    assert_is_the_sum();
    begin_threads(threads, false);
    assert_is_the_sum();
    assert_is_the_sum();
    end_threads(threads);
}

static void threads_that_wait_for_one_core_are_delayed(void **state)
{
    (void)state;
    const uint64_t wait_ns = 100000000, longest_ns = UINT64_C(60000000000);
    pthread_t threads[THREADS];
    cpu_set_t one, before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    begin_threads(threads, true);
    uint64_t delay_ns = mxp__os_run_delay_ns(), cpu_ns = mxp__os_process_cpu_ns();
    const uint64_t begin_ns = mxp__os_monotonic_ns();
    uint64_t elapsed_ns, delayed_ns, used_ns;
    // Of three spinning threads on one core two wait at any time. The system counts a wait when it
    // is over, which on a busy machine takes a while: a sum that lacks nothing is soon more than
    // the time.
    do {
        mxp__os_sleep_us(1000);
        used_ns = mxp__os_process_cpu_ns() - cpu_ns;
        delayed_ns = mxp__os_run_delay_ns() - delay_ns;
        elapsed_ns = mxp__os_monotonic_ns() - begin_ns;
    } while (elapsed_ns < wait_ns || (delayed_ns <= elapsed_ns && elapsed_ns < longest_ns));
    assert_true(delayed_ns > elapsed_ns);
    // Others may have the core as well, so CPU time has no lower bound that holds; but not more
    // than one core's.
    assert_true(used_ns < elapsed_ns + wait_ns);
    end_threads(threads);
    sched_setaffinity(0, sizeof before, &before);
}

static void the_sum_does_not_get_less_when_threads_end(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    begin_threads(threads, true);
    mxp__os_sleep_us(20000);
    uint64_t with_ns = mxp__os_run_delay_ns();
    end_threads(threads);
    uint64_t without_ns = mxp__os_run_delay_ns();
    assert_true(with_ns != UINT64_MAX && without_ns >= with_ns && without_ns != UINT64_MAX);
    unsigned left;
    uint64_t alone_ns = delay_of_all(&left);
    assert_int_equal(schedstats(), left);
    assert_true(alone_ns < without_ns);  // of those that have ended it knows more than the system
    mxp__os_run_delay_close(true);
}

// ---- descriptors ------------------------------------------------------------------------------
static void what_the_program_has_closed_is_opened_again_and_its_own_files_stay(void **state)
{
    (void)state;
    int pipes[2];
    char byte = 0;
    struct rlimit before, files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    files = before;
    files.rlim_cur = 1024;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_is_the_sum();
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    for (int fd = 3; fd < 1024; fd++) {  // the program's own take all their numbers
        if (fd != pipes[0] && fd != pipes[1]) {
            assert_int_equal(dup2(pipes[0], fd), fd);
        }
    }
    uint64_t ns = mxp__os_run_delay_ns();
    assert_true(ns == UINT64_MAX);  // there is no number left
    for (int fd = 700; fd < 1024; fd++) {
        close(fd);
    }
    ns = mxp__os_run_delay_ns();
    assert_true(ns != UINT64_MAX);
    for (int fd = 3; fd < 700; fd++) {
        assert_true(fcntl(fd, F_GETFD) >= 0);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);  // nobody else has read it
    for (int fd = 3; fd < 700; fd++) {
        close(fd);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_is_the_sum();
}

static void a_forked_child_has_figures_and_descriptors_of_its_own(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    begin_threads(threads, false);
    assert_is_the_sum();
    pid_t child = fork();
    if (child == 0) {
        mxp__os_run_delay_close(true);
        unsigned left = schedstats(), alone;
        uint64_t before_ns = delay_of_all(&alone), ns = mxp__os_run_delay_ns();
        uint64_t after_ns = delay_of_all(&alone);
        unsigned own = schedstats();
        // One; an emulator of programs begins a thread of its own some time after the fork.
        bool right = own >= 1 && own <= alone && alone < THREADS;
        _exit(left != 0 || !right || ns < before_ns || ns > after_ns);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_is_the_sum();
    end_threads(threads);
    mxp__os_run_delay_close(true);
}

static void closing_leaves_none_open_and_the_next_call_opens_them_again(void **state)
{
    (void)state;
    assert_is_the_sum();
    uint64_t before_ns = mxp__os_run_delay_ns();
    mxp__os_run_delay_close(false);
    assert_int_equal(schedstats(), 0);
    assert_true(mxp__os_run_delay_ns() >= before_ns);
    assert_is_the_sum();
}

static void a_process_with_few_descriptors_keeps_them(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct rlimit before, few;
    mxp__os_run_delay_close(true);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 24;  // an eighth is less than there are threads
    begin_threads(threads, false);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_true(mxp__os_run_delay_ns() == UINT64_MAX);
    assert_int_equal(schedstats(), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_is_the_sum();
    end_threads(threads);
}

static void errno_stays(void **state)
{
    (void)state;
    mxp__os_run_delay_close(true);
    errno = EDOM;
    mxp__os_run_delay_ns();
    mxp__os_run_delay_close(false);
    assert_int_equal(errno, EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_each_thread_one_descriptor_is_kept_and_the_sum_is_the_systems),
        cmocka_unit_test(threads_that_wait_for_one_core_are_delayed),
        cmocka_unit_test(the_sum_does_not_get_less_when_threads_end),
        cmocka_unit_test(what_the_program_has_closed_is_opened_again_and_its_own_files_stay),
        cmocka_unit_test(a_forked_child_has_figures_and_descriptors_of_its_own),
        cmocka_unit_test(closing_leaves_none_open_and_the_next_call_opens_them_again),
        cmocka_unit_test(a_process_with_few_descriptors_keeps_them),
        cmocka_unit_test(errno_stays),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
