// SPDX-License-Identifier: Apache-2.0
// Threads that start together, each on a core of its own.
#include "support/peer_loop.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS_MAX = 8 };

typedef struct peer_thread {
    pthread_t id;
    pthread_barrier_t *together;
    bench_peer_work work;
    void *context;
    int number, cpu;
    uint64_t count;
    bench_stretch stretch;
} peer_thread;

static void *run_thread(void *argument)
{
    peer_thread *self = argument;
    bench_pin(self->cpu);
    self->work(self->context, self->number, self->count / 16);
    pthread_barrier_wait(self->together);
    bench_start(&self->stretch);
    self->work(self->context, self->number, self->count);
    bench_stop(&self->stretch, (double)self->count);
    return NULL;
}

void bench_peer_run(int threads, uint64_t count, bench_peer_work work, void *context)
{
    static peer_thread all[THREADS_MAX];
    pthread_barrier_t together;
    bench_stretch sum = {0};
    bench_require(threads >= 1 && threads <= THREADS_MAX, "number of threads, 1 to 8");
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        int cpu = threads == 1 ? bench_cpu_count() - 1 : i;
        all[i] = (peer_thread){.together = &together,
                               .work = work,
                               .context = context,
                               .number = i,
                               .cpu = cpu,
                               .count = count};
        bench_require(pthread_create(&all[i].id, NULL, run_thread, &all[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].id, NULL);
        sum.wall_ns += all[i].stretch.wall_ns;
        sum.cpu_ns += all[i].stretch.cpu_ns;
        sum.operations += all[i].stretch.operations;
    }
    bench_peer_print(&sum);
}

void bench_peer_print(const bench_stretch *stretch)
{
    printf("{\"operations\": %.0f, \"wall_ns\": %.0f, \"cpu_ns\": %.0f}\n", stretch->operations,
           stretch->wall_ns, stretch->cpu_ns);
    fflush(stdout);
}

uint64_t bench_peer_number(const char *text)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (number == 0 || *end != '\0') {
        fprintf(stderr, "'%s' is no positive number\n", text);
        exit(2);
    }
    return number;
}

void bench_peer_warm_memory(size_t size_bytes)
{
    void *memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bench_require(memory != MAP_FAILED, "mmap");
    bench_touch(memory, size_bytes);
    munmap(memory, size_bytes);
}
