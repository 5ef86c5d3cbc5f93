// SPDX-License-Identifier: Apache-2.0
// See readers.h. Kept chunks are linked by `next`: no thread has them in its list any more.
#include "profiler/recorder/memory/readers.h"

#include <stddef.h>

#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/rules.h"

static uint32_t count;
static mxp_chunk_header *kept;

void mxp__readers_come(void)
{
    assert(mxp__drain_is_held());
    count++;
    mxp__ring_pin();
}

void mxp__readers_go(void)
{
    assert(mxp__drain_is_held());
    assert(count != 0 && "more readers go than came");
    mxp__ring_unpin();
    if (--count != 0) {
        return;
    }
    mxp_chunk_header *chunk = kept;
    kept = NULL;
    while (chunk != NULL) {
        mxp_chunk_header *next = mxp__chunk_next(chunk);
        mxp__store_give_chunk(chunk);
        chunk = next;
    }
}

bool mxp__readers_keep(mxp_chunk_header *chunk)
{
    if (count == 0) {
        return false;
    }
    chunk->next = (uintptr_t)kept;
    kept = chunk;
    return true;
}

void mxp__readers_fork_child(void)
{
    count = 0;
    kept = NULL;
}
