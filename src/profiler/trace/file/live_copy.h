// SPDX-License-Identifier: Apache-2.0
// A copy of a file into which a living process records, as if that process had died at the time of
// the copy.
//
// The time of the copy is when the threads' cursors are read. Bytes that are copied later may have
// been recorded later, so a chunk counts only up to its thread's cursor, and chunks begun later do
// not count. A ring reuses chunks while they are copied: a chunk whose header changed is left out
// together with all earlier records of its thread, so that a thread's records have no gap. The file
// is read by system calls, never mapped, so that it may change, grow and shrink meanwhile.
#ifndef MXP_TRACE_LIVE_COPY_H
#define MXP_TRACE_LIVE_COPY_H

#include "profiler/trace/file/file_bytes.h"

// `fd`: a file with MXP_FILE_MAPPED. Sets data, pages and counts of overwritten chunks and bytes.
// The caller closes the bytes. MXP_ENOMEM.
int mxp__live_copy(int fd, mxp_file_bytes *bytes);

#endif
