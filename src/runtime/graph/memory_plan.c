// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/memory_plan.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

static int largest_first(const void *a, const void *b)
{
    const mxn_tenant *first = *(const mxn_tenant *const *)a,
                     *second = *(const mxn_tenant *const *)b;
    if (first->bytes != second->bytes) {
        return first->bytes > second->bytes ? -1 : 1;
    }
    return first < second ? -1 : first > second;
}

static bool meet(const mxn_tenant *a, const mxn_tenant *b)
{
    return a->first <= b->last && b->first <= a->last;
}

// The slots in which somebody lives at the same time.
static void find_taken(const mxn_tenant *tenants, size_t count, const mxn_tenant *tenant,
                       bool *is_taken)
{
    for (size_t i = 0; i < count; i++) {
        if (tenants[i].slot != MXN_NO_SLOT && meet(&tenants[i], tenant)) {
            is_taken[tenants[i].slot] = true;
        }
    }
}

static uint32_t smallest_free(const mxn_slots *slots, const bool *is_taken, uint64_t bytes)
{
    uint32_t found = MXN_NO_SLOT;
    for (uint32_t i = 0; i < slots->count; i++) {
        if (!is_taken[i] && slots->bytes[i] >= bytes &&
            (found == MXN_NO_SLOT || slots->bytes[i] < slots->bytes[found])) {
            found = i;
        }
    }
    return found;
}

static int settle(mxn_tenant *tenants, size_t count, mxn_tenant *tenant, mxn_slots *slots)
{
    bool *is_taken = mxp__alloc(slots->count + 1);
    if (is_taken == NULL) {
        return mxp__fail_memory("the memory plan of a graph");
    }
    find_taken(tenants, count, tenant, is_taken);
    tenant->slot = smallest_free(slots, is_taken, tenant->bytes);
    mxp__free(is_taken, slots->count + 1);
    if (tenant->slot != MXN_NO_SLOT) {
        return MXP_OK;
    }
    if (mxp__grow(&slots->bytes, &slots->capacity, slots->count + 1, sizeof *slots->bytes) !=
        MXP_OK) {
        return mxp__fail_memory("the memory plan of a graph");
    }
    slots->bytes[slots->count] = tenant->bytes;
    tenant->slot = (uint32_t)slots->count++;
    return MXP_OK;
}

int mxn__memory_plan(mxn_tenant *tenants, size_t count, mxn_slots *slots)
{
    mxn_tenant **order = mxp__alloc(count * sizeof(mxn_tenant *) + 1);
    if (order == NULL) {
        return mxp__fail_memory("the memory plan of a graph");
    }
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        assert(tenants[i].first <= tenants[i].last && "a tenant comes before it goes");
        if (tenants[i].slot == MXN_NO_SLOT) {
            order[waiting++] = &tenants[i];
        }
    }
    qsort(order, waiting, sizeof(mxn_tenant *), largest_first);
    int error = MXP_OK;
    for (size_t i = 0; i < waiting && error == MXP_OK; i++) {
        error = settle(tenants, count, order[i], slots);
    }
    mxp__free(order, count * sizeof(mxn_tenant *) + 1);
    return error;
}

uint64_t mxn__slots_bytes(const mxn_slots *slots)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < slots->count; i++) {
        bytes += slots->bytes[i];
    }
    return bytes;
}

void mxn__slots_fini(mxn_slots *slots)
{
    mxp__free(slots->bytes, slots->capacity * sizeof *slots->bytes);
    *slots = (mxn_slots){0};
}
