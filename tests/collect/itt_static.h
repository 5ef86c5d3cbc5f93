// SPDX-License-Identifier: Apache-2.0
// The static part of a program that sends ITT marks: it loads the collector that
// INTEL_LIBITTNOTIFY64 names and calls what the collector puts into its table, as the public
// interface describes it. Knows nothing of mxprof. A function that the collector does not have is
// null, as in the original, and then not called.
#ifndef ITT_STATIC_H
#define ITT_STATIC_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct domain {
    volatile int flags;
    const char *name;
    void *wide;
    int extra1;
    void *extra2;
    struct domain *next;
} domain;
typedef struct string {
    const char *text;
    void *wide;
    int extra1;
    void *extra2;
    struct string *next;
} string;
typedef struct id {
    unsigned long long d1, d2, d3;
} id;
typedef struct clock_info {
    unsigned long long frequency, base;
} clock_info;
typedef struct clock_domain {
    clock_info info;
    void *function, *data;
} clock_domain;
typedef struct context_metadata {
    int type;
    void *value;
} context_metadata;
typedef struct api_info {
    const char *name;
    void **function;
    void *init, *none;
    int group;
} api_info;
typedef struct global {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long initialized, has_mutex, counter;
    pthread_mutex_t mutex;
    void *library, *handler;
    const char **path;
    api_info *list;
    struct global *next;
    void *threads;
    domain *domains;
    string *strings;
    int state;
    void *counters;
} global;

#define TASK_FUNCTIONS(X)                                                                    \
    X(domain_create, domain *, (const char *))                                               \
    X(string_handle_create, string *, (const char *))                                        \
    X(task_begin, void, (domain *, id, id, string *))                                        \
    X(task_end, void, (domain *))                                                            \
    X(task_begin_overlapped, void, (domain *, id, id, string *))                             \
    X(task_end_overlapped, void, (domain *, id))                                             \
    X(region_begin, void, (domain *, id, id, string *))                                      \
    X(region_end, void, (domain *, id))                                                      \
    X(frame_begin_v3, void, (domain *, id *))                                                \
    X(frame_end_v3, void, (domain *, id *))                                                  \
    X(frame_submit_v3, void, (domain *, id *, unsigned long long, unsigned long long))       \
    X(get_timestamp, unsigned long long, (void))                                             \
    X(task_begin_ex, void, (domain *, clock_domain *, unsigned long long, id, id, string *)) \
    X(task_end_ex, void, (domain *, clock_domain *, unsigned long long))                     \
    X(task_begin_overlapped_ex, void,                                                        \
      (domain *, clock_domain *, unsigned long long, id, id, string *))                      \
    X(task_end_overlapped_ex, void, (domain *, clock_domain *, unsigned long long, id))      \
    X(task_group, void, (domain *, id, id, string *))
#define STAMP_FUNCTIONS(X)                                                           \
    X(frame_create, void *, (const char *))                                          \
    X(frame_begin, void, (void *))                                                   \
    X(frame_end, void, (void *))                                                     \
    X(clock_domain_create, clock_domain *, (void (*)(clock_info *, void *), void *)) \
    X(clock_domain_reset, void, (void))                                              \
    X(relation_add, void, (domain *, id, int, id))                                   \
    X(relation_add_to_current, void, (domain *, int, id))                            \
    X(stack_caller_create, void *, (void))                                           \
    X(stack_caller_destroy, void, (void *))                                          \
    X(stack_callee_enter, void, (void *))                                            \
    X(stack_callee_leave, void, (void *))                                            \
    X(track_group_create, void *, (string *, int))                                   \
    X(track_create, void *, (void *, string *, int))                                 \
    X(set_track, void, (void *))                                                     \
    X(event_create, int, (const char *, int))                                        \
    X(event_start, int, (int))                                                       \
    X(event_end, int, (int))
#define LINK_FUNCTIONS(X)                                                                 \
    X(marker, void, (domain *, id, string *, int))                                        \
    X(metadata_add, void, (domain *, id, string *, int, size_t, void *))                  \
    X(metadata_str_add, void, (domain *, id, string *, const char *, size_t))             \
    X(formatted_metadata_add, void, (domain *, string *, ...))                            \
    X(counter_create_typed, void *, (const char *, const char *, int))                    \
    X(counter_inc_delta, void, (void *, unsigned long long))                              \
    X(counter_dec_delta, void, (void *, unsigned long long))                              \
    X(counter_set_value, void, (void *, void *))                                          \
    X(thread_set_name, void, (const char *))                                              \
    X(pause, void, (void))                                                                \
    X(resume, void, (void))                                                               \
    X(pause_scoped, void, (int))                                                          \
    X(resume_scoped, void, (int))                                                         \
    X(detach, void, (void))                                                               \
    X(marker_ex, void, (domain *, clock_domain *, unsigned long long, id, string *, int)) \
    X(metadata_add_with_scope, void, (domain *, int, string *, int, size_t, void *))      \
    X(formatted_metadata_add_overlapped, void, (domain *, id, string *, ...))
#define MARK_FUNCTIONS(X)                                                           \
    X(mark_create, int, (const char *))                                             \
    X(mark, int, (int, const char *))                                               \
    X(mark_global, int, (int, const char *))                                        \
    X(counter_inc, void, (void *))                                                  \
    X(counter_dec, void, (void *))                                                  \
    X(counter_inc_delta_v3, void, (domain *, string *, unsigned long long))         \
    X(counter_dec_v3, void, (domain *, string *))                                   \
    X(bind_context_metadata_to_counter, void, (void *, size_t, context_metadata *)) \
    X(histogram_create, void *, (domain *, const char *, int, int))                 \
    X(histogram_submit, void, (void *, size_t, void *, void *))                     \
    X(sync_create, void, (void *, const char *, const char *, int))                 \
    X(sync_rename, void, (void *, const char *))                                    \
    X(sync_destroy, void, (void *))                                                 \
    X(sync_prepare, void, (void *))                                                 \
    X(sync_cancel, void, (void *))                                                  \
    X(sync_acquired, void, (void *))                                                \
    X(sync_releasing, void, (void *))
#define VALUE_FUNCTIONS(X)                                        \
    X(heap_function_create, void *, (const char *, const char *)) \
    X(heap_allocate_begin, void, (void *, size_t, int))           \
    X(heap_allocate_end, void, (void *, void **, size_t, int))    \
    X(heap_free_begin, void, (void *, void *))                    \
    X(heap_free_end, void, (void *, void *))                      \
    X(heap_reallocate_begin, void, (void *, void *, size_t, int)) \
    X(heap_reallocate_end, void, (void *, void *, void **, size_t, int))
#define FUNCTIONS(X) \
    TASK_FUNCTIONS(X) STAMP_FUNCTIONS(X) LINK_FUNCTIONS(X) MARK_FUNCTIONS(X) VALUE_FUNCTIONS(X)

#define POINTER(name, result, parameters) static result(*name) parameters;
FUNCTIONS(POINTER)
static void *never_known = &never_known;

#define ENTRY(name, result, parameters) {"__itt_" #name, (void **)&name, NULL, NULL, 0},
static api_info list[] = {FUNCTIONS(ENTRY){"__itt_of_the_future", &never_known, NULL, NULL, 0},
                          {NULL, NULL, NULL, NULL, 0}};

// Handles that this copy made before the collector was there.
static string early_string = {.text = "made before"};
static domain early_domain = {.flags = 1, .name = "early"};
static global own = {.magic = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
                     .version = {3, 0, 20230630},
                     .list = list,
                     .domains = &early_domain,
                     .strings = &early_string};

static const id none;
static domain *app;

static void load(void)
{
    void *library = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    void (*init)(global *, int) =
        library != NULL ? (void (*)(global *, int))dlsym(library, "__itt_api_init") : NULL;
    if (init == NULL) {
        fprintf(stderr, "no collector: %s\n", dlerror());
        exit(2);
    }
    init(&own, -1);
    app = domain_create("app");
}

// Runs the part of the program that the first argument names. The last function of the table is one
// that nobody knows: it must have become the one that does nothing.
typedef struct part {
    const char *name;
    void (*function)(void);
} part;

static int run_part(const part *parts, size_t count, const char *name)
{
    load();
    for (size_t i = 0; name != NULL && i < count; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            parts[i].function();
            return never_known != NULL;
        }
    }
    return 2;
}

#endif
