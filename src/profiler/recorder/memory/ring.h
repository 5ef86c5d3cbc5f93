// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/memory: where chunks come from: the pool, the ring.
//
// The flight recorder: when there is no memory for another chunk, the oldest full one is reused,
// whichever thread it belongs to. Full chunks are queued in the order in which they were closed,
// under the pool lock.
//
// A reader of chunks pins the ring. Meanwhile no chunk is reused, and recording continues in spare
// memory (the pool's reserve, or what the file has left). When that is full too, records are lost
// and counted. After the pin more than one old chunk is given back for each new one until the spare
// memory is free again (mxp__store_take_chunk).
#ifndef MXP_PROF_RING_H
#define MXP_PROF_RING_H

#include "profiler/recorder/thread/thread.h"

// These three: under the drain lock, while nobody records.
// Switches the ring on or off. Chunks recorded before are queued as full.
void mxp__ring_set(bool on);
// Frees everything recorded up to now, in memory and in the file.
void mxp__ring_forget(void);
// Gives all chunks of one thread back, the current one as well.
void mxp__ring_empty(mxp_thread *thread);

void mxp__ring_pin(void);
void mxp__ring_unpin(void);

// Records that were overwritten since the profile began. Under the drain lock.
uint64_t mxp__ring_overwritten(void);
void mxp__ring_begin_profile(void);  // while nobody records

void mxp__ring_fork_child(void);  // empty, and pinned by the drain lock only

// Queues a full chunk. By the thread that has closed or left it. An embedded chunk is not queued:
// it stays with its thread.
void mxp__ring_add(mxp_thread *thread, mxp_chunk_header *chunk);
// Before the last chunk of an ended thread is dropped: keeps the last values of its counters.
// `in_file`: the chunk is dropped from the open file as well. Under the drain lock.
void mxp__ring_drop_last(mxp_thread *thread, bool in_file);
// The oldest full chunk, empty. Null: there is none, or the ring is pinned.
mxp_chunk_header *mxp__ring_take(void);
bool mxp__ring_has_chunk(void);  // whether one may be taken
// For a thread that gets no chunk: drops its own records and empties its current chunk. False: the
// ring is pinned, or the chunk is not from where chunks now come from. By the thread, under the
// pool lock.
bool mxp__ring_drop_current(mxp_thread *self);
uint32_t mxp__ring_crowded(void);  // how many threads have got no chunk
// Gives chunks back that the ring does not need any more. Under the drain lock.
void mxp__ring_reclaim(void);
// How many of `ended` threads a ring keeps at most: they may take half of it. In a file that has no
// space for more threads, some of them are given up.
uint64_t mxp__ring_keeps_ended(uint64_t ended);
// Whether the ended thread has no chunk but the embedded one. That does not change any more.
bool mxp__ring_is_slab_only(mxp_thread *thread);
// Whether all records of the ended thread are older than the oldest full chunk. Under the drain
// lock.
bool mxp__ring_is_past(mxp_thread *thread);

#endif
