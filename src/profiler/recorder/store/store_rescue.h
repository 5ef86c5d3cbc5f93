// SPDX-License-Identifier: Apache-2.0
// A recording file that another program empties (": > file", a rotation of logs that copies and
// truncates): its pages are gone, those of threads too, and the next access is a SIGBUS. Then
// zeroed memory is put in place of the whole mapping, each thread begins anew with what is known of
// it here, recording continues in memory, and the file is damaged from then on: what it held is
// lost.
#ifndef MXP_PROF_STORE_RESCUE_H
#define MXP_PROF_STORE_RESCUE_H

#include "base/atomic.h"
#include "profiler/recorder/store/store_space.h"

// A mapped file, from its making to its end. Under the drain lock.
void mxp__rescue_guard(mxp_recording_file *store);
void mxp__rescue_unguard(mxp_recording_file *store);
void mxp__rescue_fork_child(void);

// Before a thread's slab is mapped into the file: notes what must be known of the thread without
// its pages. Returns the number of the note, 0 without memory. After mapping, mxp__rescue_placed is
// called before the slab is accessed. The note is forgotten when the slab is mapped out or given
// back.
uint32_t mxp__rescue_note_mapping(mxp_thread *thread, bool whole);
void mxp__rescue_placed(const mxp_recording_file *store, uint32_t note);
void mxp__rescue_forget_mapping(mxp_thread *thread);
void mxp__rescue_note_next(const mxp_thread *thread);
void mxp__rescue_note_records(const mxp_thread *thread);

static inline bool mxp__store_is_damaged(const mxp_recording_file *store)
{
    return store != NULL && mxp_atomic_load_acquire(&store->damaged) != 0;
}

// The same without a signal, if the file was made longer just when it was emptied: then pages come
// back as zeros. Whether the file is still whole; and a thread that finds its page empty.
bool mxp__rescue_check(mxp_recording_file *store);
void mxp__rescue_page(mxp_thread *thread);

// Waits for the end of a rescue that another thread is at. Whether there was one.
bool mxp__rescue_is_over(const mxp_recording_file *store);
uint32_t mxp__rescue_turns(void);  // another number after each beginning and end of a rescue

// Whether the chunk was in a file that is damaged: it is zeros, and nobody's.
bool mxp__rescue_is_lost(const void *chunk);
uint64_t mxp__rescue_lost_records(void);  // those that had been counted, of all such files

#endif
