// SPDX-License-Identifier: Apache-2.0
// A trace cut to a window: the records that have a part of their time in it, whole, and the state
// at its begin (scopes, the step, values of counters).
#ifndef MXP_TOOLS_CUT_H
#define MXP_TOOLS_CUT_H

#include "selection.h"

// Makes the input's source that of its window, if the selection has one. -1, or the exit code after
// an error line.
int mxp__input_cut(const mxp_command *command, mxp_input *input, const mxp_selection *selection);

#endif
