// SPDX-License-Identifier: Apache-2.0
// What is asked of `mxprof whatif`: its options as they were typed, and the changes that they mean.
#ifndef MXP_WHATIF_OPTIONS_H
#define MXP_WHATIF_OPTIONS_H

#include "each_window.h"
#include "profiler/analysis/replay/what_if.h"
#include "profiler/analysis/roof/ceilings.h"
#include "whatif_view.h"

typedef struct mxp_whatif_options {
    mxp_window_options window;
    mxp_option_list names, scopes, calls, no_waits, roofs;
    const char *host, *prefetch, *workers, *bulk, *ceilings;
    mxp_ceilings roof;  // of the process that is looked at
    mxp_change changes[MXP_WHATIF_CHANGES_MAX];
    size_t count;
    char *globs[4 * MXP_OPTION_LIST_MAX];  // of the changes, cut from the arguments
    size_t glob_count;
} mxp_whatif_options;

// Makes the changes of the options. -1, or the exit code after an error line.
int mxp__whatif_take_changes(const mxp_command *self, mxp_whatif_options *options);
void mxp__whatif_options_fini(mxp_whatif_options *options);

#endif
