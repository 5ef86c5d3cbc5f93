// SPDX-License-Identifier: Apache-2.0
// A collector that writes every call, in order, into the file that ITT_LOG names: thread, function,
// domain, name, more. It shares nothing with mxprof. ITT_LOG_WITHOUT: functions that it lacks.
// Each of those has a blank before and after it.
// ITT_LOG_CALL: a library in which it calls mxp_begin and mxp_end itself, at every task.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct domain {
    volatile int flags;
    const char *name;
} domain;
typedef struct string {
    const char *text;
} string;
typedef struct id {
    unsigned long long d1, d2, d3;
} id;
typedef struct counter {
    const char *name, *domain;
    int type;
} counter;
typedef struct clock_info {
    unsigned long long frequency, base;
} clock_info;
typedef struct api_info {
    const char *name;
    void **function;
    void *init, *none;
    int group;
} api_info;
typedef struct global {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long initialized, mutex_ready, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    api_info *list;
} global;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

static void put(const char *function, const char *of, const char *name, const char *more)
{
    pthread_mutex_lock(&lock);
    fprintf(file, "%d.%d\t%s\t%s\t%s\t%s\n", (int)getpid(), (int)gettid(), function, of, name,
            more);
    fflush(file);
    pthread_mutex_unlock(&lock);
}

static void put_id(const char *function, const domain *of, const char *name, const id *number)
{
    char more[64] = "none";
    if (number != NULL) {
        snprintf(more, sizeof more, "%llu.%llu", number->d1, number->d2);
    }
    put(function, of->name, name, more);
}

static void call_back(void)
{
    static uint64_t (*begin)(uint32_t, uint32_t);
    static void (*end)(uint32_t, uint64_t);
    if (getenv("ITT_LOG_CALL") == NULL) {
        return;
    }
    if (begin == NULL) {
        void *library = dlopen(getenv("ITT_LOG_CALL"), RTLD_LAZY);
        *(void **)&begin = dlsym(library, "mxp_begin");
        *(void **)&end = dlsym(library, "mxp_end");
    }
    end(1, begin(16, 1));
}

static domain *domain_create(const char *name)
{
    domain *made = calloc(1, 48);
    made->flags = 1;
    made->name = strdup(name);
    return made;
}

static string *string_handle_create(const char *text)
{
    string *made = calloc(1, 40);
    made->text = strdup(text);
    return made;
}

static void task_begin(const domain *of, id number, id parent, const string *name)
{
    (void)number, (void)parent;
    put("task_begin", of->name, name->text, "");
    call_back();
}

static void task_end(const domain *of)
{
    put("task_end", of->name, "", "");
}

static void task_begin_overlapped(const domain *of, id number, id parent, const string *name)
{
    (void)parent;
    put_id("task_begin_overlapped", of, name->text, &number);
}

static void task_end_overlapped(const domain *of, id number)
{
    put_id("task_end_overlapped", of, "", &number);
}

static void *clock_domain_create(void (*function)(clock_info *, void *), void *data)
{
    clock_info info = {0, 0};
    char more[64];
    function(&info, data);
    snprintf(more, sizeof more, "%llu", info.frequency);
    put("clock_domain_create", "", "", more);
    return strdup("clock");
}

static void task_begin_ex(const domain *of, void *clock, unsigned long long stamp, id number,
                          id parent, const string *name)
{
    char more[64];
    (void)number, (void)parent;
    snprintf(more, sizeof more, "%llu", stamp);
    put("task_begin_ex", of->name, name->text, clock != NULL ? more : "no clock");
}

static void task_end_ex(const domain *of, void *clock, unsigned long long stamp)
{
    char more[64];
    snprintf(more, sizeof more, "%llu", stamp);
    put("task_end_ex", of->name, "", clock != NULL ? more : "no clock");
}

static char *events[64];

static int event_create(const char *name, int length)
{
    static int count;
    pthread_mutex_lock(&lock);
    int made = count++;
    events[made] = strndup(name, (size_t)length);
    pthread_mutex_unlock(&lock);
    put("event_create", "", events[made], "");
    return made;
}

static int event_start(int event)
{
    put("event_start", "", events[event], "");
    return 0;
}

static int event_end(int event)
{
    put("event_end", "", events[event], "");
    return 0;
}

static void frame_begin_v3(const domain *of, const id *number)
{
    put_id("frame_begin_v3", of, "", number);
}

static void frame_end_v3(const domain *of, const id *number)
{
    put_id("frame_end_v3", of, "", number);
}

static counter *counter_create_typed(const char *name, const char *of, int type)
{
    counter *made = calloc(1, sizeof *made);
    *made = (counter){strdup(name), strdup(of), type};
    return made;
}

static counter *counter_create(const char *name, const char *of)
{
    return counter_create_typed(name, of, 1);
}

static void counter_set_value(const counter *self, const void *value)
{
    char more[64];
    unsigned long long whole;
    double real;
    memcpy(&whole, value, sizeof whole);
    memcpy(&real, value, sizeof real);
    snprintf(more, sizeof more, self->type == 8 ? "%.0llu%g" : "%llu", self->type == 8 ? 0 : whole,
             real);
    put("counter_set_value", self->domain, self->name, more);
}

static void marker(const domain *of, id number, const string *name, int scope)
{
    char more[64];
    (void)number;
    snprintf(more, sizeof more, "%d", scope);
    put("marker", of->name, name->text, more);
}

static void thread_set_name(const char *name)
{
    put("thread_set_name", "", name, "");
}

static void pause_all(void)
{
    put("pause", "", "", "");
}

static void resume_all(void)
{
    put("resume", "", "", "");
}

#define FUNCTION(name)               \
    {                                \
        "__itt_" #name, (void *)name \
    }
static const struct {
    const char *name;
    void *function;
} table[] = {FUNCTION(domain_create),
             FUNCTION(string_handle_create),
             FUNCTION(task_begin),
             FUNCTION(task_end),
             FUNCTION(task_begin_overlapped),
             FUNCTION(task_end_overlapped),
             FUNCTION(clock_domain_create),
             FUNCTION(task_begin_ex),
             FUNCTION(task_end_ex),
             FUNCTION(event_create),
             FUNCTION(event_start),
             FUNCTION(event_end),
             FUNCTION(frame_begin_v3),
             FUNCTION(frame_end_v3),
             FUNCTION(counter_create),
             FUNCTION(counter_create_typed),
             FUNCTION(counter_set_value),
             FUNCTION(marker),
             FUNCTION(thread_set_name),
             {"__itt_pause", (void *)pause_all},
             {"__itt_resume", (void *)resume_all}};

static int lacks(const char *name)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return getenv("ITT_LOG_WITHOUT") != NULL && strstr(getenv("ITT_LOG_WITHOUT"), word) != NULL;
}

void __itt_api_init(global *of, int groups)
{
    file = fopen(getenv("ITT_LOG"), "a");
    (void)groups;
    put("init", "", of->mutex_ready != 0 ? "mutex" : "", of->magic[0] == 0xED ? "magic" : "");
    for (api_info *each = of->list; each->name != NULL; each++) {
        *each->function = each->none;
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            if (strcmp(each->name, table[i].name) == 0 && !lacks(each->name + strlen("__itt_"))) {
                *each->function = table[i].function;
            }
        }
    }
}
