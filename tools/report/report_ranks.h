// SPDX-License-Identifier: Apache-2.0
// The tables of a job's workers, owners and keys in a report, of the steps that it is of. Of what
// is no job, and where fewer than two workers tell what they waited for, there are none.
#ifndef MXP_TOOLS_REPORT_RANKS_H
#define MXP_TOOLS_REPORT_RANKS_H

#include "report/report.h"
#include "text/json_writer.h"

// -1, or the exit code after an error line. What keeps them from being made is a line of `out`.
int mxp__report_ranks_put(const mxp_command *command, const mxp_input *input,
                          const mxp_report_wish *wish, mxp_strbuf *out);
// As the member "ranks".
int mxp__report_ranks_json(const mxp_input *input, const mxp_report_wish *wish, mxp_json *json);

#endif
