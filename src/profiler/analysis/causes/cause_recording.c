// SPDX-License-Identifier: Apache-2.0
// Recording itself: so many records a step, at what one costs.
#include "profiler/analysis/causes/cause.h"

static uint64_t most_kind(const mxp_facts *facts)
{
    uint64_t most = 0;
    for (uint64_t kind = 0; kind < MXP_KIND_END; kind++) {
        most = facts->records[kind] > facts->records[most] ? kind : most;
    }
    return most;
}

int mxp__find_recording(const mxp_facts *facts, mxp_causes *causes)
{
    if (facts->record_cost_ns <= 0) {
        return MXP_OK;
    }
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_RECORDING, MXP_GAIN_COUNTED);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    double records = 0;
    for (size_t i = 0; i < facts->count; i++) {
        records += (double)facts->at[i].records;
        cause->gains[i] = (double)facts->at[i].records * facts->record_cost_ns;
        cause->steps += facts->at[i].records > 0;
    }
    cause->is_upper_bound = true;  // records of threads beside the path cost the step nothing
    cause->each_ns = facts->record_cost_ns;
    cause->count = facts->count > 0 ? records / (double)facts->count : 0;
    cause->most_records_kind = most_kind(facts);
    return MXP_OK;
}
