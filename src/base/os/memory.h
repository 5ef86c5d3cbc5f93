// SPDX-License-Identifier: Apache-2.0
// How much memory the machine has, and this process may have.
#ifndef MXP_BASE_OS_MEMORY_H
#define MXP_BASE_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

// Physical memory, and what of it programs could still take without pushing others out. False where
// the system does not say. Reads a file: some ten microseconds.
bool mxp__os_memory(uint64_t *total_bytes, uint64_t *available_bytes);

// The least that a limit lets this process have: of its memory control groups (versions 1 and 2,
// each level) and of RLIMIT_AS; UINT64_MAX if there is none. `root`: "", or a folder that stands
// for "/".
uint64_t mxp__os_memory_limit(const char *root);

// Zeroed pages that a forked child shares with its parent, or null.
void *mxp__os_map_shared_pages(uint64_t size_bytes);
void mxp__os_unmap_shared_pages(void *pages, uint64_t size_bytes);

#endif
