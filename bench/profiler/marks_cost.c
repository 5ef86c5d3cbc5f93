// SPDX-License-Identifier: Apache-2.0
// C2, C3, C6: what a mark of another tool costs, from the call that a program makes to the record,
// over a span of libmxprof's own. The collector is asked as programs ask it: by the functions that
// it puts into their tables.
#include <dlfcn.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/recording.h"

enum { BATCH = 1 << 15, BATCHES = 24 };

typedef void (*any_function)(void);
static void *library;

// The collector beside libmxprof.
static void load(void)
{
    Dl_info info;
    char path[4096];
    any_function in_library = (any_function)mxp_begin;
    const void *place;
    memcpy(&place, &in_library, sizeof place);
    bench_require(dladdr(place, &info) != 0, "libmxprof.so is not found");
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash != NULL ? (int)(slash - info.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s/libmxprof_collect.so.0", folder, info.dli_fname);
    library = dlopen(path, RTLD_NOW);
    bench_require(library != NULL, "libmxprof_collect.so is not beside libmxprof.so");
}

static void find(const char *name, void *function)
{
    void *found = dlsym(library, name);
    bench_require(found != NULL, name);
    memcpy(function, &found, sizeof found);
}

// ---- ITT ---------------------------------------------------------------------------------------
typedef struct itt_id {
    unsigned long long d1, d2, d3;
} itt_id;

static struct {
    void *(*domain_create)(const char *name);
    void *(*string_handle_create)(const char *text);
    void (*task_begin)(void *domain, itt_id id, itt_id parent, void *name);
    void (*task_end)(void *domain);
    void *domain;
} itt;

typedef struct itt_entry {
    const char *name;
    void *function;
    void *init, *none;
    int group;
} itt_entry;

static void load_itt(void)
{
    static itt_entry list[] = {
        {"__itt_domain_create", &itt.domain_create, NULL, NULL, 0},
        {"__itt_string_handle_create", &itt.string_handle_create, NULL, NULL, 0},
        {"__itt_task_begin", &itt.task_begin, NULL, NULL, 0},
        {"__itt_task_end", &itt.task_end, NULL, NULL, 0},
        {NULL, NULL, NULL, NULL, 0}};
    static struct {
        unsigned char magic[8];
        unsigned long version[3];
        volatile long initialized, has_mutex, counter;
        pthread_mutex_t mutex;
        void *library, *handler;
        const char **path;
        itt_entry *list;
        void *rest[12];
    } own = {.list = list};
    void (*init)(void *, int);
    find("__itt_api_init", &init);
    init(&own, -1);
    itt.domain = itt.domain_create("bench");
}

static void loop_itt(uint64_t count, mxp_name name)
{
    static const itt_id none;
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        itt.task_begin(itt.domain, none, none, itt.string_handle_create("aten::convolution"));
        BENCH_OPAQUE();
        itt.task_end(itt.domain);
    }
}

// ---- NVTX --------------------------------------------------------------------------------------
typedef struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} nvtx_attributes;

enum {
    SLOTS = 16,
    PUSH = 9,
    POP = 11,
    DOMAIN_PUSH = 4,
    DOMAIN_POP = 5,
    REGISTER = 10,
    CREATE = 12
};
static any_function core[SLOTS], core2[SLOTS];
static any_function *core_table[SLOTS], *core2_table[SLOTS];

static int get_module(int module, any_function ***table, unsigned *size)
{
    *size = SLOTS;
    *table = module == 1 ? core_table : core2_table;
    return module == 1 || module == 5;
}

static const void *get_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get)(int, any_function ***, unsigned *);
    } callbacks = {sizeof callbacks, get_module};
    return id == 1 ? &callbacks : NULL;
}

static void *nvtx_domain, *nvtx_text;

static void load_nvtx(void)
{
    int (*init)(const void *(*)(uint32_t));
    for (int i = 1; i < SLOTS; i++) {
        core_table[i] = &core[i];
        core2_table[i] = &core2[i];
    }
    find("InitializeInjectionNvtx2", &init);
    bench_require(init(get_table) != 0, "the injection library refuses");
    nvtx_domain = ((void *(*)(const char *))core2[CREATE])("bench");
    nvtx_text = ((void *(*)(void *, const char *))core2[REGISTER])(nvtx_domain, "all_reduce");
}

static void loop_nvtx_text(uint64_t count, mxp_name name)
{
    int (*push)(const char *) = (int (*)(const char *))core[PUSH];
    int (*pop)(void) = (int (*)(void))core[POP];
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        push("aten::convolution");
        BENCH_OPAQUE();
        pop();
    }
}

static void loop_nvtx_registered(uint64_t count, mxp_name name)
{
    int (*push)(void *, const nvtx_attributes *) =
        (int (*)(void *, const nvtx_attributes *))core2[DOMAIN_PUSH];
    int (*pop)(void *) = (int (*)(void *))core2[DOMAIN_POP];
    (void)name;
    for (uint64_t i = 0; i < count; i++) {
        const nvtx_attributes attributes = {
            .version = 3, .size = sizeof attributes, .message_type = 3, .message = nvtx_text};
        push(nvtx_domain, &attributes);
        BENCH_OPAQUE();
        pop(nvtx_domain);
    }
}

// ---- OpenMP ------------------------------------------------------------------------------------
typedef union ompt_data {
    uint64_t value;
    void *pointer;
} ompt_data;

typedef struct ompt_start {
    int (*initialize)(any_function (*)(const char *), int, ompt_data *);
    void (*finalize)(ompt_data *);
    ompt_data tool;
} ompt_start;

static any_function callbacks[64];

static int set_callback(int event, any_function callback)
{
    callbacks[event] = callback;
    return 5;
}

static any_function look_up(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (any_function)set_callback : NULL;
}

static void load_ompt(void)
{
    ompt_start *(*start_tool)(unsigned, const char *);
    find("ompt_start_tool", &start_tool);
    ompt_start *tool = start_tool(201611, "bench");
    bench_require(tool != NULL && tool->initialize(look_up, 0, &tool->tool) != 0,
                  "the OpenMP tool refuses");
}

// What a runtime tells of a region with a loop and the barrier at its end: three records.
static void loop_ompt(uint64_t count, mxp_name name)
{
    enum { BEGIN = 1, END = 2, IMPLICIT = 2, LOOP = 1, BARRIER = 9, RECORDS = 3 };
    void (*parallel_begin)(ompt_data *, const void *, ompt_data *, unsigned, int, const void *) =
        (void (*)(ompt_data *, const void *, ompt_data *, unsigned, int, const void *))callbacks[3];
    void (*parallel_end)(ompt_data *, ompt_data *, int, const void *) =
        (void (*)(ompt_data *, ompt_data *, int, const void *))callbacks[4];
    void (*implicit)(int, ompt_data *, ompt_data *, unsigned, unsigned, int) =
        (void (*)(int, ompt_data *, ompt_data *, unsigned, unsigned, int))callbacks[7];
    void (*wait)(int, int, ompt_data *, ompt_data *, const void *) =
        (void (*)(int, int, ompt_data *, ompt_data *, const void *))callbacks[16];
    void (*work)(int, int, ompt_data *, ompt_data *, uint64_t, const void *) =
        (void (*)(int, int, ompt_data *, ompt_data *, uint64_t, const void *))callbacks[20];
    (void)name;
    for (uint64_t i = 0; i < count / RECORDS; i++) {
        ompt_data encountering = {0}, region = {0}, task = {0};
        parallel_begin(&encountering, NULL, &region, 2, 1, (const void *)callbacks);
        implicit(BEGIN, &region, &task, 2, 0, IMPLICIT);
        work(LOOP, BEGIN, &region, &task, 100, NULL);
        BENCH_OPAQUE();
        work(LOOP, END, &region, &task, 100, NULL);
        wait(BARRIER, BEGIN, &region, &task, NULL);
        wait(BARRIER, END, &region, &task, NULL);
        implicit(END, &region, &task, 2, 0, IMPLICIT);
        parallel_end(&region, &encountering, 1, NULL);
    }
}

// ---- claims ------------------------------------------------------------------------------------
typedef struct sides {
    bench_loop loop;
    mxp_name plain;
} sides;

static void run(bench_loop loop, mxp_name name, bench_stretch *stretch)
{
    for (int i = 0; i < BATCHES; i++) {
        bench_start(stretch);
        loop(BATCH, name);
        bench_stop(stretch, BATCH);
        bench_drain();
    }
}

static void run_subject(void *context, bench_stretch *stretch)
{
    const sides *both = context;
    run(both->loop, both->plain, stretch);
}

static void run_reference(void *context, bench_stretch *stretch)
{
    run(bench_loop_span_functions, ((const sides *)context)->plain, stretch);
}

static void measure(const bench_claim *claim, void (*load_door)(void), bench_loop loop)
{
    bench_pin(bench_cpu_count() - 1);
    sides both = {.loop = loop, .plain = bench_session_begin()};
    load();
    load_door();
    const bench_plan plan = {
        .subject = run_subject, .reference = run_reference, .context = &both, .rounds = 31};
    bench_compare(claim, &plan);
    bench_session_stop();
}

static void measure_itt(const bench_claim *claim)
{
    measure(claim, load_itt, loop_itt);
}

static void measure_nvtx_text(const bench_claim *claim)
{
    measure(claim, load_nvtx, loop_nvtx_text);
}

static void measure_nvtx_registered(const bench_claim *claim)
{
    measure(claim, load_nvtx, loop_nvtx_registered);
}

static void measure_ompt(const bench_claim *claim)
{
    measure(claim, load_ompt, loop_ompt);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"C2 ITT task, its handle made each time, over a span", "ns/mark", false, 2.5, 1.6,
         measure_itt},
        {"C3 NVTX range by its text, over a span", "ns/mark", false, 2.5, 1.8, measure_nvtx_text},
        {"C3 NVTX range by a registered string, over a span", "ns/mark", false, 1.8, 1.4,
         measure_nvtx_registered},
        {"C6 OpenMP region with loop and barrier, a record, over a span", "ns/record", false, 3, 2,
         measure_ompt},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
