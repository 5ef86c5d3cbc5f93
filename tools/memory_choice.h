// SPDX-License-Identifier: Apache-2.0
// What is asked of `mxprof memory`: of which moment, which part of the recording and which arrays.
// Both functions give -1, or the exit code after an error line.
#ifndef MXP_MEMORY_CHOICE_H
#define MXP_MEMORY_CHOICE_H

#include "command.h"
#include "memory_shown.h"
#include "selection.h"

typedef struct mxp_memory_options {
    const char *at;
    int growth, fresh, later, by, json;
    mxp_selection selection;
} mxp_memory_options;

// The moment, the window and the scopes of `view`, whose steps are known.
int mxp__memory_choose(const mxp_command *self, const mxp_memory_options *options,
                       mxp_memory_shown *view);
// The arrays that are shown, when the owners of its memory are known.
int mxp__memory_choose_arrays(const mxp_command *self, const mxp_memory_options *options,
                              mxp_memory_shown *view);

#endif
