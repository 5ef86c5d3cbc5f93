// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/piece_pool.h"

#include "base/alloc.h"
#include "runtime/kvstore/wire.h"

#define SPARE_MAX ((size_t)64 << 20)

static size_t class_bytes(const mxn_piece_pool *pool, int class)
{
    return class == 0 ? MXN_WIRE_INLINE_MAX : pool->piece_bytes;
}

mxn_piece_buffer *mxn__pool_take(mxn_piece_pool *pool, size_t bytes)
{
    for (int i = 0; i < MXN_POOL_CLASSES; i++) {
        if (bytes > class_bytes(pool, i)) {
            continue;
        }
        mxn_piece_buffer *spare = pool->spare[i];
        if (spare != NULL) {
            pool->spare[i] = spare->next;
            pool->spare_bytes -= spare->bytes;
            return spare;
        }
        bytes = class_bytes(pool, i);
        break;
    }
    // Not zeroed: pages are touched by who fills them.
    mxn_piece_buffer *made = mxp__realloc(NULL, 0, sizeof *made + bytes);
    if (made != NULL) {
        made->bytes = bytes;
        pool->made++;
    }
    return made;
}

void mxn__pool_give(mxn_piece_pool *pool, mxn_piece_buffer *buffer)
{
    if (buffer == NULL) {
        return;
    }
    for (int i = 0; i < MXN_POOL_CLASSES; i++) {
        if (buffer->bytes == class_bytes(pool, i) && pool->spare_bytes < SPARE_MAX) {
            buffer->next = pool->spare[i];
            pool->spare[i] = buffer;
            pool->spare_bytes += buffer->bytes;
            return;
        }
    }
    mxp__free(buffer, sizeof *buffer + buffer->bytes);
}

void mxn__pool_fini(mxn_piece_pool *pool)
{
    for (int i = 0; i < MXN_POOL_CLASSES; i++) {
        while (pool->spare[i] != NULL) {
            mxn_piece_buffer *buffer = pool->spare[i];
            pool->spare[i] = buffer->next;
            mxp__free(buffer, sizeof *buffer + buffer->bytes);
        }
    }
    pool->spare_bytes = 0;
}
