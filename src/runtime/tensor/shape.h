// SPDX-License-Identifier: Apache-2.0
// Shapes. A dimension of -1 is unknown, a rank of -1 too (a "none" array). Rank 0 is a scalar.
#ifndef MXN_TENSOR_SHAPE_H
#define MXN_TENSOR_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXN_DIMS_MAX = 16, MXN_SHAPE_TEXT = 384 };
#define MXN_SIZE_LIMIT (INT64_C(1) << 62)

typedef struct mxn_shape {
    int32_t ndim;
    int64_t dims[MXN_DIMS_MAX];  // only the first ndim mean anything
} mxn_shape;

// `what` names the shape in the error. MXP_EINVAL: rank above 16, a dimension below -1, or more
// elements than MXN_SIZE_LIMIT.
int mxn_shape_set(mxn_shape *shape, int ndim, const int64_t *dims, const char *what);
int mxn_shape_set32(mxn_shape *shape, int ndim, const uint32_t *dims, const char *what);

// Only what counts is copied: cheaper than an assignment.
static inline void mxn_shape_copy(mxn_shape *to, const mxn_shape *from)
{
    to->ndim = from->ndim;
    for (int32_t i = 0; i < from->ndim; i++) {
        to->dims[i] = from->dims[i];
    }
}

bool mxn_shape_known(const mxn_shape *shape);
// Whether its dimensions multiply to at most MXN_SIZE_LIMIT: beyond, sizes would wrap. Those that
// are unknown or 0 count as 1, as in NumPy, so that the product of any of them is safe.
bool mxn_shape_countable(const mxn_shape *shape);
// Number of elements, 1 for a scalar; 0 if anything is unknown.
uint64_t mxn_shape_size(const mxn_shape *shape);
bool mxn_shape_equal(const mxn_shape *a, const mxn_shape *b);
// As Python prints it, "(3,)"; MXNet 2's text of a shape, "[3,4]", is the second one. Both into a
// buffer of MXN_SHAPE_TEXT bytes, which they return.
const char *mxn_shape_tuple(const mxn_shape *shape, char *buffer);
const char *mxn_shape_text(const mxn_shape *shape, char *buffer);

// Reshape codes: 0 copies the dimension, -1 (once) is what is left over, -2 copies all remaining
// ones, -3 is the product of the next two, -4 splits one into the two numbers that follow it, of
// which one may be -1. `reverse` matches from the right. MXP_EINVAL names shape, codes and reason.
int mxn_shape_infer_reshape(const mxn_shape *shape, int count, const int64_t *codes, bool reverse,
                            mxn_shape *result);
void mxn_shape_reverse(mxn_shape *shape);  // the last dimension comes first; its rank is known

#endif
