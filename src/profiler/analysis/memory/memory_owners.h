// SPDX-License-Identifier: Apache-2.0
// Bytes of live memory by owner: the scope in which an array was made, its name, and what it is
// for. Some moments are kept as they were (the peak, for one). None is a copy of the table: an
// owner saves its amount when it changes for the first time after the moment, so a moment may be
// set again with each record, and the amounts are those of that very record.
#ifndef MXP_ANALYSIS_MEMORY_OWNERS_H
#define MXP_ANALYSIS_MEMORY_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"

enum { MXP__OWNERS_MAX = 4096 };  // with owners of their own; what comes later is OTHERS
// The first owners of each table. NOT_RECORDED: what the device has beyond all known blocks.
enum { MXP__OWNER_NOT_RECORDED = 0, MXP__OWNER_OTHERS = 1, MXP__OWNER_FIRST = 2 };
enum { MXP__MOMENT_PEAK, MXP__MOMENT_LEAST, MXP__MOMENT_TIME, MXP__MOMENTS };
enum { MXP__MOMENT_NOW = MXP__MOMENTS };  // of mxp__owners_at: after the last record
enum { MXP__MEMORY_COLUMNS = 1024 };  // of steps (memory_growth.h)

typedef struct mxp_owner_amount {
    uint64_t bytes;  // as asked for
    uint64_t rounding_bytes;  // what the blocks have beyond it
    uint64_t blocks;
} mxp_owner_amount;

typedef struct mxp_owner {
    uint32_t scope, name;  // ids; an id that the trace does not have is its name_count
    uint32_t category;
    mxp_owner_amount now;
    struct {
        uint64_t mark;  // of the moment that `amount` is of
        mxp_owner_amount amount;
    } saved[MXP__MOMENTS];
    // Blocks that came from the system and not from the pool; in how many steps there were some.
    uint64_t fresh_blocks, fresh_bytes, fresh_steps;
    uint64_t fresh_step;  // 1 + the last of those steps, 0: none
    uint64_t *least_bytes;  // MXP__MEMORY_COLUMNS: at the least total of each; null: 0 in all
} mxp_owner;

typedef struct mxp_memory_owners {
    mxp_owner *owners;
    size_t count, capacity;
    mxp_id_map by_key;
    uint64_t marks[MXP__MOMENTS];  // which moment it is, counted
} mxp_memory_owners;

int mxp__owners_init(mxp_memory_owners *table);  // MXP_ENOMEM
void mxp__owners_fini(mxp_memory_owners *table);

// The owner's place in `owners`, which stays. MXP__OWNER_OTHERS if the table is full. MXP_ENOMEM.
int mxp__owners_find(mxp_memory_owners *table, uint32_t scope, uint32_t name, uint32_t category,
                     uint32_t *owner);
void mxp__owners_add(mxp_memory_owners *table, uint32_t owner, uint64_t bytes,
                     uint64_t rounding_bytes);
// The block was added before, with the same bytes.
void mxp__owners_remove(mxp_memory_owners *table, uint32_t owner, uint64_t bytes,
                        uint64_t rounding_bytes);
void mxp__owners_set(mxp_memory_owners *table, uint32_t owner, const mxp_owner_amount *amount);

// From now on `moment` is now.
void mxp__owners_mark(mxp_memory_owners *table, int moment);
// What the owner had at a moment that was marked.
mxp_owner_amount mxp__owners_at(const mxp_memory_owners *table, uint32_t owner, int moment);

#endif
