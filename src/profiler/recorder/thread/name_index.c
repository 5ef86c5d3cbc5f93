// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/name_index.h"

#include <assert.h>
#include <string.h>

enum { FIRST_SLOTS = 16384 };

static uint64_t word_at(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

// The bytes of a text below 8, in one word; each byte of it counts.
static uint64_t short_word(const char *text, uint32_t length)
{
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + length - 4, sizeof last);
        return first | (uint64_t)last << 32;
    }
    uint64_t word = 0;
    for (uint32_t i = 0; i < length; i++) {
        word = word << 8 | (unsigned char)text[i];
    }
    return word;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

uint32_t mxp__name_hash(uint32_t category, const char *text, uint32_t length, uint8_t style)
{
    uint64_t hash = mix(length | (uint64_t)category << 32, style);
    if (length < sizeof(uint64_t)) {
        hash = mix(hash, short_word(text, length));
    } else {
        for (uint32_t i = 0; i + sizeof(uint64_t) < length; i += sizeof(uint64_t)) {
            hash = mix(hash, word_at(text + i));
        }
        hash = mix(hash, word_at(text + length - sizeof(uint64_t)));
    }
    return (uint32_t)mix(hash, 0);
}

int64_t mxp__name_index_find(const mxp_name_index *index, const mxp_name_key *key,
                             bool (*is_name)(uint32_t id, const mxp_name_key *key))
{
    const mxp_name_slots *slots = mxp_atomic_load_acquire(&index->slots);
    if (slots == NULL) {
        return MXP__NAME_UNKNOWN;
    }
    // Ends: half of the slots are empty.
    for (uint32_t at = key->hash;; at++) {
        uint32_t id = mxp_atomic_load_acquire(&slots->slots[at & (slots->count - 1)]);
        if (id == 0) {
            return MXP__NAME_UNKNOWN;
        }
        if (is_name(id - 1, key)) {
            return id - 1;
        }
    }
}

static uint32_t slots_of(const mxp_name_index *index)
{
    const mxp_name_slots *slots = mxp_atomic_own(&index->slots);
    return slots == NULL ? 0 : slots->count;
}

uint64_t mxp__name_index_wanted(const mxp_name_index *index, uint32_t count)
{
    uint32_t now = slots_of(index);
    if (count * 2 < now) {
        return 0;
    }
    uint64_t wanted = now == 0 ? FIRST_SLOTS : (uint64_t)now * 2;
    return sizeof(mxp_name_slots) + wanted * sizeof(uint32_t);
}

static void put(mxp_name_slots *slots, uint32_t hash, uint32_t id)
{
    uint32_t at = hash;
    while (mxp_atomic_own(&slots->slots[at & (slots->count - 1)]) != 0) {
        at++;
    }
    mxp_atomic_store_release(&slots->slots[at & (slots->count - 1)], id + 1);
}

void mxp__name_index_replace(mxp_name_index *index, void *memory, uint64_t size_bytes,
                             uint32_t count, uint32_t (*hash_of)(uint32_t id))
{
    mxp_name_slots *slots = memory;
    slots->count = (uint32_t)((size_bytes - sizeof *slots) / sizeof(uint32_t));
    assert((slots->count & (slots->count - 1)) == 0 && count * 2 < slots->count);
    for (uint32_t id = 0; id < count; id++) {
        put(slots, hash_of(id), id);
    }
    mxp_atomic_store_release(&index->slots, slots);
}

void mxp__name_index_add(mxp_name_index *index, uint32_t hash, uint32_t id)
{
    put(mxp_atomic_own(&index->slots), hash, id);
}
