// SPDX-License-Identifier: Apache-2.0
// What processes of this machine record, found without a word to them: into which file, as
// /proc/PID/maps tells, or that they have the library and record into memory.
#ifndef MXP_TOOLS_PROCESS_FILES_H
#define MXP_TOOLS_PROCESS_FILES_H

#include <stdbool.h>

#include "base/strbuf.h"

// The file into which a process records, as it can be opened here (a container has another root);
// empty if it records into none. MXP_EIO: there is no such process, or it is not ours to look into.
// MXP_ENOMEM: neither memory nor a descriptor is left to look with.
int mxp__process_recording_file(long pid, mxp_strbuf *path);

// Whether the process has one of our libraries. False where it cannot be told.
bool mxp__process_has_library(long pid);

#endif
