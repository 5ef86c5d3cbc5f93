// SPDX-License-Identifier: Apache-2.0
// Own times: how long the spans of each name ran without the spans inside them, over all threads
// and processes of a trace, so that the rows of nested spans can be added up.
#ifndef MXP_TOOLS_OWN_TIMES_H
#define MXP_TOOLS_OWN_TIMES_H

#include "profiler/analysis/time/time_rows.h"

typedef struct mxp_own_row {
    uint32_t category, text;  // numbers of texts
    uint64_t count, own_ns;
    bool overlaps;  // asynchronous spans: all of their time is their own
} mxp_own_row;

typedef struct mxp_own_category {
    uint32_t text;
    uint64_t count;
} mxp_own_category;

// Begins as zeros.
typedef struct mxp_own_times {
    mxp_own_row *rows;
    size_t row_count, row_capacity;
    mxp_own_category *categories;
    size_t category_count, category_capacity;
    uint64_t spans;
    mxp_time_rows all;
} mxp_own_times;

// Adds the spans and operators of one process. Ranges that cannot be read are left out. 0, or
// MXP_ENOMEM.
int mxp__own_times_add(mxp_own_times *times, mxp_source *process);
// Makes the rows: most own time first, those that overlap last. Counts `categories`, the largest
// first. Nothing can be added afterwards. 0, or MXP_ENOMEM.
int mxp__own_times_rank(mxp_own_times *times);
const char *mxp__own_times_text(const mxp_own_times *times, uint32_t text);
void mxp__own_times_fini(mxp_own_times *times);

#endif
