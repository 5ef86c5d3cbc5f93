// SPDX-License-Identifier: Apache-2.0
// Layout: entries in segments of 4096 that never move; strings in arenas of 64 KiB (longer ones
// have pages of their own); an open-addressing hash table of ids, replaced by a larger one when
// half full. Writers hold `table.lock`; readers of entries rely on the release of `count`.
#include "profiler/recorder/thread/names.h"

#include <assert.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/pages.h"
#include "profiler/spin.h"

enum { SEGMENT = 4096, SEGMENTS = 4096, ARENA_BYTES = 65536, FIRST_SLOTS = 16384 };

typedef struct name_entry {
    const char *text;
    uint32_t length, category;
    uint32_t hash;
    uint8_t style, unit;
} name_entry;

static struct {
    mxp_spin lock;
    mxp_atomic_u32 count;  // release, pairs with mxp__name_count
    name_entry **segments;  // [SEGMENTS]
    uint32_t *slots;  // id + 1, 0: empty
    uint32_t slot_count;
    char *arena, *arena_end;  // space for strings
    mxp_atomic_u64 bytes;
    mxp_atomic_u64 cap_bytes;
    mxp_atomic_u64 losses;
    void (*added)(uint32_t id, const mxp_name_view *name);  // told of every new name
} table = {.cap_bytes = {MXP__NAMES_CAP_BYTES}};

void mxp__names_limit(uint64_t memory_limit_bytes)
{
    uint64_t cap_bytes = memory_limit_bytes / 16;
    cap_bytes = cap_bytes < MXP__NAMES_CAP_BYTES ? cap_bytes : MXP__NAMES_CAP_BYTES;
    cap_bytes = cap_bytes > MXP__NAMES_CAP_LEAST_BYTES ? cap_bytes : MXP__NAMES_CAP_LEAST_BYTES;
    mxp_atomic_store(&table.cap_bytes, cap_bytes);
}

static name_entry *entry_at(uint32_t id)
{
    return &table.segments[id / SEGMENT][id % SEGMENT];
}

static mxp_name_view view_of(uint32_t id)
{
    const name_entry *entry = entry_at(id);
    return (mxp_name_view){entry->text, entry->length, entry->category, entry->style, entry->unit};
}

static uint32_t hash_of(uint32_t category, const char *text, uint64_t length, int style)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ category ^ (uint64_t)style << 32;
    for (uint64_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static void *take_pages(uint64_t size_bytes)
{
    if (mxp_atomic_own(&table.bytes) + size_bytes > mxp_atomic_load(&table.cap_bytes)) {
        return NULL;
    }
    void *pages = mxp__pages_map(size_bytes);
    if (pages != NULL) {
        mxp_atomic_add(&table.bytes, size_bytes);
    }
    return pages;
}

static const char *store_text(const char *text, uint64_t length)
{
    uint64_t needed = length + 1;
    char *to;
    if (needed > ARENA_BYTES / 4) {
        to = take_pages((needed + 4095) & ~UINT64_C(4095));
    } else {
        if ((uint64_t)(table.arena_end - table.arena) < needed) {
            char *arena = take_pages(ARENA_BYTES);
            if (arena == NULL) {
                return NULL;
            }
            table.arena = arena;
            table.arena_end = arena + ARENA_BYTES;
        }
        to = table.arena;
        table.arena += needed;
    }
    if (to != NULL) {
        memcpy(to, text, length);  // the pages were zeroed: the terminator is there
    }
    return to;
}

static void slot_put(uint32_t *slots, uint32_t slot_count, uint32_t hash, uint32_t id)
{
    uint32_t at = hash & (slot_count - 1);
    while (slots[at] != 0) {
        at = (at + 1) & (slot_count - 1);
    }
    slots[at] = id + 1;
}

static bool grow_slots(void)
{
    if (mxp_atomic_own(&table.count) * 2 < table.slot_count) {
        return true;
    }
    uint32_t wanted = table.slot_count == 0 ? FIRST_SLOTS : table.slot_count * 2;
    uint32_t *slots = take_pages(wanted * sizeof(uint32_t));
    if (slots == NULL) {
        return false;
    }
    for (uint32_t id = 0; id < mxp_atomic_own(&table.count); id++) {
        slot_put(slots, wanted, entry_at(id)->hash, id);
    }
    if (table.slots != NULL) {
        mxp__pages_unmap(table.slots, table.slot_count * sizeof(uint32_t));
        mxp_atomic_sub(&table.bytes, table.slot_count * sizeof(uint32_t));
    }
    table.slots = slots;
    table.slot_count = wanted;
    return true;
}

static bool append(uint32_t category, const char *text, uint64_t length, uint32_t hash, int style,
                   int unit)
{
    assert(mxp__spin_is_held(&table.lock));
    uint32_t id = mxp_atomic_own(&table.count);
    if (id >= (uint32_t)SEGMENT * SEGMENTS || length > UINT32_MAX - 1 || !grow_slots()) {
        return false;
    }
    if (table.segments == NULL &&
        (table.segments = take_pages(SEGMENTS * sizeof(name_entry *))) == NULL) {
        return false;
    }
    name_entry **segment = &table.segments[id / SEGMENT];
    if (*segment == NULL && (*segment = take_pages(SEGMENT * sizeof(name_entry))) == NULL) {
        return false;
    }
    const char *stored = store_text(text, length);
    if (stored == NULL) {
        return false;
    }
    *entry_at(id) = (name_entry){.text = stored,
                                 .length = (uint32_t)length,
                                 .category = category,
                                 .hash = hash,
                                 .style = (uint8_t)style,
                                 .unit = (uint8_t)unit};
    slot_put(table.slots, table.slot_count, hash, id);
    if (table.added != NULL) {
        mxp_name_view view = view_of(id);
        table.added(id, &view);
    }
    mxp_atomic_store_release(&table.count, id + 1);
    return true;
}

static void append_fixed(void)
{
    static const char full[] = "<names full>";
    append(0, "", 0, hash_of(0, "", 0, MXP_STYLE_NONE), MXP_STYLE_NONE, MXP_UNIT_NONE);
    append(0, full, sizeof full - 1, hash_of(0, full, sizeof full - 1, MXP_STYLE_NONE),
           MXP_STYLE_NONE, MXP_UNIT_NONE);
}

static uint32_t find(uint32_t category, const char *text, uint64_t length, uint32_t hash, int style)
{
    if (table.slot_count == 0) {
        return UINT32_MAX;
    }
    for (uint32_t at = hash & (table.slot_count - 1); table.slots[at] != 0;
         at = (at + 1) & (table.slot_count - 1)) {
        const name_entry *entry = entry_at(table.slots[at] - 1);
        if (entry->hash == hash && entry->category == category && entry->length == length &&
            entry->style == style && memcmp(entry->text, text, length) == 0) {
            return table.slots[at] - 1;
        }
    }
    return UINT32_MAX;
}

uint32_t mxp__name_intern(uint32_t category, const char *text, uint64_t length, int style, int unit)
{
    uint32_t hash = hash_of(category, text, length, style);
    if (!mxp__spin_lock(&table.lock)) {
        mxp_atomic_add(&table.losses, 1);
        return MXP_NAME_FULL;
    }
    if (mxp_atomic_own(&table.count) == 0) {
        append_fixed();
    }
    uint32_t id = find(category, text, length, hash, style);
    if (id == UINT32_MAX) {
        id = append(category, text, length, hash, style, unit) ? mxp_atomic_own(&table.count) - 1
                                                               : MXP_NAME_FULL;
    }
    mxp__spin_unlock(&table.lock);
    if (id == MXP_NAME_FULL) {
        mxp_atomic_add(&table.losses, 1);
    }
    return id;
}

mxp_name mxp_intern(const char *category, const char *name, int style, int unit)
{
    uint32_t category_id = MXP_NAME_NONE;
    if (category != NULL && category[0] != '\0') {
        category_id = mxp__name_intern(0, category, strlen(category), MXP_STYLE_NONE, 0);
    }
    const char *text = name != NULL ? name : "";
    return mxp__name_intern(category_id, text, strlen(text), style, unit);
}

uint32_t mxp__name_count(void)
{
    return mxp_atomic_load_acquire(&table.count);
}

mxp_name_view mxp__name_view(uint32_t id)
{
    if (id >= mxp__name_count()) {
        return (mxp_name_view){.text = "<bad name>", .length = 10};
    }
    return view_of(id);
}

void mxp__names_each(void (*visit)(uint32_t id, const mxp_name_view *name))
{
    assert(mxp__spin_is_held(&table.lock));
    table.added = visit;
    for (uint32_t id = 0; id < mxp_atomic_own(&table.count); id++) {
        mxp_name_view view = view_of(id);
        visit(id, &view);
    }
}

const char *mxp_name_text(mxp_name id)
{
    return mxp__name_view(id).text;
}

mxp_name mxp_name_category(mxp_name id)
{
    return mxp__name_view(id).category;
}

uint64_t mxp__name_bytes(void)
{
    return mxp_atomic_load(&table.bytes);
}

uint64_t mxp__name_losses(void)
{
    return mxp_atomic_load(&table.losses);
}

void mxp__names_lock(void)
{
    mxp__spin_lock(&table.lock);
}

bool mxp__names_try_lock(void)
{
    return mxp__spin_lock(&table.lock);
}

void mxp__names_unlock(void)
{
    mxp__spin_unlock(&table.lock);
}
