// SPDX-License-Identifier: Apache-2.0
// Fuzzes what is made of blocks and of costs: of whatever a native file holds, the owners' bytes
// add up to the total at every moment that is kept, and operators' rows to the time of all.
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/analysis/memory/memory_leak.h"
#include "profiler/analysis/memory/memory_uses.h"
#include "profiler/analysis/roof/roof.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS_MAX = 256, STEPS_MAX = 10000 };

static const mxp_ceilings ceilings = {
    .machine = {.cores = 2, .cache_bytes = {32768, 1048576, 33554432}},
    .all = {{1e11, 1e11, 1e11},
            {5e10, 5e10, 5e10},
            {4e11, 4e11, 4e11},
            {2e11, 2e11, 2e11},
            {1e11, 1e11, 1e11},
            {4e10, 4e10, 4e10}}};

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_moment(const mxp_memory_device *device, int moment, uint64_t total)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < device->owners.count; i++) {
        sum += mxp__owners_at(&device->owners, i, moment).bytes;
    }
    require(sum == total);
}

static void check_columns(const mxp_memory_device *device)
{
    for (size_t i = 0; i < device->growth.count; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < device->owners.count; k++) {
            const uint64_t *least = device->owners.owners[k].least_bytes;
            sum += least == NULL ? 0 : least[i];
        }
        require(sum == device->growth.columns[i].least_bytes);
        require(device->growth.columns[i].most_bytes >= sum);
    }
}

static void check_device(mxp_source *source, const mxp_memory_device *device)
{
    mxp_memory_leak leak;
    mxp_memory_uses uses;
    check_moment(device, MXP__MOMENT_NOW, device->live_bytes);
    check_moment(device, MXP__MOMENT_TIME, device->time_bytes);
    check_columns(device);
    require(mxp__memory_leak_find(device, &leak) == MXP_OK);
    require(!leak.grows || leak.is_known);
    if (device->peak.is_known) {
        check_moment(device, MXP__MOMENT_PEAK, device->peak.bytes);
        int error = mxp__memory_uses_make(source, device, &uses);
        require(error == MXP_OK || error == MXP_EFORMAT);
        mxp__memory_uses_fini(&uses);
    }
}

static void check_memory(mxp_source *source, const mxp_steps *steps)
{
    size_t count = steps->count < STEPS_MAX ? steps->count : STEPS_MAX;
    int64_t *bounds = malloc((count + 1) * sizeof *bounds);
    require(bounds != NULL);
    for (size_t i = 0; i < count; i++) {
        bounds[i] = steps->all[i].begin_ns;
        bounds[i + 1] = steps->all[i].end_ns;
    }
    const mxp_live_memory_options options = {.bounds = bounds,
                                             .step_count = count,
                                             .from_ns = INT64_MIN,
                                             .until_ns = INT64_MAX,
                                             .at_ns = steps->first_ns / 2 + steps->last_ns / 2};
    mxp_live_memory memory;
    int error = mxp__live_memory_make(source, &options, &memory);
    require(error == MXP_OK || error == MXP_EFORMAT);
    for (size_t i = 0; i < memory.count; i++) {
        check_device(source, memory.devices[i]);
    }
    mxp__live_memory_fini(&memory);
    free(bounds);
}

static void check_roof(mxp_source *source)
{
    const mxp_choice choice = {.from_ns = INT64_MIN, .until_ns = INT64_MAX};
    mxp_roof roof;
    int error = mxp__roof_make(source, &choice, &ceilings, &roof);
    require(error == MXP_OK || error == MXP_EFORMAT);
    uint64_t rows_ns = 0, groups_ns = 0, rows = 0;
    for (size_t i = 0; i < roof.row_count; i++) {
        rows_ns += roof.rows[i].run_ns;
        require(roof.rows[i].above_ns >= 0 && roof.rows[i].share >= 0);
    }
    for (size_t i = 0; i < roof.group_count; i++) {
        groups_ns += roof.groups[i].run_ns;
        rows += roof.groups[i].count;
    }
    require(rows == roof.row_count && rows_ns == groups_ns);
    require(rows_ns + roof.left_out_ns == roof.run_ns);
    mxp__roof_fini(&roof);
}

static void analyse_process(mxp_source *process)
{
    mxp_steps steps;
    if (process->thread_count <= THREADS_MAX && mxp__steps_find(process, &steps) == MXP_OK) {
        check_memory(process, &steps);
        check_roof(process);
        mxp__steps_fini(&steps);
    }
}

static void analyse(const void *data, size_t size)
{
    use_processes(data, size, analyse_process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, analyse);
    return 0;
}
