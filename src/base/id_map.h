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

// The entry; null: there is none.
void *mxp__id_map_find(const mxp_id_map *map, uint64_t key);
// The entry, with zeros behind its key if it is new: then `count` is one more. Null without memory:
// the map is as it was, and no error is told.
void *mxp__id_map_add(mxp_id_map *map, uint64_t key);
void mxp__id_map_remove(mxp_id_map *map, void *entry);
void mxp__id_map_clear(mxp_id_map *map);  // keeps the memory
void mxp__id_map_fini(mxp_id_map *map);
// All entries in no order: the one behind `entry`, the first for null; null after the last.
void *mxp__id_map_next(const mxp_id_map *map, const void *entry);

#endif
