// SPDX-License-Identifier: Apache-2.0
// Threads of this library. Signals belong to the program, so these threads block all of them but
// SIGBUS, which a thread raises by its own access and which ends the process where it is blocked.
#ifndef MXP_BASE_OS_QUIET_THREAD_H
#define MXP_BASE_OS_QUIET_THREAD_H

#include <pthread.h>

// Starts a thread, detached if `thread` is null. 0, or the system's error number. The caller's
// signal mask is the same afterwards.
int mxp__os_start_thread(pthread_t *thread, void *(*function)(void *), void *argument);

#endif
