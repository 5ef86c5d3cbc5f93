// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/key_groups.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static int find_known(const mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index,
                      mxn_kv_entry **entry)
{
    char buffer[32];
    *entry = mxn__kv_find(entries, keys, index);
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

static int fill(const mxn_kv_entries *entries, const mxn_kv_keys *keys, mxn_array *const *values,
                bool are_outs, mxn_kv_groups *of)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        mxn_kv_entry *entry = NULL;
        int error = find_known(entries, keys, i, &entry);
        if (error == MXP_OK) {
            error = are_outs ? check_shape(keys, i, entry->stored, values[i])
                             : check_shape(keys, i, values[i], entry->stored);
        }
        if (error != MXP_OK) {
            return error;
        }
        if (!entry->is_grouped) {
            entry->is_grouped = true;
            entry->group = of->count;
            of->first[of->count] = i;
            of->entries[of->count++] = entry;
        } else {
            of->next[entry->last] = i;
        }
        of->values[entry->group]++;
        entry->last = i;
    }
    return MXP_OK;
}

int mxn__kv_group(const mxn_kv_entries *entries, const mxn_kv_keys *keys, mxn_array *const *values,
                  bool are_outs, mxn_kv_groups *groups)
{
    const uint32_t count = keys->count;
    *groups = (mxn_kv_groups){.entries = mxp__alloc(count * sizeof(mxn_kv_entry *)),
                              .next = mxp__alloc(count * sizeof(uint32_t)),
                              .first = mxp__alloc(count * sizeof(uint32_t)),
                              .values = mxp__alloc(count * sizeof(uint32_t)),
                              .capacity = count};
    int error = groups->entries == NULL || groups->next == NULL || groups->first == NULL ||
                        groups->values == NULL
                    ? mxp__fail_memory("the keys of a call")
                    : fill(entries, keys, values, are_outs, groups);
    for (uint32_t i = 0; i < groups->count; i++) {
        groups->entries[i]->is_grouped = false;
    }
    if (error != MXP_OK) {
        mxn__kv_groups_fini(groups);
    }
    return error;
}

void mxn__kv_groups_fini(mxn_kv_groups *groups)
{
    const size_t numbers = groups->capacity * sizeof(uint32_t);
    mxp__free(groups->entries, groups->capacity * sizeof(mxn_kv_entry *));
    mxp__free(groups->next, numbers);
    mxp__free(groups->first, numbers);
    mxp__free(groups->values, numbers);
    *groups = (mxn_kv_groups){.count = 0};
}

int mxn__kv_check_new(const mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index)
{
    char buffer[32];
    bool is_known = mxn__kv_find(entries, keys, index) != NULL;
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
