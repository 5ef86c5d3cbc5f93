// SPDX-License-Identifier: Apache-2.0
// What a run and the rows of all runs hold. How a run is read is in run_reader.c.
#include "profiler/analysis/comparison/compared_run.h"

#include "base/alloc.h"

void mxp__compared_run_fini(mxp_compared_run *run)
{
    while (run->setting_count > 0) {
        mxp__strfree(run->settings[--run->setting_count]);
    }
    mxp__free(run->settings, run->setting_capacity * sizeof *run->settings);
    mxp__free(run->lengths_ns, run->length_capacity * sizeof(double));
    mxp__free(run->step_cpu_ns, run->length_capacity * sizeof(double));
    mxp__row_sums_fini(&run->path_rows);
    mxp__row_sums_fini(&run->operators);
    mxp__row_sums_fini(&run->shapes);
    *run = (mxp_compared_run){0};
}

void mxp__compared_rows_fini(mxp_compared_rows *rows)
{
    mxp__row_keys_fini(&rows->path);
    mxp__row_keys_fini(&rows->operators);
    mxp__row_keys_fini(&rows->shapes);
}
