// SPDX-License-Identifier: Apache-2.0
// Threads that do not answer: a freeze waits for whoever is inside a record, but not for ever. A
// thread may be frozen there by a debugger or a control group, wait for memory or a disk, or have
// left a record by a jump out of a handler.
//
// The freeze that has waited in vain makes the thread silent. From then on
// - no freeze waits for it;
// - for everybody else its records end at `answered`, where they ended then;
// - nothing of it is changed, moved or used again: its page, its chunks from `answered` on, its
//   statistics.
// It answers at its next record, or in a freeze that finds it outside of one. What it has written
// meanwhile belongs to a run that may be over: it is taken back and counted as lost.
#ifndef MXP_PROF_SILENT_H
#define MXP_PROF_SILENT_H

#include "base/atomic.h"
#include "profiler/recorder/thread/thread.h"

static inline bool mxp__thread_is_silent(const mxp_thread *thread)
{
    return mxp_atomic_load_seq_cst(&thread->silent) != 0;
}

// In a freeze, which has waited for the thread in vain.
void mxp__thread_silence(mxp_thread *thread);

// By the thread, which is busy; or in a freeze that finds it not busy. Then the freeze that may
// have come meanwhile is waited for, and a ring is given what the thread has closed in between.
void mxp__thread_answer(mxp_thread *thread);
void mxp__thread_queue_late(mxp_thread *thread);

// In a freeze: whether it goes on without the thread, though that may answer meanwhile.
static inline bool mxp__thread_is_left_out(const mxp_thread *thread)
{
    return thread->left_out != 0;
}

// The thread's next chunk for whoever reads: a silent one's are not looked at behind `answered`.
static inline mxp_chunk_header *mxp__thread_chunk_after(const mxp_thread *thread,
                                                        const mxp_chunk_header *chunk)
{
    bool silent = mxp__thread_is_silent(thread) || mxp__thread_is_left_out(thread);
    return silent && chunk == thread->answered.chunk ? NULL : mxp__chunk_next(chunk);
}

uint64_t mxp__threads_unanswered(void);  // how often a thread was made silent
void mxp__silent_fork_child(void);

#endif
