// SPDX-License-Identifier: Apache-2.0
// The table of handles. It consists of blocks that are never moved or freed, so a slot is found by
// its index without a lock. Block 0 holds FIRST_SLOTS slots, each further one twice as many.
#include "profiler/session/objects/handles.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"

enum {
    MAGIC = 0x4d58,
    GENERATION_BITS = 20,
    GENERATION_MAX = (1 << GENERATION_BITS) - 1,
    INDEX_BITS = 24,
    INDEX_MAX = (1 << INDEX_BITS) - 1,
    FIRST_SLOTS_BITS = 6,
    FIRST_SLOTS = 1 << FIRST_SLOTS_BITS,
    BLOCKS = INDEX_BITS - FIRST_SLOTS_BITS,
    TYPES = (2 << MXP__OBJECT_COUNTER) - 2,  // a bit for each type of object
    DOMAIN_CHAINS = 64
};

static_assert(sizeof(void *) == sizeof(uint64_t), "a handle holds 64 bits");

static const char *const type_names[] = {"nothing", "domain", "task",   "frame",
                                         "event",   "span",   "counter"};

// Guards the fields below and the lists of slots. `blocks` and `used` are read without it.
static mxp_lock table_lock = MXP__LOCK_INIT;
static MXP_ATOMIC(mxp_slot *) blocks[BLOCKS];
static mxp_atomic_u32 used = {1};  // slots ever given out; index 0 is never used
static uint32_t free_first, free_last;
static uint32_t domain_chains[DOMAIN_CHAINS];

// ---- indices ----------------------------------------------------------------------------------
static unsigned block_of(uint32_t index)
{
    return 31u - (unsigned)__builtin_clz(index + FIRST_SLOTS) - FIRST_SLOTS_BITS;
}

static mxp_slot *slot_at(uint32_t index)
{
    unsigned block = block_of(index);
    mxp_slot *slots = mxp_atomic_load_acquire(&blocks[block]);  // pairs with slot_new
    return &slots[index + FIRST_SLOTS - ((uint32_t)FIRST_SLOTS << block)];
}

static uint32_t index_of(const mxp_slot *slot)
{
    for (unsigned block = 0; block < BLOCKS; block++) {
        const mxp_slot *slots = mxp_atomic_own(&blocks[block]);
        size_t count = (size_t)FIRST_SLOTS << block;
        if (slots != NULL && slot >= slots && slot < slots + count) {
            return (uint32_t)((size_t)(slot - slots) + count - FIRST_SLOTS);
        }
    }
    return 0;
}

static mxp_handle pack(uint32_t index, uint32_t generation, uint32_t type)
{
    uint64_t bits =
        (uint64_t)MAGIC << 48 | (uint64_t)generation << 28 | (uint64_t)type << 24 | index;
    return (mxp_handle)(uintptr_t)bits;
}

// ---- creation ---------------------------------------------------------------------------------
// The index of a slot that was never used, or 0. Under the table's lock.
static uint32_t slot_new(void)
{
    uint32_t index = mxp_atomic_own(&used);
    unsigned block = block_of(index);
    if (index > INDEX_MAX - FIRST_SLOTS) {
        return 0;
    }
    if (mxp_atomic_own(&blocks[block]) == NULL) {
        mxp_slot *slots = mxp__alloc(sizeof(mxp_slot) * ((size_t)FIRST_SLOTS << block));
        if (slots == NULL) {
            return 0;
        }
        mxp_atomic_store_release(&blocks[block], slots);  // pairs with slot_at
    }
    mxp_atomic_store_release(&used, index + 1);  // pairs with find
    return index;
}

static uint32_t slot_take(void)
{
    uint32_t index = free_first;
    if (index == 0) {
        return slot_new();
    }
    free_first = slot_at(index)->next;
    if (free_first == 0) {
        free_last = 0;
    }
    return index;
}

// Under the table's lock.
static int create(uint32_t type, const mxp_slot *content, mxp_handle *handle)
{
    uint32_t index = slot_take();
    if (index == 0) {
        return mxp__fail(MXP_ENOMEM, "no room for another %s: destroy objects that are done with",
                         type_names[type]);
    }
    mxp_slot *slot = slot_at(index);
    mxp__spin_lock(&slot->lock);
    uint32_t generation = slot->generation;
    slot->name = content->name;
    slot->value = 0;
    slot->last_ticks = 0;
    slot->text = content->text;
    slot->frames = content->frames;
    slot->markers = content->markers;
    memcpy(slot->label, content->label, sizeof(slot->label));
    slot->start_count = 0;
    slot->starts = slot->start_inline;
    slot->start_capacity = MXP__START_INLINE;
    slot->next = 0;
    if (type == MXP__OBJECT_DOMAIN) {
        slot->next = domain_chains[content->name % DOMAIN_CHAINS];
        domain_chains[content->name % DOMAIN_CHAINS] = index;
    }
    slot->type = type;
    mxp__spin_unlock(&slot->lock);
    *handle = pack(index, generation, type);
    return MXP_OK;
}

int mxp__slot_create(uint32_t type, const mxp_slot *content, mxp_handle *handle)
{
    mxp__lock(&table_lock);
    int error = create(type, content, handle);
    mxp__unlock(&table_lock);
    return error;
}

// The domain of this name, or null. Under the table's lock. MXP_NAME_FULL, which names get when the
// table of names is full, finds none: such domains are all different.
static mxp_handle domain_of(mxp_name name)
{
    mxp_handle found = NULL;
    uint32_t index = name != MXP_NAME_FULL ? domain_chains[name % DOMAIN_CHAINS] : 0;
    while (index != 0 && found == NULL) {
        const mxp_slot *slot = slot_at(index);
        if (slot->name == name) {
            found = pack(index, slot->generation, MXP__OBJECT_DOMAIN);
        }
        index = slot->next;
    }
    return found;
}

mxp_handle mxp__domain_find(mxp_name name)
{
    mxp__lock(&table_lock);
    mxp_handle found = domain_of(name);
    mxp__unlock(&table_lock);
    return found;
}

int mxp__domain_create(const mxp_slot *content, mxp_handle *domain, bool *made)
{
    mxp__lock(&table_lock);
    *domain = domain_of(content->name);
    *made = *domain == NULL;
    int error = *made ? create(MXP__OBJECT_DOMAIN, content, domain) : MXP_OK;
    mxp__unlock(&table_lock);
    return error;
}

void mxp__slot_set_label(mxp_slot *slot, const char *name)
{
    size_t length = strnlen(name, MXP__LABEL_BYTES);
    bool cut = length == MXP__LABEL_BYTES;
    if (cut) {
        length = MXP__LABEL_BYTES - sizeof("...");
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) {
            length--;  // not inside a character of UTF-8
        }
    }
    memcpy(slot->label, name, length);
    memcpy(slot->label + length, cut ? "..." : "", cut ? sizeof("...") : 1);
}

// ---- use --------------------------------------------------------------------------------------
static int fail_type(uint32_t type, uint32_t types)
{
    char expected[64] = "";
    for (uint32_t wanted = 1; wanted < sizeof(type_names) / sizeof(type_names[0]); wanted++) {
        if ((types >> wanted & 1) != 0) {
            strcat(expected, expected[0] != '\0' ? " or " : "");
            strcat(expected, type_names[wanted]);
        }
    }
    return mxp__fail(MXP_EHANDLE, "wrong type of handle: expected %s, got %s", expected,
                     type_names[type]);
}

// Reports why `handle` is not one of `types`.
static __attribute__((cold, noinline)) int fail_handle(mxp_handle handle, uint32_t types,
                                                       const char *null_text)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)bits & INDEX_MAX;
    uint32_t type = (uint32_t)(bits >> INDEX_BITS) & 15;
    if (handle == NULL) {
        return mxp__fail(MXP_EHANDLE, "%s", null_text);
    }
    if (bits >> 48 != MAGIC || type == 0 || type > MXP__OBJECT_COUNTER || index == 0 ||
        index >= mxp_atomic_load_acquire(&used)) {
        return mxp__fail(MXP_EHANDLE, "%p is no handle: pass what a create function gave",
                         (void *)handle);
    }
    return fail_type(type, types);
}

static __attribute__((cold, noinline)) int fail_destroyed(mxp_slot *slot, uint32_t type)
{
    mxp__spin_unlock(&slot->lock);
    return mxp__fail(MXP_EHANDLE, "this %s was destroyed: its handle must not be used again",
                     type_names[type]);
}

int mxp__slot_lock(mxp_handle handle, uint32_t types, const char *null_text, mxp_slot **slot)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)bits & INDEX_MAX;
    uint32_t type = (uint32_t)(bits >> INDEX_BITS) & 15;
    uint32_t generation = (uint32_t)(bits >> 28) & GENERATION_MAX;
    bool valid = bits >> 48 == MAGIC && (types & TYPES) >> type & 1 && index != 0 &&
                 index < mxp_atomic_load_acquire(&used);  // pairs with slot_new
    if (__builtin_expect(!valid, 0)) {
        return fail_handle(handle, types, null_text);
    }
    mxp_slot *found = slot_at(index);
    if (__builtin_expect(!mxp__spin_lock(&found->lock), 0)) {
        return mxp__fail(MXP_ESTATE, "the object is in use by the code this signal interrupted");
    }
    if (__builtin_expect(found->generation != generation || found->type != type, 0)) {
        return fail_destroyed(found, type);
    }
    *slot = found;
    return MXP_OK;
}

void mxp__slot_destroy(mxp_slot *slot)
{
    if (slot->starts != slot->start_inline) {
        mxp__free(slot->starts, slot->start_capacity * sizeof(mxp_start));
    }
    slot->starts = NULL;
    slot->start_count = 0;
    slot->type = MXP__OBJECT_FREE;
    bool retired = slot->generation == GENERATION_MAX;
    slot->generation += !retired;
    mxp__spin_unlock(&slot->lock);
    if (retired) {
        return;
    }
    mxp__lock(&table_lock);
    uint32_t index = index_of(slot);
    slot->next = 0;
    if (free_last != 0) {
        slot_at(free_last)->next = index;
    } else {
        free_first = index;
    }
    free_last = index;
    mxp__unlock(&table_lock);
}

void mxp__slots_visit(void (*visit)(mxp_slot *slot, uint64_t argument), uint64_t argument)
{
    uint32_t count = mxp_atomic_load_acquire(&used);
    for (uint32_t index = 1; index < count; index++) {
        mxp_slot *slot = slot_at(index);
        if (mxp__spin_lock(&slot->lock)) {
            if (slot->type != MXP__OBJECT_FREE) {
                visit(slot, argument);
            }
            mxp__spin_unlock(&slot->lock);
        }
    }
}

// ---- fork -------------------------------------------------------------------------------------
void mxp__slots_fork_prepare(void)
{
    mxp__lock(&table_lock);
}

void mxp__slots_fork_parent(void)
{
    mxp__unlock(&table_lock);
}

void mxp__slots_fork_child(void)
{
    mxp__unlock(&table_lock);
    for (uint32_t index = 1; index < mxp_atomic_own(&used); index++) {
        mxp_slot *slot = slot_at(index);
        if (mxp_atomic_own(&slot->lock.owner) != 0) {
            // The thread that held the lock does not exist here. It may have been changing the list
            // of starts, so that list is leaked and a new one begins.
            slot->starts = slot->start_inline;
            slot->start_capacity = MXP__START_INLINE;
            mxp_atomic_set(&slot->lock.owner, 0);
        }
        slot->start_count = 0;
    }
}
