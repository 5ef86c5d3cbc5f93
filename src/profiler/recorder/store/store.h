// SPDX-License-Identifier: Apache-2.0
// Room profiler/recorder/store: chunks that stand in a file.
//
// Where chunks come from: the pool (store "memory"), or a mapped native file (store "file") that
// holds every committed record when the process dies.
//
// The file holds, in the order in which room was taken: what it is begun with, room for CLOCK
// twice, a RECORDER of no thread, then RECORDER, CHUNK and NAMES sections as they are needed, and
// at a proper end the tables and END. Chunks are not reused: the file is the trace. Thread blocks
// keep their addresses, since every thread knows its own; when a file begins or ends, the first
// page of each is put into it or taken out of it there.
//
// Opening, finishing and leaving happen under the drain lock while nobody records (mxp__freeze).
// Taking room takes the pool lock for a few instructions. That the system extends the file is
// asked for beside it, by one thread at a time, ahead of time where the session has a background
// thread.
#ifndef MXP_PROF_STORE_H
#define MXP_PROF_STORE_H

#include "profiler/recorder/recording_file.h"
#include "profiler/recorder/thread/thread.h"

// Whether the chunk's records are in a file, the open one or one that has ended: a file that begins
// gets copies of the others. Under the drain lock.
bool mxp__store_has_filed(const mxp_thread *thread, const mxp_chunk_header *chunk);
const void *mxp__store_current(void);  // the open file, to be compared only; null: none
bool mxp__store_is_own(const mxp_chunk_header *chunk);  // of where chunks now come from
bool mxp__store_is_in_file(const mxp_chunk_header *chunk);  // the open one
// A ring in a file has room there for what stands: for when either begins. While nobody records.
void mxp__store_map_standing(void);
void mxp__store_fork_child(void);  // forgets the parent's file without touching it

// ---- for recording threads ---------------------------------------------------------------------
mxp_chunk_header *mxp__store_take_chunk(void);  // null: nothing to be had; the caller counts
mxp_chunk_header *mxp__store_take_more(void);  // of a ring that is pinned: from what it has spare
void mxp__store_give_chunk(mxp_chunk_header *chunk);  // nobody needs it in memory any more
// Puts a new thread's block, in which nothing is recorded yet, into the open file, if there is one
// and it has room. The caller holds `busy`.
void mxp__store_map_thread(mxp_thread *thread);
// Whether the room of the thread's block in the open file is used again when the thread is gone.
bool mxp__store_is_reusable(const mxp_thread *thread);
// Records that a thread has lost whose block is not in the open file: the file tells of them.
void mxp__store_count_unmapped(uint64_t count);
// Whether the open file has hardly any room left for blocks of new threads.
bool mxp__store_is_short_of_blocks(void);
// Takes a block out of the file, which keeps what it holds; one of a ring may use the room again.
// `keep`: with its content, for a thread that goes on. False: it could not be done.
bool mxp__store_unmap_thread(mxp_thread *thread, bool keep);
// The file ends, and the thread does not answer: it keeps the page until it does
// (mxp__store_unmap_thread).
void mxp__store_strand(mxp_thread *thread);
// Adds a name. Under the names' lock.
void mxp__store_add_name(uint32_t id, const mxp_name_view *name);

#endif
