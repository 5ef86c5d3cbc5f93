// SPDX-License-Identifier: Apache-2.0
// Pieces of shape and type inference that families share. Private to op/. All fill in what is
// unknown and fail where what is known disagrees.
#ifndef MXN_OP_REGISTRY_INFER_H
#define MXN_OP_REGISTRY_INFER_H

#include "runtime/op/registry/declare.h"

// `to` becomes at least as known as `from`. "Operator X: output 0 has shape (2,), not (3,)".
int mxn__shape_merge(const mxn_params *params, const char *what, uint32_t index, mxn_shape *to,
                     const mxn_shape *from);
static inline int mxn__shape_output(const mxn_shapes *shapes, uint32_t index, const mxn_shape *from)
{
    return mxn__shape_merge(shapes->params, "output", index, shapes->outputs[index], from);
}
static inline int mxn__shape_input(const mxn_shapes *shapes, uint32_t index, const mxn_shape *from)
{
    return mxn__shape_merge(shapes->params, "input", index, shapes->inputs[index], from);
}
int mxn__type_merge(const mxn_params *params, const char *what, uint32_t index, int32_t *to,
                    int32_t from);
int mxn__params_refuse_type(const mxn_params *params, int32_t dtype);  // "... does not take ..."
// An error about one input's shape: "Operator X: input 0 'data' of shape (2,): <format>".
int mxn__shape_refused(const mxn_shapes *shapes, uint32_t index, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A size made of sizes or of numbers of the program's: the one place where they are multiplied or
// added. MXP_EINVAL: it is beyond MXN_SIZE_LIMIT. Sizes of an array's shape multiply to no more
// than that, those of 0 left out, and so need no check.
int mxn__dim_mul(const mxn_params *params, int64_t a, int64_t b, int64_t *result);
int mxn__dim_add(const mxn_params *params, int64_t a, int64_t b, int64_t *result);

int mxn__shapes_alike(const mxn_shapes *shapes);  // all inputs and outputs
int mxn__types_alike(const mxn_types *types);
int mxn__shapes_given(const mxn_shapes *shapes);  // nothing to infer
int mxn__types_given(const mxn_types *types);
// Of a step of a gradient (adjust) whose operator has other fields over the same struct: takes the
// forward's parameters as they are.
void mxn__values_kept(void *values);
int mxn__types_bool(const mxn_types *types);  // inputs alike, outputs bool
int mxn__types_of_first(const mxn_types *types);  // outputs as input 0, other inputs anything

// `result` becomes what it and the input's shape are when both are broadcast; begin with a scalar.
int mxn__broadcast_merge(const mxn_shapes *shapes, uint32_t index, mxn_shape *result);
int mxn__shapes_broadcast(const mxn_shapes *shapes);  // output 0: all inputs broadcast

// What is left where an operator takes all dimensions away: none in NumPy's operators and for
// parameters with NumPy's shapes, else one of size 1.
static inline void mxn__shape_settle(const mxn_params *params, mxn_shape *shape, bool numpy)
{
    if (shape->ndim == 0 && !numpy && !params->numpy_shape) {
        *shape = (mxn_shape){.ndim = 1, .dims = {1}};
    }
}

// An axis counted from either end, made one from the front. MXP_EINVAL: it is none of `ndim`.
int mxn__axis(const mxn_params *params, int64_t axis, int32_t ndim, int32_t *result);

// Numbers of inputs or outputs that do not depend on parameters, where a declaration takes a
// function.
uint32_t mxn__one(const void *values);
uint32_t mxn__two(const void *values);
uint32_t mxn__three(const void *values);

#endif
