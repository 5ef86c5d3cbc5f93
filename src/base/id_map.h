// SPDX-License-Identifier: Apache-2.0
// Entries found by a number: open addressing in one block of memory, at most half full. An entry is
// a struct of the caller's that begins with its key, a uint64_t that is not 0:
//
//     typedef struct live_block { uint64_t key, bytes; } live_block;
//     mxp_id_map map = {.entry_bytes = sizeof(live_block)};
//
// Pointers to entries hold until the next add or remove. One thread at a time.
#ifndef MXP_BASE_ID_MAP_H
#define MXP_BASE_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxp_id_map {
    size_t entry_bytes;
    char *entries;
    size_t count, capacity;  // capacity: a power of two, or 0
} mxp_id_map;

// The entry with this key, or null.
void *mxp__id_map_find(const mxp_id_map *map, uint64_t key);
// The entry with this key. If it is new, `count` grows by one and the bytes after its key are zero.
// Null without memory: the map is unchanged, and the error line is not set.
void *mxp__id_map_add(mxp_id_map *map, uint64_t key);
void mxp__id_map_remove(mxp_id_map *map, void *entry);
void mxp__id_map_clear(mxp_id_map *map);  // keeps the memory
void mxp__id_map_fini(mxp_id_map *map);
// Iterates over all entries in no order: returns the entry after `entry`, the first for null, and
// null after the last.
void *mxp__id_map_next(const mxp_id_map *map, const void *entry);

#endif
