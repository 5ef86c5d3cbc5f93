// SPDX-License-Identifier: Apache-2.0
// R4: a span on each of two recording threads, over a span when one thread records alone. Each has
// a core to itself; the main thread only drains, between batches, while they wait.
#include <pthread.h>

#include "support/recording.h"

enum { THREADS = 2, BATCHES = 40 };

// Written by the main thread before the `begin` barrier, read after it; `stretch` the other way
// round, about `end`.
typedef struct pair_of_threads {
    pthread_barrier_t begin, end;
    pthread_t thread[THREADS];
    bench_stretch stretch[THREADS];
    bench_loop loop;
    mxp_name name;
    int active;  // how many of them record; 0: leave
    int arrived;
} pair_of_threads;

typedef struct worker {
    pair_of_threads *pair;
    int number;
} worker;

// A barrier of the system wakes one thread later than the other, so the last step is a spin.
static void start_together(pair_of_threads *pair)
{
    __atomic_add_fetch(&pair->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&pair->arrived, __ATOMIC_ACQUIRE) < pair->active) {
    }
}

static void *work(void *argument)
{
    worker *self = argument;
    pair_of_threads *pair = self->pair;
    bench_pin(self->number);
    for (;;) {
        pthread_barrier_wait(&pair->begin);
        if (pair->active == 0) {
            return NULL;
        }
        if (self->number < pair->active) {
            start_together(pair);
            bench_start(&pair->stretch[self->number]);
            pair->loop(BENCH_BATCH, pair->name);
            bench_stop(&pair->stretch[self->number], BENCH_BATCH);
        }
        pthread_barrier_wait(&pair->end);
    }
}

static void add(bench_stretch *to, const bench_stretch *from)
{
    to->wall_ns += from->wall_ns;
    to->cpu_ns += from->cpu_ns;
    to->operations += from->operations;
}

static void run_batches(pair_of_threads *pair, int active, bench_stretch *stretch)
{
    for (int i = 0; i < THREADS; i++) {
        pair->stretch[i] = (bench_stretch){0};
    }
    pair->active = active;
    for (int i = 0; i < BATCHES; i++) {
        pair->arrived = 0;
        pthread_barrier_wait(&pair->begin);
        pthread_barrier_wait(&pair->end);
        bench_drain();
    }
    for (int i = 0; i < active; i++) {
        add(stretch, &pair->stretch[i]);
    }
}

static void run_two(void *context, bench_stretch *stretch)
{
    run_batches(context, 2, stretch);
}

static void run_one(void *context, bench_stretch *stretch)
{
    run_batches(context, 1, stretch);
}

static void measure(const bench_claim *claim, bench_loop loop)
{
    if (bench_cpu_count() < THREADS) {
        bench_void(claim, "needs two cores");
        return;
    }
    pair_of_threads pair = {.loop = loop, .name = bench_session_begin()};
    worker workers[THREADS];
    pthread_barrier_init(&pair.begin, NULL, THREADS + 1);
    pthread_barrier_init(&pair.end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){&pair, i};
        bench_require(pthread_create(&pair.thread[i], NULL, work, &workers[i]) == 0,
                      "pthread_create");
    }
    bench_plan plan = {.subject = run_two,
                       .reference = run_one,
                       .context = &pair,
                       .rounds = 11,
                       .many_threads = true};
    bench_compare(claim, &plan);
    pair.active = 0;
    pthread_barrier_wait(&pair.begin);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(pair.thread[i], NULL);
    }
    bench_session_stop();
}

static void measure_inline(const bench_claim *claim)
{
    measure(claim, bench_loop_span_inline);
}

static void measure_exported(const bench_claim *claim)
{
    measure(claim, bench_loop_span_exported);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R4 two threads, inline", "ns/span", false, 1.10, 1.03, measure_inline},
        {"R4 two threads, exported", "ns/span", false, 1.10, 1.03, measure_exported},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
