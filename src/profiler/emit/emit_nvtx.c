// SPDX-License-Identifier: Apache-2.0
// To a tool of Nvidia's range calls. A program's copy of NVTX hands it tables of function pointers,
// which the tool fills in; we do the same. What is sent, and under which texts, is as MXNet's;
// started ranges are ended, too.
#include "profiler/emit/emit_nvtx.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "profiler/emit/sender.h"

// ---- the interface -----------------------------------------------------------------------------
typedef struct nvtx_attributes {
    uint16_t version, size_bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} nvtx_attributes;
_Static_assert(sizeof(nvtx_attributes) == 48 && offsetof(nvtx_attributes, message) == 40,
               "a tool finds the members where it looks for them");

enum { VERSION = 3, ARGB = 1, TEXT = 1, CALLBACKS = 1, VERSION_INFO = 3 };

// The places of functions in the tables of the modules CORE and CORE2, and the sizes of all tables.
enum {
    CORE = 1,
    CORE2 = 5,
    MARK_A = 2,
    RANGE_START_A = 5,
    RANGE_END = 7,
    RANGE_PUSH_EX = 8,
    RANGE_POP = 11,
    NAME_OS_THREAD_A = 14,
    DOMAIN_PUSH_EX = 4,
    DOMAIN_POP = 5,
    DOMAIN_CREATE_A = 12,
    MODULES = 7,
    SLOTS = 16
};
static const unsigned module_sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};

typedef void (*nvtx_function)(void);
static nvtx_function slots[MODULES][SLOTS];
static nvtx_function *tables[MODULES][SLOTS];

static int get_table(int module, nvtx_function ***table, unsigned *size)
{
    if (module < 1 || module >= MODULES) {
        return 0;
    }
    for (unsigned i = 1; i < module_sizes[module]; i++) {
        tables[module][i] = &slots[module][i];
    }
    *table = tables[module];
    if (size != NULL) {
        *size = module_sizes[module];
    }
    return 1;
}

static void set_tool_version(uint32_t version)
{
    (void)version;
}

static const void *get_export_table(uint32_t id)
{
    static const struct {
        size_t size_bytes;
        int (*get_table)(int, nvtx_function ***, unsigned *);
    } callbacks = {sizeof callbacks, get_table};
    static const struct {
        size_t size_bytes;
        uint32_t version, reserved;
        void (*set_tool_version)(uint32_t);
    } version = {sizeof version, VERSION, 0, set_tool_version};
    return id == CALLBACKS ? (const void *)&callbacks : id == VERSION_INFO ? &version : NULL;
}

static struct {
    void (*mark)(const char *);
    uint64_t (*start)(const char *);
    void (*end)(uint64_t);
    int (*push)(const nvtx_attributes *);
    int (*pop)(void);
    void (*name_thread)(uint32_t, const char *);
    int (*domain_push)(void *, const nvtx_attributes *);
    int (*domain_pop)(void *);
    void *(*domain_create)(const char *);
} call;

// Of the members of `call`, in their order.
static const uint8_t places[][2] = {
    {CORE, MARK_A},          {CORE, RANGE_START_A}, {CORE, RANGE_END},
    {CORE, RANGE_PUSH_EX},   {CORE, RANGE_POP},     {CORE, NAME_OS_THREAD_A},
    {CORE2, DOMAIN_PUSH_EX}, {CORE2, DOMAIN_POP},   {CORE2, DOMAIN_CREATE_A}};
_Static_assert(sizeof call == sizeof places / sizeof places[0] * sizeof(nvtx_function),
               "each has a place");

static bool start(void *library, void *entry)
{
    (void)library;
    int (*init)(const void *(*)(uint32_t));
    memcpy(&init, &entry, sizeof init);
    if (init(get_export_table) == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        memcpy((char *)&call + i * sizeof(nvtx_function), &slots[places[i][0]][places[i][1]],
               sizeof(nvtx_function));
    }
    return true;
}

// ---- ranges ------------------------------------------------------------------------------------
static mxp_sent_names names;

static void *domain_of(mxp_name name)
{
    mxp_sent_name *sent = mxp__sent_name(&names, name);
    void *domain = sent != NULL ? mxp_atomic_load_acquire(&sent->domain) : NULL;
    if (sent != NULL && domain == NULL && call.domain_create != NULL) {
        const mxp_name category = mxp_name_category(name);
        mxp_sent_name *of = mxp__sent_name(&names, category);
        domain = of != NULL ? mxp_atomic_load_acquire(&of->object) : NULL;
        if (of != NULL && domain == NULL) {
            domain = call.domain_create(mxp_name_text(category));
            mxp_atomic_store_release(&of->object, domain);
        }
        mxp_atomic_store_release(&sent->domain, domain);
    }
    return domain;
}

static nvtx_attributes attributes(const char *text)
{
    return (nvtx_attributes){.version = VERSION,
                             .size_bytes = sizeof(nvtx_attributes),
                             .message_type = TEXT,
                             .message = text};
}

// As MXNet's workers colour operations: by what is before a brace in the name.
static uint32_t color_of(const char *text)
{
    static const uint32_t colors[] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFB58900,
                                      0xFFCB4B16, 0xFFDC322F, 0xFFD33682, 0xFF6C71C4,
                                      0xFF268BD2, 0xFF2AA198, 0xFF859900};
    uint32_t hash = 2166136261u;
    for (; *text != '\0' && *text != '{'; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return colors[hash % (sizeof colors / sizeof colors[0])];
}

void mxp__nvtx_push(const char *text, uint32_t argb)
{
    nvtx_attributes range = attributes(text);
    range.color_type = ARGB;
    range.color = argb;
    if (call.push != NULL) {
        call.push(&range);
    }
}

void mxp__nvtx_pop(void)
{
    if (call.pop != NULL) {
        call.pop();
    }
}

static bool begin(mxp_name name, bool is_operator)
{
    const char *text = mxp_name_text(name);
    if (is_operator) {
        mxp__nvtx_push(text, color_of(text));
        return true;
    }
    void *domain = call.domain_push != NULL && call.domain_pop != NULL ? domain_of(name) : NULL;
    if (domain != NULL) {
        nvtx_attributes range = attributes(text);
        call.domain_push(domain, &range);
    }
    return domain != NULL;
}

static void end(mxp_name name, bool is_operator)
{
    if (is_operator) {
        mxp__nvtx_pop();
    } else {
        call.domain_pop(domain_of(name));
    }
}

// ---- the rest ----------------------------------------------------------------------------------
static void mark(const char *text)
{
    if (call.mark != NULL) {
        call.mark(text);
    }
}

static void tell(mxp_told *told)
{
    char text[40];
    switch (told->event.phase) {
    case MXP_TAP_INSTANT:
        mark(mxp_name_text(told->event.name));
        break;
    case MXP__TAP_THREAD:
        if (call.name_thread != NULL) {
            call.name_thread(mxp__os_thread_id(), mxp_name_text(told->event.name));
        }
        break;
    case MXP__TAP_STEP:
        snprintf(text, sizeof text, "step %llu", (unsigned long long)told->value);
        mark(text);
        break;
    case MXP__TAP_START:
        told->sent[1] = call.start != NULL ? call.start(mxp_name_text(told->event.name)) : 0;
        break;
    case MXP__TAP_STOP:
        if (told->sent[1] != 0 && call.end != NULL) {
            call.end(told->sent[1]);
        }
        break;
    }
}

// A tool of this kind cannot be told: it has other calls for that, of another library.
static void recording(bool on)
{
    (void)on;
}

const mxp_sender mxp__sender_nvtx = {.variable = "NVTX_INJECTION64_PATH",
                                     .entry = "InitializeInjectionNvtx2",
                                     .start = start,
                                     .begin = begin,
                                     .end = end,
                                     .tell = tell,
                                     .recording = recording,
                                     .place = 1,
                                     .wanted = MXP_EMIT_NVTX};
