// SPDX-License-Identifier: Apache-2.0
// Parallel regions. A runtime tells a worker's end of a region late, when the worker is woken for
// the next one, and then without saying of which: each thread remembers its region by a number, and
// ends at the time when the region did.
#ifndef MXP_COLLECT_OMPT_REGIONS_H
#define MXP_COLLECT_OMPT_REGIONS_H

#include <mxprof/gate.h>
#include <stdint.h>

// The number of a region that begins, never 0. Numbers are used again after 65,535 regions.
uint64_t mxp__ompt_region_begin(const void *return_address);
void mxp__ompt_region_end(uint64_t region);
mxp_name mxp__ompt_region_name(uint64_t region);
// When what is in the region ends, as seen now: with the region if that is over.
uint64_t mxp__ompt_region_end_ticks(uint64_t region);

#endif
