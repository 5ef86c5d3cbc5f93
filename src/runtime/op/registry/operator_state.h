// SPDX-License-Identifier: Apache-2.0
// What an operator remembers besides its declaration, private to op/. All members are made when
// first asked for and then stay; those marked atomic are published with release and read with
// acquire.
#ifndef MXN_OP_REGISTRY_OPERATOR_STATE_H
#define MXN_OP_REGISTRY_OPERATOR_STATE_H

#include "base/atomic.h"
#include "runtime/op/registry/declare.h"

typedef struct mxn_op_state {
    mxp_atomic_u32 record_name;
    mxp_atomic_ptr doc;
    mxp_atomic_ptr plain;  // the params of an operator without parameters
    mxp_atomic_ptr defaults;  // the struct with every default filled in
    const struct mxn_kernel_entry *kernels[MXN_KERNEL_KINDS];  // null: none of that kind
    mxn_infer_shapes infer_shapes;
    mxn_infer_types infer_types;
    uint32_t takes;  // MXN_TAKES_*
    int32_t context_field;  // index of parameter `ctx`, -1 none
    uint32_t field_count;
    bool list;  // its first input is a list
} mxn_op_state;

// Stores `made` unless another thread was first; gives what is stored now.
static inline void *mxn__publish(mxp_atomic_ptr *slot, void *made)
{
    void *expected = NULL;
    if (mxp_atomic_cas_acq_rel(slot, &expected, made)) {
        return made;
    }
    return expected;
}

#endif
