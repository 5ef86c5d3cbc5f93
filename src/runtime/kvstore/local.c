// SPDX-License-Identifier: Apache-2.0
// The store of one process. A call first looks at everything it was given and groups the values by
// key; then keys are worked on one by one.
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/entries.h"
#include "runtime/kvstore/reduce.h"

struct mxn_kvstore {
    char *type;
    mxn_kv_entries entries;
    mxn_kv_update update;  // may be null
    void *context;
    bool is_pushing;
};

// ---- the store ---------------------------------------------------------------------------------
static int check_type(const char *type)
{
    if (strstr(type, "dist") != NULL) {
        return mxp__fail(MXP_ENOTSUP,
                         "key-value stores over several processes are not there yet: '%s'; there "
                         "are 'local' and 'device'",
                         type);
    }
    if (strstr(type, "nccl") != NULL) {
        return mxp__fail(MXP_ENOTSUP, "compile with USE_NCCL=1 to use %s: this library has no GPUs",
                         type);
    }
    if (strncmp(type, "local", 5) != 0 && strncmp(type, "device", 6) != 0) {
        return mxp__fail(MXP_EINVAL,
                         "there is no key-value store '%s'; there are 'local' and 'device'", type);
    }
    return MXP_OK;
}

int mxn_kvstore_new(const char *type, mxn_kvstore **store)
{
    *store = NULL;
    mxn_kvstore *made = mxp__alloc(sizeof *made);
    char *lower = mxp__strdup(type);
    if (made == NULL || lower == NULL) {
        mxp__free(made, sizeof *made);
        mxp__strfree(lower);
        return mxp__fail_memory("a key-value store");
    }
    for (char *at = lower; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    made->type = lower;
    int error = check_type(lower);
    if (error != MXP_OK) {
        mxn_kvstore_free(made);
        return error;
    }
    *store = made;
    return MXP_OK;
}

void mxn_kvstore_free(mxn_kvstore *store)
{
    if (store != NULL) {
        mxn__kv_fini(&store->entries);
        mxp__strfree(store->type);
        mxp__free(store, sizeof *store);
    }
}

const char *mxn_kvstore_type(const mxn_kvstore *store)
{
    return store->type;
}

int mxn_kvstore_rank(const mxn_kvstore *store)
{
    (void)store;
    return 0;
}

int mxn_kvstore_size(const mxn_kvstore *store)
{
    (void)store;
    return 1;
}

void mxn_kvstore_set_updater(mxn_kvstore *store, mxn_kv_update update, void *context)
{
    store->update = update;
    store->context = context;
}

// ---- init --------------------------------------------------------------------------------------
static int check_new(const mxn_kvstore *store, const mxn_kv_keys *keys, uint32_t index)
{
    char buffer[32];
    bool is_known = mxn__kv_find(&store->entries, keys, index) != NULL;
    for (uint32_t i = 0; i < index && !is_known; i++) {
        is_known = keys->texts != NULL ? strcmp(keys->texts[i], keys->texts[index]) == 0
                                       : keys->numbers[i] == keys->numbers[index];
    }
    return !is_known ? MXP_OK
                     : mxp__fail(MXP_EINVAL,
                                 "duplicate init of key %s. Please double check if you called "
                                 "kv.init or kv.broadcast with this key multiple times",
                                 mxn__kv_key_text(keys, index, buffer));
}

static int init_one(mxn_kvstore *store, const mxn_kv_keys *keys, uint32_t index, mxn_array *value)
{
    char buffer[32];
    mxn_array *stored = NULL;
    const mxn_tag tag = {.name = mxp_string(mxn__kv_key_text(keys, index, buffer)),
                         .scope = mxp_scope_current(),
                         .category = MXN_MEMORY_KVSTORE};
    int error = mxn_array_new(&value->shape, value->dtype, (mxn_context){MXN_CPU_PINNED, 0}, &tag,
                              true, &stored);
    if (error == MXP_OK) {
        error = mxn_array_copy(value, stored, NULL);
    }
    if (error == MXP_OK) {
        error = mxn__kv_add(&store->entries, keys, index, stored);
    }
    if (error != MXP_OK) {
        mxn_array_release(stored);
    }
    return error;
}

int mxn_kvstore_init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values)
{
    int error = mxn__kv_check_kind(&store->entries, keys);
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = check_new(store, keys, i);
    }
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = init_one(store, keys, i, values[i]);
    }
    return error;
}

// ---- push --------------------------------------------------------------------------------------
// The values of a call by key: `next` leads from one value to the next of its key.
typedef struct groups {
    uint32_t count;
    mxn_kv_entry **entries;
    uint32_t *next;
} groups;

static int find_known(const mxn_kvstore *store, const mxn_kv_keys *keys, uint32_t index,
                      mxn_kv_entry **entry)
{
    char buffer[32];
    *entry = mxn__kv_find(&store->entries, keys, index);
    if (*entry != NULL) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EINVAL,
                     keys->texts != NULL ? "key %s doesn't exist. Did you init?"
                                         : "key %s has not been inited",
                     mxn__kv_key_text(keys, index, buffer));
}

static int check_shape(const mxn_kv_keys *keys, uint32_t index, const mxn_array *from,
                       const mxn_array *to)
{
    if (mxn_shape_equal(&from->shape, &to->shape)) {
        return MXP_OK;
    }
    char buffer[32], of[MXN_SHAPE_TEXT], other[MXN_SHAPE_TEXT];
    return mxp__fail(MXP_EINVAL, "key %s: operands shape mismatch from.shape = %s to.shape=%s",
                     mxn__kv_key_text(keys, index, buffer), mxn_shape_text(&from->shape, of),
                     mxn_shape_text(&to->shape, other));
}

static int group(const mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                 groups *of)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        mxn_kv_entry *entry = NULL;
        int error = find_known(store, keys, i, &entry);
        if (error == MXP_OK) {
            error = check_shape(keys, i, values[i], entry->stored);
        }
        if (error != MXP_OK) {
            return error;
        }
        if (entry->value_count++ == 0) {
            entry->first = i;
            of->entries[of->count++] = entry;
        } else {
            of->next[entry->last] = i;
        }
        entry->last = i;
    }
    return MXP_OK;
}

static int new_sum(const mxn_kv_entry *entry, mxn_array **sum)
{
    const mxn_tag tag = {
        .name = mxp_string("sum"), .scope = mxp_scope_current(), .category = MXN_MEMORY_KVSTORE};
    return mxn_array_new(&entry->stored->shape, entry->stored->dtype,
                         (mxn_context){MXN_CPU_PINNED, 0}, &tag, true, sum);
}

// Memory for sums: where the first value goes, and a place for each of the others. One that has
// become the stored array is not written to while an updater needs both.
static int prepare_sum(mxn_kv_entry *entry, bool has_updater)
{
    const uint32_t copies = entry->value_count - 1;
    if (entry->copy_count != copies || entry->merged == NULL ||
        entry->merged->dtype != entry->stored->dtype ||
        (has_updater && mxn_array_shares(entry->merged, entry->stored))) {
        mxn__kv_drop_sums(entry);
    }
    int error = entry->merged == NULL ? new_sum(entry, &entry->merged) : MXP_OK;
    if (error == MXP_OK && entry->copies == NULL && copies > 0) {
        entry->copies = mxp__alloc(copies * sizeof *entry->copies);
        entry->copy_count = entry->copies == NULL ? 0 : copies;
        error = entry->copies == NULL ? mxp__fail_memory("copies of values") : MXP_OK;
    }
    for (uint32_t i = 0; error == MXP_OK && i < copies; i++) {
        if (entry->copies[i] == NULL) {
            error = new_sum(entry, &entry->copies[i]);
        }
    }
    return error;
}

// The sum of the values, on which there is a reference.
static int merge(mxn_kv_entry *entry, const groups *of, mxn_array *const *values,
                 const mxn_push_options *options, bool has_updater, mxn_array **merged)
{
    uint32_t at = entry->first;
    if (entry->value_count == 1 && values[at]->dtype == entry->stored->dtype) {
        return mxn_array_detach(values[at], merged);
    }
    int error = prepare_sum(entry, has_updater);
    if (error == MXP_OK) {
        error = mxn_array_copy(values[at], entry->merged, options);
    }
    for (uint32_t i = 0; error == MXP_OK && i < entry->copy_count; i++) {
        at = of->next[at];
        error = mxn_array_copy(values[at], entry->copies[i], options);
    }
    if (error == MXP_OK && entry->copy_count > 0) {
        error = mxn__kv_reduce(entry->merged, entry->copy_count, entry->copies, options->priority);
    }
    return error == MXP_OK ? mxn_array_detach(entry->merged, merged) : error;
}

static int push_one(mxn_kvstore *store, mxn_kv_entry *entry, const groups *of,
                    mxn_array *const *values, const mxn_push_options *options)
{
    mxn_array *merged = NULL;
    int error = merge(entry, of, values, options, store->update != NULL, &merged);
    if (error != MXP_OK) {
        return error;
    }
    if (store->update != NULL) {
        store->update(entry->text, entry->number, merged, entry->stored, store->context);
        mxn_array_release(merged);
    } else {
        mxn_array_release(entry->stored);
        entry->stored = merged;
    }
    return MXP_OK;
}

static int push_all(mxn_kvstore *store, groups *of, mxn_array *const *values, int priority)
{
    const mxn_push_options options = {.priority = priority};
    int error = MXP_OK;
    store->is_pushing = true;
    for (uint32_t i = 0; error == MXP_OK && i < of->count; i++) {
        error = push_one(store, of->entries[i], of, values, &options);
    }
    store->is_pushing = false;
    return error;
}

int mxn_kvstore_push(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                     int priority)
{
    int error = mxn__kv_check_kind(&store->entries, keys);
    if (error == MXP_OK && store->is_pushing) {
        error = mxp__fail(MXP_ESTATE, "an updater must not push to the store that has called it");
    }
    if (error != MXP_OK || keys->count == 0) {
        return error;
    }
    groups of = {.entries = mxp__alloc(keys->count * sizeof(mxn_kv_entry *)),
                 .next = mxp__alloc(keys->count * sizeof(uint32_t))};
    error = of.entries == NULL || of.next == NULL ? mxp__fail_memory("a push")
                                                  : group(store, keys, values, &of);
    if (error == MXP_OK) {
        error = push_all(store, &of, values, priority);
    }
    for (uint32_t i = 0; i < of.count; i++) {
        of.entries[i]->value_count = 0;
    }
    mxp__free(of.entries, keys->count * sizeof(mxn_kv_entry *));
    mxp__free(of.next, keys->count * sizeof(uint32_t));
    return error;
}

// ---- pull --------------------------------------------------------------------------------------
int mxn_kvstore_pull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *outs,
                     int priority)
{
    const mxn_push_options options = {.priority = priority};
    mxn_kv_entry *entry = NULL;
    int error = mxn__kv_check_kind(&store->entries, keys);
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = find_known(store, keys, i, &entry);
        if (error == MXP_OK) {
            error = check_shape(keys, i, entry->stored, outs[i]);
        }
    }
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        entry = mxn__kv_find(&store->entries, keys, i);
        error = mxn_array_copy(entry->stored, outs[i], &options);
    }
    return error;
}
