// SPDX-License-Identifier: Apache-2.0
// The table of owners. Each moment has a number, counted up when it is set anew; an owner whose
// saved amount bears another number has not changed since.
#include "profiler/analysis/memory/memory_owners.h"

#include <assert.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct owner_place {
    uint64_t key;
    uint32_t owner;
} owner_place;

static const char memory_for[] = "the owners of memory";
enum { KEY_ID_BITS = 30, KEY_CATEGORY_BITS = 4 };

static int add_owner(mxp_memory_owners *table, const mxp_owner *owner)
{
    if (mxp__grow(&table->owners, &table->capacity, table->count + 1, sizeof *table->owners) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    table->owners[table->count++] = *owner;
    return MXP_OK;
}

int mxp__owners_init(mxp_memory_owners *table)
{
    *table = (mxp_memory_owners){.by_key = {.entry_bytes = sizeof(owner_place)}};
    for (int i = 0; i < MXP__MOMENTS; i++) {
        table->marks[i] = 1;
    }
    int error = MXP_OK;
    for (int i = 0; i < MXP__OWNER_FIRST && error == MXP_OK; i++) {
        error = add_owner(table, &(mxp_owner){0});
    }
    return error;
}

void mxp__owners_fini(mxp_memory_owners *table)
{
    for (size_t i = 0; i < table->count; i++) {
        mxp__free(table->owners[i].least_bytes, MXP__MEMORY_COLUMNS * sizeof(uint64_t));
    }
    mxp__id_map_fini(&table->by_key);
    mxp__free(table->owners, table->capacity * sizeof *table->owners);
    *table = (mxp_memory_owners){0};
}

// Never 0. False: the ids are too large for a key.
static bool make_key(uint32_t scope, uint32_t name, uint32_t category, uint64_t *key)
{
    const uint32_t id_end = UINT32_C(1) << KEY_ID_BITS, category_end = 1u << KEY_CATEGORY_BITS;
    *key = ((uint64_t)scope << (KEY_ID_BITS + KEY_CATEGORY_BITS) |
            (uint64_t)name << KEY_CATEGORY_BITS | category) +
           1;
    return scope < id_end && name < id_end && category < category_end && *key != 0;
}

int mxp__owners_find(mxp_memory_owners *table, uint32_t scope, uint32_t name, uint32_t category,
                     uint32_t *owner)
{
    uint64_t key;
    *owner = MXP__OWNER_OTHERS;
    if (!make_key(scope, name, category, &key)) {
        return MXP_OK;
    }
    owner_place *place = mxp__id_map_find(&table->by_key, key);
    if (place == NULL && table->count < MXP__OWNERS_MAX + MXP__OWNER_FIRST) {
        int error =
            add_owner(table, &(mxp_owner){.scope = scope, .name = name, .category = category});
        place = error == MXP_OK ? mxp__id_map_add(&table->by_key, key) : NULL;
        if (place == NULL) {
            return mxp__fail_memory(memory_for);
        }
        place->owner = (uint32_t)(table->count - 1);
    }
    *owner = place != NULL ? place->owner : MXP__OWNER_OTHERS;
    return MXP_OK;
}

// What the owner has now is kept for the moments that it has not changed after.
static mxp_owner *before_change(mxp_memory_owners *table, uint32_t i)
{
    assert(i < table->count);
    mxp_owner *owner = &table->owners[i];
    for (int moment = 0; moment < MXP__MOMENTS; moment++) {
        if (owner->saved[moment].mark != table->marks[moment]) {
            owner->saved[moment].mark = table->marks[moment];
            owner->saved[moment].amount = owner->now;
        }
    }
    return owner;
}

void mxp__owners_add(mxp_memory_owners *table, uint32_t i, uint64_t bytes, uint64_t rounding_bytes)
{
    mxp_owner *owner = before_change(table, i);
    owner->now.bytes += bytes;
    owner->now.rounding_bytes += rounding_bytes;
    owner->now.blocks++;
}

void mxp__owners_remove(mxp_memory_owners *table, uint32_t i, uint64_t bytes,
                        uint64_t rounding_bytes)
{
    mxp_owner *owner = before_change(table, i);
    assert(owner->now.blocks > 0);
    owner->now.bytes -= bytes;
    owner->now.rounding_bytes -= rounding_bytes;
    owner->now.blocks--;
}

void mxp__owners_set(mxp_memory_owners *table, uint32_t i, const mxp_owner_amount *amount)
{
    before_change(table, i)->now = *amount;
}

void mxp__owners_mark(mxp_memory_owners *table, int moment)
{
    assert(moment < MXP__MOMENTS);
    table->marks[moment]++;
}

mxp_owner_amount mxp__owners_at(const mxp_memory_owners *table, uint32_t i, int moment)
{
    assert(i < table->count);
    const mxp_owner *owner = &table->owners[i];
    bool has_changed =
        moment != MXP__MOMENT_NOW && owner->saved[moment].mark == table->marks[moment];
    return has_changed ? owner->saved[moment].amount : owner->now;
}
