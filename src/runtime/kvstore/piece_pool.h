// SPDX-License-Identifier: Apache-2.0
// Recycled buffers for pieces: fresh memory costs page faults, which take longer than moving a
// piece. One thread at a time. Private to kvstore/.
#ifndef MXN_KVSTORE_PIECE_POOL_H
#define MXN_KVSTORE_PIECE_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxn_piece_buffer {
    struct mxn_piece_buffer *next;
    size_t bytes;  // of `data`
    unsigned char data[];
} mxn_piece_buffer;

enum { MXN_POOL_CLASSES = 2 };  // small values, pieces

// Begins as zeros but for `piece_bytes`.
typedef struct mxn_piece_pool {
    size_t piece_bytes;  // of the larger class
    mxn_piece_buffer *spare[MXN_POOL_CLASSES];
    size_t spare_bytes;
    uint64_t made;  // buffers that were allocated
} mxn_piece_pool;

// At least so many bytes, of no known content; null without memory.
mxn_piece_buffer *mxn__pool_take(mxn_piece_pool *pool, size_t bytes);
void mxn__pool_give(mxn_piece_pool *pool, mxn_piece_buffer *buffer);  // null does nothing
void mxn__pool_fini(mxn_piece_pool *pool);

#endif
