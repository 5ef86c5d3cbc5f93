// SPDX-License-Identifier: Apache-2.0
// Allocations that a program's allocator tells of, with MXPROF_COLLECT_MEMORY=1, as memory of
// cpu/0 under the name of the function that allocates. Each function is the one of ITT's interface
// whose name it ends with. They are called inside of malloc.
#ifndef MXP_COLLECT_ITT_HEAP_H
#define MXP_COLLECT_ITT_HEAP_H

#include <stddef.h>

// The sizes of 65,536 blocks are known at a time. What comes beyond is counted as lost, and so is
// the release of what is not known; pages for them are taken with the first block.
void *mxp__itt_heap_function_create(const char *name, const char *domain);
void mxp__itt_heap_allocate_end(void *function, void **block, size_t size_bytes, int initialized);
void mxp__itt_heap_free_begin(void *function, void *block);
void mxp__itt_heap_reallocate_begin(void *function, void *block, size_t size_bytes,
                                    int initialized);
void mxp__itt_heap_reallocate_end(void *function, void *block, void **made, size_t size_bytes,
                                  int initialized);

#endif
