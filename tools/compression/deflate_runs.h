// SPDX-License-Identifier: Apache-2.0
// Blocks of deflate (RFC 1951) of bytes that do not repeat but for runs of one: each byte by how
// often it is there. That is what zlib's Z_RLE does, in a third of its time, because it looks for
// nothing else.
#ifndef MXP_TOOLS_DEFLATE_RUNS_H
#define MXP_TOOLS_DEFLATE_RUNS_H

#include <stddef.h>
#include <stdint.h>

// Where bits go, the lowest first.
typedef struct mxp_deflate_bits {
    uint8_t *to;
    uint64_t bits;
    unsigned count;  // below 8 between calls
} mxp_deflate_bits;

// Room that so many bytes take at most, with what a look ahead writes behind them.
static inline size_t mxp__deflate_runs_bound(size_t size_bytes)
{
    enum { LEAST_BLOCK = 1 << 15, BLOCK = 16, BEHIND = 16 };
    return size_bytes + (size_bytes / LEAST_BLOCK + 1) * BLOCK + BEHIND;
}

// Appends the bytes as blocks, none of which is the last one.
void mxp__deflate_runs(mxp_deflate_bits *out, const uint8_t *data, size_t size_bytes);
// Ends the last byte: 5 bytes at most, as an empty block.
void mxp__deflate_align(mxp_deflate_bits *out);
// An empty last block, and the end of its byte: 3 bytes at most.
void mxp__deflate_end(mxp_deflate_bits *out);

#endif
