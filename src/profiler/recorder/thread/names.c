// SPDX-License-Identifier: Apache-2.0
// Layout: entries in segments of 4096 that never move; strings in arenas of 64 KiB (longer ones
// have pages of their own). Writers hold `table.lock`; readers of entries rely on the release of
// `count`, those who have found an id by its name on that of the index.
#include "profiler/recorder/thread/names.h"

#include <assert.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "profiler/pages.h"
#include "profiler/recorder/thread/name_index.h"
#include "profiler/spin.h"

enum { SEGMENT = 4096, SEGMENTS = 4096, ARENA_BYTES = 65536 };

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
    mxp_name_index index;
    char *arena, *arena_end;  // space for strings
    mxp_atomic_u64 bytes;
    mxp_atomic_u64 cap_bytes;
    mxp_atomic_u32 cap;  // of their number
    mxp_atomic_u64 losses;
    void (*added)(uint32_t id, const mxp_name_view *name);  // told of every new name
} table = {.cap_bytes = {MXP__NAMES_CAP_BYTES}, .cap = {MXP__NAMES_MOST}};

void mxp__names_limit(uint64_t memory_limit_bytes, uint32_t names)
{
    uint64_t cap_bytes = memory_limit_bytes / 16;
    cap_bytes = cap_bytes < MXP__NAMES_CAP_BYTES ? cap_bytes : MXP__NAMES_CAP_BYTES;
    cap_bytes = cap_bytes > MXP__NAMES_CAP_LEAST_BYTES ? cap_bytes : MXP__NAMES_CAP_LEAST_BYTES;
    mxp_atomic_store(&table.cap_bytes, cap_bytes);
    mxp_atomic_store(&table.cap, names != 0 ? names : MXP__NAMES_MOST);
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

static uint32_t hash_of(uint32_t id)
{
    return entry_at(id)->hash;
}

static bool grow_index(void)
{
    uint32_t count = mxp_atomic_own(&table.count);
    uint64_t size_bytes = mxp__name_index_wanted(&table.index, count);
    if (size_bytes == 0) {
        return true;
    }
    void *memory = take_pages(size_bytes);
    if (memory == NULL) {
        return false;
    }
    mxp__name_index_replace(&table.index, memory, size_bytes, count, hash_of);
    return true;
}

static bool append(const mxp_name_key *key, int unit)
{
    assert(mxp__spin_is_held(&table.lock));
    uint32_t id = mxp_atomic_own(&table.count);
    if (id >= (uint32_t)SEGMENT * SEGMENTS || id >= mxp_atomic_load(&table.cap) || !grow_index()) {
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
    const char *stored = store_text(key->text, key->length);
    if (stored == NULL) {
        return false;
    }
    *entry_at(id) = (name_entry){.text = stored,
                                 .length = key->length,
                                 .category = key->category,
                                 .hash = key->hash,
                                 .style = key->style,
                                 .unit = (uint8_t)unit};
    if (table.added != NULL) {
        mxp_name_view view = view_of(id);
        table.added(id, &view);
    }
    mxp_atomic_store_release(&table.count, id + 1);
    mxp__name_index_add(&table.index, key->hash, id);  // last: who finds it may use it
    return true;
}

static void set_key(mxp_name_key *key, uint32_t category, const char *text, uint64_t length,
                    int style)
{
    key->text = text;
    key->length = (uint32_t)length;
    key->category = category;
    key->style = (uint8_t)style;
    key->hash = mxp__name_hash(category, text, (uint32_t)length, key->style);
}

static void append_fixed(void)
{
    static const char full[] = "<names full>";
    mxp_name_key key;
    set_key(&key, 0, "", 0, MXP_STYLE_NONE);
    append(&key, MXP_UNIT_NONE);
    set_key(&key, 0, full, sizeof full - 1, MXP_STYLE_NONE);
    append(&key, MXP_UNIT_NONE);
}

static bool is_name(uint32_t id, const mxp_name_key *key)
{
    const name_entry *entry = entry_at(id);
    return entry->hash == key->hash && entry->category == key->category &&
           entry->length == key->length && entry->style == key->style &&
           memcmp(entry->text, key->text, key->length) == 0;
}

static int64_t find(const mxp_name_key *key)
{
    return mxp__name_index_find(&table.index, key, is_name);
}

// Of a name that was not there a moment ago.
static uint32_t add(const mxp_name_key *key, int unit)
{
    if (!mxp__spin_lock(&table.lock)) {
        return MXP_NAME_FULL;
    }
    if (mxp_atomic_own(&table.count) == 0) {
        append_fixed();
    }
    int64_t id = find(key);
    if (id == MXP__NAME_UNKNOWN) {
        id = append(key, unit) ? mxp_atomic_own(&table.count) - 1 : MXP_NAME_FULL;
    }
    mxp__spin_unlock(&table.lock);
    return (uint32_t)id;
}

uint32_t mxp__name_intern(uint32_t category, const char *text, uint64_t length, int style, int unit)
{
    uint32_t result = MXP_NAME_FULL;
    if (length < UINT32_MAX) {
        mxp_name_key key;
        set_key(&key, category, text, length, style);
        int64_t id = find(&key);
        result = id != MXP__NAME_UNKNOWN ? (uint32_t)id : add(&key, unit);
    }
    if (result == MXP_NAME_FULL) {
        mxp_atomic_add(&table.losses, 1);
    }
    return result;
}

mxp_name mxp_intern_in(mxp_name category, const char *text, size_t length_bytes, int style,
                       int unit)
{
    uint32_t known = category < mxp__name_count() ? category : MXP_NAME_NONE;
    bool none = text == NULL || length_bytes == 0;
    return mxp__name_intern(known, none ? "" : text, none ? 0 : length_bytes, style, unit);
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

static_assert(offsetof(name_entry, length) == offsetof(mxp_image_name, length) &&
                  offsetof(name_entry, category) == offsetof(mxp_image_name, category) &&
                  offsetof(name_entry, style) == offsetof(mxp_image_name, style) &&
                  offsetof(name_entry, unit) == offsetof(mxp_image_name, unit),
              "readers of core files find them there");

void mxp__names_image(volatile mxp_image_anchor *to)
{
    to->names_count = (uintptr_t)&table.count;
    to->names = (uintptr_t)&table.segments;
    to->names_in_segment = SEGMENT;
    to->name_bytes = sizeof(name_entry);
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

uint32_t mxp__names_largest_category(uint32_t *names)
{
    uint32_t count = mxp__name_count(), largest = MXP_NAME_NONE;
    uint32_t *of = mxp__alloc(count * sizeof *of);
    *names = 0;
    for (uint32_t id = 0; of != NULL && id < count; id++) {
        uint32_t category = view_of(id).category;
        if (++of[category] > *names) {
            largest = category;
            *names = of[category];
        }
    }
    mxp__free(of, count * sizeof *of);
    return largest;
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

// ---- forks without a session ------------------------------------------------------------------
// A program may give names and have no session, whose handlers take the lock. Then these do.
static bool forks_alone;  // under the lock

static void fork_prepare(void)
{
    if (!mxp__spin_is_held(&table.lock)) {
        mxp__spin_lock(&table.lock);
        forks_alone = true;
    }
}

static void fork_over(void)
{
    if (mxp__spin_is_held(&table.lock) && forks_alone) {
        forks_alone = false;
        mxp__spin_unlock(&table.lock);
    }
}

// Before the constructor of the session (autostart.c): what is registered first prepares last. So
// the lock is taken after all others, as everywhere.
__attribute__((constructor(101))) static void begin_process(void)
{
    pthread_atfork(fork_prepare, fork_over, fork_over);
}
