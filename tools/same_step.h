// SPDX-License-Identifier: Apache-2.0
// "slowest" and "last" of several processes: one step of all, by its number. Each process alone has
// a slowest step of its own, and beside that of another it tells nothing.
#ifndef MXP_TOOLS_SAME_STEP_H
#define MXP_TOOLS_SAME_STEP_H

#include "profiler/analysis/window/choice.h"
#include "profiler/trace/source.h"

// Where `wish` is MXP_STEPS_SLOWEST or MXP_STEPS_LAST it becomes the number of the step that is the
// slowest in the mean of the processes, or the last one that all have: of plain ones, else of those
// with an end. It stays where a process alone has steps, or all have none of the same number.
// MXP_ENOMEM, or an error of a source.
int mxp__same_step(mxp_source *source, mxp_choice_wish *wish);

#endif
