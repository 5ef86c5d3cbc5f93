// SPDX-License-Identifier: Apache-2.0
// The recording file as the files of the store share it: its space, and where things are in it.
// Private to store*.c.
#ifndef MXP_PROF_STORE_ROOM_H
#define MXP_PROF_STORE_ROOM_H

#include "base/atomic.h"
#include "profiler/recorder/thread/thread.h"
#include "profiler/trace/file/mapped_file.h"

enum { MXP__STORE_PAGE_BYTES = 4096 };

typedef struct mxp_recording_file {
    struct mxp_recording_file *next;  // ended before, still mapped
    mxp_mapped_file file;
    uint64_t used_bytes;  // sections end here; under the pool lock
    uint64_t refused_bytes, refused_ns;  // the length that the system refused last, and when; ns 0:
                                         // it did not; both under the lock of the growing
    uint64_t looked_at_bytes;  // what was used when the file was last made longer ahead of time
    mxp_atomic_u64 chunks;  // taken and not given back, and one while it is open
    MXP_ATOMIC(mxp_chunk_header *) spare;  // empty chunks of a ring; linked; under the pool lock
    uint64_t free_slabs;  // space of threads that are gone, for a ring; linked; under the pool lock
    uint64_t losses_page;  // a thread that is gone tells the losses of others there; the same
    uint64_t unmapped_page;  // the page of those that have none: what they lose
    unsigned clock_turn;  // which CLOCK section is written next
    mxp_section *names;  // the NAMES section that grows; under the names' lock
    mxp_section *tables[2];  // MODULES and CLOCK_CUT, each made with its first entry; the same
    mxp_atomic_u32 damaged;  // see store_rescue.c; 0: no
    bool guarded;
    mxp_atomic_u32 refusal;  // why it could not grow where a record was lost for it; 0: it could
    bool refusal_told;  // under the session's lock
    mxp_atomic_bool refuses_async;  // there was no room for the table of asynchronous spans
} mxp_recording_file;

typedef MXP_ATOMIC(mxp_recording_file *) mxp_recording_file_slot;

extern mxp_recording_file_slot mxp__store_active;  // changed while nobody records; null: none

mxp_recording_file *mxp__store_usable(void);  // null: none is open, or it is damaged

static inline uint64_t mxp__store_page_up(uint64_t size_bytes)
{
    return (size_bytes + MXP__STORE_PAGE_BYTES - 1) & ~(uint64_t)(MXP__STORE_PAGE_BYTES - 1);
}

static inline uint64_t mxp__store_offset(const mxp_recording_file *store, const void *place)
{
    return (uint64_t)((const char *)place - store->file.base);
}

static inline bool mxp__store_file_holds(const mxp_recording_file *store, const void *place)
{
    return store != NULL && (const char *)place >= store->file.base &&
           mxp__store_offset(store, place) < store->file.limit_bytes;
}

// Space of whole pages, with the header of a section whose content is zeros. Null: there is none.
mxp_section *mxp__store_allocate(mxp_recording_file *store, unsigned type, uint64_t size_bytes);

// The same, unless less than `left_bytes` would be left.
mxp_section *mxp__store_allocate_but(mxp_recording_file *store, unsigned type, uint64_t size_bytes,
                                     uint64_t left_bytes);

// A chunk that a ring had too many of, empty, is space for another one. Null, false: there is none,
// or the lock is our own.
mxp_chunk_header *mxp__store_take_spare(mxp_recording_file *store);
bool mxp__store_give_spare(mxp_recording_file *store, mxp_chunk_header *chunk);

// Waits until the background thread does not extend a file any more. Once none is open.
void mxp__store_wait_ahead(void);
void mxp__store_space_fork_child(void);

// What a file begins with. False: no space for it.
bool mxp__store_fill(mxp_recording_file *store, const mxp_file_header *header, const void *sections,
                     size_t sections_bytes);

// store_threads.c: a thread that goes over to the file; nobody records meanwhile.
void mxp__store_map_running_thread(mxp_recording_file *store, mxp_thread *thread);
// A page, at the offset, for mxp__store_count_unmapped.
void mxp__store_put_unmapped_page(mxp_recording_file *store, uint64_t offset);
// The file ends. While nobody records; `keep_mapping`: it is never unmapped.
void mxp__store_hide_async(mxp_recording_file *store, bool keep_mapping);
void mxp__store_async_fork_child(void);
// The next record of the thread opens a chunk where chunks now come from.
void mxp__store_leave_chunk(mxp_thread *thread);

#endif
