// SPDX-License-Identifier: Apache-2.0
// What has become of the process that has not finished its file.
#ifndef MXP_TRACE_FILE_STATE_H
#define MXP_TRACE_FILE_STATE_H

#include "profiler/trace/file/file_tables.h"

// MXP__PROCESS_*. A recorder that lives holds the file's lock; without it, its process died if that
// was on this machine.
int mxp__file_state(const mxp_file_index *index, const mxp_file_tables *tables);

// The same as the INFO pair "unfinished" has it, which files that are made of this one keep.
const char *mxp__file_state_text(int state);

#endif
