// SPDX-License-Identifier: Apache-2.0
// A program that sends the rarer NVTX marks: payloads of its own structures, counters, resources,
// waits. Knows nothing of mxprof.
#include "nvtx_static.h"

#include <stddef.h>

typedef struct payload {
    uint64_t schema;
    size_t size;
    const void *data;
} payload;
typedef struct entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset;
    const void *semantics, *reserved;
} entry;
typedef struct schema {
    uint64_t fields;
    const char *name;
    uint64_t type, flags;
    const entry *entries;
    size_t count, size, alignment;
    uint64_t id;
    void *extension;
} schema;
typedef struct enum_entry {
    const char *name;
    uint64_t value;
    int8_t is_flag;
} enum_entry;
typedef struct enumeration {
    uint64_t fields;
    const char *name;
    const enum_entry *entries;
    size_t count, size;
    uint64_t id;
    void *extension;
} enumeration;
typedef struct counter {
    size_t struct_size;
    uint64_t schema;
    const char *name, *description;
    uint64_t scope;
    const void *semantics;
    uint64_t id;
} counter;
typedef struct segment {
    size_t id, count;
    intptr_t *slots;
} segment;
typedef struct extension {
    uint16_t version, size, module, compatibility;
    size_t segments_count;
    segment *segments;
    const void *get_export, *info;
} extension;

static intptr_t payload_slots[63], counter_slots[63];
#define PAYLOAD(number, result, ...) ((result(*)(__VA_ARGS__))payload_slots[number])
#define COUNTER(number, result, ...) ((result(*)(__VA_ARGS__))counter_slots[number])
#define register_schema PAYLOAD(0, uint64_t, void *, const schema *)
#define register_enum PAYLOAD(1, uint64_t, void *, const enumeration *)
#define mark_payload PAYLOAD(2, void, void *, const payload *, size_t)
#define push_payload PAYLOAD(3, int, void *, const payload *, size_t)
#define pop_payload PAYLOAD(4, int, void *, const payload *, size_t)
#define start_payload PAYLOAD(5, uint64_t, void *, const payload *, size_t)
#define end_payload PAYLOAD(6, void, void *, uint64_t, const payload *, size_t)
#define is_enabled PAYLOAD(7, uint8_t, void *)
#define register_counter COUNTER(0, uint64_t, void *, const counter *)
#define sample_i64 COUNTER(1, void, void *, uint64_t, int64_t)
#define sample_f64 COUNTER(2, void, void *, uint64_t, double)
#define sample COUNTER(3, void, void *, uint64_t, const void *, size_t)

static int init_extension(uint16_t module, intptr_t *slots)
{
    segment only = {0, 63, slots};
    const extension wanted = {.version = 3,
                              .size = sizeof wanted,
                              .module = module,
                              .compatibility = 0x0103,
                              .segments_count = 1,
                              .segments = &only};
    int (*init)(const extension *) =
        (int (*)(const extension *))dlsym(library, "InitializeInjectionNvtxExtension");
    return init != NULL && init(&wanted);
}

// ---- payloads ----------------------------------------------------------------------------------
typedef struct point {
    float x, y;
} point;
typedef struct work {
    int32_t count;
    uint8_t mode;
    point at;
    char label[8];
    const char *file;
    uint16_t sizes[3];
    int64_t *list;
    void *handle;
} work;

enum { INT32 = 15, UINT8 = 12, FLOAT = 19, CSTRING = 75, UINT16 = 14, INT64 = 17, STRING = 80 };
enum { IS_POINTER = 2, FIXED = 1 << 4, LENGTH_INDEX = 3 << 4, HIDE = 1 << 9, MESSAGE = 1 << 10 };

static uint64_t describe_point(void *domain)
{
    static const entry entries[] = {{.type = FLOAT, .name = "x"}, {.type = FLOAT, .name = "y"}};
    return register_schema(domain, &(schema){.fields = 1 << 3 | 1 << 4 | 1 << 8,
                                             .type = 1,
                                             .entries = entries,
                                             .count = 2,
                                             .size = sizeof(point),
                                             .id = (1 << 24) + 5});
}

static uint64_t describe_mode(void *domain)
{
    static const enum_entry modes[] = {{"fast", 1, 0}, {"exact", 2, 0}};
    return register_enum(domain, &(enumeration){.entries = modes, .count = 2, .size = 1});
}

static uint64_t describe_work(void *domain)
{
    const entry entries[] = {
        {.type = INT32, .name = "count"},
        {.type = describe_mode(domain), .name = "mode"},
        {.type = describe_point(domain), .name = "at", .offset = offsetof(work, at)},
        {.type = CSTRING, .name = "label", .detail = 8, .offset = offsetof(work, label)},
        {.type = CSTRING, .name = "file", .flags = IS_POINTER, .offset = offsetof(work, file)},
        {.type = UINT16, .name = "sizes", .flags = FIXED, .detail = 3},
        {.type = INT64, .name = "list", .flags = IS_POINTER | LENGTH_INDEX, .detail = 0},
        {.type = STRING, .name = "handle"},
        {.type = INT32, .name = "hidden", .flags = HIDE},
        {.type = INT32, .name = "beyond", .offset = 4000},
        {.type = 9999, .name = "unknown"}};
    return register_schema(domain, &(schema){.fields = 1 << 3 | 1 << 4,
                                             .type = 1,
                                             .entries = entries,
                                             .count = sizeof entries / sizeof entries[0],
                                             .size = sizeof(work)});
}

static void payloads(void)
{
    void *domain = create_domain("data");
    int64_t list[] = {-5, 6};
    const work done = {.count = 2,
                       .mode = 2,
                       .at = {0.5f, -1},
                       .label = "abcdefg",
                       .file = "a.bin",
                       .sizes = {7, 8, 9},
                       .list = list,
                       .handle = register_string(domain, "registered")};
    const payload one = {describe_work(domain), sizeof done, &done};
    attributes pushed = narrow("extended");
    pushed.payload_type = (int32_t)0xdfbd0009;
    pushed.reserved = 1;
    pushed.payload.extended = &one;
    domain_push_ex(domain, &pushed);
    domain_pop(domain);
    const int32_t numbers[] = {1, -2};
    const payload plain = {INT32, sizeof numbers, numbers}, unknown = {77777777, 4, numbers};
    push_payload(domain, &plain, 1);
    pop_payload(domain, &(payload){INT32, 4, numbers}, 1);
    mark_payload(domain, &unknown, 1);
    end_payload(domain, start_payload(domain, &one, 1), &plain, 1);
    static const entry message[] = {
        {.type = CSTRING, .name = "what", .flags = IS_POINTER | MESSAGE},
        {.type = INT32, .name = "cut"}};  // the data ends before it
    const char *text = "named by its payload";
    const uint64_t named = register_schema(
        domain, &(schema){.type = 1, .entries = message, .count = 2, .size = sizeof text});
    push_payload(domain, &(payload){named, sizeof text, &text}, 1);
    pop_payload(domain, NULL, 0);
    if (!is_enabled(domain) || payload_slots[8] != 1) {
        exit(4);
    }
}

static void counters(void)
{
    void *domain = create_domain("data");
    const uint64_t depth =
        register_counter(domain, &(counter){sizeof(counter), INT32, "depth", NULL, 0, NULL, 0});
    const uint64_t load = register_counter(  // as older headers have it: without an id
        domain, &(counter){offsetof(counter, id), 20, "load", NULL, 0, NULL, 99});
    const uint64_t both = register_counter(
        domain, &(counter){sizeof(counter), describe_point(domain), "point", NULL, 0, NULL, 777});
    const point at = {1.5f, 2};
    const int32_t value = -4;
    sample_i64(domain, depth, 3);
    sample_f64(domain, load, 0.25);
    sample(domain, both, &at, sizeof at);
    sample(domain, depth, &value, sizeof value);
    sample_i64(domain, 12345, 1);  // nobody's
    if (both != 777 || load == 99) {
        exit(5);
    }
}

// ---- objects -----------------------------------------------------------------------------------
static void objects(void)
{
    const resource thread = {3, sizeof thread, 0x10003, (uint64_t)syscall(SYS_gettid),
                             1, "by resource"};
    void *made = resource_create(NULL, &thread);
    push_a("before");
    pop();
    resource_destroy(made);
    resource_destroy(&made);  // none of ours
    const sync_user lock = {3, sizeof lock, 1, "queue"};
    void *domain = create_domain("data");
    if (SYNC(1, void *, void *, void *) == NULL) {
        return;
    }
    void *object = sync_create(domain, &lock);
    for (int i = 0; i < 3; i++) {
        acquire_start(object);
        usleep(2000);
        i == 2 ? acquire_failed(object) : acquired(object);
        releasing(object);
    }
    acquire_start(&made);  // none of ours
    sync_destroy(object);
}

static void marks(void)
{
    void *domain = create_domain("data");
    attributes mark = narrow("mark");
    mark.color_type = 1;
    domain_mark_ex(domain, &mark);
    mark.payload_type = 5;
    mark.payload.i32 = 8;
    domain_mark_ex(domain, &mark);
    // What is none of our handles is taken for the default domain, or for no text.
    static const uint64_t strange[4];
    mark = (attributes){.version = 2, .size = sizeof mark, .message_type = 3, .message = strange};
    domain_mark_ex((void *)strange, &mark);
}

int main(int argc, char **argv)
{
    if (!init_times(1) || !init_extension(2, payload_slots) || !init_extension(4, counter_slots) ||
        init_extension(1, counter_slots)) {
        return 3;
    }
    const char *part = argc > 1 ? argv[1] : "";
    strcmp(part, "payloads") == 0   ? payloads()
    : strcmp(part, "counters") == 0 ? counters()
    : strcmp(part, "objects") == 0  ? objects()
                                    : marks();
    return 0;
}
