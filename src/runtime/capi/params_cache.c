// SPDX-License-Identifier: Apache-2.0
// A table of the calling thread, filled by hash. An entry holds the whole text it was made from,
// which is compared: a hash alone would hand out the wrong parameters one day.
#include "runtime/capi/params_cache.h"
#include "runtime/imperative/thread_mode.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/thread_slot.h"

enum { CACHE_SIZE = 256, TEXT_MAX = 512 };

typedef struct entry {
    const mxn_op *op;
    mxn_params *params;  // null: empty
    char *text;  // key, zero, value, zero, ...
    uint32_t inputs, text_bytes;
} entry;

static _Thread_local entry *cache __attribute__((tls_model("initial-exec")));

static void entry_empty(entry *e)
{
    mxn_params_release(e->params);
    mxp__free(e->text, e->text_bytes);
    *e = (entry){0};
}

static void cache_free(void *pointer)
{
    entry *entries = pointer;
    for (int i = 0; i < CACHE_SIZE; i++) {
        entry_empty(&entries[i]);
    }
    mxp__free(entries, CACHE_SIZE * sizeof(entry));
    cache = NULL;
}

static mxp_thread_slot cache_slot = MXP__THREAD_SLOT_INIT(cache_free);

static entry *cache_get(void)
{
    if (cache == NULL) {
        cache = mxp__thread_slot_new(&cache_slot, CACHE_SIZE * sizeof(entry));
    }
    return cache;
}

// Appends `word` with its zero; null if there is no space.
static char *append(char *at, const char *end, const char *word, uint64_t *hash)
{
    do {
        if (at == end) {
            return NULL;
        }
        *hash = (*hash ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
        *at++ = *word;
    } while (*word++ != '\0');
    return at;
}

static bool matches(const entry *e, const mxn_op *op, uint32_t inputs, const char *text,
                    uint32_t bytes)
{
    return e->op == op && e->inputs == inputs && e->text_bytes == bytes &&
           (bytes == 0 || memcmp(e->text, text, bytes) == 0);
}

static void put(entry *e, const mxn_op *op, uint32_t inputs, const char *text, uint32_t bytes,
                mxn_params *params)
{
    char *copy = mxp__alloc(bytes);
    entry_empty(e);
    if (copy == NULL && bytes > 0) {
        return;
    }
    if (bytes > 0) {
        memcpy(copy, text, bytes);
    }
    mxn_params_retain(params);
    *e = (entry){op, params, copy, inputs, bytes};
}

static int check_pairs(const mxn_op *op, int count, const char **keys, const char **values)
{
    if (count < 0) {
        return mxp__fail(MXP_EINVAL, "Operator %s: num_params is %d: it cannot be negative",
                         op->name, count);
    }
    for (int i = 0; i < count; i++) {
        if (keys == NULL || values == NULL || keys[i] == NULL || values[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "Operator %s: parameter %d: its key or its value is null",
                             op->name, i);
        }
    }
    return MXP_OK;
}

int mxn__params_get(const mxn_op *op, int count, const char **keys, const char **values,
                    uint32_t inputs, mxn_params **params)
{
    int error = check_pairs(op, count, keys, values);
    if (error != MXP_OK) {
        return error;
    }
    char text[TEXT_MAX], *at = text;
    uint64_t hash = op->index * UINT64_C(0x9e3779b97f4a7c15) + inputs;
    for (int i = 0; i < count && at != NULL; i++) {
        at = append(at, text + TEXT_MAX, keys[i], &hash);
        at = at == NULL ? NULL : append(at, text + TEXT_MAX, values[i], &hash);
    }
    // A custom operator's parameters hold what the program has made for this one call.
    bool keep = at != NULL && (op->flags & MXN_OP_CALLBACK) == 0;
    entry *entries = keep ? cache_get() : NULL;
    const bool numpy_shape = mxn_numpy_shape();
    if (entries == NULL) {
        return mxn_params_parse(op, (uint32_t)count, keys, values, inputs, numpy_shape, params);
    }
    uint32_t bytes = (uint32_t)(at - text);
    entry *e = &entries[(hash ^ hash >> 32) % CACHE_SIZE];
    if (e->params != NULL && matches(e, op, inputs, text, bytes)) {
        error = mxn_params_under(e->params, numpy_shape, params);
        if (error == MXP_OK) {
            mxn_params_retain(*params);
        }
        return error;
    }
    error = mxn_params_parse(op, (uint32_t)count, keys, values, inputs, numpy_shape, params);
    if (error == MXP_OK) {
        put(e, op, inputs, text, bytes, *params);
    }
    return error;
}
