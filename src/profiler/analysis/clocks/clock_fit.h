// SPDX-License-Identifier: Apache-2.0
// Finds for each process the conversion of its ticks into the reference's time. Private to the
// folder.
#ifndef MXP_CLOCKS_CLOCK_FIT_H
#define MXP_CLOCKS_CLOCK_FIT_H

#include "profiler/analysis/clocks/one_clock.h"

typedef struct mxp_fit_process {
    mxp_source *inner;
    mxp_timebase timebase;  // made by the fit; the caller's to finish
    mxp_process_clock clock;
    size_t machine;  // the place of the first process of the same machine
} mxp_fit_process;

// Fills all but `inner`. MXP_ENOMEM: some timebases may be made already.
int mxp__clock_fit(mxp_fit_process *all, size_t count, bool use_messages);

#endif
