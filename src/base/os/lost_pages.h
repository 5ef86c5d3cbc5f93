// SPDX-License-Identifier: Apache-2.0
// Surviving the truncation of a mapped file: an access after the file's end raises SIGBUS, which
// would end the process.
#ifndef MXP_BASE_OS_LOST_PAGES_H
#define MXP_BASE_OS_LOST_PAGES_H

#include <stdbool.h>

// From now on lost pages read as zeros. Installs a SIGBUS handler for the whole process, so only
// programs of ours (the command) may call it.
void mxp__lost_pages_replace(void);
// Whether a lost page was read.
bool mxp__lost_pages_any(void);

#endif
