// SPDX-License-Identifier: Apache-2.0
// Walking through shapes, reading indices.
#include "runtime/op/loops/loops.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/registry/infer.h"

int mxn__type_refused(const mxn_job *job, int32_t dtype)
{
    return mxn__params_refuse_type(job->params, dtype);
}

int mxn__real_type(const mxn_job *job, int32_t dtype)
{
    return dtype == MXN_FLOAT32 || dtype == MXN_FLOAT64 ? 0 : mxn__type_refused(job, dtype);
}

// Whether the dimension outside `inner` and that one are one dimension for every operand.
static bool joins(const mxn_iterator *it, int32_t outer, const int64_t *steps, int64_t inner_count)
{
    for (int k = 0; k < MXN_ITERATOR_OPERANDS; k++) {
        if (it->steps[k][outer] != steps[k] * inner_count) {
            return false;
        }
    }
    return true;
}

void mxn__iterator_init(mxn_iterator *it, int32_t ndim, const int64_t *dims,
                        const int64_t *const steps[MXN_ITERATOR_OPERANDS])
{
    assert(ndim >= 0 && ndim <= MXN_DIMS_MAX);
    memset(it, 0, sizeof *it);
    it->total = 1;
    for (int32_t i = 0; i < ndim; i++) {
        assert(dims[i] >= 0);
        it->total *= (uint64_t)dims[i];
        if (dims[i] == 1) {
            continue;
        }
        int64_t here[MXN_ITERATOR_OPERANDS];
        for (int k = 0; k < MXN_ITERATOR_OPERANDS; k++) {
            here[k] = steps[k] == NULL ? 0 : steps[k][i];
        }
        int32_t last = it->ndim - 1;
        if (last >= 0 && joins(it, last, here, dims[i])) {
            it->dims[last] *= dims[i];
        } else {
            last = it->ndim++;
            it->dims[last] = dims[i];
        }
        for (int k = 0; k < MXN_ITERATOR_OPERANDS; k++) {
            it->steps[k][last] = here[k];
        }
    }
    it->count = 1;
    if (it->ndim > 0) {
        it->ndim--;
        it->count = it->dims[it->ndim];
        for (int k = 0; k < MXN_ITERATOR_OPERANDS; k++) {
            it->step[k] = it->steps[k][it->ndim];
        }
    }
}

bool mxn__iterator_next(mxn_iterator *it)
{
    for (int32_t i = it->ndim - 1; i >= 0; i--) {
        bool wraps = ++it->index[i] == it->dims[i];
        int64_t turns = wraps ? 1 - it->dims[i] : 1;
        for (int k = 0; k < MXN_ITERATOR_OPERANDS; k++) {
            it->at[k] += it->steps[k][i] * turns;
        }
        if (!wraps) {
            return true;
        }
        it->index[i] = 0;
    }
    return false;
}

void mxn__row_steps(const mxn_shape *shape, int64_t *steps)
{
    int64_t step = 1;
    for (int32_t i = shape->ndim - 1; i >= 0; i--) {
        steps[i] = step;
        step *= shape->dims[i];
    }
}

void mxn__broadcast_steps(const mxn_shape *shape, const mxn_shape *big, int64_t *steps)
{
    int64_t own[MXN_DIMS_MAX];
    mxn__row_steps(shape, own);
    int32_t lead = big->ndim - shape->ndim;
    for (int32_t i = 0; i < big->ndim; i++) {
        steps[i] = i < lead || shape->dims[i - lead] == 1 ? 0 : own[i - lead];
    }
}

// `size` is a constant where this is called: a copy is one load and one store.
__attribute__((always_inline)) static inline void
copy_each(const char *source, int64_t read, char *target, int64_t write, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(target + i * write, source + i * read, size);
    }
}

static void copy_row(const mxn_iterator *it, const char *source, char *target, size_t size)
{
    int64_t read = it->step[0] * (int64_t)size, write = it->step[1] * (int64_t)size;
    switch (size) {
    case 1:
        copy_each(source, read, target, write, it->count, 1);
        break;
    case 2:
        copy_each(source, read, target, write, it->count, 2);
        break;
    case 4:
        copy_each(source, read, target, write, it->count, 4);
        break;
    default:
        copy_each(source, read, target, write, it->count, 8);
    }
}

void mxn__iterator_copy(mxn_iterator *it, const void *from, void *to, size_t size)
{
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        const char *source = (const char *)from + it->at[0] * (int64_t)size;
        char *target = (char *)to + it->at[1] * (int64_t)size;
        if (it->step[0] == 1 && it->step[1] == 1) {
            memcpy(target, source, (size_t)it->count * size);
        } else {
            copy_row(it, source, target, size);
        }
    }
}

mxn_axis_view mxn__axis_view(const mxn_shape *shape, int32_t axis)
{
    mxn_axis_view s = {1, shape->ndim == 0 ? 1 : shape->dims[axis], 1};
    for (int32_t i = 0; i < shape->ndim; i++) {
        s.outer *= i < axis ? shape->dims[i] : 1;
        s.inner *= i > axis ? shape->dims[i] : 1;
    }
    return s;
}

int mxn__axis_view_or_row(const mxn_params *params, const mxn_maybe_int *axis,
                          const mxn_shape *shape, mxn_axis_view *s, int32_t *chosen)
{
    *s = (mxn_axis_view){1, (int64_t)mxn_shape_size(shape), 1};
    *chosen = -1;
    if (!axis->has) {
        return 0;
    }
    int error = mxn__axis(params, axis->value, shape->ndim, chosen);
    if (error == 0) {
        *s = mxn__axis_view(shape, *chosen);
    }
    return error;
}

int mxn__axis_view_along(const mxn_params *params, int32_t axis, const mxn_shape *shape,
                         mxn_axis_view *s)
{
    int32_t chosen;
    return mxn__axis_view_or_row(params, &(mxn_maybe_int){.has = true, .value = axis}, shape, s,
                                 &chosen);
}

int64_t mxn__whole_at(const mxn_operand *operand, int64_t i)
{
    int64_t value;
    mxn_cast(&value, MXN_INT64,
             (const char *)operand->data + (size_t)i * mxn_dtype_size(operand->dtype),
             operand->dtype, 1);
    return value;
}
