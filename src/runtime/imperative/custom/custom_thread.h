// SPDX-License-Identifier: Apache-2.0
// Threads for functions of the program that may take as long as they like and wait for the engine:
// no worker does. There are always enough that no function that waits for the engine keeps others
// from running; of the others a limited number runs at a time.
#ifndef MXN_IMPERATIVE_CUSTOM_THREAD_H
#define MXN_IMPERATIVE_CUSTOM_THREAD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mxn_custom_task {
    struct mxn_custom_task *next;  // private
    void (*run)(struct mxn_custom_task *task);
    uint32_t handed_by;  // private: id in records of the operation that put it, 0: none
} mxn_custom_task;

// Runs the task on one of the threads, in the order of the calls. The caller keeps its memory until
// then. MXP_ENOMEM: no thread could be started and none is there.
int mxn__custom_thread_put(mxn_custom_task *task);

// Of the function that this thread runs: it begins to wait for the engine, or has done so.
void mxn__custom_thread_waits(bool begins);

#endif
