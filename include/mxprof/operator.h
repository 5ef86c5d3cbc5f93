// SPDX-License-Identifier: Apache-2.0
// Operators and memory: what a runtime of tensor programs records of its work. Part of record.h.
#ifndef MXPROF_OPERATOR_H
#define MXPROF_OPERATOR_H

#include <mxprof/format_operator.h>
#include <mxprof/gate.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One executed operator. Stamps are ticks; push <= ready <= start <= end, 0 for an unknown push or
// ready (then taken as start, and the push as of no known thread). `variables` are ids of 31 bits,
// MXP_VARIABLE_WRITTEN set on those written; what does not fit into 16 records is left out and
// flagged.
typedef struct mxp_operator {
    mxp_name name;
    uint32_t id, released_by, bulk_parent;
    uint64_t push_ticks, ready_ticks, start_ticks, end_ticks;
    uint32_t flags;  // MXP_PHASE_* | MXP_OP_* | MXP_OPERATOR_HIDDEN
    uint32_t push_thread;  // index, 0xffff unknown
    uint32_t device;
    uint32_t scope, shape;  // name ids, 0 none
    float flops, bytes;
    uint32_t variable_count;
    const uint32_t *variables;
} mxp_operator;

// Recorded as kind HIDDEN: for analyses, and in no table.
#define MXP_OPERATOR_HIDDEN 0x10000u

// Records it if one of `classes` is on. What it points to is read during the call.
void mxp_operator_emit(uint32_t classes, const mxp_operator *op);

// For tools that know no past begin (key `emit`): an operator's function begins on this thread now.
// Nonzero: they were told, and are to be told of its end on this thread. Neither records anything.
int mxp_operator_begin(uint32_t classes, mxp_name name);
void mxp_operator_end(mxp_name name);

// One allocation or release of a device's memory. `live_bytes` is the device's total after it.
typedef struct mxp_memory {
    mxp_name name;  // the array's
    uint32_t scope;
    uint64_t block;  // identifies the block: 48 bits
    uint32_t device, flags;  // MXP_MEM_*, or MXP_MEMORY_CENSUS: live since before recording
    uint32_t category;  // 0..15
    uint64_t requested_bytes, rounded_bytes, live_bytes;
} mxp_memory;

// Records it if MXP_CLASS_MEMORY is on.
void mxp_memory_emit(const mxp_memory *memory);

#ifdef __cplusplus
}
#endif
#endif
