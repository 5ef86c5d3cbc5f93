// SPDX-License-Identifier: Apache-2.0
// Several jobs as one, which goes through their values piece by piece: what one operator gives the
// next is still in the processor's caches, or has no other memory than a piece's.
//
// Values are numbered by who makes it. A cut value is gone through piece by piece: a pointwise
// fusion's by elements, any other's along axis 0, of which all have the same length. A whole value
// (a weight) is there for each piece. An inner value is cut and nobody outside sees it.
//
// Results are those of the operators one after the other, with inputs as they were before.
//
// Thread rule: immutable once made, any thread may execute it, several at once. Errors: 0 or a
// negative MXP_E code with the detail set.
#ifndef MXN_OP_FUSED_H
#define MXN_OP_FUSED_H

#include "runtime/op/op.h"

typedef struct mxn_fused mxn_fused;

#define MXN_FUSED_NONE UINT32_MAX  // an output that nobody wants

enum { MXN_FUSED_WHOLE, MXN_FUSED_CUT, MXN_FUSED_INNER };

typedef struct mxn_fused_value {
    const mxn_shape *shape;
    int32_t dtype;  // float32 or float64
    uint8_t kind;  // MXN_FUSED_*
} mxn_fused_value;

typedef struct mxn_fused_call {
    mxn_params *params;  // a reference is taken
    const uint32_t *operands;  // values: of the inputs, then of the outputs
} mxn_fused_call;

typedef struct mxn_fused_form {
    const mxn_fused_value *values;
    const mxn_fused_call *calls;  // in their order; none draws, has a state or is a gradient's
    uint32_t value_count, call_count;
    bool is_pointwise;  // all operators are MXN_OP_POINTWISE, all values of one size and not whole
    bool is_whole;  // one piece: an operator takes more time in pieces
    bool training;
} mxn_fused_form;

// MXP_ENOMEM, MXP_EVALUE (mxn_kernels_check).
int mxn_fused_make(const mxn_fused_form *form, mxn_fused **made);
void mxn_fused_free(mxn_fused *fused);  // null does nothing
uint32_t mxn_fused_pieces(const mxn_fused *fused);
// Whether a call writes the value; one that none writes is an input.
bool mxn_fused_writes(const mxn_fused *fused, uint32_t value);

// One execution. `values`: the memory of each, nothing for an inner one. The workspace is the
// pusher's.
typedef struct mxn_fused_job {
    const mxn_fused *fused;
    const mxn_buffer_ref *values;
    mxn_workspace *workspace;
    // Memory that is written lies on memory that is read, other than piece on piece: what is read
    // and never written is read from copies.
    bool copies;
} mxn_fused_job;

// Inside the operation.
int mxn_fused_execute(const mxn_fused_job *job, const mxn_run *run);

#endif
