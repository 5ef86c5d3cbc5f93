// SPDX-License-Identifier: Apache-2.0
// How the values of a fusion are cut, and the jobs of a piece. Private to op/execute.
#ifndef MXN_OP_EXECUTE_FUSED_PLAN_H
#define MXN_OP_EXECUTE_FUSED_PLAN_H

#include "runtime/op/fused.h"

typedef struct mxn_cut_value {
    mxn_shape shape;  // of a whole one; of others, of one unit
    int32_t dtype;
    uint8_t kind;
    bool is_written;
    uint64_t bytes, unit_bytes;  // of all of it; of a unit, 0: whole
    uint64_t inner_at;  // where the piece of an inner one begins
} mxn_cut_value;

typedef struct mxn_cut_call {
    mxn_params *params;
    uint32_t first_operand;  // among all calls'
    mxn_kernel_choice kernel;  // of a whole piece
} mxn_cut_call;

struct mxn_fused {
    size_t bytes;
    bool is_pointwise, training;
    uint32_t value_count, call_count, operand_count;
    int64_t units, piece, pieces;  // units of a piece
    uint64_t inner_bytes, thread_bytes;
    mxn_cut_value *values;
    mxn_cut_call *calls;
    uint32_t *operands;
    uint32_t *shaped;  // of each operand: the value whose shape it has
};

static inline uint64_t mxn__fused_aligned(uint64_t bytes)
{
    return (bytes + (MXN_ALIGNMENT - 1)) & ~(uint64_t)(MXN_ALIGNMENT - 1);
}

typedef struct mxn_fused_worker {  // what one thread works with
    const mxn_fused *fused;
    mxn_job *jobs;
    mxn_operand *operands;
    mxn_shape *shapes;
    char *inner;
} mxn_fused_worker;

// `memory`: `thread_bytes` of it.
void mxn__fused_worker_init(mxn_fused_worker *worker, const mxn_fused *fused, char *memory);
// The shapes of a piece of so many units.
void mxn__fused_worker_units(mxn_fused_worker *worker, int64_t units);

#endif
