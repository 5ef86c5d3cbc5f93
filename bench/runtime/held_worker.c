// SPDX-License-Identifier: Apache-2.0
// Empty operations that queue up behind one that blocks, so that pushing and running are measured
// apart and neither waits for the other. Also what a queued operation takes in memory.
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/mxnet_library.h"
#include "runtime/runtime_side.h"

static NDArrayHandle array, held;
static int batch = 100000;
static sem_t arrived, released;
static double first_ns, last_ns;

static void prepare(void)
{
    const uint32_t shape[] = {1};
    array = bench_mxnet_array(shape, 1);
    held = bench_mxnet_array(shape, 1);
    sem_init(&arrived, 0, 0);
    sem_init(&released, 0, 0);
}

// As many as an emulator runs in a second.
static void prepare_few(void)
{
    batch = 10000;
    prepare();
}

static void hold(void *context, void *argument)
{
    (void)context;
    (void)argument;
    sem_post(&arrived);
    while (sem_wait(&released) != 0) {
    }
    first_ns = side_now_ns();
}

static void nothing(void *context, void *argument)
{
    (void)context;
    (void)argument;
}

static void note_end(void *context, void *argument)
{
    (void)context;
    (void)argument;
    last_ns = side_now_ns();
}

static void hold_worker(void)
{
    bench_mxnet_push(hold, NULL, NULL, 0, &held, 1);
    while (sem_wait(&arrived) != 0) {
    }
}

static void push_all(void)
{
    for (int i = 0; i < batch; i++) {
        bench_mxnet_push(nothing, NULL, NULL, 0, &array, 1);
    }
}

static void release_and_wait(void)
{
    bench_mxnet_push(note_end, NULL, NULL, 0, &array, 1);
    sem_post(&released);
    bench_mxnet_check(mxnet.wait_all(), "waiting for all");
}

static void batch_held(void)
{
    hold_worker();
    double begin = side_now_ns();
    push_all();
    double pushed_ns = side_now_ns() - begin;
    release_and_wait();
    side_answer("push_ns", pushed_ns / batch, "run_ns", (last_ns - first_ns) / batch);
}

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) {
        side_fail("reading /proc/self/statm");
    }
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

// Means something the first time only: memory is kept for the next ones.
static void batch_memory(void)
{
    hold_worker();
    double before = resident_bytes();
    push_all();
    double growth = resident_bytes() - before;
    release_and_wait();
    side_answer("bytes", growth / batch, NULL, 0);
}

const side_workload side_held_worker[] = {{"held", prepare, batch_held},
                                          {"held_few", prepare_few, batch_held},
                                          {"memory", prepare, batch_memory},
                                          {NULL, NULL, NULL}};
