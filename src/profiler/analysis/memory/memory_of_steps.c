// SPDX-License-Identifier: Apache-2.0
// The memory of devices in steps, as they follow one another.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/memory/live_memory.h"

int mxp__live_memory_of_steps(mxp_source *source, const mxp_steps *steps,
                              const mxp_live_memory_options *options, mxp_live_memory *memory)
{
    const size_t bytes = (steps->count + 1) * sizeof(int64_t);
    int64_t *bounds = mxp__alloc(bytes);
    if (bounds == NULL) {
        *memory = (mxp_live_memory){0};
        return mxp__fail_memory("the bounds of steps");
    }
    for (size_t i = 0; i < steps->count; i++) {
        bounds[i] = steps->all[i].begin_ns;
        bounds[i + 1] = steps->all[i].end_ns;
    }
    mxp_live_memory_options in_steps = *options;
    in_steps.bounds = bounds;
    in_steps.step_count = steps->count;
    const int error = mxp__live_memory_make(source, &in_steps, memory);
    for (size_t i = 0; i < memory->count; i++) {
        memory->devices[i]->growth.bounds = NULL;
    }
    mxp__free(bounds, bytes);
    return error;
}
