// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/rules.h"

#ifndef NDEBUG
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store_rescue.h"

bool mxp__drain_is_held(void)
{
    return mxp__lock_is_held(&mxp__rec.drain);
}

bool mxp__nobody_records(void)
{
    return mxp__freeze_is_ours() || mxp__threads() == NULL;
}

bool mxp__pool_is_ours(void)
{
    return mxp__spin_is_held(&mxp__pool_lock) || mxp__nobody_records();
}

static bool lost_its_page(const mxp_thread *thread)
{
    return mxp__thread_begins_anew(thread) || thread->current == NULL;
}

bool mxp__is_in_record(const mxp_thread *self)
{
    return mxp__is_busy(&self->hot) || lost_its_page(self);
}

static bool is_in_chunk(const mxp_chunk_header *chunk, const uint64_t *at)
{
    uint64_t length_bytes = chunk->section.length_bytes;  // 0: zeros, gone with its file
    const char *end = (const char *)chunk + length_bytes;
    return (at >= mxp__chunk_words(chunk) && (const char *)at <= end) || length_bytes == 0 ||
           mxp__rescue_is_lost(chunk);
}

bool mxp__cursor_is_in_chunk(const mxp_thread *thread)
{
    const mxp_chunk_header *chunk = thread->current;
    return chunk == NULL || is_in_chunk(chunk, mxp_atomic_own(&thread->hot.cursor)) ||
           lost_its_page(thread);
}

bool mxp__position_is_in_chunk(const mxp_position *position)
{
    return position->chunk == NULL ? position->at == NULL
                                   : is_in_chunk(position->chunk, position->at);
}
#endif
