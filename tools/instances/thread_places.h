// SPDX-License-Identifier: Apache-2.0
// The threads of several processes as numbers, so that what is kept of each one is found without a
// search.
#ifndef MXP_TOOLS_THREAD_PLACES_H
#define MXP_TOOLS_THREAD_PLACES_H

#include "base/id_map.h"
#include "profiler/trace/source.h"

// Begins as zeros; keeps no source alive.
typedef struct mxp_thread_places {
    mxp_id_map sources;
    mxp_id_map threads;  // its count is that of all that have a number
} mxp_thread_places;

// From 1 on, in the order in which they are asked for first. 0 without memory.
size_t mxp__thread_place(mxp_thread_places *places, const mxp_source *source, uint32_t thread);
void mxp__thread_places_fini(mxp_thread_places *places);

#endif
