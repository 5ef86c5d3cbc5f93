// SPDX-License-Identifier: Apache-2.0
// The checksum of file sections: fast, not cryptographic. docs/format.md gives the algorithm.
#ifndef MXP_TRACE_CHECKSUM_H
#define MXP_TRACE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxp_checksum {
    uint64_t lane[4];
    uint64_t length_bytes;
} mxp_checksum;

void mxp__checksum_init(mxp_checksum *state);
// May be called in pieces; every piece but the last must be a multiple of 32 bytes.
void mxp__checksum_add(mxp_checksum *state, const void *data, size_t size_bytes);
uint64_t mxp__checksum_end(const mxp_checksum *state);
uint64_t mxp__checksum(const void *data, size_t size_bytes);

#endif
