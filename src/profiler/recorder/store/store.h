// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/store: chunks in a file.
//
// Where chunks come from: the pool (store "memory"), or a mapped native file (store "file") that
// holds every committed record when the process dies.
//
// The file holds, in the order of allocation: its first sections (CLOCK twice, INFO), a RECORDER of
// no thread, then RECORDER, CHUNK and NAMES sections as they are needed, and after a proper end the
// tables and END. Chunks are not reused, except by a ring: the file is the trace. Thread slabs
// keep their addresses, because their threads use them without a lock: when a file begins or ends,
// the first page of each is mapped into it or out of it at its place.
//
// Opening, finishing and leaving happen under the drain lock while nobody records (mxp__freeze).
// Allocating takes the pool lock for a few instructions. The system calls that extend the file run
// outside of that lock (store_space.c).
#ifndef MXP_PROF_STORE_H
#define MXP_PROF_STORE_H

#include "profiler/recorder/recording_file.h"
#include "profiler/recorder/thread/thread.h"

// Whether the chunk's records are in a file, the open one or one that has ended. A file that begins
// gets copies of chunks that are in none. Under the drain lock.
bool mxp__store_has_filed(const mxp_thread *thread, const mxp_chunk_header *chunk);
const void *mxp__store_current(void);  // the open file, to be compared only; null: none
bool mxp__store_is_own(const mxp_chunk_header *chunk);  // of where chunks now come from
bool mxp__store_is_in_file(const mxp_chunk_header *chunk);  // the open one
// Allocates the chunk of the file for the standing values of a ring (standing.h). Called when the
// file or the ring begins. While nobody records.
void mxp__store_map_standing(void);
void mxp__store_fork_child(void);  // forgets the parent's file without touching it

// The table of open asynchronous spans gets a place in the open file, if there is room for it.
// Called in a record, or with `copy` while nobody records: then those that are open are entered.
void mxp__store_show_async(bool copy);

// ---- for recording threads ---------------------------------------------------------------------
mxp_chunk_header *mxp__store_take_chunk(void);  // null: nothing to be had; the caller counts
mxp_chunk_header *mxp__store_take_more(void);  // of a ring that is pinned: from what it has spare
// A record is lost because that gave nothing: its MXP_LOSS_*. mxp__store_refusal tells of it.
uint32_t mxp__store_lose(void);
void mxp__store_give_chunk(mxp_chunk_header *chunk);  // nobody needs it in memory any more
// Maps the slab of a new thread, in which nothing is recorded yet, into the open file, if there is
// one and it has space. The caller holds `busy`.
void mxp__store_map_thread(mxp_thread *thread);
// Whether the space of the thread's slab in the open file is reused after the thread has ended.
bool mxp__store_is_reusable(mxp_thread *thread);
// Counts, in the file, records that a thread has lost whose slab is not in the file.
void mxp__store_count_unmapped(uint64_t count);
// Whether the open file has hardly any space left for slabs of new threads.
bool mxp__store_is_short_of_slabs(void);
// Maps a slab out of the file. The file keeps its content, unless it is a ring, which may reuse
// the space. `keep`: the slab keeps its content too, for a thread that continues. False: there is
// no memory for it; with `keep` a later freeze tries again.
bool mxp__store_unmap_thread(mxp_thread *thread, bool keep);
// The file ends, and the thread does not answer: it keeps the page until it does
// (mxp__store_unmap_thread).
void mxp__store_strand(mxp_thread *thread);
// Adds a name. Under the names' lock.
void mxp__store_add_name(uint32_t id, const mxp_name_view *name);
// The content of MODULES or CLOCK_CUT; of 0 bytes there is none. Under the names' lock.
void mxp__store_put_table(unsigned type, const void *table, size_t size_bytes);

#endif
