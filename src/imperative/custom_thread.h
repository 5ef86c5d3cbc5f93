// SPDX-License-Identifier: Apache-2.0
// Threads for functions of the program that may take as long as they like and wait for the engine:
// no worker does. There are always enough that none of these functions waits for another to end.
#ifndef MXN_IMPERATIVE_CUSTOM_THREAD_H
#define MXN_IMPERATIVE_CUSTOM_THREAD_H

typedef struct mxn_custom_task {
    struct mxn_custom_task *next;  // private
    void (*run)(struct mxn_custom_task *task);
} mxn_custom_task;

// Runs the task on one of the threads, in the order of the calls. The caller keeps its memory until
// then. MXP_ENOMEM: no thread could be started and none is there.
int mxn__custom_thread_put(mxn_custom_task *task);

#endif
