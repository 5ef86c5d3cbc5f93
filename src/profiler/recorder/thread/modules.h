// SPDX-License-Identifier: Apache-2.0
// The modules that mxp_module was told of. Like names they stay as long as the process.
#ifndef MXP_PROF_MODULES_H
#define MXP_PROF_MODULES_H

#include <mxprof/module.h>
#include <stddef.h>

#include "profiler/trace/image.h"

enum { MXP__MODULES_MOST = 744 };  // what fits into 64 KiB of a recording file

// Where they are in memory, for the readers of core files.
void mxp__modules_image(volatile mxp_image_anchor *to);
// A copy, in *count entries; the caller frees it (mxp__free). Null: none, or no memory, which is
// MXP_ENOMEM.
int mxp__modules_copy(mxp_module_entry **entries, size_t *count);
// Puts all into the open recording file. Under the names' lock.
void mxp__modules_store(void);

#endif
