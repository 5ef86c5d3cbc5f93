// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, wherever they come from: mapped, read (what cannot be mapped), or given.
#ifndef MXP_TRACE_FILE_BYTES_H
#define MXP_TRACE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_file_bytes {
    const uint8_t *data;  // aligned to 16
    size_t size_bytes;
    size_t owned_bytes;  // of a heap block; 0: mapped or the caller's
    bool mapped;
    uint64_t touched_bytes;  // atomic: since memory was last given back
} mxp_file_bytes;

// MXP_EIO with path and reason. Of what is no regular file at least `least_bytes` are read, then
// `accept` says whether to go on: a device may have no end.
int mxp__file_bytes_open(const char *path, size_t least_bytes,
                         int (*accept)(const void *data, size_t size_bytes), mxp_file_bytes *bytes);
// Copies what is not aligned. MXP_ENOMEM.
int mxp__file_bytes_given(const void *data, size_t size_bytes, mxp_file_bytes *bytes);
// Tells that about so many bytes are being read. Now and then this lets the system take back the
// memory behind a large mapping; all its bytes stay readable. Thread-safe.
void mxp__file_bytes_touch(mxp_file_bytes *bytes, uint64_t size_bytes);
void mxp__file_bytes_close(mxp_file_bytes *bytes);

#endif
