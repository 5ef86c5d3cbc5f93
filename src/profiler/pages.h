// SPDX-License-Identifier: Apache-2.0
// Room profiler: what the whole half needs: memory, the error line, forked children.
//
// Page memory through the allocator hook. Safe in signal handlers as far as the hook is.
#ifndef MXP_PROF_PAGES_H
#define MXP_PROF_PAGES_H

#include <stdbool.h>
#include <stddef.h>

void *mxp__pages_map(size_t size_bytes);  // zeroed, page aligned; null without memory
void mxp__pages_unmap(void *pages, size_t size_bytes);

// Between the two others may fork while the caller allocates: no allocation is under way then, for
// the hook, or what it calls, need not be fit for that.
void mxp__realloc_guard(bool on);
void mxp__realloc_fork_prepare(void);
void mxp__realloc_fork_parent(void);
void mxp__realloc_fork_child(void);

#endif
