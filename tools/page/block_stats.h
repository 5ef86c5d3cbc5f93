// SPDX-License-Identifier: Apache-2.0
// Statistics of blocks by kind, so that a range of time can be summed up without their spans: rows
// of several blocks make one section.
#ifndef MXP_TOOLS_BLOCK_STATS_H
#define MXP_TOOLS_BLOCK_STATS_H

#include "page/spool.h"
#include "profiler/trace/histogram.h"

enum { MXP_STATS_COLUMNS = 8, MXP_STATS_BLOCKS = 64 };

// Begins as zeros.
typedef struct mxp_block_stats {
    mxp_histogram *kinds;  // of the block at hand, in the order of their first spans
    uint32_t *numbers;  // of these
    size_t count, capacity, number_capacity;
    uint32_t *place_of;  // by kind: place + 1, 0: it is not in the block
    size_t place_capacity;
    mxp_strbuf columns[MXP_STATS_COLUMNS];
    size_t rows, blocks;  // of the section at hand
    mxp_spooled_section *sections;
    size_t section_count, section_capacity;
} mxp_block_stats;

// Counts a span of the block at hand. MXP_ENOMEM.
int mxp__block_stats_add(mxp_block_stats *stats, uint32_t kind, uint64_t duration_ns);
// Ends the block: where its rows are. MXP_ENOMEM, MXP_EIO.
typedef struct mxp_block_rows {
    uint32_t section, first, count;
} mxp_block_rows;
int mxp__block_stats_end(mxp_block_stats *stats, mxp_page_spool *spool, mxp_block_rows *rows);
// Writes what is left. MXP_ENOMEM, MXP_EIO.
int mxp__block_stats_finish(mxp_block_stats *stats, mxp_page_spool *spool);
void mxp__block_stats_fini(mxp_block_stats *stats);

#endif
