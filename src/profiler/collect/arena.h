// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect: libmxprof_collect.so, which records what other tools' marks tell.
//
// Memory for handles, for the life of the process. It comes from the system and not from malloc: a
// program's allocator may send marks itself, from inside of malloc.
#ifndef MXP_COLLECT_ARENA_H
#define MXP_COLLECT_ARENA_H

#include <stddef.h>

// Zeros, aligned to 16; null: the system gives none, 256 MiB are taken, or a handler has
// interrupted this very call. Any thread.
void *mxp__arena_take(size_t size_bytes);

#endif
