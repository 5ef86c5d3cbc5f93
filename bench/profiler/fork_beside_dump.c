// SPDX-License-Identifier: Apache-2.0
// R10: a fork while another thread dumps 8 M spans, over a fork of the same process that does not.
// What counts is the call of fork alone; the dump continues throughout.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/recording.h"
#include "support/workload.h"

enum { SPANS = 8000000, FORKS = 16, PAUSE_NS = 10000000 };

static bool dumped;  // atomic

static void *dump(void *nothing)
{
    bench_session_dump();
    __atomic_store_n(&dumped, true, __ATOMIC_RELEASE);
    return nothing;
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static void fork_once(bench_stretch *stretch)
{
    bench_start(stretch);
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    bench_stop(stretch, 1);
    bench_require(child > 0 && waitpid(child, NULL, 0) == child, "fork");
}

static void fill(void)
{
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
}

static void fork_beside(void *context, bench_stretch *stretch)
{
    (void)context;
    pthread_t thread;
    fill();
    __atomic_store_n(&dumped, false, __ATOMIC_RELEASE);
    bench_require(pthread_create(&thread, NULL, dump, NULL) == 0, "pthread_create");
    int forks = 0;
    for (; forks < FORKS; forks++) {
        wait_a_little();
        if (__atomic_load_n(&dumped, __ATOMIC_ACQUIRE)) {
            break;
        }
        fork_once(stretch);
    }
    bench_require(forks > 0, "the dump was over before the first fork");
    bench_require(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void fork_alone(void *context, bench_stretch *stretch)
{
    (void)context;
    fill();
    for (int i = 0; i < FORKS; i++) {
        wait_a_little();
        fork_once(stretch);
    }
    bench_session_dump();
}

static void measure(const bench_claim *claim)
{
    if (bench_cpu_count() < 2) {
        bench_void(claim, "needs two cores");
        return;
    }
    // One thread formats: the other core is for who forks.
    bench_require(setenv("MXPROF_EXPORT_THREADS", "1", 1) == 0, "setenv");
    bench_unpin();
    bench_session_configure("/dev/null", NULL, 0);
    bench_workload_start(SPANS);
    bench_plan plan = {.subject = fork_beside,
                       .reference = fork_alone,
                       .rounds = 5,
                       .many_threads = true,
                       .scale = 1e-6};
    bench_compare(claim, &plan);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R10 fork beside a dump of 8 M spans, over a fork beside none", "ms", false, 1.5, 1.1,
         measure},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
