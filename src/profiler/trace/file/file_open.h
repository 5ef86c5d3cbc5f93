// SPDX-License-Identifier: Apache-2.0
// Reading a mapped file that its recorder has not finished, because the process died or is still
// recording: where the committed records end, which threads there were, and which spans were open.
#ifndef MXP_TRACE_FILE_OPEN_H
#define MXP_TRACE_FILE_OPEN_H

#include "profiler/trace/file/file_tables.h"

// Completes the index and tables of such a file from its RECORDER sections. Other files are left as
// they are.
// MXP_ENOMEM.
int mxp__file_open_complete(mxp_file_index *index, mxp_file_tables *tables);

#endif
