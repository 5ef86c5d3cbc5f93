// SPDX-License-Identifier: Apache-2.0
// Memory of the simulated engine: all of it aborts where memory is lacking. With malloc and not
// through base/alloc.h, so that tests of lacking memory hit the code under test only.
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

#include "sim_engine.h"

typedef struct sim_arena sim_arena;
sim_arena *sim_arena_new(void);
void *sim_arena_take(sim_arena *arena, size_t size_bytes);  // zeroed, freed with the arena
void sim_arena_free(sim_arena *arena);

void *sim_alloc(size_t size_bytes);  // zeroed
// Room for one more element of `size` bytes in the array at *array.
void sim_grow(void *array, size_t *capacity, size_t count, size_t size_bytes);

// What follows from a run that is over (sim_truth.c).
void sim_windows_find(sim_run *run);

#endif
