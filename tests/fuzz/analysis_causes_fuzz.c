// SPDX-License-Identifier: Apache-2.0
// Fuzzes the causes of slow steps: of whatever a native file holds, what a step spent is its
// length, what is told is above the noise, and nothing gains more than there is.
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/analysis/causes/verdict.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS_MAX = 256, STEPS_MAX = 4096 };  // what more of them would only cost

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_lengths(const mxp_facts *facts)
{
    double *spent = calloc(facts->count + 1, sizeof *spent);
    require(spent != NULL);
    require(mxp__facts_kinds(facts, (1u << MXP__PATH_KINDS) - 1, spent) == MXP_OK);
    for (size_t i = 0; i < facts->count; i++) {
        require(fabs(spent[i] - facts->at[i].wall_ns) <= 1e-9 * facts->at[i].wall_ns);
        require(facts->at[i].tiny <= facts->at[i].pushed);
    }
    free(spent);
}

static void check_verdict(const mxp_facts *facts, const mxp_verdict *verdict)
{
    require(verdict->steps == facts->count && verdict->told <= verdict->causes.count);
    require(isfinite(verdict->mean_ns) && isfinite(verdict->noise_ns));
    for (size_t i = 0; i < verdict->causes.count; i++) {
        const mxp_cause *cause = &verdict->causes.all[i];
        require(cause->is_told == (i < verdict->told));
        require(isfinite(cause->gain_ns) && isfinite(cause->bytes) && isfinite(cause->share));
        require(!cause->is_told || cause->gain == MXP_GAIN_NONE ||
                cause->gain_ns > verdict->noise_ns);
    }
}

static void explain_steps(mxp_source *process, const mxp_steps *steps)
{
    mxp_choice choice;
    mxp_facts facts;
    mxp_verdict verdict;
    require(mxp__choice_make(steps, &(mxp_choice_wish){0}, &choice) == MXP_OK);
    require(mxp__facts_make(process, steps, &choice, MXP__GRAPH_BYTES_MAX, NULL, &facts) == MXP_OK);
    check_lengths(&facts);
    require(mxp__verdict_make(&facts, MXP__GRAPH_BYTES_MAX, &verdict) == MXP_OK);
    check_verdict(&facts, &verdict);
    mxp__verdict_fini(&verdict);
    mxp__facts_fini(&facts);
    mxp__choice_fini(&choice);
}

static void explain_process(mxp_source *process)
{
    mxp_steps steps;
    if (process->thread_count <= THREADS_MAX && mxp__steps_find(process, &steps) == MXP_OK) {
        if (steps.count > 0 && steps.count <= STEPS_MAX) {
            explain_steps(process, &steps);
        }
        mxp__steps_fini(&steps);
    }
}

static void explain(const void *data, size_t size)
{
    use_processes(data, size, explain_process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, explain);
    return 0;
}
