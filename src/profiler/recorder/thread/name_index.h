// SPDX-License-Identifier: Apache-2.0
// Finds a name's id by its content. Looking up takes no lock and may be interrupted anywhere, so a
// name that is known costs a search and no more; adding is for one thread at a time.
#ifndef MXP_PROF_NAME_INDEX_H
#define MXP_PROF_NAME_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

// What tells two names apart, and mxp__name_hash of it.
typedef struct mxp_name_key {
    const char *text;
    uint32_t length, category;
    uint32_t hash;
    uint8_t style;
} mxp_name_key;

// Open addressing; `slots` hold id + 1, 0 where empty.
typedef struct mxp_name_slots {
    uint32_t count;  // a power of two
    mxp_atomic_u32 slots[];
} mxp_name_slots;

typedef struct mxp_name_index {
    // Replaced by one twice as large when half of it is taken. The one before stays: somebody may
    // be looking into it, and all of them together are no larger than the last one.
    MXP_ATOMIC(mxp_name_slots *) slots;  // release, pairs with mxp__name_index_find
} mxp_name_index;

enum { MXP__NAME_UNKNOWN = -1 };

uint32_t mxp__name_hash(uint32_t category, const char *text, uint32_t length, uint8_t style);

// The id, or MXP__NAME_UNKNOWN: the name is not there, or is being added at this moment. `is_name`
// says whether an id is the key's.
int64_t mxp__name_index_find(const mxp_name_index *index, const mxp_name_key *key,
                             bool (*is_name)(uint32_t id, const mxp_name_key *key));

// What a larger index takes, in bytes; 0: there is room for one more beside `count` names.
uint64_t mxp__name_index_wanted(const mxp_name_index *index, uint32_t count);

// Takes the zeroed `memory` of that size as index, with the names below `count`.
void mxp__name_index_replace(mxp_name_index *index, void *memory, uint64_t size_bytes,
                             uint32_t count, uint32_t (*hash_of)(uint32_t id));

// Whoever finds `id` from now on sees what was written of it before this call.
void mxp__name_index_add(mxp_name_index *index, uint32_t hash, uint32_t id);

#endif
