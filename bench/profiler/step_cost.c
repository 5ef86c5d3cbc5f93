// SPDX-License-Identifier: Apache-2.0
// R12: a step's mark with CPU time and run delay in a process of four threads, over reading those
// figures of the system alone: one clock, and a file that is kept open for each thread.
#include <fcntl.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "support/recording.h"

enum { THREADS = 4, STEPS = 4000 };

static int files[THREADS];
static pid_t tids[THREADS];

static void *stay(void *slot)
{
    __atomic_store_n((pid_t *)slot, gettid(), __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
    return NULL;
}

static void begin_threads(void)
{
    tids[0] = gettid();
    for (int i = 1; i < THREADS; i++) {
        pthread_t thread;
        bench_require(pthread_create(&thread, NULL, stay, &tids[i]) == 0, "pthread_create");
        while (__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE) == 0) {
            usleep(100);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)tids[i]);
        files[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
}

static void mark_steps(void *context, bench_stretch *stretch)
{
    (void)context;
    mxp_step(0);  // opens the files
    bench_start(stretch);
    for (int i = 1; i <= STEPS; i++) {
        mxp_step((uint64_t)i);
    }
    bench_stop(stretch, STEPS);
    bench_drain();
}

static uint64_t read_figures(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    uint64_t sum = (uint64_t)used.tv_nsec;
    for (int i = 0; i < THREADS; i++) {
        char text[96], *rest;
        ssize_t length = pread(files[i], text, sizeof text - 1, 0);
        text[length > 0 ? length : 0] = '\0';
        strtoull(text, &rest, 10);
        sum += strtoull(rest, NULL, 10);
    }
    return sum;
}

static void read_alone(void *context, bench_stretch *stretch)
{
    uint64_t *sum = context;
    bench_start(stretch);
    for (int i = 0; i < STEPS; i++) {
        *sum += read_figures();
    }
    bench_stop(stretch, STEPS);
}

static void measure_step(const bench_claim *claim)
{
    uint64_t sum = 0;
    begin_threads();
    if (files[0] < 0) {
        bench_void(claim, "the system has no /proc/self/task/*/schedstat");
        return;
    }
    bench_session_begin();
    bench_pin(0);
    bench_compare(
        claim, &(bench_plan){
                   .subject = mark_steps, .reference = read_alone, .context = &sum, .rounds = 31});
    bench_unpin();
    bench_session_stop();
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R12 CPU time and run delay of a step, over reading them", "ns/step", false, 2.0, 1.5,
         measure_step},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
