// SPDX-License-Identifier: Apache-2.0
// Percentiles of the rows of an aggregate, beside MXNet's layout, whose columns scripts rely on.
#ifndef MXP_TOOLS_PERCENTILES_H
#define MXP_TOOLS_PERCENTILES_H

#include "profiler/export/table/aggregate.h"

// A table of its own, for rows in print order; counters have none.
void mxp__percentiles_table(const mxp_row *rows, size_t count, mxp_strbuf *out);
// A JSON object section -> name -> P50, P90, P99 in ms, its lines indented by `indent` blanks.
void mxp__percentiles_json(const mxp_row *rows, size_t count, int indent, mxp_strbuf *out);

#endif
