// SPDX-License-Identifier: Apache-2.0
// Folder profiler: what the whole half needs: memory, the error line, forked children.
//
// Page memory by the allocator hook. Safe in signal handlers if the hook is.
#ifndef MXP_PROF_PAGES_H
#define MXP_PROF_PAGES_H

#include <stdbool.h>
#include <stddef.h>

void *mxp__pages_map(size_t size_bytes);  // zeroed, page aligned; null without memory
void mxp__pages_unmap(void *pages, size_t size_bytes);

// A fork that happens between the two waits until no allocation is in progress, because the hook,
// or what it calls, need not survive a fork in its middle.
void mxp__realloc_guard(bool on);
void mxp__realloc_fork_prepare(void);
void mxp__realloc_fork_parent(void);
void mxp__realloc_fork_child(void);

#endif
