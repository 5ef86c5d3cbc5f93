// SPDX-License-Identifier: Apache-2.0
#include "sim_arena.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *before;
    size_t used;
    _Alignas(16) char bytes[16384];
} block;

struct sim_arena {
    block *last;
};

void *sim_alloc(size_t size_bytes)
{
    void *memory = calloc(1, size_bytes == 0 ? 1 : size_bytes);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void sim_grow(void *array, size_t *capacity, size_t count, size_t size_bytes)
{
    if (count < *capacity) {
        return;
    }
    *capacity = 2 * *capacity + 64;
    void **memory = array;
    void *grown = realloc(*memory, *capacity * size_bytes);
    if (grown == NULL) {
        abort();
    }
    *memory = grown;
}

sim_arena *sim_arena_new(void)
{
    return sim_alloc(sizeof(sim_arena));
}

void *sim_arena_take(sim_arena *arena, size_t size_bytes)
{
    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (arena->last == NULL || arena->last->used + size_bytes > sizeof arena->last->bytes) {
        block *added = sim_alloc(sizeof *added);
        added->before = arena->last;
        arena->last = added;
    }
    void *memory = arena->last->bytes + arena->last->used;
    arena->last->used += size_bytes;
    return memory;
}

void sim_arena_free(sim_arena *arena)
{
    while (arena->last != NULL) {
        block *before = arena->last->before;
        free(arena->last);
        arena->last = before;
    }
    free(arena);
}
