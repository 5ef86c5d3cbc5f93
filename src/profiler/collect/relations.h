// SPDX-License-Identifier: Apache-2.0
// Arrows between spans that marks name by ids, whichever comes first: the spans or the word that
// they belong together.
#ifndef MXP_COLLECT_RELATIONS_H
#define MXP_COLLECT_RELATIONS_H

#include <mxprof/gate.h>
#include <stdbool.h>
#include <stdint.h>

// Where an arrow begins or ends: a time of a thread (by its index).
typedef struct mxp_collect_place {
    uint64_t ticks;  // 0: there is no such place
    uint32_t thread;
} mxp_collect_place;

// This thread, now.
mxp_collect_place mxp__place_here(void);

// A span of `owner` with this id, not 0, has begun here; arrows that waited for it are recorded.
// The newest 4096 are remembered, also those that are over.
void mxp__place_put(const void *owner, uint64_t id);
mxp_collect_place mxp__place_of(const void *owner, uint64_t id);

// An arrow of this name, of style MXP_STYLE_FLOW. Ids without a place wait, up to 4096 arrows; more
// are counted as lost.
void mxp__arrow(mxp_name name, mxp_collect_place from, mxp_collect_place to);
void mxp__arrow_between(mxp_name name, const void *owner, uint64_t from, uint64_t to);
void mxp__arrow_from(mxp_name name, mxp_collect_place from, const void *owner, uint64_t to);

#endif
