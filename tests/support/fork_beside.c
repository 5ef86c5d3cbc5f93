// SPDX-License-Identifier: Apache-2.0
#include "fork_beside.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

enum { FORKS = 200, SECONDS = 10 };

// What became of a process, as waitpid has it.
static int end_of(pid_t process)
{
    int status = -1;
    return process > 0 && waitpid(process, &status, 0) == process ? status : -1;
}

// `turns` until it forks.
static void fork_once(void *(*first)(void *), int (*use)(void), unsigned turns)
{
    pthread_t thread;
    alarm(SECONDS);
    pthread_create(&thread, NULL, first, NULL);
    for (volatile unsigned i = 0; i < turns; i++) {
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);  // that of before is the parent's
        _exit(use() ? 0 : 1);
    }
    const int status = end_of(child);
    pthread_join(thread, NULL);
    _exit(status == 0 && use() ? 0 : 1);
}

void fork_beside(void *(*first)(void *), int (*use)(void))
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    for (unsigned i = 0; i < FORKS; i++) {
        const pid_t process = fork();
        if (process == 0) {
            fork_once(first, use, i * 1000);
        }
        assert_int_equal(end_of(process), 0);
    }
}
