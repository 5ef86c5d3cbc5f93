// SPDX-License-Identifier: Apache-2.0
// Memory of a forked child while the handlers of the fork run in it. Another thread of the parent
// may have held the allocator's lock, and in the child nobody releases it. So memory that is
// requested meanwhile comes from regions of the child's own, and memory that is freed is handed
// back after the end. Blocks stay valid after the end. Not thread-safe unless stated: between begin
// and end the child has one thread.
#ifndef MXP_PROF_FORK_MEMORY_H
#define MXP_PROF_FORK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void mxp__fork_memory_begin(void);
void mxp__fork_memory_end(void);
bool mxp__fork_memory_is_used(void);  // between begin and end

// Whether the block came from here. Any thread, once the end has come.
bool mxp__fork_memory_has(const void *block);

// As mxp_realloc, between begin and end.
void *mxp__fork_memory_realloc(void *block, size_t old_size_bytes, size_t size_bytes);

// Hands out the blocks of the program's allocator that were given back between begin and end, each
// once. Any thread, after the end; one relaxed load if there are none.
void mxp__fork_memory_give_back(void (*give)(void *block, size_t size_bytes));

#endif
