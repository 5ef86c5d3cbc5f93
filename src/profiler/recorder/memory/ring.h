// SPDX-License-Identifier: Apache-2.0
// Room profiler/recorder/memory: where chunks come from: the pool, the ring.
//
// The flight recorder: when no more chunks are to be had, the oldest full one is used again,
// whatever thread it is of. Full chunks queue in the order in which they were closed, under the
// pool lock.
//
// Readers. Whoever walks chunks pins the ring: nothing is taken from it meanwhile, and recording
// goes on in spare room (the pool's reserve, or what the file has left). When that is full too,
// records are lost and counted. Afterwards more than one old chunk goes for each new one until the
// room is spare again (mxp__store_take_chunk).
#ifndef MXP_PROF_RING_H
#define MXP_PROF_RING_H

#include "profiler/recorder/thread/thread.h"

// While nobody records, under the drain lock. What was recorded before counts as full and old.
void mxp__ring_set(bool on);
// Nothing of what is in memory or in a file before now is of interest: frees it. The same.
void mxp__ring_forget(void);
// Of one thread: gives all its chunks back, the current one as well. The same.
void mxp__ring_empty(mxp_thread *thread);

void mxp__ring_pin(void);
void mxp__ring_unpin(void);

// Records that made room for newer ones since the profile began. Under the drain lock.
uint64_t mxp__ring_overwritten(void);
void mxp__ring_begin_profile(void);  // while nobody records

void mxp__ring_fork_child(void);  // empty, and pinned by the drain lock only

// By the thread that has closed or left the chunk. An embedded chunk stays with its thread.
void mxp__ring_add(mxp_thread *thread, mxp_chunk_header *chunk);
// The last chunk of a thread that is gone is about to be dropped, `in_file`: from the open file as
// well. Its counters' values go on standing. Under the drain lock.
void mxp__ring_drop_last(mxp_thread *thread, bool in_file);
// The oldest full chunk, empty. Null: there is none, or the ring is pinned.
mxp_chunk_header *mxp__ring_take(void);
bool mxp__ring_has_chunk(void);  // whether one may be taken
// Of a thread for which there is none: what it holds makes room, and its current chunk is empty
// again. False: the ring is pinned, or the chunk is not where chunks now come from. By the thread,
// under the pool lock.
bool mxp__ring_drop_current(mxp_thread *self);
uint32_t mxp__ring_crowded(void);  // how many threads that was so for
// Gives back what is of no use to the ring any more. Under the drain lock.
void mxp__ring_reclaim(void);
// How many of `ended` threads that have ended a ring keeps at most: it is theirs by half. In a file
// that has no room for more, some of them make it.
uint64_t mxp__ring_keeps_ended(uint64_t ended);
// Whether the thread, which has exited, is but its block. It stays so.
bool mxp__ring_is_block_only(mxp_thread *thread);
// Whether the thread, which has exited, holds nothing that is younger than the oldest full chunk.
// Under the drain lock.
bool mxp__ring_is_past(mxp_thread *thread);

#endif
