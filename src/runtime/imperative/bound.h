// SPDX-License-Identifier: Apache-2.0
// A bound call, which is one run of an operator: its job, operands, variables. Private to
// imperative/.
//
// A bound call is one block of memory, which lives until the operation is over:
//
//     | bound | operands: inputs, outputs | shapes | shape pointers | variables | types |
//
// Shapes, their pointers and types are there only if the run has no prepared call to take them
// from. The kernel's side (the job) keeps places and copies of shapes, never arrays: these may be
// freed or take another shape before the operation runs.
#ifndef MXN_IMPERATIVE_BOUND_H
#define MXN_IMPERATIVE_BOUND_H

#include "runtime/imperative/custom/custom_call.h"
#include "runtime/imperative/prepared.h"

// What inference and the push need to know of a call.
typedef struct mxn_call_form {
    mxn_params *params;
    mxn_context context;
    bool training;
    mxn_shape *shapes;  // inputs, then outputs
    int32_t *types;
    const uint32_t *requests;  // of outputs; null: MXN_WRITE
} mxn_call_form;

struct mxn_prepared {
    mxp_refs refs;
    uint32_t shape_text;  // for the record
    float flops, bytes_moved;
    mxn_kernel_choice kernel;
    mxn_call_form form;  // with a reference on params
    size_t bytes;
};

struct mxn_bound {
    mxn_job job;
    mxn_call_form form;  // with a reference on params
    mxn_prepared *prepared;  // a reference; null: prepared for this run alone
    size_t bytes;
    mxn_shape **shape_pointers;
    mxn_var **reads, **writes;
    uint32_t read_count, write_count;
    uint32_t state_count;  // the first of `writes`; 0 if one of them is another operand's too
    uint32_t scope, node;
    uint64_t overwrites;  // as in mxn_work
    mxn_custom_call *custom;  // null: the operator has a kernel
    mxn_operand operands[];
};

static inline uint32_t mxn__request_of(const uint32_t *requests, uint32_t output)
{
    return requests == NULL ? (uint32_t)MXN_WRITE : requests[output];
}

// `own_shapes`: for how many operands there is space for shapes. Null with the detail set.
mxn_bound *mxn__bound_make(mxn_params *params, size_t own_shapes);
// Completes shapes and types; `pointers` has one to each shape.
int mxn__form_infer(const mxn_call_form *form, mxn_shape **pointers);
// Fills in operands and variables from arrays that fit. If it fails the caller frees `bound`.
int mxn__bound_take(mxn_bound *bound, const mxn_binding *binding);

#endif
