// SPDX-License-Identifier: Apache-2.0
// Whether the process that has not finished its file lives or died.
#ifndef MXP_TRACE_FILE_STATE_H
#define MXP_TRACE_FILE_STATE_H

#include "profiler/trace/file/file_tables.h"

// MXP__PROCESS_*. A recorder that lives holds the file's lock; without it, its process died if that
// was on this machine.
int mxp__file_state(const mxp_file_index *index, const mxp_file_tables *tables);

// The state as text for the INFO pair "unfinished", which files made from this one keep.
const char *mxp__file_state_text(int state);

#endif
