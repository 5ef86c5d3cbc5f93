// SPDX-License-Identifier: Apache-2.0
// What NVTX's calls have in common: ranges and marks of a domain.
#ifndef MXP_COLLECT_NVTX_RANGES_H
#define MXP_COLLECT_NVTX_RANGES_H

#include <mxprof/args.h>

#include "profiler/collect/nvtx/handles.h"

// How many ranges of the domain were open on this thread.
int mxp__nvtx_push(const nvtx_domain *domain, mxp_name name, const mxp_arg *args, uint32_t count);
// The depth of the range that ends, which gets `args`; -1: none is open.
int mxp__nvtx_pop(const nvtx_domain *domain, const mxp_arg *args, uint32_t count);

// A range that may end on any thread; its id is never 0. An end of the id 0 is none.
uint64_t mxp__nvtx_start(mxp_name name, const mxp_arg *args, uint32_t count);
void mxp__nvtx_end(uint64_t id, const mxp_arg *args, uint32_t count);

// A span of no length, because instants have no arguments.
void mxp__nvtx_moment(mxp_name name, const mxp_arg *args, uint32_t count);

#endif
