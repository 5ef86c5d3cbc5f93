// SPDX-License-Identifier: Apache-2.0
// Shapes: checks, sizes, texts.
#include "runtime/tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"

bool mxn_shape_countable(const mxn_shape *shape)
{
    uint64_t size = 1;
    bool wrapped = false;
    for (int32_t i = 0; i < shape->ndim; i++) {
        uint64_t dim = shape->dims[i] <= 0 ? 1 : (uint64_t)shape->dims[i];
        wrapped = __builtin_mul_overflow(size, dim, &size) || wrapped;
    }
    return !wrapped && size <= (uint64_t)MXN_SIZE_LIMIT;
}

static int check_size(const mxn_shape *shape, const char *what)
{
    char text[MXN_SHAPE_TEXT];
    return mxn_shape_countable(shape) ? MXP_OK
                                      : mxp__fail(MXP_EINVAL, "%s %s has too many elements", what,
                                                  mxn_shape_tuple(shape, text));
}

static int check_rank(int ndim, const void *dims, const char *what)
{
    if (ndim < -1 || ndim > MXN_DIMS_MAX) {
        return mxp__fail(MXP_EINVAL, "%s has %d dimensions: at most %d are possible", what, ndim,
                         MXN_DIMS_MAX);
    }
    if (ndim > 0 && dims == NULL) {
        return mxp__fail(MXP_EINVAL, "%s: the list of its %d dimensions is null", what, ndim);
    }
    return MXP_OK;
}

int mxn_shape_set(mxn_shape *shape, int ndim, const int64_t *dims, const char *what)
{
    int error = check_rank(ndim, dims, what);
    if (error != MXP_OK) {
        return error;
    }
    shape->ndim = ndim;
    for (int32_t i = 0; i < ndim; i++) {
        if (dims[i] < -1) {
            return mxp__fail(MXP_EINVAL, "%s: dimension %d is %" PRId64 ", it must not be negative",
                             what, (int)i, dims[i]);
        }
        shape->dims[i] = dims[i];
    }
    return check_size(shape, what);
}

int mxn_shape_set32(mxn_shape *shape, int ndim, const uint32_t *dims, const char *what)
{
    int error = check_rank(ndim, dims, what);
    if (error != MXP_OK) {
        return error;
    }
    shape->ndim = ndim;
    for (int32_t i = 0; i < ndim; i++) {
        shape->dims[i] = dims[i];
    }
    return check_size(shape, what);
}

bool mxn_shape_known(const mxn_shape *shape)
{
    bool known = shape->ndim >= 0;
    for (int32_t i = 0; i < shape->ndim; i++) {
        known = known && shape->dims[i] >= 0;
    }
    return known;
}

uint64_t mxn_shape_size(const mxn_shape *shape)
{
    uint64_t size = shape->ndim >= 0;
    for (int32_t i = 0; i < shape->ndim; i++) {
        size = shape->dims[i] < 0 ? 0 : size * (uint64_t)shape->dims[i];
    }
    return size;
}

bool mxn_shape_equal(const mxn_shape *a, const mxn_shape *b)
{
    bool equal = a->ndim == b->ndim;
    for (int32_t i = 0; equal && i < a->ndim; i++) {
        equal = a->dims[i] == b->dims[i];
    }
    return equal;
}

static const char *put_text(const mxn_shape *shape, char open, char close, bool one_comma,
                            char *buffer)
{
    if (shape->ndim < 0) {
        snprintf(buffer, MXN_SHAPE_TEXT, "None");
        return buffer;
    }
    size_t length = 0;
    buffer[length++] = open;
    for (int32_t i = 0; i < shape->ndim; i++) {
        length += (size_t)snprintf(buffer + length, MXN_SHAPE_TEXT - length, "%s%" PRId64,
                                   i > 0 ? "," : "", shape->dims[i]);
    }
    if (one_comma && shape->ndim == 1) {
        buffer[length++] = ',';
    }
    buffer[length++] = close;
    buffer[length] = '\0';
    return buffer;
}

const char *mxn_shape_tuple(const mxn_shape *shape, char *buffer)
{
    return put_text(shape, '(', ')', true, buffer);
}

const char *mxn_shape_text(const mxn_shape *shape, char *buffer)
{
    return put_text(shape, '[', ']', false, buffer);
}
