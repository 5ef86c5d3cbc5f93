// SPDX-License-Identifier: Apache-2.0
// How a run was made: the pairs of INFO that say it, without those that were measured of it.
#ifndef MXP_COMPARISON_RUN_SETTINGS_H
#define MXP_COMPARISON_RUN_SETTINGS_H

#include "profiler/analysis/comparison/compared_run.h"

// Appends them to the run's settings, which are freed with it. 0 or MXP_ENOMEM.
int mxp__run_settings_read(const mxp_source *source, mxp_compared_run *run);

#endif
