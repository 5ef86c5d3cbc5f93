// SPDX-License-Identifier: Apache-2.0
// What exchanges between two processes of one machine say. Their clock is one, so the distance 0
// must lie within what each exchange has proved: that tests stamps, conversions and files in every
// run. Private to the folder.
#ifndef MXP_CLOCKS_SAME_CLOCK_H
#define MXP_CLOCKS_SAME_CLOCK_H

#include "profiler/analysis/clocks/one_clock.h"

// Of a process whose exchanges were with another one of its own machine: what all of them together
// leave. The file's clock must have a point.
mxp_clock_proof mxp__same_clock_proof(const mxp_source *process);

#endif
