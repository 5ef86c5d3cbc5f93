// SPDX-License-Identifier: Apache-2.0
// Columns of steps. When there is no room for one more, each two become one: the one with the lower
// total (with keeps_most: the higher), with the owners' amounts at it.
#include "profiler/analysis/memory/memory_growth.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"

void mxp__growth_begin(mxp_memory_growth *growth, const int64_t *bounds, size_t step_count,
                       bool keeps_most)
{
    *growth = (mxp_memory_growth){
        .keeps_most = keeps_most, .bounds = bounds, .step_count = step_count, .stride = 1};
}

static void fold_columns(mxp_memory_growth *growth, mxp_memory_owners *owners)
{
    for (size_t i = 0; i < MXP__MEMORY_COLUMNS / 2; i++) {
        const mxp_memory_column *two = &growth->columns[2 * i];
        const size_t lower = two[1].least_bytes < two[0].least_bytes ? 1 : 0;
        const size_t higher = two[1].most_bytes > two[0].most_bytes ? 1 : 0;
        const size_t kept = growth->keeps_most ? higher : lower;
        growth->columns[i] =
            (mxp_memory_column){.least_bytes = two[lower].least_bytes,
                                .most_bytes = two[higher].most_bytes,
                                .fresh_blocks = two[0].fresh_blocks + two[1].fresh_blocks,
                                .fresh_bytes = two[0].fresh_bytes + two[1].fresh_bytes,
                                .fresh_steps = two[0].fresh_steps + two[1].fresh_steps};
        for (size_t k = 0; k < owners->count; k++) {
            uint64_t *bytes = owners->owners[k].least_bytes;
            if (bytes != NULL) {
                bytes[i] = bytes[2 * i + kept];
            }
        }
    }
    growth->count = MXP__MEMORY_COLUMNS / 2;
    growth->stride *= 2;
}

static int end_column(mxp_memory_growth *growth, mxp_memory_owners *table)
{
    assert(growth->count < MXP__MEMORY_COLUMNS);
    size_t column = growth->count++;
    growth->columns[column] = growth->column;
    for (uint32_t i = 0; i < table->count; i++) {
        mxp_owner *owner = &table->owners[i];
        uint64_t bytes = mxp__owners_at(table, i, MXP__MOMENT_LEAST).bytes;
        if (owner->least_bytes == NULL && bytes != 0) {
            owner->least_bytes = mxp__alloc(MXP__MEMORY_COLUMNS * sizeof *owner->least_bytes);
            if (owner->least_bytes == NULL) {
                return mxp__fail_memory("the memory of each step");
            }
        }
        if (owner->least_bytes != NULL) {
            owner->least_bytes[column] = bytes;
        }
    }
    return MXP_OK;
}

static void begin_column(mxp_memory_growth *growth, mxp_memory_owners *owners, uint64_t live_bytes)
{
    if (growth->count == MXP__MEMORY_COLUMNS) {
        fold_columns(growth, owners);
    }
    growth->column = (mxp_memory_column){.least_bytes = live_bytes, .most_bytes = live_bytes};
    mxp__owners_mark(owners, MXP__MOMENT_LEAST);
}

int mxp__growth_advance(mxp_memory_growth *growth, mxp_memory_owners *owners, int64_t ns,
                        uint64_t live_bytes)
{
    if (!growth->is_open && growth->step == 0 && growth->step_count > 0 &&
        ns >= growth->bounds[0]) {
        growth->is_open = true;
        begin_column(growth, owners, live_bytes);
    }
    while (growth->is_open && ns >= growth->bounds[growth->step + 1]) {
        growth->step++;
        growth->is_open = growth->step < growth->step_count;
        if (growth->is_open && growth->step / growth->stride == growth->count) {
            continue;
        }
        int error = end_column(growth, owners);
        if (error != MXP_OK) {
            return error;
        }
        if (growth->is_open) {
            begin_column(growth, owners, live_bytes);
        }
    }
    return MXP_OK;
}

void mxp__growth_follow(mxp_memory_growth *growth, mxp_memory_owners *owners, uint64_t live_bytes)
{
    if (growth->is_open && live_bytes < growth->column.least_bytes) {
        growth->column.least_bytes = live_bytes;
        if (!growth->keeps_most) {
            mxp__owners_mark(owners, MXP__MOMENT_LEAST);
        }
    }
    if (growth->is_open && live_bytes > growth->column.most_bytes) {
        growth->column.most_bytes = live_bytes;
        if (growth->keeps_most) {
            mxp__owners_mark(owners, MXP__MOMENT_LEAST);
        }
    }
}

void mxp__growth_fresh(mxp_memory_growth *growth, mxp_memory_owners *table, uint32_t i,
                       uint64_t bytes)
{
    assert(i < table->count);
    if (!growth->is_open) {
        return;
    }
    mxp_owner *owner = &table->owners[i];
    uint64_t step = 1 + growth->step;
    owner->fresh_blocks++;
    owner->fresh_bytes += bytes;
    owner->fresh_steps += owner->fresh_step != step;
    owner->fresh_step = step;
    growth->column.fresh_blocks++;
    growth->column.fresh_bytes += bytes;
    growth->column.fresh_steps += growth->fresh_step != step;
    growth->fresh_step = step;
}
