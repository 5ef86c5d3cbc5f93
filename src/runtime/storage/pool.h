// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/storage: the pool of one device. All fields but the first three change
// under `lock` only; records are made with it held, so their order is that of the totals in them.
#ifndef MXN_STORAGE_POOL_H
#define MXN_STORAGE_POOL_H

#include "base/lock.h"
#include "base/strbuf.h"
#include "runtime/storage/pool_config.h"
#include "runtime/storage/storage.h"

enum { MXN__POOL_SLOTS = 512, MXN__SLAB_BLOCKS = 63, MXN__DEVICES = 256 };
enum { MXN__CENSUS_BLOCKS = 65536 };  // what is above has one record together

// Unused blocks of one rounded size. Never goes away.
typedef struct mxn_bucket {
    struct mxn_bucket *next;  // in the same slot
    uint64_t rounded_bytes;
    mxn_allocation *free;
} mxn_bucket;

// Descriptors come in slabs and stay, so all blocks can be walked over.
typedef struct mxn_slab {
    struct mxn_slab *next;
    mxn_allocation blocks[MXN__SLAB_BLOCKS];
} mxn_slab;

typedef struct mxn_memory_pool {
    mxn_pool_config config;
    uint32_t device;
    mxp_name counter, unknown;  // of "Pool Memory"; of a block without a name
    mxp_name from_system, to_system;  // spans of calls of the system
    mxp_lock lock;
    mxn_bucket *slots[MXN__POOL_SLOTS];
    mxn_slab *slabs;
    mxn_allocation *spare;  // descriptors without memory
    mxn_storage_counts counts;
    uint64_t shown_bytes, shown_epoch;  // last sample of the counter, and of which recording
    uint64_t census_epoch;  // of which recording the last census was
} mxn_memory_pool;

mxn_memory_pool *mxn__pool_find(uint32_t device);  // null if the device has not been used yet

int mxn__pool_alloc(mxn_memory_pool *pool, uint64_t bytes, const mxn_tag *tag,
                    mxn_allocation **block);
void mxn__pool_free(mxn_memory_pool *pool, mxn_allocation *block, bool direct);
// Bytes given back to the system.
uint64_t mxn__pool_release(mxn_memory_pool *pool);

// pool_record.c. Before each change of what is live: whether it is recorded. The first time in a
// recording that records what is live, which is what was when the recording began.
void mxn__pool_begin_records_locked(mxn_memory_pool *pool);
static inline bool mxn__pool_records_locked(mxn_memory_pool *pool)
{
    bool records = mxp_enabled(MXP_CLASS_MEMORY) != 0;
    if (records) {
        mxn__pool_begin_records_locked(pool);
    }
    return records;
}
void mxn__pool_record_locked(mxn_memory_pool *pool, const mxn_allocation *block, uint32_t flags);
void mxn__pool_record_held_locked(mxn_memory_pool *pool);  // what the pool has from the system
void mxn__pool_census(mxn_memory_pool *pool);  // what is live, if the recording has it not yet

// Copies of the live blocks. MXP_ENOMEM. Free with mxp__free(*blocks, *capacity * sizeof **blocks).
int mxn__pool_snapshot(mxn_memory_pool *pool, mxn_allocation **blocks, size_t *count,
                       size_t *capacity);

// device_memory.c: 64-byte aligned memory of a device; `lead` is for giving it back. Null without.
void *mxn__memory_take(uint32_t device, uint64_t bytes, uint32_t *lead);
void mxn__memory_give(uint32_t device, void *data, uint64_t bytes, uint32_t lead);

// owners.c: fails with MXP_ENOMEM and a line that names the biggest owners.
int mxn__owners_fail(mxn_memory_pool *pool, uint64_t bytes, const mxn_tag *tag);
// Appends "outer:inner:" for a scope, "<unk>:" for none.
void mxn__scope_text(uint32_t scope, mxp_strbuf *text);

#endif
