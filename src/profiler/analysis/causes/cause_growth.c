// SPDX-License-Identifier: Apache-2.0
// The least total of each step grows. It is no time, and never ranks by it.
#include "profiler/analysis/causes/cause.h"
#include "profiler/analysis/memory/memory_leak.h"

static int add_growth(const mxp_memory_device *device, const mxp_memory_leak *leak,
                      mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_GROWTH, MXP_GAIN_NONE);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->bytes = leak->slope.slope;
    cause->count = (double)leak->last_bytes;
    cause->steps = leak->steps;
    cause->device = device->device;
    if (leak->owner_count > 0 && leak->owners[0].slope > 0) {
        const mxp_owner *owner = &device->owners.owners[leak->owners[0].owner];
        cause->places[0] = (mxp_cause_place){.name = owner->name, .scope = owner->scope};
        cause->place_count = 1;
        cause->share = leak->owners[0].slope / leak->slope.slope;
    }
    return MXP_OK;
}

int mxp__find_growth(const mxp_facts *facts, mxp_causes *causes)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < facts->memory.count; i++) {
        const mxp_memory_device *device = facts->memory.devices[i];
        mxp_memory_leak leak;
        error = mxp__memory_leak_find(device, &leak);
        if (error == MXP_OK && leak.is_known && leak.grows) {
            error = add_growth(device, &leak, causes);
        }
    }
    return error;
}
