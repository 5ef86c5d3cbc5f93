// SPDX-License-Identifier: Apache-2.0
// Memory of a forked child while its fork is carried out. Another thread of the parent may have
// held the allocator's lock, and nobody gives it up in the child; so what is wanted meanwhile comes
// from room of the child's own, and what is given back waits until the end. Not thread-safe where
// nothing else is said: between begin and end the child has one thread. What was taken stays valid
// after the end.
#ifndef MXP_PROF_FORK_MEMORY_H
#define MXP_PROF_FORK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void mxp__fork_memory_begin(void);
void mxp__fork_memory_end(void);
bool mxp__fork_memory_is_used(void);  // between the two

// Whether the block came from here. Any thread, once the end has come.
bool mxp__fork_memory_has(const void *block);

// As mxp_realloc, between begin and end.
void *mxp__fork_memory_realloc(void *block, size_t old_size_bytes, size_t size_bytes);

// Hands out the blocks of the program's allocator that were given back between begin and end, each
// once. Any thread, after the end; one relaxed load if there are none.
void mxp__fork_memory_give_back(void (*give)(void *block, size_t size_bytes));

#endif
