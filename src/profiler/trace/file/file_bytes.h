// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, wherever they come from: read into memory of our own, mapped, or given.
#ifndef MXP_TRACE_FILE_BYTES_H
#define MXP_TRACE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

typedef struct mxp_file_bytes mxp_file_bytes;
struct mxp_file_bytes {
    const uint8_t *data;  // aligned to 16
    size_t size_bytes;
    size_t owned_bytes;  // of a heap block; 0: pages, or the caller's
    size_t page_bytes;  // of pages; 0: none
    bool in_file;  // the pages are mapped from a file: the system can drop and read them again
    bool is_recording;  // a living process records into the file; the bytes are its state at one
                        // time
    uint64_t overwritten_chunks, overwritten_bytes;  // of records, while the file was being copied
    mxp_atomic_u64 touched_bytes;  // since mxp__file_bytes_give_back
    mxp_file_bytes *lender;  // whose they are, which outlives them; null: their own
};

// Whether large files may be mapped; else they are copied. Only for a process that survives the
// truncation of a mapped file (base/os/lost_pages.h). False at first.
extern bool mxp__file_bytes_may_map;
// How much of a mapped file is read before its pages are given back, and the size up to which they
// never are. 16 MiB at first. Who reads a file many times sets more before it is opened: mapping it
// anew costs as much as decoding it.
extern uint64_t mxp__file_bytes_resident;

// Opens a file's bytes; the caller closes them. MXP_EIO with path and reason. A pipe or device may
// have no end: once `least_bytes` of it are read, `accept` decides whether to read on.
int mxp__file_bytes_open(const char *path, size_t least_bytes,
                         int (*accept)(const void *data, size_t size_bytes), mxp_file_bytes *bytes);
// Copies what is not aligned. MXP_ENOMEM.
int mxp__file_bytes_given(const void *data, size_t size_bytes, mxp_file_bytes *bytes);
// Notes that about `size_bytes` are being read. From time to time this calls
// mxp__file_bytes_give_back. Thread-safe.
void mxp__file_bytes_touch(mxp_file_bytes *bytes, uint64_t size_bytes);
// Lets the system drop the pages of a large file from memory; all bytes stay readable. Thread-safe.
void mxp__file_bytes_give_back(const mxp_file_bytes *bytes);
void mxp__file_bytes_close(mxp_file_bytes *bytes);

// Reads from an offset on. Less than `size_bytes`: the file ends there, or cannot be read.
size_t mxp__file_read_at(int fd, void *to, size_t size_bytes, uint64_t offset);

#endif
