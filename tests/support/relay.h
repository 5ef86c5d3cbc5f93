// SPDX-License-Identifier: Apache-2.0
// Threads that act in turns, handed on in a way that orders nothing for ThreadSanitizer. What the
// library does not order by itself is then a race at every run, whatever the threads' moments.
#ifndef MXP_TEST_RELAY_H
#define MXP_TEST_RELAY_H

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void relay_pass(int *turn, int to)
{
    __atomic_store_n(turn, to, __ATOMIC_RELAXED);
}

static inline void relay_wait(const int *turn, int mine)
{
    while (__atomic_load_n(turn, __ATOMIC_RELAXED) != mine) {
        sched_yield();
    }
}

// Until the thread, which has stored its number (gettid) in *tid, is gone. Joining it would order.
static inline void relay_wait_gone(const int *tid)
{
    int number = __atomic_load_n(tid, __ATOMIC_RELAXED);
    while (syscall(SYS_tgkill, getpid(), number, 0) == 0) {
        sched_yield();
    }
}

#endif
