// SPDX-License-Identifier: Apache-2.0
// Fuzzes the comparison of runs: of whatever a native file holds, the rows of a run add up to its
// steps, and those of a comparison to its means.
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/analysis/comparison/contributions.h"
#include "profiler/analysis/comparison/differences.h"
#include "profiler/analysis/comparison/noise.h"
#include "profiler/analysis/graph/graph.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS_MAX = 256, RUNS_MAX = 8 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_run(const mxp_comparison *comparison, const mxp_compared_run *run)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < comparison->rows.path.count; i++) {
        sum_ns += mxp__row_sums_get(&run->path_rows, i).ns;
    }
    require(run->step_count > 0 && sum_ns == run->total_ns);
}

static void add_run(mxp_comparison *comparison, int side, mxp_source *process)
{
    mxp_compared_run *run = mxp__side_next(&comparison->sides[side]);
    if (mxp__compared_run_read(process, "run", NULL, MXP__GRAPH_BYTES_MAX, &comparison->rows,
                               run) == MXP_OK) {
        comparison->sides[side].count++;
        check_run(comparison, run);
    }
}

static void compare(mxp_comparison *comparison)
{
    mxp_differences differences = {0};
    mxp_contributions found = {0};
    mxp_noise noise;
    require(mxp__comparison_judge(comparison) == MXP_OK);
    require(mxp__differences_find(comparison, &differences) == MXP_OK);
    require(mxp__contributions_find(comparison, &found) == MXP_OK);
    for (int side = 0; side < MXP__SIDES; side++) {
        const double mean_ns = comparison->wall.means_ns[side];
        require(fabs((double)found.ns[side] - mean_ns) <= 1 + 1e-12 * mean_ns);
        require(mxp__noise_of(comparison->sides[side].runs, comparison->sides[side].count, NULL,
                              false, &noise) == MXP_OK);
    }
    mxp__contributions_fini(&found);
    mxp__differences_fini(&differences);
}

// Its processes in turn on either side; of a single one twice the same.
static void analyse(const void *data, size_t size)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(data, size, &source, &damage) != MXP_OK) {
        return;
    }
    mxp_comparison comparison = {.at_least = 0.01};
    for (size_t i = 0; i < RUNS_MAX; i++) {
        mxp_source *process = mxp__source_process(source, i);
        if (process != NULL && process->thread_count <= THREADS_MAX) {
            add_run(&comparison, (int)(i % 2), process);
            add_run(&comparison, (int)((i + 1) % 2), process);
        }
        if (process == NULL) {
            break;
        }
    }
    if (comparison.sides[MXP__BEFORE].count > 0 && comparison.sides[MXP__AFTER].count > 0) {
        compare(&comparison);
    }
    mxp__comparison_fini(&comparison);
    mxp__source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, analyse);
    return 0;
}
