// SPDX-License-Identifier: Apache-2.0
#include "base/id_map.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_CAPACITY = 64 };

static char *entry_at(const mxp_id_map *map, size_t place)
{
    return map->entries + place * map->entry_bytes;
}

static uint64_t key_at(const mxp_id_map *map, size_t place)
{
    uint64_t key;
    memcpy(&key, entry_at(map, place), sizeof key);
    return key;
}

// Keys count up or differ in their high bits only: the middle of the product has both.
static size_t home_of(const mxp_id_map *map, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (map->capacity - 1);
}

// The key's place, or the free place where it would be added.
static size_t place_of(const mxp_id_map *map, uint64_t key)
{
    size_t place = home_of(map, key);
    for (uint64_t found; (found = key_at(map, place)) != 0 && found != key;) {
        place = (place + 1) & (map->capacity - 1);
    }
    return place;
}

static size_t bytes_of(const mxp_id_map *map)
{
    return map->capacity * map->entry_bytes;
}

static bool make_room(mxp_id_map *map)
{
    if (2 * (map->count + 1) <= map->capacity) {
        return true;
    }
    mxp_id_map larger = *map;
    larger.capacity = map->capacity == 0 ? FIRST_CAPACITY : 2 * map->capacity;
    larger.entries = mxp__alloc(bytes_of(&larger));
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (key_at(map, i) != 0) {
            memcpy(entry_at(&larger, place_of(&larger, key_at(map, i))), entry_at(map, i),
                   map->entry_bytes);
        }
    }
    mxp__free(map->entries, bytes_of(map));
    *map = larger;
    return true;
}

void *mxp__id_map_find(const mxp_id_map *map, uint64_t key)
{
    assert(key != 0);
    size_t place = map->capacity == 0 ? 0 : place_of(map, key);
    return map->capacity == 0 || key_at(map, place) == 0 ? NULL : entry_at(map, place);
}

void *mxp__id_map_add(mxp_id_map *map, uint64_t key)
{
    assert(key != 0 && map->entry_bytes >= sizeof key);
    if (!make_room(map)) {
        return NULL;
    }
    char *entry = entry_at(map, place_of(map, key));
    uint64_t found;
    memcpy(&found, entry, sizeof found);
    if (found == 0) {
        memcpy(entry, &key, sizeof key);
        map->count++;
    }
    return entry;
}

// Closes the gap: an entry after it moves up, unless that would be before the place its key hashes
// to.
void mxp__id_map_remove(mxp_id_map *map, void *entry)
{
    size_t mask = map->capacity - 1;
    size_t gap = (size_t)((char *)entry - map->entries) / map->entry_bytes;
    assert(gap < map->capacity && key_at(map, gap) != 0);
    for (size_t at = (gap + 1) & mask; key_at(map, at) != 0; at = (at + 1) & mask) {
        size_t home = home_of(map, key_at(map, at));
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            memcpy(entry_at(map, gap), entry_at(map, at), map->entry_bytes);
            gap = at;
        }
    }
    memset(entry_at(map, gap), 0, map->entry_bytes);
    map->count--;
}

void mxp__id_map_clear(mxp_id_map *map)
{
    if (map->count > 0) {
        memset(map->entries, 0, bytes_of(map));
    }
    map->count = 0;
}

void mxp__id_map_fini(mxp_id_map *map)
{
    mxp__free(map->entries, bytes_of(map));
    *map = (mxp_id_map){.entry_bytes = map->entry_bytes};
}

void *mxp__id_map_next(const mxp_id_map *map, const void *entry)
{
    size_t at =
        entry == NULL ? 0 : (size_t)((const char *)entry - map->entries) / map->entry_bytes + 1;
    while (at < map->capacity && key_at(map, at) == 0) {
        at++;
    }
    return at < map->capacity ? entry_at(map, at) : NULL;
}
