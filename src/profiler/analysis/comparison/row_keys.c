// SPDX-License-Identifier: Apache-2.0
// Keys are found by a hash of their texts. Two keys with one hash take the next free number.
#include "profiler/analysis/comparison/row_keys.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct key_place {
    uint64_t key, place;
} key_place;

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);  // the texts' borders count
}

static uint64_t hash_key(const mxp_row_key *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_text(hash, key->kind);
    hash = hash_text(hash, key->scope);
    hash = hash_text(hash, key->name);
    return hash_text(hash, key->shape);
}

static bool same_key(const mxp_row_key *a, const mxp_row_key *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->scope, b->scope) == 0 &&
           strcmp(a->kind, b->kind) == 0 && strcmp(a->shape, b->shape) == 0;
}

static void free_texts(const mxp_row_key *key)
{
    mxp__strfree((char *)(uintptr_t)key->kind);
    mxp__strfree((char *)(uintptr_t)key->scope);
    mxp__strfree((char *)(uintptr_t)key->name);
    mxp__strfree((char *)(uintptr_t)key->shape);
}

static int add_key(mxp_row_keys *keys, uint64_t hash, const mxp_row_key *key)
{
    const mxp_row_key copy = {mxp__strdup(key->kind), mxp__strdup(key->scope),
                              mxp__strdup(key->name), mxp__strdup(key->shape)};
    key_place *entry = NULL;
    if (copy.kind != NULL && copy.scope != NULL && copy.name != NULL && copy.shape != NULL &&
        mxp__grow(&keys->all, &keys->capacity, keys->count + 1, sizeof *keys->all) == MXP_OK) {
        entry = mxp__id_map_add(&keys->places, hash);
    }
    if (entry == NULL) {
        free_texts(&copy);
        return mxp__fail_memory("the rows of a comparison");
    }
    entry->place = keys->count;
    keys->all[keys->count++] = copy;
    return MXP_OK;
}

int mxp__row_keys_add(mxp_row_keys *keys, const mxp_row_key *key, size_t *place)
{
    keys->places.entry_bytes = sizeof(key_place);
    uint64_t hash = hash_key(key);
    const key_place *entry;
    for (;; hash++) {
        hash = hash == 0 ? 1 : hash;
        entry = mxp__id_map_find(&keys->places, hash);
        if (entry == NULL || same_key(&keys->all[entry->place], key)) {
            break;
        }
    }
    *place = entry != NULL ? entry->place : keys->count;
    return entry != NULL ? MXP_OK : add_key(keys, hash, key);
}

void mxp__row_keys_fini(mxp_row_keys *keys)
{
    while (keys->count > 0) {
        free_texts(&keys->all[--keys->count]);
    }
    mxp__free(keys->all, keys->capacity * sizeof *keys->all);
    if (keys->places.entry_bytes > 0) {
        mxp__id_map_fini(&keys->places);
    }
    *keys = (mxp_row_keys){0};
}

int mxp__row_sums_add(mxp_row_sums *sums, size_t place, int64_t ns, uint64_t count)
{
    const size_t before = sums->capacity;
    if (mxp__grow(&sums->at, &sums->capacity, place + 1, sizeof *sums->at) != MXP_OK) {
        return mxp__fail_memory("the rows of a comparison");
    }
    if (sums->capacity > before) {
        memset(sums->at + before, 0, (sums->capacity - before) * sizeof *sums->at);
    }
    // Damaged files have operators that take centuries.
    if (__builtin_add_overflow(sums->at[place].ns, ns, &sums->at[place].ns)) {
        sums->at[place].ns = INT64_MAX;
    }
    sums->at[place].count += count;
    return MXP_OK;
}

void mxp__row_sums_fini(mxp_row_sums *sums)
{
    mxp__free(sums->at, sums->capacity * sizeof *sums->at);
    *sums = (mxp_row_sums){0};
}
