// SPDX-License-Identifier: Apache-2.0
// What the owners of a device's memory had at a moment, as rows of a table: added up by scope, by
// array name, by what it is for, or one by one.
#ifndef MXP_TOOLS_MEMORY_ROWS_H
#define MXP_TOOLS_MEMORY_ROWS_H

#include "base/strbuf.h"
#include "profiler/analysis/memory/live_memory.h"
#include "profiler/analysis/window/filter.h"

enum { MXP_MEMORY_BY_SCOPE, MXP_MEMORY_BY_ARRAY, MXP_MEMORY_BY_CATEGORY, MXP_MEMORY_BY_OWNER };
enum { MXP_MEMORY_CATEGORIES = 16 };

typedef struct mxp_memory_row {
    uint32_t owner;  // one of them: what the row is called by, with MXP_MEMORY_BY_*
    mxp_owner_amount amount;
    uint64_t fresh_blocks, fresh_bytes, fresh_steps;  // steps: of the owner with most of them
    uint64_t by_category[MXP_MEMORY_CATEGORIES];  // bytes
} mxp_memory_row;

typedef struct mxp_memory_rows {
    mxp_memory_row *rows;  // the largest first
    size_t count, capacity;
    mxp_owner_amount total;
    mxp_memory_row left_out;  // by the filter
} mxp_memory_rows;

// Rows without bytes at the moment are left out, but for `fresh`: then those without fresh blocks
// are, and the rows are in the order of their bytes. What the filter (by name and scope; null:
// none) does not take has no rows, and is in the total. MXP_ENOMEM.
int mxp__memory_rows_make(const mxp_memory_device *device, const mxp_filter *filter, int by,
                          int moment, bool fresh, mxp_memory_rows *rows);
// Adds the rows from place `from` on to *rest.
void mxp__memory_rows_rest(const mxp_memory_rows *rows, size_t from, mxp_memory_row *rest);
void mxp__memory_rows_fini(mxp_memory_rows *rows);

// Appends what the row is called, as the trace has it.
void mxp__memory_row_name(const mxp_source *source, const mxp_memory_device *device, int by,
                          uint32_t owner, mxp_strbuf *out);
// "parameter", "gradient" ...; "category 12" for what has no word.
const char *mxp__memory_category(uint32_t category);

#endif
