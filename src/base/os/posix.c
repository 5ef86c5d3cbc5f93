// SPDX-License-Identifier: Apache-2.0
// What every POSIX system does alike, and stand-ins that work anywhere for what linux.c does
// better. map_pages may run in a signal handler on the recording path: it leaves errno alone.
#include "base/os/os.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/os/no_cancel.h"

// ---- clocks -----------------------------------------------------------------------------------

#if !defined(CLOCK_MONOTONIC_RAW)
#define CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC
#endif
#if !defined(CLOCK_BOOTTIME)
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#endif

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t mxp__os_raw_ns(void)
{
    return read_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t mxp__os_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t mxp__os_realtime_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

uint64_t mxp__os_boottime_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

// Continues to sleep after a signal handler, because programs that record from timer signals
// interrupt it often. No thread is cancelled in it: it waits while it holds something, as a rule.
void mxp__os_sleep_us(uint64_t us)
{
    struct timespec rest = {.tv_sec = (time_t)(us / 1000000),
                            .tv_nsec = (long)(us % 1000000) * 1000};
    const int cancel = mxp__cancel_off();
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
    mxp__cancel_back(cancel);
}

void mxp__os_yield(void)
{
    sched_yield();
}

void mxp__os_wait_turn(unsigned tries)
{
    enum { YIELDS = 64, NAP_US = 50 };
    int saved = errno;
    if (tries < YIELDS) {
        mxp__os_yield();
    } else {
        mxp__os_sleep_us(NAP_US);
    }
    errno = saved;
}

// ---- files ------------------------------------------------------------------------------------

bool mxp__os_wait_to_write(int fd)
{
    enum { PATIENCE_MS = 2000 };
    struct pollfd ask = {.fd = fd, .events = POLLOUT};
    int ready;
    do {
        ready = poll(&ask, 1, PATIENCE_MS);
    } while (ready < 0 && errno == EINTR);
    errno = ready == 0 ? ETIMEDOUT : errno;
    return ready > 0;
}

// From `offset` on; without one from the descriptor's file position.
static size_t write_from(int fd, const char *data, size_t size_bytes, const uint64_t *offset)
{
    size_t done = 0;
    while (done < size_bytes) {
        size_t left = size_bytes - done;
        ssize_t written = offset == NULL ? write(fd, data + done, left)
                                         : pwrite(fd, data + done, left, (off_t)(*offset + done));
        if (written < 0 && (errno == EINTR || (errno == EAGAIN && mxp__os_wait_to_write(fd)))) {
            continue;
        }
        if (written <= 0) {
            errno = written < 0 ? errno : ENOSPC;
            break;
        }
        done += (size_t)written;
    }
    return done;
}

size_t mxp__os_write(int fd, const void *data, size_t size_bytes)
{
    return write_from(fd, data, size_bytes, NULL);
}

size_t mxp__os_write_at(int fd, const void *data, size_t size_bytes, uint64_t offset)
{
    return write_from(fd, data, size_bytes, &offset);
}

// ---- memory -----------------------------------------------------------------------------------

void *mxp__os_map_pages(size_t size_bytes)
{
    int saved_errno = errno;
    void *pages =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    return pages == MAP_FAILED ? NULL : pages;
}

void mxp__os_unmap_pages(void *pages, size_t size_bytes)
{
    int saved_errno = errno;
    munmap(pages, size_bytes);
    errno = saved_errno;
}

size_t mxp__os_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

// ---- process ----------------------------------------------------------------------------------

uint32_t mxp__os_process_id(void)
{
    return (uint32_t)getpid();
}

static_assert(sizeof(sigset_t) <= 128, "mxp__os_block_signals promises that 128 bytes are enough");

void mxp__os_block_signals(void *saved)
{
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    memcpy(saved, &old, sizeof old);
}

bool mxp__os_blocks_signals(void)
{
    sigset_t none, now;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&now, number) == 1) {
            return true;
        }
    }
    return false;
}

void mxp__os_restore_signals(const void *saved)
{
    sigset_t old;
    memcpy(&old, saved, sizeof old);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool mxp__os_is_on_signal_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

void mxp__os_host_name(char *buffer, size_t size)
{
    struct utsname system;
    snprintf(buffer, size, "%s", uname(&system) == 0 ? system.nodename : "");
}

void mxp__os_system_name(char *buffer, size_t size)
{
    struct utsname system;
    if (uname(&system) != 0) {
        snprintf(buffer, size, "%s", "");
        return;
    }
    snprintf(buffer, size, "%s %s %s", system.sysname, system.release, system.machine);
}

// ---- stand-ins --------------------------------------------------------------------------------

#if !defined(__linux__)

uint32_t mxp__os_thread_id(void)
{
    // No number of the system's, but unique among living threads.
    pthread_t self = pthread_self();
    uintptr_t bits = 0;
    memcpy(&bits, &self, sizeof self < sizeof bits ? sizeof self : sizeof bits);
    return (uint32_t)(bits >> 4);
}

uint32_t mxp__os_cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

void mxp__os_thread_name(char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", "");
}

// There is nothing to sleep on here, so the caller looks again after a while.
void mxp__os_word_wait(const mxp_atomic_u32 *word, uint32_t expected)
{
    if (mxp_atomic_load_acquire(word) == expected) {
        mxp__os_sleep_us(50);
    }
}

void mxp__os_word_wait_ms(const mxp_atomic_u32 *word, uint32_t expected, uint32_t timeout_ms)
{
    if (timeout_ms > 0) {
        mxp__os_word_wait(word, expected);
    }
}

void mxp__os_word_wake(const mxp_atomic_u32 *word, bool all)
{
    (void)word;
    (void)all;
}

bool mxp__os_barrier_all_threads(void)
{
    return false;
}

bool mxp__os_is_readable(const void *place)
{
    (void)place;
    return false;
}

bool mxp__os_trusts_cpu_counter(void)
{
    return false;
}

void mxp__os_command_line(char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", "");
}

void mxp__os_cpu_name(char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", "");
}

#endif
