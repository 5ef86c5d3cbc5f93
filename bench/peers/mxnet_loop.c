// SPDX-License-Identifier: Apache-2.0
// The original's side, by the C functions of its published library:
//   mxnet_loop LIBRARY task|task_touched|counter|off THREADS COUNT
//   mxnet_loop LIBRARY dump|table FILE COUNT        MXDumpProfile of COUNT tasks, without and with
//                                                   aggregation, which it does while it dumps
// Each of its records is an object on the heap. The heap grows as it does in any program, on memory
// that the machine has at hand; in mode task_touched it was touched before, and nothing faults.
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/loops.h"
#include "support/peer_loop.h"
#include "support/scratch.h"

enum { NAMES = 256, THREADS_MAX = 8 };

// What a pair takes there, and a little more: 365 B.
static const size_t bytes_per_operation = 420;

static int (*set_config)(int count, const char *const *keys, const char *const *values);
static int (*set_state)(int state);
static int (*dump_profile)(int finished);
static int (*create_domain)(const char *name, void **domain);
static int (*create_task)(void *domain, const char *name, void **task);
static int (*create_counter)(void *domain, const char *name, void **counter);
static int (*duration_start)(void *handle);
static int (*duration_stop)(void *handle);
static int (*counter_set)(void *handle, uint64_t value);

static void *handles[NAMES];

// ISO C has no cast from an object pointer to a function pointer, POSIX requires that one works.
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    bench_require(address != NULL, name);
    memcpy(function, &address, sizeof address);
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(library, "MXSetProfilerConfig", &set_config);
    find(library, "MXSetProfilerState", &set_state);
    find(library, "MXDumpProfile", &dump_profile);
    find(library, "MXProfileCreateDomain", &create_domain);
    find(library, "MXProfileCreateTask", &create_task);
    find(library, "MXProfileCreateCounter", &create_counter);
    find(library, "MXProfileDurationStart", &duration_start);
    find(library, "MXProfileDurationStop", &duration_stop);
    find(library, "MXProfileSetCounter", &counter_set);
}

static void check(int error, const char *what)
{
    bench_require(error == 0, what);
}

static void configure(const char *file, const char *aggregate)
{
    const char *const keys[] = {"filename", "continuous_dump", "aggregate_stats", "profile_all"};
    const char *const values[] = {file, "0", aggregate, "1"};
    check(set_config(4, keys, values), "MXSetProfilerConfig");
}

static void create_handles(bool counters)
{
    void *domain;
    check(create_domain("bench", &domain), "MXProfileCreateDomain");
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "convolution%d", i);
        check((counters ? create_counter : create_task)(domain, name, &handles[i]), "creation");
    }
}

static void run_tasks(void *context, int thread, uint64_t count)
{
    (void)context;
    for (uint64_t i = 0; i < count; i++) {
        duration_start(handles[thread]);
        BENCH_OPAQUE();
        duration_stop(handles[thread]);
        BENCH_OPAQUE();
    }
}

static void run_counter(void *context, int thread, uint64_t count)
{
    (void)context;
    for (uint64_t i = 0; i < count; i++) {
        counter_set(handles[thread], i);
        BENCH_OPAQUE();
    }
}

static void touch_heap(size_t size_bytes)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_ARENA_MAX, 1);
    void *memory = malloc(size_bytes);
    bench_require(memory != NULL, "malloc");
    bench_touch(memory, size_bytes);
    free(memory);
}

static int run_loop(const char *mode, int threads, uint64_t count)
{
    bool counters = strcmp(mode, "counter") == 0;
    bool off = strcmp(mode, "off") == 0;
    size_t size_bytes = count * (size_t)threads * bytes_per_operation;
    bench_require(threads <= THREADS_MAX, "number of threads");
    // Never /dev/null: the original deletes the file it is told, at once, and root may delete that.
    configure(bench_scratch_path(".json"), "0");
    create_handles(counters);
    check(set_state(1), "MXSetProfilerState");
    if (off) {
        check(set_state(0), "MXSetProfilerState");  // until its first stop it records all the same
    } else if (strcmp(mode, "task_touched") == 0) {
        touch_heap(size_bytes);
    } else {
        bench_peer_warm_memory(size_bytes);
    }
    bench_peer_run(threads, count, counters ? run_counter : run_tasks, NULL);
    return 0;
}

static int run_dump(const char *aggregate, const char *file, uint64_t count)
{
    bench_stretch stretch = {0};
    configure(file, aggregate);
    create_handles(false);
    bench_peer_warm_memory(count * bytes_per_operation);
    check(set_state(1), "MXSetProfilerState");
    for (uint64_t i = 0; i < count; i++) {
        duration_start(handles[i % NAMES]);
        duration_stop(handles[i % NAMES]);
    }
    check(set_state(0), "MXSetProfilerState");
    bench_pin(bench_cpu_count() - 1);
    bench_start(&stretch);
    check(dump_profile(1), "MXDumpProfile");
    bench_stop(&stretch, (double)count);
    bench_peer_print(&stretch);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr,
                "usage: %s LIBRARY task|task_touched|counter|off THREADS COUNT | LIBRARY "
                "dump|table FILE "
                "COUNT\n",
                argv[0]);
        return 2;
    }
    const char *mode = argv[2];
    uint64_t count = bench_peer_number(argv[4]);
    load(argv[1]);
    int result;
    if (strcmp(mode, "dump") == 0 || strcmp(mode, "table") == 0) {
        result = run_dump(strcmp(mode, "table") == 0 ? "1" : "0", argv[3], count);
    } else {
        result = run_loop(mode, (int)bench_peer_number(argv[3]), count);
    }
    fflush(stdout);
    _Exit(result);  // its own clean-up would write a trace nobody reads
}
