// SPDX-License-Identifier: Apache-2.0
// A copy of a file into which a living process records, as if that process had died at one moment.
//
// That moment is when its threads' cursors are read. What is copied later may have been recorded
// later: a chunk counts only up to its thread's cursor, and chunks begun after that not at all. A
// ring uses chunks again while they are copied: one whose header changed meanwhile is left out, and
// with it what its thread recorded before, so that a thread's records have no hole. The file is
// read by copying alone, so that it may change, grow and shrink meanwhile.
#ifndef MXP_TRACE_LIVE_COPY_H
#define MXP_TRACE_LIVE_COPY_H

#include "profiler/trace/file/file_bytes.h"

// `fd`: a file with MXP_FILE_MAPPED. Sets data, pages and what was overwritten. MXP_ENOMEM.
int mxp__live_copy(int fd, mxp_file_bytes *bytes);

#endif
