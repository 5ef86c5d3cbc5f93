// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/memory/walk.h"

#include <mxprof/error.h>

#include "base/atomic.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"

// The end of the records of a closed chunk.
static const uint64_t *end_of(const mxp_chunk_header *chunk)
{
    return mxp__chunk_words(chunk) + chunk->section.payload_bytes / sizeof(uint64_t);
}

// The records of the last chunk end at the owner's cursor. The owner may go over to another chunk
// meanwhile: it sets `next` first and the cursor afterwards. Until the cursor follows, the new
// chunk is empty.
const uint64_t *mxp__chunk_filled_to(mxp_thread *thread, const mxp_chunk_header *chunk)
{
    if (mxp__thread_is_silent(thread) && chunk == thread->answered.chunk) {
        return thread->answered.at;
    }
    const uint64_t *cursor = mxp_atomic_load_acquire(&thread->hot.cursor);
    if (mxp__chunk_next(chunk) != NULL) {
        return end_of(chunk);
    }
    const uint64_t *words = mxp__chunk_words(chunk);
    const char *end = (const char *)chunk + chunk->section.length_bytes;
    bool is_here = cursor >= words && (const char *)cursor <= end;
    return is_here && !mxp__thread_begins_anew(thread) ? cursor : words;
}

mxp_position mxp__walk_start(mxp_thread *thread, mxp_position position)
{
    if (position.chunk == NULL || mxp__rescue_is_lost(position.chunk)) {
        mxp_chunk_header *oldest = mxp__thread_oldest(thread);
        position = (mxp_position){oldest, mxp__chunk_words(oldest)};
    }
    return position;
}

// Whether `until` is in the chunk, which is filled to `to`.
static bool is_in(const uint64_t *until, const mxp_chunk_header *chunk, const uint64_t *to)
{
    return until != NULL && until >= mxp__chunk_words(chunk) && until <= to;
}

int mxp__walk(mxp_thread *thread, mxp_position *position, const uint64_t *until,
              mxp_range_visit visit, void *context)
{
    assert(mxp__drain_is_held());
    *position = mxp__walk_start(thread, *position);
    for (;;) {
        assert(mxp__position_is_in_chunk(position));
        const uint64_t *to = mxp__chunk_filled_to(thread, position->chunk);
        bool is_last = is_in(until, position->chunk, to);
        to = is_last ? until : to;
        if (to > position->at) {
            int error = visit != NULL ? visit(context, position->chunk, position->at, to) : 0;
            if (error != 0) {
                return error;
            }
            position->at = to;
        }
        mxp_chunk_header *next = mxp__thread_chunk_after(thread, position->chunk);
        if (next == NULL || is_last || mxp__rescue_is_lost(position->chunk)) {
            return MXP_OK;
        }
        if (position->at == end_of(position->chunk)) {
            *position = (mxp_position){next, mxp__chunk_words(next)};
        }
    }
}

// Most records are lean spans: four at a time, their loads do not wait for one another.
static bool four_lean_spans(const uint64_t *from, const uint64_t *to)
{
    const uint64_t lean = MXP_KIND_SPAN | 1 << 8;
    return to - from >= 8 &&
           (((from[0] ^ lean) | (from[2] ^ lean) | (from[4] ^ lean) | (from[6] ^ lean)) & 0xffff) ==
               0;
}

uint64_t mxp__count_records(const uint64_t *from, const uint64_t *to)
{
    uint64_t records = 0;
    while (from < to) {
        if (four_lean_spans(from, to)) {
            records += 4;
            from += 8;
            continue;
        }
        uint64_t units = *from >> 8 & 0xff;
        if (units == 0) {
            break;  // zeros: lost with its file
        }
        records += (*from & 0xff) != MXP_KIND_VARIABLES;
        from += 2 * units;
        assert(from <= to && "a record goes beyond what is recorded");
    }
    return records;
}

static int count_range(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                       const uint64_t *to)
{
    (void)chunk;
    mxp_thread *thread = context;
    thread->bytes += (uint64_t)(to - from) * sizeof(uint64_t);
    thread->records += mxp__count_records(from, to);
    return MXP_OK;
}

typedef struct portion {
    mxp_thread *thread;
    uint64_t words;  // that may still be counted
} portion;

static int count_portion(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                         const uint64_t *to)
{
    portion *left = context;
    uint64_t words = (uint64_t)(to - from);
    if (left->words < words) {
        return MXP_ESTATE;  // the position stays before the range
    }
    left->words -= words;
    return count_range(left->thread, chunk, from, to);
}

bool mxp__count_portion(void)
{
    enum { PORTION_WORDS = 1 << 17 };
    portion left = {.words = PORTION_WORDS};
    int error = MXP_OK;
    for (mxp_thread *thread = mxp__threads(); thread != NULL && error == MXP_OK;
         thread = thread->next) {
        left.thread = thread;
        error = mxp__walk(thread, &thread->counted, NULL, count_portion, &left);
    }
    return error != MXP_OK;
}

void mxp__thread_count_records(mxp_thread *thread)
{
    mxp__walk(thread, &thread->counted, NULL, count_range, thread);
    mxp__rescue_note_records(thread);
}
