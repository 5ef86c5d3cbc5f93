// SPDX-License-Identifier: Apache-2.0
// How the clocks of a job's processes lie to one another, in lines for people: what merge and
// report print first.
#ifndef MXP_TOOLS_CLOCK_LINES_H
#define MXP_TOOLS_CLOCK_LINES_H

#include "profiler/analysis/clocks/one_clock.h"
#include "text/json_writer.h"
#include "text/screen.h"

// A table of the processes and what is to be said of them. Where no clock is known that stands in
// the first line.
void mxp__clock_lines_put(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out);
// The same as the member "clocks".
void mxp__clock_lines_json(const mxp_one_clock *clocks, mxp_json *json);

#endif
