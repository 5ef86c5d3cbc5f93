// SPDX-License-Identifier: Apache-2.0
// A slot belongs to who has changed its begin from 0, or from that of an open span, to MAKING. Only
// then are its other words changed, here and in the file.
#include "profiler/recorder/thread/async_table.h"

#include <string.h>

#include "base/atomic.h"
#include "profiler/recorder/store/store.h"

enum { MAKING = 1, LOOKED_AT = 8 };

static mxp_async_slot table[MXP_ASYNC_SLOTS] __attribute__((aligned(64)));
static MXP_ATOMIC(mxp_open_section *) shown;
static mxp_atomic_bool used;
static mxp_atomic_u64 left_out;

const mxp_async_slot *mxp__async_slots(void)
{
    return table;
}

static uint32_t home_of(mxp_name name, uint64_t id)
{
    uint64_t hash = (id + name * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 52) % MXP_ASYNC_SLOTS;
}

static mxp_async_slot *slot_at(uint32_t home, uint32_t turn)
{
    return &table[(home + turn) % MXP_ASYNC_SLOTS];
}

// ---- words of a slot ---------------------------------------------------------------------------
// Others may be looking at them: whoever compares name and id before it has the slot. A begin of
// its own ends them.
static void write_words(mxp_async_slot *to, uint64_t id, mxp_context context, uint64_t who,
                        uint32_t thread, uint64_t seal)
{
    mxp_word_store(&to->id, id);
    mxp_word_store(&to->context.id, context.id);
    mxp_word_store(&to->context.high, context.high);
    mxp_word_store(&to->name, (uint32_t)who);
    mxp_word_store(&to->id_key, (uint32_t)(who >> 32));
    mxp_word_store(&to->thread, thread);
    mxp_word_store(&to->seal, seal);
}

static void read_words(mxp_async_taken *taken, const mxp_async_slot *slot, uint64_t begin_ticks)
{
    taken->span = (mxp_async){.begin_ticks = begin_ticks,
                              .id = mxp_word_load(&slot->id),
                              .context.id = mxp_word_load(&slot->context.id),
                              .context.high = mxp_word_load(&slot->context.high),
                              .name = mxp_word_load(&slot->name),
                              .place = (uint32_t)(slot - table) + 1};
    taken->thread = mxp_word_load(&slot->thread);
}

static bool claim(mxp_async_slot *slot, uint64_t begin_ticks)
{
    return mxp_word_load(&slot->begin_ticks) == begin_ticks &&
           mxp_word_cas_acq_rel(&slot->begin_ticks, &begin_ticks, MAKING);
}

static void clear(mxp_async_slot *slot)
{
    mxp_open_section *file = mxp_atomic_load_acquire(&shown);
    if (file != NULL) {
        mxp_word_store_release(&file->slots[slot - table].begin_ticks, 0);
    }
    mxp_word_store_release(&slot->begin_ticks, 0);
}

// ---- in and out --------------------------------------------------------------------------------
static mxp_async_slot *claim_free(uint64_t who, uint64_t id, uint32_t thread)
{
    // One without an id is only looked for at its place: its line may be where its thread's last
    // was.
    uint32_t home = id != 0 ? home_of((uint32_t)who, id) : thread * LOOKED_AT;
    for (uint32_t turn = 0; turn < LOOKED_AT; turn++) {
        mxp_async_slot *slot = slot_at(home, turn);
        if (claim(slot, 0)) {
            return slot;
        }
    }
    return NULL;
}

uint32_t mxp__async_put(uint64_t begin_ticks, uint64_t who, uint64_t id, mxp_context context,
                        uint32_t thread)
{
    if (!mxp_atomic_load(&used)) {
        mxp_atomic_store(&used, true);
    }
    mxp_open_section *file = mxp_atomic_load_acquire(&shown);
    if (file == NULL) {
        mxp__store_show_async(false);
        file = mxp_atomic_load_acquire(&shown);
    }
    mxp_async_slot *slot = claim_free(who, id, thread);
    if (slot == NULL) {
        mxp_atomic_add(&left_out, 1);
        return 0;
    }
    if (file != NULL) {
        mxp_async_slot *in_file = &file->slots[slot - table];
        const uint64_t seal = mxp_async_seal_of(begin_ticks, id, context,
                                                (uint32_t)who | (uint64_t)thread << 32, who >> 32);
        write_words(in_file, id, context, who, thread, seal);
        mxp_word_store_release(&in_file->begin_ticks, begin_ticks);
    }
    write_words(slot, id, context, who, thread, 0);
    mxp_word_store_release(&slot->begin_ticks, begin_ticks);
    return (uint32_t)(slot - table) + 1;
}

bool mxp__async_take(const mxp_async *span)
{
    mxp_async_slot *slot = &table[span->place - 1];
    bool taken = claim(slot, span->begin_ticks);
    if (taken) {
        clear(slot);
    }
    return taken;
}

static bool is_of(const mxp_async_slot *slot, mxp_name name, uint64_t id)
{
    return mxp_word_load(&slot->id) == id && mxp_word_load(&slot->name) == name;
}

// Null: there is none.
static mxp_async_slot *find_first(mxp_name name, uint64_t id, uint64_t *begin_ticks)
{
    mxp_async_slot *first = NULL;
    uint32_t home = home_of(name, id);
    for (uint32_t turn = 0; turn < LOOKED_AT; turn++) {
        mxp_async_slot *slot = slot_at(home, turn);
        uint64_t begin = mxp_word_load_acquire(&slot->begin_ticks);
        if (begin > MAKING && is_of(slot, name, id) && (first == NULL || begin < *begin_ticks)) {
            first = slot;
            *begin_ticks = begin;
        }
    }
    return first;
}

bool mxp__async_take_first(mxp_name name, uint64_t id, mxp_async_taken *taken)
{
    uint64_t begin = 0;
    for (mxp_async_slot *slot; (slot = find_first(name, id, &begin)) != NULL;) {
        if (!claim(slot, begin)) {
            continue;  // somebody else has just ended it
        }
        bool same = is_of(slot, name, id);
        if (same) {
            read_words(taken, slot, begin);
            clear(slot);
            return true;
        }
        mxp_word_store_release(&slot->begin_ticks, begin);  // of another that began in that tick
    }
    return false;
}

bool mxp__async_take_next(uint32_t *at, uint64_t end_ticks, mxp_async_taken *taken)
{
    while (mxp__async_is_used() && *at < MXP_ASYNC_SLOTS) {
        mxp_async_slot *slot = &table[(*at)++];
        uint64_t begin = mxp_word_load_acquire(&slot->begin_ticks);
        if (begin > MAKING && begin <= end_ticks && claim(slot, begin)) {
            read_words(taken, slot, begin);
            clear(slot);
            return true;
        }
    }
    return false;
}

// ---- the file ----------------------------------------------------------------------------------
uint64_t mxp__async_left_out(void)
{
    return mxp_atomic_load(&left_out);
}

bool mxp__async_is_used(void)
{
    return mxp_atomic_load(&used);
}

bool mxp__async_is_shown(void)
{
    return mxp_atomic_load(&shown) != NULL;
}

static void copy_slot(mxp_async_slot *to, const mxp_async_slot *from)
{
    *to = *from;
    to->seal = mxp_async_seal(to);
}

void mxp__async_show(mxp_open_section *section, bool copy)
{
    for (uint32_t i = 0; copy && i < MXP_ASYNC_SLOTS; i++) {
        if (mxp_word_load(&table[i].begin_ticks) > MAKING) {
            copy_slot(&section->slots[i], &table[i]);
        }
    }
    mxp_atomic_store_release(&shown, section);
}

// What was open belongs to the parent.
void mxp__async_fork_child(void)
{
    mxp_atomic_set(&shown, NULL);
    if (mxp__async_is_used()) {
        memset(table, 0, sizeof table);
    }
    mxp_atomic_set(&left_out, 0);
}
