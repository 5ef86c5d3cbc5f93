// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, wherever they come from: read into memory of our own, mapped, or given.
#ifndef MXP_TRACE_FILE_BYTES_H
#define MXP_TRACE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

typedef struct mxp_file_bytes {
    const uint8_t *data;  // aligned to 16
    size_t size_bytes;
    size_t owned_bytes;  // of a heap block; 0: pages, or the caller's
    size_t page_bytes;  // of pages; 0: none
    bool in_file;  // the pages are a file's: the system can take them back and bring them again
    bool is_recording;  // a living process records into the file; this is how it was at one moment
    uint64_t overwritten_chunks, overwritten_bytes;  // of records, while the file was being copied
    mxp_atomic_u64 touched_bytes;  // since memory was last given back
} mxp_file_bytes;

// Whether large files may be mapped. Only for a process that lives through a file that somebody
// shortens meanwhile (base/os/lost_pages.h); else they are copied. False at first.
extern bool mxp__file_bytes_may_map;

// MXP_EIO with path and reason. Of what is no regular file at least `least_bytes` are read, then
// `accept` says whether to go on: a device may have no end.
int mxp__file_bytes_open(const char *path, size_t least_bytes,
                         int (*accept)(const void *data, size_t size_bytes), mxp_file_bytes *bytes);
// Copies what is not aligned. MXP_ENOMEM.
int mxp__file_bytes_given(const void *data, size_t size_bytes, mxp_file_bytes *bytes);
// Tells that about so many bytes are being read. Now and then this lets the system take back the
// memory behind large files; all bytes stay readable. Thread-safe.
void mxp__file_bytes_touch(mxp_file_bytes *bytes, uint64_t size_bytes);
// At once.
void mxp__file_bytes_give_back(const mxp_file_bytes *bytes);
void mxp__file_bytes_close(mxp_file_bytes *bytes);

// Reads from an offset on. Less than `size_bytes`: the file ends there, or cannot be read.
size_t mxp__file_read_at(int fd, void *to, size_t size_bytes, uint64_t offset);

#endif
