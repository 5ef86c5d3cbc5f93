// SPDX-License-Identifier: Apache-2.0
// Memory is taken from the system, or given back, in nearly every step, long after the first ones:
// the pool does not have what the program asks for.
#include "profiler/analysis/causes/cause.h"

static const double of_late_steps = 0.9;

// Who asked for most bytes that were not in a pool.
static void take_owner(const mxp_facts *facts, mxp_cause *cause)
{
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < facts->memory.count; i++) {
        const mxp_memory_owners *owners = &facts->memory.devices[i]->owners;
        for (size_t j = MXP__OWNER_FIRST; j < owners->count; j++) {
            const mxp_owner *owner = &owners->owners[j];
            if (owner->fresh_bytes > most_bytes) {
                most_bytes = owner->fresh_bytes;
                cause->places[0] = (mxp_cause_place){.name = owner->name, .scope = owner->scope};
                cause->place_count = 1;
            }
        }
    }
}

int mxp__find_allocation(const mxp_facts *facts, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_ALLOCATION, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    const size_t half = facts->count / 2;
    size_t late = 0;
    double calls = 0, blocks = 0, bytes = 0;
    int error = mxp__facts_kinds(facts, 1u << MXP__PATH_MEMORY, cause->gains);
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        const mxp_facts_step *step = &facts->at[i];
        const bool takes = step->takings > 0 || step->fresh_blocks > 0;
        cause->steps += takes;
        late += takes && i >= half;
        calls += (double)step->takings;
        blocks += (double)step->fresh_blocks;
        bytes += (double)step->fresh_bytes;
        cause->gains[i] += step->fresh_ns;
    }
    if (error != MXP_OK || (double)late <= of_late_steps * (double)(facts->count - half)) {
        mxp__causes_drop(causes);
        return error;
    }
    cause->count = calls / (double)facts->count;
    cause->blocks = blocks / (double)facts->count;
    cause->bytes = bytes / (double)facts->count;
    take_owner(facts, cause);
    return MXP_OK;
}
