// SPDX-License-Identifier: Apache-2.0
#include "instances/thread_places.h"

typedef struct numbered {
    uint64_t key;  // a source's address; or its number << 32 | thread
    uint64_t number;  // from 1 on
} numbered;

static uint64_t number_of(mxp_id_map *map, uint64_t key)
{
    map->entry_bytes = sizeof(numbered);
    numbered *entry = mxp__id_map_add(map, key);
    if (entry == NULL) {
        return 0;
    }
    return entry->number = entry->number != 0 ? entry->number : map->count;
}

size_t mxp__thread_place(mxp_thread_places *places, const mxp_source *source, uint32_t thread)
{
    const uint64_t number = number_of(&places->sources, (uintptr_t)source);
    return number == 0 ? 0 : (size_t)number_of(&places->threads, number << 32 | thread);
}

void mxp__thread_places_fini(mxp_thread_places *places)
{
    mxp__id_map_fini(&places->sources);
    mxp__id_map_fini(&places->threads);
}
