// SPDX-License-Identifier: Apache-2.0
// Eight threads that live as long as the program and record when told to. Each event is also timed
// from outside its span, so the array holds the same spans, a few ns longer.
#include "support/workload.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "support/harness.h"

static struct {
    pthread_barrier_t begin, end;
    bench_event *events;
    uint64_t spans_per_thread;
    mxp_name names[BENCH_NAMES];
    char texts[BENCH_NAMES][16];
} workload;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Most spans are short, few are long, as in programs.
static void work_for(uint32_t random)
{
    uint32_t turns = random % 64;
    if (random % 64 == 0) {
        turns = 2000;
    } else if (random % 4093 == 0) {
        turns = 40000;
    }
    for (uint32_t i = 0; i < turns; i++) {
        __asm__ volatile("" ::: "memory");
    }
}

static void record_share(uint32_t thread)
{
    bench_event *event = workload.events + thread * workload.spans_per_thread;
    uint32_t random = thread + 1;
    for (uint64_t i = 0; i < workload.spans_per_thread; i++, event++) {
        uint32_t draw = next_random(&random);
        uint32_t name = draw >> 12 & (BENCH_NAMES - 1);
        event->name = name;
        event->thread = thread;
        event->begin_ns = mxp_ticks();
        uint64_t token = mxp_span_begin(workload.names[name]);
        work_for(draw);
        mxp_span_end(workload.names[name], token);
        event->end_ns = mxp_ticks();
    }
}

static void *run_thread(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    for (;;) {
        pthread_barrier_wait(&workload.begin);
        record_share(thread);
        pthread_barrier_wait(&workload.end);
    }
    return NULL;
}

const char *bench_name_text(uint32_t name)
{
    return workload.texts[name];
}

const char *bench_category_text(uint32_t category)
{
    static const char *const texts[BENCH_CATEGORIES] = {"operator", "memory", "engine", "user"};
    return texts[category];
}

static void make_names(void)
{
    static const char *const kinds[] = {"convolution", "activation", "pooling", "dense"};
    for (uint32_t name = 0; name < BENCH_NAMES; name++) {
        uint32_t category = name % BENCH_CATEGORIES;
        snprintf(workload.texts[name], sizeof workload.texts[name], "%s%u", kinds[category], name);
        workload.names[name] = mxp_span_name(bench_category_text(category), workload.texts[name]);
    }
}

void bench_workload_start(uint64_t spans)
{
    if (workload.events != NULL) {
        return;
    }
    make_names();
    workload.spans_per_thread = spans / BENCH_THREADS;
    size_t size_bytes = bench_workload_spans() * sizeof(bench_event);
    workload.events = malloc(size_bytes);
    bench_require(workload.events != NULL, "malloc");
    bench_touch(workload.events, size_bytes);
    pthread_barrier_init(&workload.begin, NULL, BENCH_THREADS + 1);
    pthread_barrier_init(&workload.end, NULL, BENCH_THREADS + 1);
    for (uintptr_t thread = 0; thread < BENCH_THREADS; thread++) {
        pthread_t id;
        bench_require(pthread_create(&id, NULL, run_thread, (void *)thread) == 0, "pthread_create");
        pthread_detach(id);
    }
}

// From ticks to ns since the first event, as a trace has them.
static void convert_events(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    bench_require(mxp_session_report(mxp_session_get(), &report) == 0, "mxp_session_report");
    uint64_t count = bench_workload_spans();
    uint64_t first = UINT64_MAX;
    for (uint64_t i = 0; i < count; i += workload.spans_per_thread) {
        uint64_t begin = workload.events[i].begin_ns;
        first = begin < first ? begin : first;
    }
    for (uint64_t i = 0; i < count; i++) {
        bench_event *event = &workload.events[i];
        event->begin_ns = (uint64_t)((double)(event->begin_ns - first) * report.ns_per_tick);
        event->end_ns = (uint64_t)((double)(event->end_ns - first) * report.ns_per_tick);
    }
}

void bench_workload_fill(void)
{
    pthread_barrier_wait(&workload.begin);
    pthread_barrier_wait(&workload.end);
    convert_events();
}

const bench_event *bench_workload_events(void)
{
    return workload.events;
}

uint64_t bench_workload_spans(void)
{
    return workload.spans_per_thread * BENCH_THREADS;
}
