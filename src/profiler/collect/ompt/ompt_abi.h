// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/ompt: the tool that OpenMP runtimes look for (OMPT, OpenMP 5.0).
//
// Types and numbers of the standard, as far as the tool uses them.
#ifndef MXP_COLLECT_OMPT_ABI_H
#define MXP_COLLECT_OMPT_ABI_H

#include <stdint.h>

typedef union ompt_data {  // a word of the runtime's that is the tool's
    uint64_t value;
    void *pointer;
} ompt_data;

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);

typedef struct ompt_start {
    int (*initialize)(ompt_lookup lookup, int device, ompt_data *tool);
    void (*finalize)(ompt_data *tool);
    ompt_data tool;
} ompt_start;

enum {
    OMPT_THREAD_BEGIN = 1,
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_WORK = 20,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_MASKED = 21,
    OMPT_SYNC_REGION = 23,
    OMPT_TARGET = 33,
    OMPT_TARGET_DATA = 34,
    OMPT_TARGET_SUBMIT = 35
};

enum { OMPT_BEGIN = 1, OMPT_END = 2 };
enum { OMPT_INITIAL_THREAD = 1, OMPT_WORKER = 2 };
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4 };
enum { OMPT_SYNC_TASKWAIT = 5, OMPT_SYNC_TASKGROUP = 6 };
enum { OMPT_MUTEX_CRITICAL = 5, OMPT_MUTEX_ATOMIC = 6, OMPT_MUTEX_ORDERED = 7 };

#endif
