// SPDX-License-Identifier: Apache-2.0
// What a node is told in words: parameters of its operator and attributes for front ends.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

// Keys that programs know without underscores. MXNet writes them with underscores into its files.
static const char *const hidden_keys[] = {"ctx_group",       "lr_mult",      "wd_mult",
                                          "force_mirroring", "mirror_stage", "profiler_scope"};

bool mxn__is_hidden_key(const char *bare)
{
    for (size_t i = 0; i < sizeof hidden_keys / sizeof hidden_keys[0]; i++) {
        if (strcmp(hidden_keys[i], bare) == 0) {
            return true;
        }
    }
    return false;
}

const char *mxn__hidden_key_bare(const char *key, char bare[MXN_HIDDEN_KEY_BYTES])
{
    size_t length = strlen(key);
    if (length < 5 || length - 4 >= MXN_HIDDEN_KEY_BYTES || strncmp(key, "__", 2) != 0 ||
        strcmp(key + length - 2, "__") != 0) {
        return NULL;
    }
    memcpy(bare, key + 2, length - 4);
    bare[length - 4] = '\0';
    return mxn__is_hidden_key(bare) ? bare : NULL;
}

const char *mxn__hidden_key(const char *bare, char key[MXN_HIDDEN_KEY_BYTES + 4])
{
    snprintf(key, MXN_HIDDEN_KEY_BYTES + 4, "__%s__", bare);
    return key;
}

// Where the key stands, or would.
static size_t place_of(const mxn_attributes *attributes, const char *key, bool *found)
{
    size_t from = 0, to = attributes->count;
    *found = false;
    while (from < to && !*found) {
        size_t middle = from + (to - from) / 2;
        int order = strcmp(attributes->items[middle].key, key);
        *found = order == 0;
        from = order < 0 ? middle + 1 : *found ? middle : from;
        to = order < 0 ? to : middle;
    }
    return from;
}

static int replace(char **text, const char *with)
{
    char *copy = mxp__strdup(with);
    if (copy == NULL) {
        return mxp__fail_memory("an attribute");
    }
    mxp__strfree(*text);
    *text = copy;
    return MXP_OK;
}

static int insert(mxn_attributes *attributes, size_t place, const char *key, const char *value)
{
    mxn_attribute added = {mxp__strdup(key), mxp__strdup(value)};
    if (added.key == NULL || added.value == NULL ||
        mxp__grow(&attributes->items, &attributes->capacity, attributes->count + 1, sizeof added) !=
            MXP_OK) {
        mxp__strfree(added.key);
        mxp__strfree(added.value);
        return mxp__fail_memory("an attribute");
    }
    mxn_attribute *at = attributes->items + place;
    memmove(at + 1, at, (attributes->count - place) * sizeof added);
    *at = added;
    attributes->count++;
    return MXP_OK;
}

int mxn__attributes_set(mxn_attributes *attributes, const char *key, const char *value)
{
    bool found;
    size_t place = place_of(attributes, key, &found);
    return found ? replace(&attributes->items[place].value, value)
                 : insert(attributes, place, key, value);
}

const char *mxn__attributes_get(const mxn_attributes *attributes, const char *key)
{
    bool found;
    size_t place = place_of(attributes, key, &found);
    return found ? attributes->items[place].value : NULL;
}

int mxn__attributes_copy(mxn_attributes *to, const mxn_attributes *from)
{
    int error = MXP_OK;
    for (size_t i = 0; i < from->count && error == MXP_OK; i++) {
        error = insert(to, i, from->items[i].key, from->items[i].value);
    }
    return error;
}

void mxn__attributes_fini(mxn_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        mxp__strfree(attributes->items[i].key);
        mxp__strfree(attributes->items[i].value);
    }
    mxp__free(attributes->items, attributes->capacity * sizeof(mxn_attribute));
    *attributes = (mxn_attributes){0};
}
