// SPDX-License-Identifier: Apache-2.0
#include "base/os/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "cmocka_all.h"

static void *read_thread_id(void *id)
{
    *(uint32_t *)id = mxp__os_thread_id();
    return NULL;
}

static void threads_have_numbers_of_their_own(void **state)
{
    (void)state;
    uint32_t other = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_thread_id, &other), 0);
    pthread_join(thread, NULL);
    assert_int_not_equal(other, 0);
    assert_int_not_equal(other, mxp__os_thread_id());
    assert_int_equal(mxp__os_process_id(), getpid());
    assert_true(mxp__os_cpu_count() >= 1);
}

static void clocks_go_forward(void **state)
{
    (void)state;
    uint64_t (*const clocks[])(void) = {mxp__os_raw_ns, mxp__os_monotonic_ns, mxp__os_boottime_ns};
    for (size_t i = 0; i < 3; i++) {
        uint64_t before = clocks[i]();
        mxp__os_sleep_us(2000);
        uint64_t passed = clocks[i]() - before;
        assert_in_range(passed, 1900000, UINT64_C(60000000000));
    }
    assert_true(mxp__os_realtime_ns() > UINT64_C(1600000000000000000));
}

static void pages_are_zeroed_and_can_be_written(void **state)
{
    (void)state;
    size_t page = mxp__os_page_bytes();
    assert_true(page >= 4096 && (page & (page - 1)) == 0);
    unsigned char *pages = mxp__os_map_pages(4 * page);
    assert_non_null(pages);
    assert_int_equal((uintptr_t)pages % page, 0);
    for (size_t i = 0; i < 4 * page; i++) {
        assert_int_equal(pages[i], 0);
    }
    memset(pages, 1, 4 * page);
    mxp__os_unmap_pages(pages, 4 * page);
}

static void impossible_pages_are_null_and_errno_stays(void **state)
{
    (void)state;
    errno = EBUSY;
    assert_null(mxp__os_map_pages(SIZE_MAX / 2));
    assert_int_equal(errno, EBUSY);
}

static void a_barrier_says_whether_it_works(void **state)
{
    (void)state;
    errno = EBUSY;
    bool works = mxp__os_barrier_all_threads();
    assert_int_equal(mxp__os_barrier_all_threads(), works);
    assert_int_equal(errno, EBUSY);
}

static atomic_int hits;

static void count_hit(int number)
{
    (void)number;
    atomic_fetch_add(&hits, 1);
}

static void blocked_signals_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = count_hit};
    sigaction(SIGUSR1, &action, NULL);
    unsigned char saved[128 + 1];  // deliberately not aligned
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    atomic_store(&hits, 0);
    mxp__os_block_signals(saved + 1);
    pthread_kill(pthread_self(), SIGUSR1);
    assert_int_equal(atomic_load(&hits), 0);
    mxp__os_restore_signals(saved + 1);
    assert_int_equal(atomic_load(&hits), 1);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < 32; number++) {
        assert_int_equal(sigismember(&after, number), sigismember(&before, number));
    }
}

static void sleep_lasts_through_signals(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = count_hit};
    sigaction(SIGALRM, &action, NULL);
    atomic_store(&hits, 0);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t before = mxp__os_monotonic_ns();
    mxp__os_sleep_us(30000);
    uint64_t passed = mxp__os_monotonic_ns() - before;
    setitimer(ITIMER_REAL, &never, NULL);
    assert_true(passed >= 30000000);
    assert_true(atomic_load(&hits) > 0);
    mxp__os_sleep_us(0);
    mxp__os_yield();
}

static void descriptions_are_filled_in(void **state)
{
    (void)state;
    char text[256];
    mxp__os_host_name(text, sizeof text);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    assert_string_equal(text, host);
    mxp__os_system_name(text, sizeof text);
    assert_true(strlen(text) > 3);
    mxp__os_command_line(text, sizeof text);
    assert_null(strchr(text, '\n'));
    mxp__os_cpu_name(text, sizeof text);
    assert_null(strchr(text, '\n'));
}

static void descriptions_fit_into_any_buffer(void **state)
{
    (void)state;
    void (*const describe[])(char *, size_t) = {mxp__os_host_name, mxp__os_system_name,
                                                mxp__os_command_line, mxp__os_cpu_name,
                                                mxp__os_thread_name};
    for (size_t i = 0; i < sizeof describe / sizeof *describe; i++) {
        for (size_t size = 1; size < 20; size++) {
            char text[24];
            memset(text, 'x', sizeof text);
            describe[i](text, size);
            assert_true(memchr(text, '\0', size) != NULL);
            for (size_t j = size; j < sizeof text; j++) {
                assert_int_equal(text[j], 'x');
            }
        }
    }
}

static void *name_and_read(void *text)
{
    pthread_setname_np(pthread_self(), "worker 7");
    mxp__os_thread_name(text, 64);
    return NULL;
}

static void a_thread_finds_its_name(void **state)
{
    (void)state;
    char text[64] = "";
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, name_and_read, text), 0);
    pthread_join(thread, NULL);
    if (text[0] == '\0') {
        skip();
    }
    assert_string_equal(text, "worker 7");
}

static mxp_atomic_u32 word;

static void *wait_for_word(void *unused)
{
    (void)unused;
    while (mxp_atomic_load_acquire(&word) == 0) {
        mxp__os_word_wait(&word, 0);
    }
    return NULL;
}

static void a_word_wakes_who_sleeps_on_it(void **state)
{
    (void)state;
    errno = 5;
    mxp__os_word_wait(&word, 1);  // another value: returns at once
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_word, NULL), 0);
    }
    mxp__os_sleep_us(20000);
    mxp_atomic_store_release(&word, 1);
    mxp__os_word_wake(&word, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(errno, 5);
}

static void writing_tells_how_much_arrived(void **state)
{
    (void)state;
    char text[8] = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    int fd = fileno(file);
    assert_int_equal(mxp__os_write(fd, "abcdef", 6), 6);
    assert_int_equal(mxp__os_write_at(fd, "XY", 2, 1), 2);
    assert_int_equal(mxp__os_write(fd, "g", 1), 1);  // not behind "XY"
    assert_int_equal(pread(fd, text, sizeof text, 0), 7);
    assert_string_equal(text, "aXYdefg");
    fclose(file);
    errno = 0;
    assert_int_equal(mxp__os_write(-1, "a", 1), 0);
    assert_int_equal(errno, EBADF);
}

static void a_file_at_its_limit_takes_what_there_is_room_for(void **state)
{
    (void)state;
    struct rlimit before;
    char text[8] = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){6, before.rlim_max}), 0);
    size_t written = mxp__os_write_at(fileno(file), "abcdef", 6, 2);
    int reason = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(written, 4);
    assert_int_equal(reason, EFBIG);
    assert_int_equal(pread(fileno(file), text, sizeof text, 2), 4);
    assert_string_equal(text, "abcd");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_numbers_of_their_own),
        cmocka_unit_test(clocks_go_forward),
        cmocka_unit_test(pages_are_zeroed_and_can_be_written),
        cmocka_unit_test(impossible_pages_are_null_and_errno_stays),
        cmocka_unit_test(a_barrier_says_whether_it_works),
        cmocka_unit_test(blocked_signals_wait),
        cmocka_unit_test(a_word_wakes_who_sleeps_on_it),
        cmocka_unit_test(sleep_lasts_through_signals),
        cmocka_unit_test(writing_tells_how_much_arrived),
        cmocka_unit_test(a_file_at_its_limit_takes_what_there_is_room_for),
        cmocka_unit_test(descriptions_are_filled_in),
        cmocka_unit_test(descriptions_fit_into_any_buffer),
        cmocka_unit_test(a_thread_finds_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
