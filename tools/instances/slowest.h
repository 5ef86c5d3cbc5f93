// SPDX-License-Identifier: Apache-2.0
// The slowest instances of a trace, and what most of the time of each went to.
#ifndef MXP_TOOLS_SLOWEST_H
#define MXP_TOOLS_SLOWEST_H

#include "instances/durations.h"
#include "instances/life.h"
#include "instances/selected.h"

typedef struct mxp_slowest {
    size_t wanted;
    bool only_roots;  // instances that no other of their thread encloses
    int64_t least_ns;
    mxp_instances list;  // a heap, the shortest on top; after mxp__slowest_finish the longest first
    mxp_durations durations;  // of all that could have been among them
    mxp_life *lives;  // of each in the list, after mxp__slowest_look; null: not looked at
    bool is_damaged;
} mxp_slowest;

// Reads one process. MXP_ENOMEM, or an error of the source.
int mxp__slowest_add(mxp_slowest *slowest, mxp_source *process, const mxp_selected *selected);
void mxp__slowest_finish(mxp_slowest *slowest);
// Reads the trace again for what is inside of the slowest.
int mxp__slowest_look(mxp_slowest *slowest, mxp_source *source);
void mxp__slowest_fini(mxp_slowest *slowest);

#endif
