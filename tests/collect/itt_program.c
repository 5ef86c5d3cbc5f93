// SPDX-License-Identifier: Apache-2.0
// A program that sends ITT marks, with a static part of its own: it loads the collector that
// INTEL_LIBITTNOTIFY64 names and calls what the collector puts into its table, as the public
// interface describes it. Knows nothing of mxprof.
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

#define SPAN_FUNCTIONS(X)                                                              \
    X(domain_create, domain *, (const char *))                                         \
    X(string_handle_create, string *, (const char *))                                  \
    X(task_begin, void, (domain *, id, id, string *))                                  \
    X(task_end, void, (domain *))                                                      \
    X(task_begin_overlapped, void, (domain *, id, id, string *))                       \
    X(task_end_overlapped, void, (domain *, id))                                       \
    X(region_begin, void, (domain *, id, id, string *))                                \
    X(region_end, void, (domain *, id))                                                \
    X(frame_begin_v3, void, (domain *, id *))                                          \
    X(frame_end_v3, void, (domain *, id *))                                            \
    X(frame_submit_v3, void, (domain *, id *, unsigned long long, unsigned long long)) \
    X(get_timestamp, unsigned long long, (void))
#define MARK_FUNCTIONS(X)                                                     \
    X(event_create, int, (const char *, int))                                 \
    X(event_start, int, (int))                                                \
    X(event_end, int, (int))                                                  \
    X(marker, void, (domain *, id, string *, int))                            \
    X(metadata_add, void, (domain *, id, string *, int, size_t, void *))      \
    X(metadata_str_add, void, (domain *, id, string *, const char *, size_t)) \
    X(formatted_metadata_add, void, (domain *, string *, ...))                \
    X(counter_create_typed, void *, (const char *, const char *, int))        \
    X(counter_inc_delta, void, (void *, unsigned long long))                  \
    X(counter_dec_delta, void, (void *, unsigned long long))                  \
    X(counter_set_value, void, (void *, void *))                              \
    X(thread_set_name, void, (const char *))                                  \
    X(pause, void, (void))                                                    \
    X(resume, void, (void))
#define FUNCTIONS(X) SPAN_FUNCTIONS(X) MARK_FUNCTIONS(X)

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

static void *work(void *count)
{
    string *outer = string_handle_create("outer"), *inner = string_handle_create("inner");
    for (int i = 0; i < *(int *)count; i++) {
        task_begin(app, none, none, outer);
        task_begin(app, none, none, inner);
        task_end(app);
        task_end(app);
    }
    return NULL;
}

static void tasks(void)
{
    pthread_t threads[3];
    int counts[] = {100, 200, 300};
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, &counts[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    task_begin(&early_domain, none, none, &early_string);
    task_end(&early_domain);
    task_begin(app, none, none, string_handle_create(""));
    task_end(app);
    task_begin(app, (id){7, 0, 0}, (id){3, 0, 0}, string_handle_create("with ids"));
    task_end(app);
}

// The end of one domain leaves the other's span open; ends that fit nothing are counted.
static void unbalanced(void)
{
    domain *other = domain_create("other");
    task_begin(app, none, none, string_handle_create("first"));
    task_begin(other, none, none, string_handle_create("second"));
    task_end(app);
    task_begin(app, none, none, string_handle_create("third"));
    task_end(other);
    task_end(app);
    for (int i = 0; i < 5; i++) {
        task_end(app);
    }
    task_end_overlapped(app, (id){1, 2, 3});
    for (int i = 0; i < 5000; i++) {
        task_begin(app, none, none, string_handle_create("deep"));
    }
    for (int i = 0; i < 5000; i++) {
        task_end(app);
    }
    task_begin(app, none, none, string_handle_create("last"));
    task_end(app);
}

static void *end_request(void *request)
{
    task_end_overlapped(app, *(id *)request);
    return NULL;
}

static void overlapped(void)
{
    id first = {10, 0, 0}, second = {10, 1, 0};
    pthread_t thread;
    task_begin_overlapped(app, first, none, string_handle_create("request"));
    task_begin_overlapped(app, second, none, string_handle_create("answer"));
    region_begin(app, first, none, string_handle_create("region"));
    region_end(app, first);
    pthread_create(&thread, NULL, end_request, &first);
    pthread_join(thread, NULL);
    task_end_overlapped(app, second);
    frame_begin_v3(app, NULL);
    frame_end_v3(app, NULL);
    unsigned long long begin = get_timestamp();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    frame_submit_v3(app, NULL, begin, get_timestamp());
    frame_submit_v3(app, NULL, begin, ~0ull);
}

static void marks(void)
{
    thread_set_name("sender");
    marker(app, none, string_handle_create("here"), 3);
    marker(app, none, string_handle_create("everywhere"), 1);
    int event = event_create("eventful", 5);
    event_start(event);
    event_end(event_create("event", 5));
    double rate = 2.5;
    long long level = -3;
    void *levels = counter_create_typed("level", "app", 2);
    counter_set_value(levels, &level);
    counter_inc_delta(levels, 5);
    counter_dec_delta(levels, 1);
    counter_set_value(counter_create_typed("rate", "app", 8), &rate);
}

static void metadata(void)
{
    unsigned long long size = 640;
    float parts[] = {0.5f, 1.5f};
    task_begin(app, (id){5, 0, 0}, none, string_handle_create("told"));
    task_begin(app, none, none, string_handle_create("inside"));
    metadata_add(app, (id){5, 0, 0}, string_handle_create("size"), 1, 1, &size);
    metadata_str_add(app, none, string_handle_create("file"), "a.bin and more", 5);
    formatted_metadata_add(app, string_handle_create("%s %d"), "conv", 3);
    task_end(app);
    metadata_add(app, none, string_handle_create("parts"), 7, 2, parts);
    task_end(app);
    metadata_add(app, none, string_handle_create("late"), 1, 1, &size);
    metadata_add(app, (id){5, 0, 0}, string_handle_create("too late"), 1, 1, &size);
}

static void pauses(void)
{
    string *name = string_handle_create("seen");
    for (int i = 0; i < 6; i++) {
        i == 2 ? pause() : i == 4 ? resume() : (void)0;
        task_begin(app, none, none, name);
        task_end(app);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } parts[] = {{"tasks", tasks}, {"unbalanced", unbalanced}, {"overlapped", overlapped},
                 {"marks", marks}, {"metadata", metadata},     {"pauses", pauses}};
    load();
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].function();
            return never_known != NULL;  // an unknown function has the one that does nothing
        }
    }
    return 2;
}
