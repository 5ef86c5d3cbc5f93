// SPDX-License-Identifier: Apache-2.0
// Page memory through the allocator hook. Safe in signal handlers as far as the hook is.
#ifndef MXP_PROF_PAGES_H
#define MXP_PROF_PAGES_H

#include <stddef.h>

void *mxp__pages_map(size_t size_bytes);  // zeroed, page aligned; null without memory
void mxp__pages_unmap(void *pages, size_t size_bytes);

#endif
