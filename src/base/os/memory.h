// SPDX-License-Identifier: Apache-2.0
// How much memory the machine has, and this process may have; and pages of it.
#ifndef MXP_BASE_OS_MEMORY_H
#define MXP_BASE_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

// Physical memory, and how much of it programs could still allocate without swapping. False where
// the system does not say. Reads a file, which takes about ten microseconds.
bool mxp__os_memory(uint64_t *total_bytes, uint64_t *available_bytes);

// The lowest memory limit of this process: of its control groups (versions 1 and 2, each level) and
// RLIMIT_AS and RLIMIT_DATA. UINT64_MAX if there is none. `root` is prefixed to the system's paths:
// "", or a test's folder.
uint64_t mxp__os_memory_limit(const char *root);

// Zeroed pages that a forked child shares with its parent, or null.
void *mxp__os_map_shared_pages(uint64_t size_bytes);
void mxp__os_unmap_shared_pages(void *pages, uint64_t size_bytes);

// Asks for huge pages for memory that is worth it: MXP__HUGE_LEAST_BYTES and more. To touch it for
// the first time, and to be read by another process, then costs a good deal less. Advice alone:
// what the memory holds, and whose it is, stays as it is.
#define MXP__HUGE_LEAST_BYTES ((uint64_t)4 << 20)
void mxp__os_advise_huge(void *start, uint64_t size_bytes);

#endif
