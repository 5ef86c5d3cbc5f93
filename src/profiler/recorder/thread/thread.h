// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/thread: a recording thread: its slab, names, statistics.
//
// A recording thread: its hot part (record_inline.h), its chunks, scopes, losses and statistics.
//
//   thread slab (8 KiB, from the pool)
//   | section | mxp_thread  | first chunk: header, records ... |
//   0         64            4096                           8192
//
// A short-lived thread thus costs two pages. Later chunks are 64 KiB each. With the file store both
// pages are the file's as well (store.h): a RECORDER section and a CHUNK.
//
// The owner and handlers on its thread write everything but `next`, `position` and `first`, which
// are guarded by the drain lock. Owner and drain share `hot.cursor` and the chunks' `next`.
#ifndef MXP_PROF_THREAD_H
#define MXP_PROF_THREAD_H

#include <mxprof/open_args.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "profiler/recorder/protocol.h"
#include "profiler/recorder/recorder.h"

enum {
    MXP__THREAD_SLAB_BYTES = MXP_BLOCK_BYTES,
    MXP__THREAD_PART_BYTES = 4096,
    MXP__SCOPES_MAX = 64,
    MXP__LOSS_WINDOWS = 8
};

typedef struct mxp_loss_window {
    uint32_t reason;  // MXP_LOSS_*; 0: unused
    uint32_t open;  // the next loss of this reason extends it
    uint64_t count, from_ticks, to_ticks;
} mxp_loss_window;

// The position of a consumer in a thread's records. chunk null: before the first one.
typedef struct mxp_position {
    mxp_chunk_header *chunk;
    const uint64_t *at;
} mxp_position;

struct mxp_stats_table;

typedef struct mxp_thread {
    mxp_recorder hot;  // must stay first: mxp_self points here
    // written by the owner; these two are read in files, see mxp_recorder_section
    mxp_atomic_u64 lost;  // losses of all windows (read by reports)
    mxp_atomic_u32 name;  // name id
    uint32_t index;
    mxp_open_arguments open_args;  // read in files, too
    uint32_t tid;
    mxp_chunk_header *current;  // the chunk `hot.cursor` is in
    uint64_t *chunk_end;  // what hot.limit is when nothing asks for attention
    uint64_t lost_before;  // losses since the last chunk was opened
    uint32_t scope_depth;
    uint32_t uses_scopes;  // has ever pushed one
    uint32_t scopes[MXP__SCOPES_MAX];
    uint32_t rewrite_scopes;  // by the owner or while nobody records: write scope and step before
                              // the next record
    uint32_t counts;  // the current chunk holds samples of counters
    uint32_t sequence;  // of the chunk that was begun last
    uint32_t crowded;  // a ring had no other chunk for it than its own
    mxp_atomic_u32 silent;  // this and the next three: silent.h
    mxp_chunk_header *unqueued;  // the first that it has closed since then, of a ring
    mxp_position answered;
    const void *answered_in;  // the recording file at that time, or null
    uint32_t too_late;  // of the record at hand: when the thread answered, recording was off
    mxp_chunk_header *entered;  // the chunk that it goes over to; null: it goes over to none
    MXP_ATOMIC(mxp_chunk_header *) left;  // the one it comes from: nobody gives that back yet
    mxp_atomic_u32 exited;  // release at the end of the thread, pairs with the drain
    mxp_loss_window loss[MXP__LOSS_WINDOWS];
    struct mxp_stats_table *stats;
    // spans a stop has closed in the owner's place; under the pool lock
    uint64_t
        page_ticks;  // when its page was last exchanged: spans begun before may be off the stack
    uint32_t deeper_counted;  // spans deeper than the stack that stops have counted and not closed
    uint32_t closed_count;
    uint64_t closed_tokens[MXP_OPEN_MAX];
    // under the drain lock
    struct mxp_thread *next;  // list of all, newest first (pushed under the pool lock)
    mxp_chunk_header *first;  // oldest chunk not recycled
    mxp_position position[MXP__CONSUMERS];
    uint32_t left_out;  // the current freeze proceeds without the thread
    uint32_t drains;  // open ones that have positions in it; it is not released before
    const uint64_t *drained_to;  // while a drain is made: the cursor at its time; else null
    mxp_position counted;  // records up to here are in `records`
    uint64_t records, bytes;
    uint64_t start_ticks, end_ticks;
    // chunks before `filed_to` are in files that have ended, those from `entered_at` on in the open
    // one
    uint32_t filed_to, entered_at;
    uint64_t file_offset;  // of the slab in the open file; 0: it is in memory
    uint32_t fully_mapped;  // the embedded chunk is in the file as well
    uint32_t rescue_slot;  // number of its note in store_rescue.c; 0: none
    mxp_atomic_u32 begins_anew;  // its pages were lost; until its next record it has no records
    uint32_t stranded;  // its page is in a file that has ended
} mxp_thread;

// Whether the thread has ended and no longer accesses its slab. Its last store to it clears
// `busy`.
static inline bool mxp__thread_is_gone(const mxp_thread *thread)
{
    return mxp_atomic_load_acquire(&thread->exited) != 0 && !mxp__is_busy(&thread->hot);
}

static inline mxp_recorder_section *mxp__thread_slab(mxp_thread *thread)
{
    return (mxp_recorder_section *)thread - 1;
}

static inline mxp_chunk_header *mxp__thread_first_chunk(mxp_thread *thread)
{
    char *slab = (char *)mxp__thread_slab(thread);
    return (mxp_chunk_header *)(slab + MXP__THREAD_PART_BYTES);
}

static inline uint64_t *mxp__chunk_words(const mxp_chunk_header *chunk)
{
    return (uint64_t *)(uintptr_t)(chunk + 1);
}

// The oldest chunk of the thread; the embedded one if its page has just come back as zeros, in a
// file that another program has emptied.
static inline mxp_chunk_header *mxp__thread_oldest(mxp_thread *thread)
{
    mxp_chunk_header *first = thread->first;
    return first != NULL ? first : mxp__thread_first_chunk(thread);
}

// Whether there is no record of the thread, and never was one in this chunk. By its owner, or once
// it is gone.
static inline bool mxp__thread_is_empty(mxp_thread *thread)
{
    mxp_chunk_header *embedded = mxp__thread_first_chunk(thread);
    return thread->current == embedded && thread->first == embedded &&
           mxp_atomic_own(&thread->hot.cursor) == mxp__chunk_words(embedded) &&
           mxp_atomic_load(&thread->begins_anew) == 0;
}

// The thread's next chunk. A thread that sees it also sees the final length of this one (pairs with
// mxp__thread_new_chunk).
static inline mxp_chunk_header *mxp__chunk_next(const mxp_chunk_header *chunk)
{
    return (mxp_chunk_header *)(uintptr_t)mxp_word_load_acquire(&chunk->next);
}

static inline bool mxp__thread_begins_anew(const mxp_thread *thread)
{
    return mxp_atomic_load(&thread->begins_anew) != 0;
}

// Writes the length of the current chunk into its header. By the thread, or while nobody records.
static inline void mxp__thread_close_chunk(mxp_thread *thread)
{
    const uint64_t *words = mxp__chunk_words(thread->current);
    const uint64_t *end =
        mxp__thread_begins_anew(thread) ? words : mxp_atomic_own(&thread->hot.cursor);
    if (thread->counts != 0) {
        thread->current->section.flags |= MXP_SECTION_HAS_COUNTERS;
    }
    thread->current->section.payload_bytes = (uint64_t)(end - words) * sizeof(uint64_t);
}

// The calling thread, registered on first use; null if there is no memory (a loss is counted).
mxp_thread *mxp__thread_self(void);

// Starts a new chunk for `self` whose records begin at `now`. False: none to be had (the caller
// counts the loss). The caller holds `busy`.
bool mxp__thread_new_chunk(mxp_thread *self, uint64_t now);

// Ends what a jump out of a handler has left half done in there. The caller holds `busy`.
void mxp__thread_finish_chunk(mxp_thread *self);

// Back to the empty embedded chunk: its other chunks are no longer its own. By the owner, or while
// nobody records.
void mxp__thread_restart(mxp_thread *thread, uint64_t now);

// Whether a thread that was released has left open spans of which none has been ended elsewhere
// yet; takes one.
bool mxp__thread_take_orphan(void);

// Of two RECORDERs' reserved[2]: the losses of each reason of both.
uint64_t mxp__reasons_sum(uint64_t packed, uint64_t more);
void mxp__thread_lose(mxp_thread *self, uint32_t reason, uint64_t count, uint64_t now);

mxp_thread *mxp__threads(void);  // newest first; under the drain lock
const void *mxp__threads_list(void);  // where the address of the newest is, for core files
uint32_t mxp__threads_ended(void);  // and not released yet
// Of a thread that has ended, at its end: gives it back at once if nothing of it is to be read, for
// while nothing is recorded nobody else does. What it has counted is added. (In drain/consume.c.)
void mxp__thread_leave(const mxp_thread *thread);
uint32_t mxp__threads_registering(void);  // on their way into the list
void mxp__threads_give_up_registering(void);  // those that are there are not waited for any more
bool mxp__threads_register_late(void);  // some of those are still there
// Exited and drained: back to the pool. `before`: one that comes before it in the list; null: its
// first one. `sequence`: that after its last chunk, which may be gone already. False: it stays.
bool mxp__thread_release(mxp_thread *thread, mxp_thread *before, uint32_t sequence);
uint64_t mxp__thread_registration_losses(uint64_t *from, uint64_t *to);
void mxp__threads_fork_child(void);

#endif
