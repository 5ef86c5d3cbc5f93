// SPDX-License-Identifier: Apache-2.0
// Points of the arrows that a trace has: messages between processes, and what other profilers
// recorded. Section `f` of docs/page-format.md.
#ifndef MXP_TOOLS_PAGE_FLOWS_H
#define MXP_TOOLS_PAGE_FLOWS_H

#include "page/blocks.h"

// More than that are counted only: a page draws those of one span at a time.
enum { MXP_PAGE_FLOWS_MAX = 1 << 18 };

typedef struct mxp_page_flow {
    uint64_t at_ns, id;
    uint32_t kind;
    int32_t thread;  // of the page; -1: it is a lane's
    uint32_t lane;  // 0: the thread's own
    const mxp_page_track *track;  // the lane's, where it has spans; else null
    uint8_t phase;
} mxp_page_flow;

typedef struct mxp_page_flows {
    mxp_page_flow *all;
    size_t count, capacity;
    uint64_t left_out;
} mxp_page_flows;

// MXP_ENOMEM.
int mxp__page_flows_add(mxp_page_flows *flows, const mxp_page_flow *point);
// Sorts the points by time and puts them into the spool. The tracks have their last numbers.
// MXP_ENOMEM, MXP_EIO.
int mxp__page_flows_pack(mxp_page_flows *flows, mxp_page_spool *spool,
                         mxp_spooled_section *section);
void mxp__page_flows_fini(mxp_page_flows *flows);

#endif
