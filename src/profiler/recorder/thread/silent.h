// SPDX-License-Identifier: Apache-2.0
// Threads that do not answer a freeze. A freeze waits for threads inside a record, but not for
// ever: a debugger or a control group may have stopped the thread there, it may wait for memory or
// a disk, or a handler may have left the record by a jump.
//
// A freeze that has waited too long makes the thread silent. From then on
// - no freeze waits for it;
// - for all other threads its records end at `answered`, where they ended then;
// - its page, its chunks from `answered` on and its statistics are not changed, moved or reused.
// The thread answers at its next record, or in a freeze that finds it outside of one. The records
// it has written meanwhile may belong to a later run, so they are taken back and counted as lost.
#ifndef MXP_PROF_SILENT_H
#define MXP_PROF_SILENT_H

#include "base/atomic.h"
#include "profiler/recorder/thread/thread.h"

static inline bool mxp__thread_is_silent(const mxp_thread *thread)
{
    return mxp_atomic_load_seq_cst(&thread->silent) != 0;
}

// Makes the thread silent. In a freeze that has waited for it too long.
void mxp__thread_silence(mxp_thread *thread);

// Ends the silence. By the thread, which is busy, or in a freeze that finds it not busy. Afterwards
// the thread waits for the end of a freeze that may have begun, and mxp__thread_queue_late gives a
// ring the chunks that the thread has closed while silent.
void mxp__thread_answer(mxp_thread *thread);
void mxp__thread_queue_late(mxp_thread *thread);

// In a freeze: whether it proceeds without the thread. The thread may answer meanwhile.
static inline bool mxp__thread_is_left_out(const mxp_thread *thread)
{
    return thread->left_out != 0;
}

// The thread's next chunk for a reader. Chunks of a silent thread after `answered` are not read.
static inline mxp_chunk_header *mxp__thread_chunk_after(const mxp_thread *thread,
                                                        const mxp_chunk_header *chunk)
{
    bool silent = mxp__thread_is_silent(thread) || mxp__thread_is_left_out(thread);
    return silent && chunk == thread->answered.chunk ? NULL : mxp__chunk_next(chunk);
}

uint64_t mxp__threads_unanswered(void);  // how often a thread was made silent
void mxp__silent_fork_child(void);

#endif
