// SPDX-License-Identifier: Apache-2.0
// A leak is told by the rank of all pairs of steps (Mann-Kendall), its size by the median of their
// slopes (Theil-Sen): neither cares about a few steps that are out of line, such as the first ones.
#include "profiler/analysis/memory/memory_leak.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

static const double z_of_leak = 4, late_z_of_leak = 2, level = 0.95;

static uint64_t least_of(const mxp_owner *owner, size_t column)
{
    return owner->least_bytes == NULL ? 0 : owner->least_bytes[column];
}

// Bytes by which the owner has more at the end than at the begin, or less.
static uint64_t change_of(const mxp_owner *owner, size_t count)
{
    uint64_t first = least_of(owner, 0), last = least_of(owner, count - 1);
    return last > first ? last - first : first - last;
}

// The owners that changed most, in no order.
static void choose_owners(const mxp_memory_device *device, mxp_memory_leak *leak)
{
    const mxp_memory_owners *table = &device->owners;
    size_t columns = device->growth.count;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t change = change_of(&table->owners[i], columns);
        size_t at = leak->owner_count;
        while (at > 0 && change > change_of(&table->owners[leak->owners[at - 1].owner], columns)) {
            at--;
        }
        if (change == 0 || at == MXP__LEAK_OWNERS_MAX) {
            continue;
        }
        leak->owner_count += leak->owner_count < MXP__LEAK_OWNERS_MAX;
        for (size_t k = leak->owner_count - 1; k > at; k--) {
            leak->owners[k] = leak->owners[k - 1];
        }
        leak->owners[at] = (mxp_leak_owner){.owner = i};
    }
}

static int by_slope(const void *a, const void *b)
{
    double left = ((const mxp_leak_owner *)a)->slope, right = ((const mxp_leak_owner *)b)->slope;
    return (left < right) - (left > right);
}

static int find_owners(const mxp_memory_device *device, double *values, mxp_memory_leak *leak)
{
    const mxp_memory_growth *growth = &device->growth;
    choose_owners(device, leak);
    leak->rest_slope = leak->slope.slope;
    int error = MXP_OK;
    for (size_t i = 0; i < leak->owner_count && error == MXP_OK; i++) {
        const mxp_owner *owner = &device->owners.owners[leak->owners[i].owner];
        for (size_t k = 0; k < growth->count; k++) {
            values[k] = (double)least_of(owner, k);
        }
        mxp_theil_sen slope;
        error = mxp__theil_sen(values, growth->count, level, &slope);
        leak->owners[i].slope = error == MXP_OK ? slope.slope / (double)growth->stride : 0;
        leak->rest_slope -= leak->owners[i].slope;
    }
    qsort(leak->owners, leak->owner_count, sizeof leak->owners[0], by_slope);
    return error;
}

static int find_total(const mxp_memory_growth *growth, double *values, mxp_memory_leak *leak)
{
    size_t count = growth->count, half = count / 2;
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)growth->columns[i].least_bytes;
    }
    mxp_mann_kendall whole = {0}, late = {0};
    mxp_theil_sen late_slope = {0};
    int error = mxp__mann_kendall(values, count, &whole);
    error = error == MXP_OK ? mxp__mann_kendall(values + half, count - half, &late) : error;
    error = error == MXP_OK ? mxp__theil_sen(values, count, level, &leak->slope) : error;
    error =
        error == MXP_OK ? mxp__theil_sen(values + half, count - half, level, &late_slope) : error;
    double stride = (double)growth->stride;
    leak->z = whole.z;
    leak->late_z = late.z;
    leak->slope.slope /= stride;
    leak->slope.low /= stride;
    leak->slope.high /= stride;
    leak->grows = whole.z > z_of_leak && leak->slope.low > 0 && late.z > late_z_of_leak &&
                  late_slope.slope > 0;
    return error;
}

int mxp__memory_leak_find(const mxp_memory_device *device, mxp_memory_leak *leak)
{
    const mxp_memory_growth *growth = &device->growth;
    *leak = (mxp_memory_leak){.steps = growth->step_count};
    if (growth->count == 0) {
        return MXP_OK;
    }
    leak->first_bytes = growth->columns[0].least_bytes;
    leak->last_bytes = growth->columns[growth->count - 1].least_bytes;
    leak->is_known = growth->step_count >= MXP__LEAK_STEPS_MIN;
    if (!leak->is_known) {
        return MXP_OK;
    }
    size_t bytes = growth->count * sizeof(double);
    double *values = mxp__alloc(bytes);
    if (values == NULL) {
        return mxp__fail_memory("the growth of memory");
    }
    int error = find_total(growth, values, leak);
    if (error == MXP_OK) {
        error = find_owners(device, values, leak);
    }
    mxp__free(values, bytes);
    return error;
}
