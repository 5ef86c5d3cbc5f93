// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/payload.h"

#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/nvtx/payload_types.h"
#include "profiler/spin.h"

enum {
    FLAG_POINTER = 1 << 1,
    FLAG_FROM_BASE = 1 << 2,
    FLAG_FROM_HERE = 1 << 3,
    ARRAY_SHIFT = 4,
    ARRAY_MASK = 7,
    ARRAY_FIXED = 1,
    ARRAY_TERMINATED = 2,
    ARRAY_LENGTH_INDEX = 3,
    FLAG_HIDE = 1 << 9,
    FLAG_MESSAGE = 1 << 10,
    FLAG_TIMESTAMP = 2 << 10,
    FIELD_ID = 1 << 8,
    FIELD_ENUM_ID = 1 << 5,
    SCHEMA_STATIC = 1,
    SCHEMA_DYNAMIC = 2,
    ENTRIES_MAX = 64,
    LEVELS = 2,
    BUCKETS = 256
};
static const uint64_t first_dynamic_id = UINT64_C(1) << 32;

typedef struct entry {
    uint64_t flags, type, detail, offset;
    const char *name;
} entry;

typedef struct value_name {
    uint64_t value;
    mxp_name name;
} value_name;

// A schema, or an enumeration if it has the names of values.
typedef struct schema {
    struct schema *next;
    const nvtx_domain *domain;
    uint64_t id, size_bytes;
    uint32_t count;
    bool is_enum, is_known;  // its form is one that is understood
    union {
        entry *entries;
        value_name *values;
    } of;
} schema;

static struct {
    mxp_spin lock;
    MXP_ATOMIC(schema *) buckets[BUCKETS];
} schemas;

// ---- registration ------------------------------------------------------------------------------
static const schema *find(const nvtx_domain *domain, uint64_t id)
{
    const schema *at = mxp_atomic_load_acquire(&schemas.buckets[id % BUCKETS]);
    while (at != NULL && (at->id != id || at->domain != domain)) {
        at = at->next;
    }
    return at;
}

// The newest of an id counts.
static uint64_t put(schema *made, uint64_t id)
{
    static mxp_atomic_u64 last;
    made->id = id != 0 ? id : first_dynamic_id + mxp_atomic_add(&last, 1);
    if (!mxp__spin_lock(&schemas.lock)) {
        return 0;
    }
    made->next = mxp_atomic_load(&schemas.buckets[made->id % BUCKETS]);
    mxp_atomic_store_release(&schemas.buckets[made->id % BUCKETS], made);  // pairs with find
    mxp__spin_unlock(&schemas.lock);
    return made->id;
}

static schema *make(const nvtx_domain *domain, size_t count, size_t member_bytes)
{
    const uint32_t kept = count < ENTRIES_MAX ? (uint32_t)count : ENTRIES_MAX;
    schema *made = mxp__arena_take(sizeof *made);
    void *members = made != NULL ? mxp__arena_take(kept * member_bytes + 1) : NULL;
    if (members == NULL) {
        return NULL;
    }
    made->domain = domain;
    made->count = kept;
    made->of.entries = members;
    return made;
}

static const char *kept_text(const char *text)
{
    return text != NULL && text[0] != '\0' ? mxp_name_text(mxp_string(text)) : "payload";
}

static bool is_enum(const nvtx_domain *domain, uint64_t type, uint64_t *bytes)
{
    const schema *known = type >= NVTX_TYPES_END ? find(domain, type) : NULL;
    *bytes = known != NULL ? known->size_bytes : 0;
    return known != NULL && known->is_enum;
}

static bool is_text_type(uint64_t type)
{
    return type == NVTX_TYPE_CSTRING || type == NVTX_TYPE_CSTRING_UTF8;
}

static bool is_reference(const entry *at)
{
    return (at->flags & (FLAG_POINTER | FLAG_FROM_BASE | FLAG_FROM_HERE)) != 0;
}

// What one value of it takes, and how much at once.
static uint64_t bytes_of(const nvtx_domain *domain, const entry *at, uint64_t *alignment)
{
    uint64_t bytes = mxp__nvtx_type_bytes(at->type);
    if (at->type >= NVTX_TYPES_END) {
        is_enum(domain, at->type, &bytes);
    }
    const uint64_t kind = at->flags >> ARRAY_SHIFT & ARRAY_MASK;
    if (is_reference(at)) {
        bytes = sizeof(void *);
    }
    *alignment = bytes != 0 && bytes <= 8 && (bytes & (bytes - 1)) == 0 ? bytes : 8;
    const bool is_fixed = kind == ARRAY_FIXED || (is_text_type(at->type) && kind == 0);
    return is_fixed && !is_reference(at) && at->detail != 0 ? bytes * at->detail : bytes;
}

static void lay_out(schema *made, const nvtx_schema *given)
{
    const uint64_t most = given->alignment != 0 ? given->alignment : 16;
    uint64_t end = 0;
    for (uint32_t i = 0; i < made->count; i++) {
        entry *at = &made->of.entries[i];
        uint64_t alignment;
        const uint64_t bytes = bytes_of(made->domain, at, &alignment);
        alignment = alignment < most ? alignment : most;
        if (at->offset == 0 && i != 0) {
            at->offset = (end + alignment - 1) / alignment * alignment;
        }
        end = at->offset + bytes;
    }
    made->size_bytes = given->size_bytes != 0 ? given->size_bytes : end;
}

uint64_t mxp__nvtx_schema_register(const nvtx_domain *domain, const nvtx_schema *given)
{
    schema *made = given != NULL && given->entries != NULL
                       ? make(domain, given->entry_count, sizeof(entry))
                       : NULL;
    if (made == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < made->count; i++) {
        const nvtx_schema_entry *from = &given->entries[i];
        made->of.entries[i] =
            (entry){from->flags, from->type, from->detail, from->offset, kept_text(from->name)};
    }
    made->is_known = given->type == SCHEMA_STATIC || given->type == SCHEMA_DYNAMIC;
    lay_out(made, given);
    return put(made, (given->fields & FIELD_ID) != 0 ? given->id : 0);
}

uint64_t mxp__nvtx_enum_register(const nvtx_domain *domain, const nvtx_enum *given)
{
    schema *made = given != NULL && given->entries != NULL
                       ? make(domain, given->entry_count, sizeof(value_name))
                       : NULL;
    if (made == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < made->count; i++) {
        made->of.values[i] =
            (value_name){given->entries[i].value, mxp_string(kept_text(given->entries[i].name))};
    }
    made->is_enum = true;
    made->size_bytes = given->value_bytes;
    return put(made, (given->fields & FIELD_ENUM_ID) != 0 ? given->id : 0);
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct reading {
    const nvtx_domain *domain;
    mxp_arg *args;
    uint32_t count;
    const char *prefix;  // of keys; "" at the first level
    const char *data;
    size_t size_bytes;
    uint32_t message;  // place + 1
} reading;

static mxp_name key_of(const reading *at, const char *name, size_t index, bool is_element)
{
    char text[256];
    char number[24] = "";
    if (is_element) {
        snprintf(number, sizeof number, "[%zu]", index);
    }
    if (at->prefix[0] == '\0' && !is_element) {
        return mxp_string(name);
    }
    snprintf(text, sizeof text, "%.100s%s%.100s%s", at->prefix, at->prefix[0] != '\0' ? "." : "",
             name, number);
    return mxp_string(text);
}

static void add(reading *at, mxp_arg arg)
{
    if (at->count < MXP__NVTX_PAYLOAD_ARGS) {
        at->args[at->count++] = arg;
    }
}

static uint64_t enum_value(const schema *of, const char *data)
{
    static const uint64_t types[9] = {[1] = 12, [2] = 14, [4] = 16, [8] = 18};
    mxp_arg value = mxp_u64(MXP_NAME_NONE, 0);
    if (of->size_bytes <= 8 && types[of->size_bytes] != 0) {
        mxp__nvtx_number(types[of->size_bytes], data, MXP_NAME_NONE, &value);
    }
    return value.value.u64;
}

static void add_enum(reading *at, const schema *of, mxp_name key, const char *data)
{
    const uint64_t value = enum_value(of, data);
    uint32_t i = 0;
    while (i < of->count && of->of.values[i].value != value) {
        i++;
    }
    add(at, i < of->count ? mxp_name_arg(key, of->of.values[i].name) : mxp_u64(key, value));
}

static void add_text(reading *at, mxp_name key, const char *text, size_t most)
{
    if (text != NULL) {
        add(at, mxp_text(key, text, strnlen(text, most)));
    }
}

static void read_schema(reading *at, const schema *of, int level);

static void add_nested(reading *at, const schema *of, const char *name, const char *data, int level)
{
    reading inner = *at;
    inner.prefix = name;
    inner.data = data;
    inner.size_bytes = of->size_bytes;
    if (level < LEVELS) {
        read_schema(&inner, of, level + 1);
        at->count = inner.count;
    }
}

static void add_value(reading *at, const entry *of, mxp_name key, const char *data, int level)
{
    mxp_arg value;
    const schema *nested = of->type >= NVTX_TYPES_END ? find(at->domain, of->type) : NULL;
    if (nested != NULL && nested->is_enum) {
        add_enum(at, nested, key, data);
    } else if (nested != NULL) {
        add_nested(at, nested, of->name, data, level);
    } else if (of->type == NVTX_TYPE_REGISTERED) {
        const void *handle;
        memcpy(&handle, data, sizeof handle);
        add(at, mxp_name_arg(key, mxp__nvtx_name_registered(at->domain, handle, MXP_STYLE_NONE)));
    } else if (mxp__nvtx_number(of->type, data, key, &value)) {
        add(at, value);
    }
}

// How many values an array has.
static uint64_t array_length(const reading *at, const schema *of, const entry *array)
{
    const uint64_t kind = array->flags >> ARRAY_SHIFT & ARRAY_MASK;
    mxp_arg length = mxp_u64(MXP_NAME_NONE, 0);
    if (kind == ARRAY_LENGTH_INDEX && array->detail < of->count) {
        const entry *has = &of->of.entries[array->detail];
        const size_t bytes = mxp__nvtx_type_bytes(has->type);
        if (bytes != 0 && has->offset + bytes <= at->size_bytes) {
            mxp__nvtx_number(has->type, at->data + has->offset, MXP_NAME_NONE, &length);
        }
        return length.value.u64;
    }
    return kind == ARRAY_FIXED ? array->detail : kind == 0 ? 1 : 0;
}

// Where the values are, and how many bytes may be read there; null: nowhere.
static const char *place_of(const reading *at, const entry *of, size_t *room)
{
    const char *here = at->data + of->offset;
    uint64_t reference;
    if (of->offset >= at->size_bytes) {
        return NULL;
    }
    *room = at->size_bytes - of->offset;
    if (!is_reference(of)) {
        return here;
    }
    if (*room < sizeof reference) {
        return NULL;
    }
    memcpy(&reference, here, sizeof reference);
    if ((of->flags & FLAG_POINTER) != 0) {
        *room = SIZE_MAX;  // the program's word for it
        return (const char *)(uintptr_t)reference;
    }
    const uint64_t from = (of->flags & FLAG_FROM_HERE) != 0 ? of->offset : 0;
    if (reference >= at->size_bytes - from) {
        return NULL;
    }
    *room = at->size_bytes - from - reference;
    return at->data + from + reference;
}

static void read_entry(reading *at, const schema *of, const entry *one, int level)
{
    size_t room = 0;
    const char *data = place_of(at, one, &room);
    const uint64_t kind = one->flags >> ARRAY_SHIFT & ARRAY_MASK;
    uint64_t bytes = mxp__nvtx_type_bytes(one->type), count = array_length(at, of, one);
    if (data == NULL || (one->flags & FLAG_HIDE) != 0) {
        return;
    }
    if (is_text_type(one->type) || (one->type == 1 && kind != 0)) {
        const uint64_t most = kind == ARRAY_LENGTH_INDEX ? count : one->detail;
        const bool is_bounded = kind != ARRAY_TERMINATED && most != 0 && most < room;
        add_text(at, key_of(at, one->name, 0, false), data, is_bounded ? most : room);
        return;
    }
    if (one->type >= NVTX_TYPES_END) {
        is_enum(at->domain, one->type, &bytes);
    }
    for (uint64_t i = 0; i < count && bytes != 0 && bytes <= room / (i + 1); i++) {
        add_value(at, one, key_of(at, one->name, i, kind != 0), data + i * bytes, level);
        if (at->count == MXP__NVTX_PAYLOAD_ARGS) {
            return;
        }
    }
}

static void read_schema(reading *at, const schema *of, int level)
{
    for (uint32_t i = 0; of->is_known && i < of->count; i++) {
        const entry *one = &of->of.entries[i];
        const uint32_t before = at->count;
        read_entry(at, of, one, level);
        if ((one->flags & FLAG_TIMESTAMP) == 0 && (one->flags & FLAG_MESSAGE) != 0 &&
            at->count > before) {
            at->message = before + 1;
        }
    }
}

static void read_payload(reading *at, const nvtx_payload *payload)
{
    const schema *of = payload->schema >= NVTX_TYPES_END ? find(at->domain, payload->schema) : NULL;
    at->data = payload->data;
    at->size_bytes = payload->size_bytes;
    if (of != NULL && payload->size_bytes == SIZE_MAX) {
        at->size_bytes = of->size_bytes;
    }
    if (of != NULL && of->is_enum) {
        if (of->size_bytes <= at->size_bytes) {
            add_enum(at, of, mxp_string("payload"), at->data);
        }
    } else if (of != NULL) {
        read_schema(at, of, 1);
    } else if (payload->schema < NVTX_TYPES_END) {
        // An array of a predefined type, as many as there is data.
        const size_t bytes = mxp__nvtx_type_bytes(payload->schema);
        const size_t count = bytes == 0                        ? 0
                             : payload->size_bytes == SIZE_MAX ? 1
                                                               : payload->size_bytes / bytes;
        const entry one = {.type = payload->schema,
                           .name = "payload",
                           .detail = count,
                           .flags = count > 1 ? ARRAY_FIXED << ARRAY_SHIFT : 0};
        const schema alone = {.count = 0};
        at->size_bytes = count * bytes;
        read_entry(at, &alone, &one, 1);
    }
}

uint32_t mxp__nvtx_payload_args(const nvtx_domain *domain, const nvtx_payload *payloads,
                                size_t count, mxp_arg *args, uint32_t *message)
{
    reading at = {.domain = domain, .args = args, .prefix = ""};
    for (size_t i = 0; payloads != NULL && i < count && at.count < MXP__NVTX_PAYLOAD_ARGS; i++) {
        if (payloads[i].data != NULL) {
            read_payload(&at, &payloads[i]);
        }
    }
    if (message != NULL) {
        *message = at.message;
    }
    return at.count;
}
