// SPDX-License-Identifier: Apache-2.0
// Preloaded by tests: what CLOCK_MONOTONIC_RAW reads is shifted, skewed, wanders and jumps, as on
// another machine. MXPROF_TEST_CLOCK is RANK:SHIFT_NS:SKEW_PPB[:WANDER_PPB:PERIOD_NS[:JUMP_NS]]
// [;...]; a rank that is not in it has the true clock. Skew and wander count from
// MXPROF_TEST_EPOCH, a true reading (0); a jump comes when the program calls shifted_clock_jump. A
// process that plays several ranks names that of each thread by shifted_clock_rank. The store's
// part of the library notes in the file that the variable was set.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct test_clock {
    long long shift_ns, skew_ppb, wander_ppb, period_ns, jump_ns;
    long long jump_at_ns;  // 0: not yet; atomic
} test_clock;

enum { RANKS_MAX = 16 };

static test_clock clocks[RANKS_MAX], true_clock, *of_process = &true_clock;
static __thread test_clock *of_thread;
static long long epoch_ns;

static test_clock read_clock(long long own)
{
    test_clock found = {0};
    for (const char *at = getenv("MXPROF_TEST_CLOCK"); at != NULL;) {
        test_clock of = {0};
        long long rank;
        const int count = sscanf(at, "%lld:%lld:%lld:%lld:%lld:%lld", &rank, &of.shift_ns,
                                 &of.skew_ppb, &of.wander_ppb, &of.period_ns, &of.jump_ns);
        if (count >= 3 && rank == own) {
            found = of;
        }
        const char *end = strchr(at, ';');
        at = end != NULL ? end + 1 : NULL;
    }
    return found;
}

// At the first reading, which may be before this library's constructors: a clock does not jump
// back.
static void read_variables(void)
{
    static int is_read;
    if (is_read++ != 0) {
        return;
    }
    const char *epoch = getenv("MXPROF_TEST_EPOCH"), *own = getenv("OMPI_COMM_WORLD_RANK");
    own = own != NULL ? own : getenv("PMIX_RANK");
    epoch_ns = epoch != NULL ? atoll(epoch) : 0;
    for (int i = 0; i < RANKS_MAX; i++) {
        clocks[i] = read_clock(i);
    }
    of_process = own != NULL && atoi(own) < RANKS_MAX ? &clocks[atoi(own)] : &true_clock;
}

void shifted_clock_rank(int rank)
{
    of_thread = &clocks[rank];
}

static long long true_ns(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

// In a millisecond, so that no reading of before is after it; gives the true time of it.
long long shifted_clock_jump(int rank)
{
    const long long at_ns = true_ns(CLOCK_MONOTONIC_RAW) + 1000000;
    if (clocks[rank].jump_ns != 0) {
        __atomic_store_n(&clocks[rank].jump_at_ns, at_ns, __ATOMIC_RELAXED);
    }
    return at_ns;
}

static long long moved(const test_clock *of, long long ns)
{
    const long long since = ns - epoch_ns;
    long long now = ns + of->shift_ns + (long long)((__int128)since * of->skew_ppb / 1000000000);
    if (of->period_ns > 0) {
        const double turn = 2 * 3.14159265358979323846 / (double)of->period_ns;
        now += llround((double)of->wander_ppb * 1e-9 / turn * sin(turn * (double)since));
    }
    const long long jump_at_ns = __atomic_load_n(&of->jump_at_ns, __ATOMIC_RELAXED);
    return now + (jump_at_ns != 0 && ns >= jump_at_ns ? of->jump_ns : 0);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    read_variables();
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_MONOTONIC_RAW) {
        const long long ns = moved(of_thread != NULL ? of_thread : of_process,
                                   (long long)time->tv_sec * 1000000000 + time->tv_nsec);
        time->tv_sec = ns / 1000000000;
        time->tv_nsec = ns % 1000000000;
    }
    return result;
}
