// SPDX-License-Identifier: Apache-2.0
// See ring_queue.h. A queue is linked through the checksum of the chunks' headers, which nothing
// else uses in memory.
#include "profiler/recorder/memory/ring_queue.h"

#include <stddef.h>
#include <stdint.h>

#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"

typedef struct queue {
    mxp_chunk_header *oldest, *newest;
} queue;

static queue in_memory, in_file;

void mxp__queue_add(mxp_chunk_header *chunk)
{
    queue *to = mxp__store_is_in_file(chunk) ? &in_file : &in_memory;
    assert(mxp__pool_is_ours());
    assert((to->oldest == NULL || to->newest != chunk) && "a chunk is queued twice");
    chunk->section.checksum = 0;
    if (to->oldest != NULL) {
        to->newest->section.checksum = (uintptr_t)chunk;
    } else {
        to->oldest = chunk;
    }
    to->newest = chunk;
}

static queue *older(void)
{
    assert(mxp__pool_is_ours());
    if (in_file.oldest != NULL && mxp__rescue_is_lost(in_file.oldest)) {
        in_file = (queue){0};
    }
    return in_memory.oldest != NULL ? &in_memory : &in_file;
}

mxp_chunk_header *mxp__queue_oldest(void)
{
    return older()->oldest;
}

mxp_chunk_header *mxp__queue_take(void)
{
    queue *from = older();
    mxp_chunk_header *chunk = from->oldest;
    if (chunk != NULL) {
        from->oldest = (mxp_chunk_header *)(uintptr_t)chunk->section.checksum;
    }
    return chunk;
}

void mxp__queue_clear(void)
{
    assert(mxp__nobody_records());
    in_memory = in_file = (queue){0};
}
