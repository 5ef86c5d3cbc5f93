// SPDX-License-Identifier: Apache-2.0
// Decompresses what gzip has made, piece by piece.
#ifndef MXP_TOOLS_GUNZIP_H
#define MXP_TOOLS_GUNZIP_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxp_gunzip mxp_gunzip;

// What is still to be read and where the text goes: a step moves both on.
typedef struct mxp_gunzip_piece {
    const unsigned char *in;
    size_t in_bytes;
    char *out;
    size_t out_bytes;
} mxp_gunzip_piece;

typedef enum mxp_gunzip_state {
    MXP_GUNZIP_MORE,  // it goes on with more input or more room
    MXP_GUNZIP_END,  // of a member; another one may follow
    MXP_GUNZIP_DAMAGED,
    MXP_GUNZIP_NO_MEMORY
} mxp_gunzip_state;

// MXP_ENOMEM; MXP_ENOTSUP: the command was built without zlib.
int mxp__gunzip_open(mxp_gunzip **gunzip);
mxp_gunzip_state mxp__gunzip_step(mxp_gunzip *gunzip, mxp_gunzip_piece *piece);
void mxp__gunzip_next_member(mxp_gunzip *gunzip);
void mxp__gunzip_close(mxp_gunzip *gunzip);  // null is fine

// gzip's checksum (CRC-32) of what comes in pieces; `before` is that of what came before, 0 at
// first.
uint32_t mxp__gzip_checksum(uint32_t before, const unsigned char *data, size_t size_bytes);

#endif
