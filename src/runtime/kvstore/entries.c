// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/entries.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct found {
    uint64_t key;
    mxn_kv_entry *entry;
} found;

// No map key is 0.
static uint64_t map_key(const mxn_kv_keys *keys, uint32_t index)
{
    if (keys->texts == NULL) {
        return (uint64_t)(uint32_t)keys->numbers[index] + 1;
    }
    uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
    for (const char *at = keys->texts[index]; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return hash == 0 ? 1 : hash;
}

const char *mxn__kv_key_text(const mxn_kv_keys *keys, uint32_t index, char buffer[32])
{
    if (keys->texts != NULL) {
        return keys->texts[index];
    }
    snprintf(buffer, 32, "%d", keys->numbers[index]);
    return buffer;
}

int mxn__kv_check_kind(mxn_kv_entries *entries, const mxn_kv_keys *keys)
{
    const int kind = keys->texts != NULL ? MXN_KV_TEXTS : MXN_KV_NUMBERS;
    for (uint32_t i = 0; kind == MXN_KV_TEXTS && i < keys->count; i++) {
        if (keys->texts[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "key %u of %u is null", i, keys->count);
        }
    }
    if (entries->kind != MXN_KV_UNKNOWN && kind != entries->kind) {
        return mxp__fail(MXP_EINVAL, "Mixed key types are not allowed: this store has %s keys",
                         entries->kind == MXN_KV_TEXTS ? "string" : "integer");
    }
    entries->kind = kind;
    return MXP_OK;
}

mxn_kv_entry *mxn__kv_find(const mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index)
{
    if (entries->map.capacity == 0) {
        return NULL;
    }
    const found *at = mxp__id_map_find(&entries->map, map_key(keys, index));
    mxn_kv_entry *entry = at == NULL ? NULL : at->entry;
    while (entry != NULL && keys->texts != NULL && strcmp(entry->text, keys->texts[index]) != 0) {
        entry = entry->same;
    }
    return entry;
}

int mxn__kv_add(mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index, mxn_array *stored)
{
    entries->map.entry_bytes = sizeof(found);
    mxn_kv_entry *entry = mxp__alloc(sizeof *entry);
    char *text = keys->texts == NULL ? NULL : mxp__strdup(keys->texts[index]);
    found *at = NULL;
    if (entry != NULL && (text != NULL || keys->texts == NULL)) {
        at = mxp__id_map_add(&entries->map, map_key(keys, index));
    }
    if (at == NULL) {
        mxp__strfree(text);
        mxp__free(entry, sizeof *entry);
        return mxp__fail_memory("a key");
    }
    *entry = (mxn_kv_entry){.next = entries->newest,
                            .same = at->entry,
                            .text = text,
                            .number = text == NULL ? keys->numbers[index] : entries->count,
                            .stored = stored};
    at->entry = entries->newest = entry;
    entries->count++;
    return MXP_OK;
}

void mxn__kv_drop_sums(mxn_kv_entry *entry)
{
    for (uint32_t i = 0; i < entry->copy_count; i++) {
        mxn_array_release(entry->copies[i]);
    }
    mxp__free(entry->copies, entry->copy_count * sizeof(mxn_array *));
    mxn_array_release(entry->merged);
    entry->copies = NULL;
    entry->copy_count = 0;
    entry->merged = NULL;
}

void mxn__kv_fini(mxn_kv_entries *entries)
{
    while (entries->newest != NULL) {
        mxn_kv_entry *entry = entries->newest;
        entries->newest = entry->next;
        mxn__kv_drop_sums(entry);
        mxn_array_release(entry->residual);
        mxn_array_release(entry->words);
        mxn_array_release(entry->stored);
        mxp__strfree(entry->text);
        mxp__free(entry, sizeof *entry);
    }
    mxp__id_map_fini(&entries->map);
}
