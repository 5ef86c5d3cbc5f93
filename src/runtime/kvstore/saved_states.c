// SPDX-License-Identifier: Apache-2.0
// Each state: a head, the key, then its arrays, each with its length before it.
#include "runtime/kvstore/saved_states.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct head {
    uint32_t magic, key_bytes, updates, copy_first, arrays, is_unused;
    uint64_t first;
} head;

static const uint32_t magic = 0x554b584d;  // "MXKU"

int mxn__kv_saved_write(const mxn_kv_saved *saved, mxp_strbuf *bytes)
{
    const head of = {.magic = magic,
                     .key_bytes = (uint32_t)strlen(saved->key),
                     .updates = saved->updates,
                     .copy_first = saved->copy_first,
                     .arrays = saved->count,
                     .is_unused = saved->is_unused,
                     .first = saved->first};
    mxp_strbuf array = {0};
    int error = MXP_OK;
    mxp__strbuf_append(bytes, (const char *)&of, sizeof of);
    mxp__strbuf_append(bytes, saved->key, of.key_bytes);
    for (uint32_t i = 0; error == MXP_OK && i < saved->count; i++) {
        mxp__strbuf_clear(&array);
        error = mxn_array_save_bytes(saved->arrays[i], true, &array);
        const uint64_t length = array.length;
        mxp__strbuf_append(bytes, (const char *)&length, sizeof length);
        mxp__strbuf_append(bytes, array.data, array.length);
    }
    if (error == MXP_OK && (bytes->failed || array.failed)) {
        error = mxp__fail_memory("the states of an optimizer");
    }
    mxp__strbuf_fini(&array);
    return error;
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct reader {
    const char *at;
    size_t left;
} reader;

static bool take(reader *r, void *to, size_t length)
{
    if (r->left < length) {
        return false;
    }
    memcpy(to, r->at, length);
    r->at += length;
    r->left -= length;
    return true;
}

static int damaged(void)
{
    return mxp__fail(MXP_EFORMAT, "the states of an optimizer are damaged");
}

static int read_arrays(reader *r, uint32_t count, mxn_kv_saved *saved)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length;
        if (!take(r, &length, sizeof length) || length > r->left) {
            return damaged();
        }
        int error = mxn_array_load_bytes(r->at, length, &saved->arrays[i]);
        if (error != MXP_OK) {
            return error;
        }
        if (saved->arrays[i] == NULL) {
            return damaged();
        }
        saved->count = i + 1;
        r->at += length;
        r->left -= length;
    }
    return MXP_OK;
}

static int read_one(reader *r, mxn_kv_saved *saved)
{
    head of;
    if (!take(r, &of, sizeof of) || of.magic != magic || of.key_bytes > r->left ||
        of.arrays > MXN_KV_SAVED_ARRAYS || memchr(r->at, '\0', of.key_bytes) != NULL) {
        return damaged();
    }
    saved->key = mxp__alloc(of.key_bytes + 1);
    if (saved->key == NULL) {
        return mxp__fail_memory("a key");
    }
    (void)take(r, saved->key, of.key_bytes);
    saved->updates = of.updates;
    saved->copy_first = of.copy_first != 0;
    saved->is_unused = of.is_unused != 0;
    saved->first = of.first;
    return read_arrays(r, of.arrays, saved);
}

static void free_items(mxn_kv_saved *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < items[i].count; j++) {
            mxn_array_release(items[i].arrays[j]);
        }
        mxp__free(items[i].key, items[i].key == NULL ? 0 : strlen(items[i].key) + 1);
    }
}

int mxn__kv_saved_read(const void *bytes, size_t length, mxn_kv_saved_list *list)
{
    reader r = {.at = bytes, .left = length};
    const uint32_t before = list->count;
    int error = MXP_OK;
    while (error == MXP_OK && r.left > 0) {
        const size_t size = list->count * sizeof *list->items;
        mxn_kv_saved *grown = mxp__realloc(list->items, size, size + sizeof *grown);
        if (grown == NULL) {
            error = mxp__fail_memory("the states of an optimizer");
            break;
        }
        list->items = grown;
        grown[list->count] = (mxn_kv_saved){.key = NULL};
        error = read_one(&r, &grown[list->count++]);
    }
    if (error != MXP_OK) {
        const uint32_t now = list->count;
        free_items(list->items + before, now - before);
        list->items =
            mxp__realloc(list->items, now * sizeof *list->items, before * sizeof *list->items);
        list->count = before;
    }
    return error;
}

void mxn__kv_saved_fini(mxn_kv_saved_list *list)
{
    free_items(list->items, list->count);
    mxp__free(list->items, list->count * sizeof *list->items);
    *list = (mxn_kv_saved_list){.count = 0};
}
