// SPDX-License-Identifier: Apache-2.0
// Measures ceilings: on each thread a loop, all of them beginning each round together. Units and
// caches that each core has for itself are measured by the threads' own CPU time, added up, so that
// other programs do not count. L3 and memory are shared: there a round's rate is what all threads
// did from the first begin to the last end, because a thread that runs alone has all of them. The
// second best of the rounds counts: the best may be one lucky round, and the median is what the
// neighbours leave.
#include "profiler/analysis/roof/ceilings.h"

#include <assert.h>
#include <mxprof/error.h>
#include <mxprof/version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/fail.h"
#include "base/os/machine.h"
#include "base/os/os.h"
#include "profiler/analysis/roof/ceiling_kernels.h"

static const uint64_t round_ns = 1000000;  // about: shorter than what a scheduler gives at once
static const size_t memory_bytes_max = (size_t)256 << 20;
enum { STREAMS = 3, STEP = 64, SKEW = 16, ALIGNMENT = 64, THREADS_MAX = 1024 };

typedef struct measurement {
    const mxp_ceiling_kernels *kernels;
    mxp_ceiling ceiling;
    uint32_t threads;
    size_t bytes;  // of the three arrays of all threads
    uint64_t times;  // that each thread runs its loop in a round
    mxp_atomic_u32 arrived;  // at the begins of all rounds so far
} measurement;

typedef struct measuring_thread {
    measurement *of;
    pthread_t thread;
    float *arrays;
    size_t count;  // numbers of each array
    uint64_t begin_ns[MXP__CEILING_ROUNDS], end_ns[MXP__CEILING_ROUNDS];
    uint64_t cpu_ns[MXP__CEILING_ROUNDS];
    double kept;  // so that nothing computed is left out
} measuring_thread;

// ---- the machine -------------------------------------------------------------------------------
void mxp__machine_here(mxp_machine *machine)
{
    *machine = (mxp_machine){.cores = mxp__os_cpu_count()};
    char system[128];
    mxp__os_cpu_name(machine->cpu, sizeof machine->cpu);
    mxp__os_system_name(system, sizeof system);  // "Linux 6.1.0 x86_64"
    const char *kernel = system + strcspn(system, " ");
    kernel += strspn(kernel, " ");
    snprintf(machine->kernel, sizeof machine->kernel, "%.*s", (int)strcspn(kernel, " "), kernel);
    snprintf(machine->version, sizeof machine->version, "%s", MXP_VERSION_STRING);
    for (unsigned level = 1; level <= MXP__CEILING_LEVELS; level++) {
        machine->cache_bytes[level - 1] = mxp__os_cache_bytes("", level);
    }
}

bool mxp__machine_is(const mxp_machine *one, const mxp_machine *other)
{
    return strcmp(one->cpu, other->cpu) == 0 && strcmp(one->kernel, other->kernel) == 0 &&
           strcmp(one->version, other->version) == 0 && one->cores == other->cores;
}

const char *mxp__ceiling_name(mxp_ceiling ceiling)
{
    static const char *const names[MXP__CEILINGS] = {
        "multiply-add f32", "multiply-add f64", "L1 triad", "L2 triad", "L3 triad", "memory triad"};
    return names[ceiling];
}

// ---- a thread ----------------------------------------------------------------------------------
static bool is_triad(mxp_ceiling ceiling)
{
    return ceiling >= MXP__CEILING_L1;
}

// What the loop does when it runs once: operations, or bytes.
static double amount_of(const measuring_thread *self)
{
    const measurement *of = self->of;
    const size_t size = of->ceiling == MXP__CEILING_F64 ? sizeof(double) : sizeof(float);
    return is_triad(of->ceiling)
               ? (double)(STREAMS * self->count * sizeof(float))
               : 2.0 * (double)(MXP__CEILING_CHAINS * of->kernels->vector_bytes / size);
}

static void run_loop(measuring_thread *self, uint64_t times)
{
    const mxp_ceiling_kernels *kernels = self->of->kernels;
    if (self->of->ceiling == MXP__CEILING_F32) {
        self->kept += (double)kernels->multiply_add_f32(times);
    } else if (self->of->ceiling == MXP__CEILING_F64) {
        self->kept += kernels->multiply_add_f64(times);
    } else {
        float *a = self->arrays, *b = a + self->count + SKEW, *c = b + self->count + SKEW;
        kernels->triad(a, b, c, self->count, times);
    }
}

// How often the loop fits into a round, tried by this thread while no other runs.
static uint64_t times_of_round(measuring_thread *self)
{
    uint64_t times = 1, ns = 0;
    while (ns < round_ns / 16) {
        uint64_t begin_ns = mxp__os_raw_ns();
        run_loop(self, times);
        ns = mxp__os_raw_ns() - begin_ns;
        times *= ns < round_ns / 16 ? 4 : 1;
    }
    times = (uint64_t)((double)times * (double)round_ns / (double)ns);
    return times > 0 ? times : 1;
}

static void touch_arrays(measuring_thread *self)
{
    if (is_triad(self->of->ceiling)) {  // its pages come from the system before it is timed
        memset(self->arrays, 0, STREAMS * (self->count + SKEW) * sizeof(float));
    }
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

// Spins, because threads that sleep do not come back at the same time.
static void wait_for_others(measurement *of, int round)
{
    enum { SPINS = 20000 };
    const uint32_t all = (uint32_t)(round + 1) * of->threads;
    mxp_atomic_add_release(&of->arrived, 1);  // pairs with the load
    for (int spins = 0; mxp_atomic_load_acquire(&of->arrived) < all; spins++) {
        if (spins < SPINS) {
            mxp__cpu_relax();
        } else {
            mxp__os_yield();  // more threads than cores that are free
        }
    }
}

static void *measure_thread(void *argument)
{
    measuring_thread *self = argument;
    touch_arrays(self);
    run_loop(self, 1);
    for (int round = 0; round < MXP__CEILING_ROUNDS; round++) {
        wait_for_others(self->of, round);
        self->begin_ns[round] = mxp__os_raw_ns();
        uint64_t cpu_ns = thread_cpu_ns();
        run_loop(self, self->of->times);
        self->cpu_ns[round] = thread_cpu_ns() - cpu_ns;
        self->end_ns[round] = mxp__os_raw_ns();
    }
    return NULL;
}

// ---- a measurement -----------------------------------------------------------------------------
static int by_rate(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double rate_of_round(const measuring_thread *threads, uint32_t count, int round)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    double amounts = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const measuring_thread *thread = &threads[i];
        const uint64_t cpu_ns = thread->cpu_ns[round];
        double amount = amount_of(thread) * (double)thread->of->times;
        begin_ns = thread->begin_ns[round] < begin_ns ? thread->begin_ns[round] : begin_ns;
        end_ns = thread->end_ns[round] > end_ns ? thread->end_ns[round] : end_ns;
        amounts += amount;
        sum += cpu_ns > 0 ? amount / (double)cpu_ns * 1e9 : 0;
    }
    bool is_shared = threads[0].of->ceiling >= MXP__CEILING_L3;
    return !is_shared ? sum : end_ns > begin_ns ? amounts / (double)(end_ns - begin_ns) * 1e9 : 0;
}

static void take_rates(const measuring_thread *threads, uint32_t count, mxp_ceiling_rate *rate)
{
    double rounds[MXP__CEILING_ROUNDS];
    for (int i = 0; i < MXP__CEILING_ROUNDS; i++) {
        rounds[i] = rate_of_round(threads, count, i);
    }
    qsort(rounds, MXP__CEILING_ROUNDS, sizeof rounds[0], by_rate);
    rate->best = rounds[MXP__CEILING_ROUNDS - 1];
    rate->rate = rounds[MXP__CEILING_ROUNDS - 2];
    rate->median = rounds[MXP__CEILING_ROUNDS / 2];
}

// Its arrays, one behind the other and away from each other by a little, so that they do not fall
// into the same lines of a cache.
static int take_arrays(measuring_thread *self)
{
    size_t numbers = self->of->bytes / sizeof(float) / STREAMS / self->of->threads;
    self->count = numbers < STEP ? STEP : numbers / STEP * STEP;
    void *arrays = NULL;
    if (posix_memalign(&arrays, ALIGNMENT, STREAMS * (self->count + SKEW) * sizeof(float)) != 0) {
        return mxp__fail_memory("what the bandwidth is measured with");
    }
    self->arrays = arrays;
    return MXP_OK;
}

static int run_threads(measurement *of, measuring_thread *threads)
{
    uint32_t begun = 1;  // this thread is the first
    while (begun < of->threads &&
           pthread_create(&threads[begun].thread, NULL, measure_thread, &threads[begun]) == 0) {
        begun++;
    }
    if (begun < of->threads) {
        // Those that were begun wait for the others for ever: the process has to end.
        return mxp__fail(MXP_ENOTSUP, "%u threads cannot be begun, which the machine has cores for",
                         (unsigned)of->threads);
    }
    measure_thread(&threads[0]);
    for (uint32_t i = 1; i < of->threads; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    return MXP_OK;
}

static int measure(measurement *of, mxp_ceiling_rate *rate)
{
    measuring_thread *threads = mxp__alloc(of->threads * sizeof *threads);
    if (threads == NULL) {
        return mxp__fail_memory("the threads that measure");
    }
    int error = MXP_OK;
    for (uint32_t i = 0; i < of->threads && error == MXP_OK; i++) {
        threads[i].of = of;
        error = is_triad(of->ceiling) ? take_arrays(&threads[i]) : MXP_OK;
    }
    if (error == MXP_OK) {
        touch_arrays(&threads[0]);
        of->times = times_of_round(&threads[0]);
        mxp_atomic_set(&of->arrived, 0);
        error = run_threads(of, threads);
        if (error != MXP_OK) {
            return error;  // threads still use it
        }
        take_rates(threads, of->threads, rate);
    }
    for (uint32_t i = 0; i < of->threads; i++) {
        free(threads[i].arrays);
    }
    mxp__free(threads, of->threads * sizeof *threads);
    return error;
}

// How many bytes stay within a level: half of what each core has of it, or of the whole machine's.
// 0: there is no such level.
static size_t bytes_of(const mxp_machine *machine, mxp_ceiling ceiling, uint32_t threads)
{
    const uint64_t *caches = machine->cache_bytes;
    uint64_t last = 0;
    switch (ceiling) {
    case MXP__CEILING_L1:
    case MXP__CEILING_L2:
        return (size_t)(caches[ceiling - MXP__CEILING_L1] / 2) * threads;
    case MXP__CEILING_L3:
        return (size_t)(caches[2] / 2);
    default:
        for (int i = 0; i < MXP__CEILING_LEVELS; i++) {
            last = caches[i] > last ? caches[i] : last;
        }
        return last > 0 && 4 * last < memory_bytes_max ? (size_t)(4 * last) : memory_bytes_max;
    }
}

const mxp_ceiling_kernels *mxp__ceiling_kernels_here(void)
{
    const uint32_t bytes = mxp__cpu_vector_bytes();
    return bytes == 64   ? &mxp__ceiling_kernels_64
           : bytes == 32 ? &mxp__ceiling_kernels_32
                         : &mxp__ceiling_kernels_16;
}

int mxp__ceilings_measure(mxp_ceilings *ceilings)
{
    *ceilings = (mxp_ceilings){0};
    mxp__machine_here(&ceilings->machine);
    measurement of = {.kernels = mxp__ceiling_kernels_here()};
    ceilings->vector_bytes = of.kernels->vector_bytes;
    uint32_t cores = ceilings->machine.cores < THREADS_MAX ? ceilings->machine.cores : THREADS_MAX;
    int error = MXP_OK;
    for (int i = 0; i < MXP__CEILINGS && error == MXP_OK; i++) {
        of.ceiling = (mxp_ceiling)i;
        of.threads = 1;
        of.bytes = bytes_of(&ceilings->machine, of.ceiling, 1);
        if (is_triad(of.ceiling) && of.bytes == 0) {
            continue;
        }
        error = measure(&of, &ceilings->one[i]);
        ceilings->all[i] = ceilings->one[i];
        if (error == MXP_OK && cores > 1) {
            of.threads = cores;
            of.bytes = bytes_of(&ceilings->machine, of.ceiling, cores);
            error = measure(&of, &ceilings->all[i]);
            if (ceilings->all[i].rate < ceilings->one[i].rate) {
                ceilings->all[i] = ceilings->one[i];  // never less, but on a busy machine
            }
        }
    }
    return error;
}
