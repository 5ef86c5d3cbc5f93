// SPDX-License-Identifier: Apache-2.0
// Prepared calls that run as one operation of the engine (op/fused.h). Its record is called
// "fused[A,B]", by its operators; each call has a record inside, without a time of its own.
//
// Ownership: a fusion holds its parameters, and bound work holds the fusion; the arrays are the
// caller's, as in prepared.h. Thread rule: a fusion is immutable, any thread may bind it. Errors: 0
// or a negative MXP_E code with the detail set.
#ifndef MXN_IMPERATIVE_FUSION_H
#define MXN_IMPERATIVE_FUSION_H

#include "runtime/imperative/prepared.h"
#include "runtime/op/fused.h"

typedef struct mxn_fusion mxn_fusion;

typedef struct mxn_fusion_form {
    mxn_fused_form fused;
    mxn_prepared *const *prepared;  // of each call, for its record
    const uint32_t *scopes;  // of each call; 0: none
    mxn_context context;
} mxn_fusion_form;

// One reference. MXP_ENOMEM, MXP_EVALUE (mxn_kernels_check).
int mxn_fusion_make(const mxn_fusion_form *form, mxn_fusion **made);
void mxn_fusion_release(mxn_fusion *fusion);  // null does nothing

// `arrays`: of each value; null: of an inner one. The work is as mxn_bound_work makes it.
int mxn_fusion_bind(mxn_fusion *fusion, mxn_array *const *arrays, mxn_work *work);

#endif
