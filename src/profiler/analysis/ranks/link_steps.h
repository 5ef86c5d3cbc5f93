// SPDX-License-Identifier: Apache-2.0
// What a worker's way to others carried in each of its steps, and how long that took. Private to
// the folder.
#ifndef MXP_RANKS_LINK_STEPS_H
#define MXP_RANKS_LINK_STEPS_H

#include "profiler/analysis/ranks/bound.h"

// Of each round of each key what its owner took after the last arrival; the longest of several
// owners. To be finished by mxp__id_map_fini. MXP_ENOMEM.
int mxp__owner_times_make(const mxp_bound_owner *owners, size_t count, mxp_id_map *times);

// Fills all but the probe. With `sums_for_hosts` only what is handed on for a host leaves it. The
// worker's own operations tell how long it is busy and waits all the same. MXP_ENOMEM.
int mxp__link_steps_read(const mxp_rank *rank, const mxp_id_map *owner_times, bool sums_for_hosts,
                         mxp_bound_link *link);

#endif
