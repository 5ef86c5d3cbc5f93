// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/store/mend.h"

#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"

static uint32_t mended;  // what the number of rescues was

static bool is_there(const mxp_chunk_header *chunk)
{
    return chunk != NULL && !mxp__rescue_is_lost(chunk);
}

static bool is_whole(mxp_thread *thread)
{
    const mxp_chunk_header *chunk = mxp__thread_oldest(thread);
    while (is_there(chunk) && chunk != thread->current) {
        chunk = mxp__chunk_next(chunk);
    }
    return is_there(chunk);
}

static void give(mxp_thread *thread, mxp_chunk_header *chunk)
{
    if (chunk != mxp__thread_first_chunk(thread)) {
        mxp__store_give_chunk(chunk);
    }
}

// A ring uses them again: all but the last are in its queue.
static void leave_chunks(mxp_thread *thread)
{
    mxp_chunk_header *last = thread->current, *chunk = mxp__thread_oldest(thread), *next;
    for (; !mxp__ring_is_on() && is_there(chunk); chunk = next) {
        next = mxp__chunk_next(chunk);
        give(thread, chunk);
    }
    if (is_there(last) && mxp__ring_is_on()) {
        mxp__ring_add(thread, last);
    } else if (is_there(last)) {
        give(thread, last);
    }
}

static void begin_anew(mxp_thread *thread)
{
    leave_chunks(thread);
    mxp__thread_restart(thread, mxp_ticks());
    if (mxp__store_is_open()) {
        mxp__store_leave_chunk(thread);
    }
    thread->counted = (mxp_position){0};
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        thread->position[i] = (mxp_position){0};
    }
}

void mxp__mend_threads(void)
{
    assert(mxp__freeze_is_ours());
    uint32_t turns = mxp__rescue_turns();
    bool emptied = turns != mended;
    mended = turns;
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->current == NULL) {  // its page is zeros, and so may be what it says to be next
            mxp__rescue_page(thread);
        }
        if (emptied && !mxp__thread_is_left_out(thread) && !is_whole(thread)) {
            begin_anew(thread);
        }
    }
}
