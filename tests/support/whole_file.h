// SPDX-License-Identifier: Apache-2.0
// For tests that read back what was recorded.
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdint.h>

#include "profiler/trace/source.h"

// Opens a native file; the test fails if that cannot be read or has damage. The caller closes it.
mxp_source *open_whole(const char *path);

// Records that the file counts as lost, for whatever reason.
uint64_t losses_of(const mxp_source *source);

#endif
