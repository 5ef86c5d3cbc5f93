// SPDX-License-Identifier: Apache-2.0
// Views: other shapes on the memory of an array.
#include <inttypes.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/tensor/array_state.h"

static int make_view(mxn_array *array, const mxn_shape *shape, int dtype, uint64_t skip_bytes,
                     mxn_array **view)
{
    int error = mxn_array_new_none(view);
    if (error != MXP_OK) {
        return error;
    }
    if (array->buffer != NULL) {
        mxp__refs_take(&array->buffer->refs);
        (*view)->buffer = array->buffer;
        (*view)->offset_bytes = array->offset_bytes + skip_bytes;
        (*view)->dtype = dtype;
        mxn_shape_copy(&(*view)->shape, shape);
    }
    return MXP_OK;
}

static int check_view(const mxn_array *array, const char *what, mxn_array **view)
{
    *view = NULL;
    if (mxn_array_is_none(array)) {
        return mxp__fail(MXP_EINVAL, "%s: the array is empty: it has no shape and no values yet",
                         what);
    }
    return MXP_OK;
}

static uint64_t row_bytes(const mxn_array *array)
{
    uint64_t bytes = mxn_dtype_size(array->dtype);
    for (int32_t i = 1; i < array->shape.ndim; i++) {
        bytes *= (uint64_t)array->shape.dims[i];
    }
    return bytes;
}

int mxn_array_slice(mxn_array *array, uint64_t begin, uint64_t end, mxn_array **view)
{
    int error = check_view(array, "slice", view);
    if (error != MXP_OK) {
        return error;
    }
    const mxn_shape *shape = &array->shape;
    if (shape->ndim == 0 || begin > end || end > (uint64_t)shape->dims[0]) {
        char text[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL,
                         "Slice [%" PRIu64 ", %" PRIu64 ") is out of range for an array of shape "
                         "%s",
                         begin, end, mxn_shape_tuple(shape, text));
    }
    mxn_shape rows;
    mxn_shape_copy(&rows, shape);
    rows.dims[0] = (int64_t)(end - begin);
    return make_view(array, &rows, array->dtype, begin * row_bytes(array), view);
}

int mxn_array_at(mxn_array *array, uint64_t index, bool numpy, mxn_array **view)
{
    int error = check_view(array, "at", view);
    if (error != MXP_OK) {
        return error;
    }
    const mxn_shape *shape = &array->shape;
    if (shape->ndim == 0 || index >= (uint64_t)shape->dims[0]) {
        char text[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL, "Index %" PRIu64 " is out of range for an array of shape %s",
                         index, mxn_shape_tuple(shape, text));
    }
    mxn_shape row = {.ndim = shape->ndim - 1};
    for (int32_t i = 0; i < row.ndim; i++) {
        row.dims[i] = shape->dims[i + 1];
    }
    if (row.ndim == 0 && !numpy) {
        row = (mxn_shape){.ndim = 1, .dims = {1}};
    }
    return make_view(array, &row, array->dtype, index * row_bytes(array), view);
}

int mxn_array_view(mxn_array *array, const mxn_shape *shape, int dtype, mxn_array **view)
{
    int error = check_view(array, "view", view);
    if (error == MXP_OK) {
        error = mxn_dtype_check(dtype);
    }
    if (error != MXP_OK) {
        return error;
    }
    uint64_t have = mxn_array_size(array) * mxn_dtype_size(array->dtype);
    uint64_t size = mxn_shape_size(shape);
    if (!mxn_shape_known(shape) || !mxn_shape_countable(shape) ||
        size > have / mxn_dtype_size(dtype)) {
        char from[MXN_SHAPE_TEXT], to[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL,
                         "NDArray.Reshape: target shape %s of %s is larger than the array of shape "
                         "%s and type %s",
                         mxn_shape_tuple(shape, to), mxn_dtype_name(dtype),
                         mxn_shape_tuple(&array->shape, from), mxn_dtype_name(array->dtype));
    }
    return make_view(array, shape, dtype, 0, view);
}

int mxn_array_reshape(mxn_array *array, int count, const int64_t *codes, bool reverse,
                      mxn_array **view)
{
    mxn_shape shape;
    int error = check_view(array, "reshape", view);
    if (error == MXP_OK) {
        error = mxn_shape_infer_reshape(&array->shape, count, codes, reverse, &shape);
    }
    return error == MXP_OK ? mxn_array_view(array, &shape, array->dtype, view) : error;
}

int mxn_array_detach(mxn_array *array, mxn_array **view)
{
    return make_view(array, &array->shape, array->dtype, 0, view);
}
