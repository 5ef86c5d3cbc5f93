// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/loops: what kernels share; it knows no operator.
//
// What plain C kernels share: lists of element types to expand code for, and iterating over shapes
// that do not lie in memory as they are counted. Private to op/.
#ifndef MXN_OP_LOOPS_LOOPS_H
#define MXN_OP_LOOPS_LOOPS_H

#include "runtime/op/registry/declare.h"

// X(NAME of MXN_NAME, C type)
#define MXN_REAL_TYPES(X) \
    X(FLOAT32, float)     \
    X(FLOAT64, double)
#define MXN_INTEGER_TYPES(X) \
    X(UINT8, uint8_t)        \
    X(INT8, int8_t)          \
    X(INT16, int16_t)        \
    X(UINT16, uint16_t)      \
    X(INT32, int32_t)        \
    X(UINT32, uint32_t)      \
    X(INT64, int64_t)        \
    X(UINT64, uint64_t)
#define MXN_NUMBER_TYPES(X) MXN_REAL_TYPES(X) MXN_INTEGER_TYPES(X)
// With truths, of which a sum is whether one holds. Their type has a name that is no macro.
typedef bool mxn_truth;
#define MXN_WHOLE_TYPES(X) MXN_INTEGER_TYPES(X) X(BOOL, mxn_truth)
#define MXN_ALL_TYPES(X) MXN_REAL_TYPES(X) MXN_WHOLE_TYPES(X)

// What a template made of `name` (kernels/each_real.h, each_whole.h), in a table by types.
#define MXN_OF_NUMBERS(name)                                                                 \
    [MXN_FLOAT32] = name##_float, [MXN_FLOAT64] = name##_double, [MXN_UINT8] = name##_uint8, \
    [MXN_INT8] = name##_int8, [MXN_INT16] = name##_int16, [MXN_UINT16] = name##_uint16,      \
    [MXN_INT32] = name##_int32, [MXN_UINT32] = name##_uint32, [MXN_INT64] = name##_int64,    \
    [MXN_UINT64] = name##_uint64

// Stands before a loop whose turns do not depend on one another, also where the output is the
// input.
#if defined(__clang__)
#define MXN_EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#define MXN_EACH_ALONE _Pragma("GCC ivdep")
#endif

// "Operator X does not take type int8".
int mxn__type_refused(const mxn_job *job, int32_t dtype);
// That, unless it is float32 or float64; 0 then. Kernels of these two are
//
//     (dtype == MXN_FLOAT32 ? name_float : name_double)(...)
int mxn__real_type(const mxn_job *job, int32_t dtype);

enum { MXN_ITERATOR_OPERANDS = 3 };

// Goes through all elements of a shape in row-major order while each operand advances by steps of
// its own (0 along dimensions it is broadcast over). Dimensions that all operands step through as
// one are joined, so that the last one, which the caller loops over, is as long as it can be:
//
//   for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
//       ... it.count elements from it.at[k], each it.step[k] further on ...
//   }
typedef struct mxn_iterator {
    uint64_t total;
    int64_t count;  // of the innermost dimension
    int64_t step[MXN_ITERATOR_OPERANDS];  // along it, in elements
    int64_t at[MXN_ITERATOR_OPERANDS];  // where its first element is
    int32_t ndim;  // from here on private: the outer dimensions
    int64_t dims[MXN_DIMS_MAX], index[MXN_DIMS_MAX];
    int64_t steps[MXN_ITERATOR_OPERANDS][MXN_DIMS_MAX];
} mxn_iterator;

// `steps` may be null for an operand that is not there.
void mxn__iterator_init(mxn_iterator *it, int32_t ndim, const int64_t *dims,
                        const int64_t *const steps[MXN_ITERATOR_OPERANDS]);
bool mxn__iterator_next(mxn_iterator *it);

// Copies elements of `size` bytes from where operand 0 of the iterator is to where operand 1 is.
void mxn__iterator_copy(mxn_iterator *it, const void *from, void *to, size_t size);

// Steps of `shape` seen as `big`, which it is broadcast to: aligned at the last dimension.
void mxn__broadcast_steps(const mxn_shape *shape, const mxn_shape *big, int64_t *steps);
// Steps of an array in memory.
void mxn__row_steps(const mxn_shape *shape, int64_t *steps);

// An array seen along one axis: `outer` times `count` times `inner` elements, those of one row
// `inner` apart. A scalar is a row of one.
typedef struct mxn_axis_view {
    int64_t outer, count, inner;
} mxn_axis_view;

mxn_axis_view mxn__axis_view(const mxn_shape *shape, int32_t axis);
// Along an axis as a parameter gives it, negative from the end. MXP_EINVAL: there is none such.
int mxn__axis_view_along(const mxn_params *params, int32_t axis, const mxn_shape *shape,
                         mxn_axis_view *s);
// The same where an axis may be left out: then the array is one row, and *chosen is -1.
int mxn__axis_view_or_row(const mxn_params *params, const mxn_maybe_int *axis,
                          const mxn_shape *shape, mxn_axis_view *s, int32_t *chosen);
// Where row i of outer * inner begins.
static inline int64_t mxn__axis_view_at(const mxn_axis_view *s, int64_t i)
{
    return i / s->inner * s->count * s->inner + i % s->inner;
}

// An element as a whole number: indices come in every type.
int64_t mxn__whole_at(const mxn_operand *operand, int64_t i);

#endif
