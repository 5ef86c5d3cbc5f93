// SPDX-License-Identifier: Apache-2.0
// A trace's summary in words: what is above a table of `report`, and in its CSV and JSON.
#ifndef MXP_TOOLS_OVERVIEW_H
#define MXP_TOOLS_OVERVIEW_H

#include "summary.h"

// The lines above a table.
void mxp__overview_print(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out);
// The same as rows of the CSV table: section "mxprof", kind "report", the figure under total.
void mxp__overview_csv(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out);
// The same as a JSON object, each line indented by `indent` blanks.
void mxp__overview_json(const mxp_input *input, const mxp_summary *summary, int indent,
                        mxp_strbuf *out);

#endif
