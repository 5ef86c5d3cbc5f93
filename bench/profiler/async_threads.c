// SPDX-License-Identifier: Apache-2.0
// Q5: asynchronous spans of four threads at once, over plain spans of four threads at once. The
// open ones are in one table of the process, so threads could be in each other's way. What counts
// is the threads' own CPU time, because there may be fewer cores than threads.
#include <mxprof/record.h>
#include <pthread.h>

#include "support/recording.h"

enum { THREADS = 4, BATCH = 1 << 16, BATCHES = 6 };

typedef struct worker {
    bench_loop loop;
    mxp_name name;
    bench_stretch stretch;
} worker;

static void loop_async(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        mxp_async span = mxp_async_begin(MXP_CLASS_USER, name, 0, mxp_no_context());
        BENCH_OPAQUE();
        mxp_async_end(&span, NULL, 0);
    }
}

static void *work(void *argument)
{
    worker *self = argument;
    self->loop(BATCH, self->name);  // its memory is written before it is timed
    bench_start(&self->stretch);
    self->loop(BATCH, self->name);
    bench_stop(&self->stretch, BATCH);
    return NULL;
}

static void run_batch(const worker *model, bench_stretch *stretch)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = *model;
        bench_require(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        stretch->wall_ns += workers[i].stretch.cpu_ns;
        stretch->cpu_ns += workers[i].stretch.cpu_ns;
        stretch->operations += workers[i].stretch.operations;
    }
    bench_drain();
}

static void run_subject(void *context, bench_stretch *stretch)
{
    const worker model = {.loop = loop_async, .name = ((const mxp_name *)context)[1]};
    for (int i = 0; i < BATCHES; i++) {
        run_batch(&model, stretch);
    }
}

static void run_reference(void *context, bench_stretch *stretch)
{
    const worker model = {.loop = bench_loop_span_functions, .name = *(const mxp_name *)context};
    for (int i = 0; i < BATCHES; i++) {
        run_batch(&model, stretch);
    }
}

static void measure(const bench_claim *claim)
{
    mxp_name names[] = {bench_session_begin(), 0};
    names[1] = mxp_intern("bench", "async", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    bench_plan plan = {.subject = run_subject,
                       .reference = run_reference,
                       .context = names,
                       .rounds = 15,
                       .many_threads = true};
    bench_compare(claim, &plan);
    bench_session_stop();
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"Q5 asynchronous span on four threads, over a plain span on four", "ns/span", false, 2.5,
         1.5, measure},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
