// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/itt: the collector of Intel's instrumentation calls (ITT).
//
// The structures that a program's static part and a collector share, as the public interface lays
// them out. A handle that the static part made before we were loaded is read by the same layout.
#ifndef MXP_COLLECT_ITT_ABI_H
#define MXP_COLLECT_ITT_ABI_H

#include <pthread.h>
#include <stddef.h>

#include "base/atomic.h"

typedef struct itt_domain {
    volatile int flags;  // 0: the program's macros call nothing for it
    const char *name;
    void *wide_name;
    mxp_atomic_u32 category;  // extra1, an int that is the collector's: the name id, 0: not asked
    void *extra2;
    struct itt_domain *next;
} itt_domain;

typedef struct itt_string {
    const char *text;
    void *wide_text;
    mxp_atomic_u32 name;  // extra1: of a task with this name in the domain in extra2
    MXP_ATOMIC(const void *) owner;  // extra2: that domain
    struct itt_string *next;
} itt_string;

typedef struct itt_id {
    unsigned long long d1, d2, d3;
} itt_id;

// How many units of a foreign clock pass a second, and what it showed when it was asked.
typedef struct itt_clock_info {
    unsigned long long frequency_hz, base;
} itt_clock_info;

typedef struct itt_track_group {
    itt_string *name;
    struct itt_track *track;
    int type, extra1;
    void *extra2;
    struct itt_track_group *next;
} itt_track_group;

typedef struct itt_track {
    itt_string *name;
    itt_track_group *group;
    int type;
    mxp_atomic_u32 lane;  // extra1: the name id
    void *extra2;
    struct itt_track *next;
} itt_track;

typedef struct itt_histogram {
    itt_domain *domain;
    const char *name;
    void *wide_name;
    int x_type, y_type;
    mxp_atomic_u32 id;  // extra1: the name
    void *extra2;
    struct itt_histogram *next;
} itt_histogram;

typedef struct itt_context_metadata {
    int type;
    void *value;
} itt_context_metadata;

_Static_assert(sizeof(itt_track_group) == 40 && sizeof(itt_track) == 40 &&
                   sizeof(itt_histogram) == 56,
               "as the public interface has them");

typedef struct itt_api_info {
    const char *name;
    void **function;
    void *init_function, *null_function;
    int group;
} itt_api_info;

// There is one in each shared object that sends marks; a collector writes nothing in it. Older
// copies end behind `strings`: what follows is for profiler/emit alone, which plays the static
// part.
typedef struct itt_global {
    unsigned char magic[8];
    unsigned long version_major, version_minor, version_build;
    volatile long api_initialized, mutex_initialized, atomic_counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **library_path;
    itt_api_info *api_list;
    struct itt_global *next;
    void *threads;
    itt_domain *domains;
    itt_string *strings;
    int state;
    void *counters;
    unsigned collect_events;
    void *histograms, *counter_metadata;
} itt_global;

// Where a mutex has 40 bytes, as on x86-64, ITT's copies have these offsets.
_Static_assert(sizeof(pthread_mutex_t) != 40 ||
                   (offsetof(itt_global, api_list) == 120 && offsetof(itt_global, strings) == 152 &&
                    sizeof(itt_global) == 200),
               "the lists are where every copy has them");

enum {
    ITT_SCOPE_GLOBAL = 1,
    ITT_SCOPE_PROCESS = 2,
    ITT_SCOPE_THREAD = 3,
    ITT_SCOPE_TASK = 4,
    ITT_SCOPE_MARKER = 5
};

// Types of metadata and of counters.
enum {
    ITT_U64 = 1,
    ITT_S64 = 2,
    ITT_U32 = 3,
    ITT_S32 = 4,
    ITT_U16 = 5,
    ITT_S16 = 6,
    ITT_FLOAT = 7,
    ITT_DOUBLE = 8
};

enum { ITT_CONTEXT_UNITS = 5 };  // the one of the metadata of counters that is recorded

#endif
