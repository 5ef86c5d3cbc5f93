// SPDX-License-Identifier: Apache-2.0
// `mxprof info --json`: what the text tells, and all of it, for programs.
#ifndef MXP_TOOLS_INFO_JSON_H
#define MXP_TOOLS_INFO_JSON_H

#include "coverage.h"
#include "summary.h"
#include "text/json_writer.h"

// The file, and the array of its processes, which is left open.
void mxp__info_json_begin(mxp_json *json, const mxp_input *input);
// One process.
void mxp__info_json_process(mxp_json *json, const mxp_source *process, const mxp_summary *summary,
                            const mxp_coverage *coverage);
// Closes the array, and tells whether the file is whole, which is known only now.
void mxp__info_json_end(mxp_json *json, const mxp_input *input);

#endif
