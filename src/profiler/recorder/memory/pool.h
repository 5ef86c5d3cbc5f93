// SPDX-License-Identifier: Apache-2.0
// Memory for records: chunks of 64 KiB and thread slabs, taken from the system up to a cap and
// recycled warm. One spin lock; nothing else is locked inside it.
#ifndef MXP_PROF_POOL_H
#define MXP_PROF_POOL_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/spin.h"

// What may be held beyond the cap, and what of it is for thread slabs alone: 256 threads.
enum { MXP__POOL_RESERVE_BYTES = 16 << 20, MXP__POOL_RESERVE_BLOCKS_BYTES = 2 << 20 };

// The lock also guards short lists that owners and drains share (thread list, closed tokens).
extern mxp_spin mxp__pool_lock;

void mxp__pool_limit(uint64_t limit_bytes);
uint64_t mxp__pool_limit_bytes(void);
// Takes chunks from the system until all of the limit is held, and touches them.
bool mxp__pool_prefill(void);

// A chunk that was given back, without the lock and without a call of the system: a handler that
// jumps out of the middle costs that chunk and nothing else. Null: mxp__pool_take_chunk may have
// one.
mxp_chunk_header *mxp__pool_take_spare(void);
mxp_chunk_header *mxp__pool_take_chunk(void);  // null: cap, no memory, or the lock is our own
// The same, into the reserve: for a ring that is pinned.
mxp_chunk_header *mxp__pool_take_reserve(void);
// The same, beyond cap and reserve, for readers: without memory nothing can be read, and so nothing
// is given back.
mxp_chunk_header *mxp__pool_take_to_read(void);
void mxp__pool_give_chunk(mxp_chunk_header *chunk);  // to the system, if more is held than may be
void mxp__pool_drop_chunk(mxp_chunk_header *chunk);  // to the system: room for something else
void *mxp__pool_take_slab(void);  // a zeroed thread slab, or null
void *mxp__pool_take_reserve_slab(void);  // the same, into all of the reserve
void mxp__pool_give_slab(void *slab);
uint64_t mxp__pool_held_bytes(void);
void mxp__pool_trim(uint64_t keep_free_bytes);  // unmaps spare chunks beyond it
void mxp__pool_fork_child(void);  // forgets all: the memory stays the parent's copy

#endif
