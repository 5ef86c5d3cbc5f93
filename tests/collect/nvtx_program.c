// SPDX-License-Identifier: Apache-2.0
// A program that sends NVTX marks, with a loader of its own: it loads the injection library that
// NVTX_INJECTION64_PATH names and calls what that puts into its tables, as the public interface
// describes it. Knows nothing of mxprof.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

typedef struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    const void *message;
} attributes;

typedef void (*function)(void);
static function core_slots[16], core2_slots[16];
static function *core_table[16], *core2_table[16];

static int get_module(int module, function ***table, unsigned *size)
{
    *size = 16;
    *table = module == 1 ? core_table : core2_table;
    return module == 1 || module == 5;
}

static const void *get_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get)(int, function ***, unsigned *);
    } callbacks = {sizeof callbacks, get_module};
    return id == 1 ? &callbacks : NULL;
}

#define CORE(number, result, ...) ((result(*)(__VA_ARGS__))core_slots[number])
#define CORE2(number, result, ...) ((result(*)(__VA_ARGS__))core2_slots[number])
#define mark_a CORE(2, void, const char *)
#define start_ex CORE(4, uint64_t, const attributes *)
#define start_a CORE(5, uint64_t, const char *)
#define end_range CORE(7, void, uint64_t)
#define push_ex CORE(8, int, const attributes *)
#define push_a CORE(9, int, const char *)
#define push_w CORE(10, int, const wchar_t *)
#define pop CORE(11, int, void)
#define name_category CORE(12, void, uint32_t, const char *)
#define name_thread CORE(14, void, uint32_t, const char *)
#define domain_start_ex CORE2(2, uint64_t, void *, const attributes *)
#define domain_end CORE2(3, void, void *, uint64_t)
#define domain_push_ex CORE2(4, int, void *, const attributes *)
#define domain_pop CORE2(5, int, void *)
#define domain_name_category CORE2(8, void, void *, uint32_t, const char *)
#define register_string CORE2(10, void *, void *, const char *)
#define create_domain CORE2(12, void *, const char *)
#define create_domain_w CORE2(13, void *, const wchar_t *)

static int init_times(int times)
{
    void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
    int (*init)(const void *(*)(uint32_t)) =
        library != NULL
            ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2")
            : NULL;
    if (init == NULL) {
        fprintf(stderr, "no injection library: %s\n", dlerror());
        exit(2);
    }
    for (int i = 1; i < 16; i++) {
        core_table[i] = &core_slots[i];
        core2_table[i] = &core2_slots[i];
    }
    int good = 1;
    for (int i = 0; i < times; i++) {
        good &= init(get_table) != 0;
    }
    return good;
}

static attributes narrow(const char *text)
{
    return (attributes){
        .version = 3, .size = sizeof(attributes), .message_type = 1, .message = text};
}

// Depths that calls return, checked here: wrong ones are told.
static void expect(int got, int wanted, const char *what)
{
    if (got != wanted) {
        printf("%s returned %d, not %d\n", what, got, wanted);
    }
}

static void ranges(void)
{
    void *physics = create_domain("physics");
    const attributes step = narrow("step");
    for (int i = 0; i < 100; i++) {
        expect(push_a("outer"), 0, "first push");
        expect(push_w(L"gr\u00fcn \U0001f600"), 1, "second push");
        expect(domain_push_ex(physics, &step), 0, "first push of a domain");
        expect(pop(), 1, "first pop");  // the domain's range stays open
        expect(domain_push_ex(physics, &step), 1, "second push of a domain");
        expect(domain_pop(physics), 1, "first pop of a domain");
        expect(domain_pop(physics), 0, "second pop of a domain");
        expect(pop(), 0, "second pop");
    }
    expect(pop(), -1, "a pop too many");
    expect(domain_pop(physics), -1, "a pop of a domain too many");
    void *same = register_string(physics, "registered");
    for (int i = 0; i < 50; i++) {
        attributes by_handle = {
            .version = 3, .size = sizeof(attributes), .message_type = 3, .message = same};
        domain_push_ex(i % 5 == 0 ? NULL : physics, &by_handle);
        domain_pop(i % 5 == 0 ? NULL : physics);
    }
}

static void *end_elsewhere(void *id)
{
    end_range(*(uint64_t *)id);
    return NULL;
}

static void started(void)
{
    pthread_t thread;
    uint64_t first = start_a("request"), second = start_a("request");
    pthread_create(&thread, NULL, end_elsewhere, &first);
    pthread_join(thread, NULL);
    end_range(second);
    end_range(0);
    end_range(999);  // counted
    const attributes own = narrow("own");
    void *domain = create_domain_w(L"net");
    domain_end(domain, domain_start_ex(domain, &own));
    mark_a("here");
}

static void told(void)
{
    name_category(4, "input");
    attributes full = narrow("full");
    full.category = 4;
    full.color_type = 1;
    full.color = 0xff00aa11;
    full.payload_type = 5;
    full.payload.i32 = -7;
    push_ex(&full);
    pop();
    full.message = "started";
    full.category = 5;
    full.payload_type = 3;
    full.payload.f64 = 0.25;
    end_range(start_ex(&full));
    attributes short_one = narrow("not read");
    short_one.size = 16;  // an older header's: it ends before the payload
    short_one.category = 4;
    push_ex(&short_one);
    pop();
    name_thread((uint32_t)syscall(SYS_gettid), "named");
    domain_name_category(create_domain("other"), 4, "of another domain");
}

int main(int argc, char **argv)
{
    if (!init_times(argc > 2 ? atoi(argv[2]) : 1)) {
        return 3;
    }
    if (argc > 1) {
        strcmp(argv[1], "ranges") == 0    ? ranges()
        : strcmp(argv[1], "started") == 0 ? started()
                                          : told();
    }
    return core2_slots[6] != NULL;  // what the library does not know it leaves empty
}
