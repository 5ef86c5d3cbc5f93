// SPDX-License-Identifier: Apache-2.0
// Which values of a prepared network share memory. Private to graph/.
//
// A tenant is memory that is needed from one step to another; a slot is memory that tenants have
// one after the other. Tenants in one slot never live at the same step.
#ifndef MXN_GRAPH_MEMORY_PLAN_H
#define MXN_GRAPH_MEMORY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define MXN_NO_SLOT UINT32_MAX
#define MXN_FOREVER UINT32_MAX  // a last step

typedef struct mxn_tenant {
    uint64_t bytes;
    uint32_t first, last;  // steps, both included
    uint32_t slot;  // MXN_NO_SLOT: it is to be given one
} mxn_tenant;

typedef struct mxn_slots {
    uint64_t *bytes;
    size_t count, capacity;
} mxn_slots;

// Gives each tenant that has none a slot: the smallest there is that is large enough and free for
// all its steps, else a new one of its size. The largest tenants choose first. MXP_ENOMEM; then
// some have none.
int mxn__memory_plan(mxn_tenant *tenants, size_t count, mxn_slots *slots);
uint64_t mxn__slots_bytes(const mxn_slots *slots);  // of all
void mxn__slots_fini(mxn_slots *slots);  // an empty list is fine

#endif
