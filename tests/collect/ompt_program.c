// SPDX-License-Identifier: Apache-2.0
// Plays an OpenMP runtime as LLVM's behaves: it loads the tool that OMP_TOOL_LIBRARIES names, and
// calls it from two threads for regions, loops, waits, tasks and locks. A worker hears of the end
// of its region late, when it is woken for the next one, and then without the region. Knows nothing
// of mxprof.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef union data {
    uint64_t value;
    void *pointer;
} data;
typedef void (*function)(void);
typedef struct start {
    int (*initialize)(function (*)(const char *), int, data *);
    void (*finalize)(data *);
    data tool;
} start;

static function callbacks[64];

static int set_callback(int event, function callback)
{
    callbacks[event] = callback;
    return 5;
}

static function look_up(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (function)set_callback : NULL;
}

enum { BEGIN = 1, END = 2 };
#define thread_begin ((void (*)(int, data *))callbacks[1])
#define parallel_begin \
    ((void (*)(data *, const void *, data *, unsigned, int, const void *))callbacks[3])
#define parallel_end ((void (*)(data *, data *, int, const void *))callbacks[4])
#define task_create ((void (*)(data *, const void *, data *, int, int, const void *))callbacks[5])
#define task_schedule ((void (*)(data *, int, data *))callbacks[6])
#define implicit_task ((void (*)(int, data *, data *, unsigned, unsigned, int))callbacks[7])
#define sync_wait ((void (*)(int, int, data *, data *, const void *))callbacks[16])
#define work ((void (*)(int, int, data *, data *, uint64_t, const void *))callbacks[20])
#define mutex_acquire ((void (*)(int, unsigned, unsigned, uint64_t, const void *))callbacks[26])
#define mutex_acquired ((void (*)(int, uint64_t, const void *))callbacks[27])
#define mutex_released ((void (*)(int, uint64_t, const void *))callbacks[17])
#define masked ((void (*)(int, data *, data *, const void *))callbacks[21])
#define sync_region ((void (*)(int, int, data *, data *, const void *))callbacks[23])
#define target ((void (*)(int, int, int, data *, data *, data *, const void *))callbacks[33])
#define target_data                                                                    \
    ((void (*)(int, data *, data *, uint64_t *, int, void *, int, void *, int, size_t, \
               const void *))callbacks[34])
#define target_submit ((void (*)(int, data *, uint64_t *, unsigned))callbacks[35])

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static sem_t wake, done;
static data *region;
static int regions;

// What each thread of a team does in a region.
static void take_part(data *parallel, data *task, unsigned index)
{
    implicit_task(BEGIN, parallel, task, 2, index, 2);
    work(1, BEGIN, parallel, task, 100, NULL);
    work(1, END, parallel, task, 100, NULL);
    mutex_acquire(5, 0, 0, 77, NULL);
    mutex_acquired(5, 77, NULL);
    sync_wait(9, BEGIN, parallel, task, NULL);
}

static void *worker(void *unused)
{
    data thread = {0}, task = {0};
    thread_begin(2, &thread);
    for (int i = 0; i < regions; i++) {
        sem_wait(&wake);
        if (i > 0) {  // of the region before
            sync_wait(9, END, NULL, &task, NULL);
            implicit_task(END, NULL, &task, 0, 1, 2);
        }
        take_part(region, &task, 1);
        sem_post(&done);
    }
    sem_wait(&wake);
    sync_wait(9, END, NULL, &task, NULL);
    implicit_task(END, NULL, &task, 0, 1, 2);
    return unused;
}

static void run_regions(void)
{
    pthread_t thread;
    data initial = {0}, task = {0};
    thread_begin(1, &initial);
    implicit_task(BEGIN, NULL, &initial, 1, 1, 1);  // the program itself: no region
    sem_init(&wake, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, worker, NULL);
    for (int i = 0; i < regions; i++) {
        data parallel = {0};
        region = &parallel;
        parallel_begin(&initial, NULL, &parallel, 2, 1, (const void *)run_regions);
        sem_post(&wake);
        take_part(&parallel, &task, 0);
        sem_wait(&done);
        sync_wait(9, END, &parallel, &task, NULL);
        implicit_task(END, NULL, &task, 2, 0, 2);
        parallel_end(&parallel, &initial, 1, NULL);
        sleep_ms(3);  // the worker sleeps, too
    }
    sem_post(&wake);
    pthread_join(thread, NULL);
    implicit_task(END, NULL, &initial, 1, 1, 1);
}

// Two tasks: the first is switched away from and continued.
static void run_tasks(void)
{
    data implicit = {0}, first = {0}, second = {0};
    thread_begin(1, &implicit);
    task_create(&implicit, NULL, &first, 4, 0, NULL);
    task_create(&implicit, NULL, &second, 4, 0, NULL);
    task_schedule(&implicit, 7, &first);
    task_schedule(&first, 7, &second);
    task_schedule(&second, 1, &first);
    task_schedule(&first, 1, &implicit);
    sync_wait(5, BEGIN, NULL, &implicit, NULL);
    sync_wait(5, END, NULL, &implicit, NULL);
    work(4, BEGIN, NULL, &implicit, 1, NULL);
    work(4, END, NULL, &implicit, 1, NULL);
    work(3, BEGIN, NULL, &implicit, 1, NULL);
    work(3, END, NULL, &implicit, 1, NULL);
    work(1, END, NULL, &implicit, 1, NULL);  // fits nothing
}

// An untied task begins on one thread and goes on on another.
static void *continue_task(void *task)
{
    data implicit = {0}, thread = {0};
    thread_begin(2, &thread);
    task_schedule(&implicit, 7, task);
    task_schedule(task, 1, &implicit);
    return NULL;
}

static void run_moves(void)
{
    data implicit = {0}, task = {0}, group = {0};
    pthread_t thread;
    thread_begin(1, &implicit);
    sync_region(6, BEGIN, NULL, &group, NULL);
    task_create(&implicit, NULL, &task, 4 | 0x10000000, 0, NULL);
    task_schedule(&implicit, 7, &task);
    task_schedule(&task, 7, &implicit);
    pthread_create(&thread, NULL, continue_task, &task);
    pthread_join(thread, NULL);
    sync_wait(6, BEGIN, NULL, &group, NULL);
    sync_wait(6, END, NULL, &group, NULL);
    sync_region(6, END, NULL, &group, NULL);
    sync_region(1, BEGIN, NULL, &group, NULL);  // a barrier is told by its wait
    sync_region(1, END, NULL, &group, NULL);
    masked(BEGIN, NULL, &implicit, NULL);
    masked(END, NULL, &implicit, NULL);
}

static void run_locks(void)
{
    data implicit = {0};
    thread_begin(1, &implicit);
    masked(BEGIN, NULL, &implicit, NULL);
    masked(END, NULL, &implicit, NULL);
    for (uint64_t i = 1; i <= 10 && mutex_acquire != NULL; i++) {
        mutex_acquire(i % 2 == 0 ? 1 : 5, 0, 0, i, NULL);
        mutex_acquired(i % 2 == 0 ? 1 : 5, i, NULL);
        if (mutex_released != NULL) {
            mutex_released(i % 2 == 0 ? 1 : 5, i, NULL);
        }
    }
}

static void run_target(void)
{
    data task = {0}, region_data = {0};
    uint64_t operation = 0;
    target(9, BEGIN, 0, &task, NULL, &region_data, NULL);
    target_data(BEGIN, NULL, &region_data, &operation, 2, NULL, 1, NULL, 0, 4096, NULL);
    target_data(END, NULL, &region_data, &operation, 2, NULL, 1, NULL, 0, 4096, NULL);
    target_submit(BEGIN, &region_data, &operation, 8);
    target_submit(END, &region_data, &operation, 8);
    target(9, END, 0, &task, NULL, &region_data, NULL);
}

int main(int argc, char **argv)
{
    void *library = dlopen(getenv("OMP_TOOL_LIBRARIES"), RTLD_LAZY);
    start *(*start_tool)(unsigned, const char *) =
        library != NULL ? (start * (*)(unsigned, const char *)) dlsym(library, "ompt_start_tool")
                        : NULL;
    start *tool = start_tool != NULL ? start_tool(201611, "a runtime of this test") : NULL;
    if (tool == NULL || !tool->initialize(look_up, 0, &tool->tool)) {
        fprintf(stderr, "no tool: %s\n", dlerror());
        return 2;
    }
    regions = argc > 2 ? atoi(argv[2]) : 5;
    strcmp(argv[1], "tasks") == 0    ? run_tasks()
    : strcmp(argv[1], "moves") == 0  ? run_moves()
    : strcmp(argv[1], "locks") == 0  ? run_locks()
    : strcmp(argv[1], "target") == 0 ? run_target()
                                     : run_regions();
    tool->finalize(&tool->tool);
    return 0;
}
