// SPDX-License-Identifier: Apache-2.0
// Our own threads. Signals are for the program's: none is delivered here but SIGBUS, which comes of
// what the thread itself does and ends the process where it is blocked.
#ifndef MXP_BASE_OS_QUIET_THREAD_H
#define MXP_BASE_OS_QUIET_THREAD_H

#include <pthread.h>

// Starts one; `thread` null: detached. 0, or the system's error number. The caller's own signals
// are as before afterwards.
int mxp__os_start_thread(pthread_t *thread, void *(*function)(void *), void *argument);

#endif
