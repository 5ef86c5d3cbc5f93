// SPDX-License-Identifier: Apache-2.0
// See same_clock.h. One clock has no slope to itself, so bounds are only intersected.
#include "profiler/analysis/clocks/same_clock.h"

#include "profiler/analysis/clocks/raw_time.h"

static int64_t lower(int64_t ns, int64_t by_ns)
{
    return ns < INT64_MIN + by_ns ? INT64_MIN : ns - by_ns;
}

static int64_t higher(int64_t ns, int64_t by_ns)
{
    return ns > INT64_MAX - by_ns ? INT64_MAX : ns + by_ns;
}

mxp_clock_proof mxp__same_clock_proof(const mxp_source *process)
{
    const mxp_clock_cut *cuts;
    const size_t count = mxp__source_cuts(process, &cuts);
    mxp_clock_proof proof = {.low_ns = INT64_MIN, .high_ns = INT64_MAX};
    for (size_t i = 0; i < count; i++) {
        if (cuts[i].kind != MXP_CUT_PING || cuts[i].low_ns > cuts[i].high_ns) {
            continue;
        }
        const uint64_t own_ns = mxp__raw_of_ticks(process->timebase, cuts[i].ticks);
        const int64_t doubt_ns = mxp__raw_doubt_ns(process->timebase, cuts[i].ticks);
        const int64_t low_ns = lower((int64_t)(cuts[i].low_ns - own_ns), doubt_ns);
        const int64_t high_ns = higher((int64_t)(cuts[i].high_ns - own_ns), doubt_ns);
        proof.low_ns = low_ns > proof.low_ns ? low_ns : proof.low_ns;
        proof.high_ns = high_ns < proof.high_ns ? high_ns : proof.high_ns;
        proof.exchanges++;
    }
    return proof;
}
