// SPDX-License-Identifier: Apache-2.0
// For tests of the aggregate: rows of a source by section and name.
#ifndef ROWS_H
#define ROWS_H

#include "profiler/export/table/aggregate.h"

// Aggregates `source` by MXP_GROUP_* in print order by total. destroy the aggregate.
mxp_aggregate *rows_of(mxp_source *source, int group, const mxp_row **rows, size_t *count);

// The row, or null.
const mxp_row *row_find(const mxp_row *rows, size_t count, const char *section, const char *name);
// The row; fails the test if there is none.
const mxp_row *row_get(const mxp_row *rows, size_t count, const char *section, const char *name);

// "section/name section/name ..." in print order. free() it.
char *row_order(const mxp_row *rows, size_t count);

#endif
