// SPDX-License-Identifier: Apache-2.0
// The codes of Reshape. Matching from the right is matching from the left with both lists turned
// round, and so is the answer.
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/tensor/shape.h"

enum { INFER = -1, COPY_REST = -2, MERGE = -3, SPLIT = -4 };

typedef struct reshape {
    const mxn_shape *shape;  // as given by the caller
    const int64_t *codes;
    int count;
    bool reverse;
    int source;  // next dimension of the shape, counted in the direction of matching
    int inferred;  // place of the -1 in the result, -1 none
    mxn_shape result;
} reshape;

static int refuse(const reshape *at, const char *reason)
{
    char shape[MXN_SHAPE_TEXT];
    mxp_strbuf codes = {0};
    for (int i = 0; i < at->count; i++) {
        mxp__strbuf_printf(&codes, "%s%" PRId64, i > 0 ? "," : "", at->codes[i]);
    }
    int error = mxp__fail(MXP_EINVAL, "cannot reshape %s to (%s%s)%s: %s",
                          mxn_shape_tuple(at->shape, shape), mxp__strbuf_text(&codes),
                          at->count == 1 ? "," : "", at->reverse ? " in reverse" : "", reason);
    mxp__strbuf_fini(&codes);
    return error;
}

static int64_t dim_at(const reshape *at, int index)
{
    return at->shape->dims[at->reverse ? at->shape->ndim - 1 - index : index];
}

static int64_t code_at(const reshape *at, int index)
{
    return at->codes[at->reverse ? at->count - 1 - index : index];
}

static int add(reshape *at, int64_t dim)
{
    if (at->result.ndim == MXN_DIMS_MAX) {
        return refuse(at, "the result has too many dimensions");
    }
    at->result.dims[at->result.ndim++] = dim;
    return MXP_OK;
}

static bool has_dims(const reshape *at, int count)
{
    return at->source + count <= at->shape->ndim;
}

static int add_inferred(reshape *at)
{
    if (at->inferred >= 0) {
        return refuse(at, "only one dimension can be inferred (-1)");
    }
    at->inferred = at->result.ndim;
    at->source++;
    return add(at, 1);
}

static int add_rest(reshape *at)
{
    int error = MXP_OK;
    while (error == MXP_OK && has_dims(at, 1)) {
        error = add(at, dim_at(at, at->source++));
    }
    return error;
}

static int add_merged(reshape *at)
{
    if (!has_dims(at, 2)) {
        return refuse(at, "-3 needs two more dimensions of the array");
    }
    int64_t product;
    int first = at->source;
    at->source += 2;
    if (__builtin_mul_overflow(dim_at(at, first), dim_at(at, first + 1), &product)) {
        return refuse(at, "the product of two dimensions is too large");
    }
    return add(at, product);
}

// The two numbers after the code are in the direction of matching, as the original takes them.
static int add_split(reshape *at, int code)
{
    if (code + 2 >= at->count) {
        return refuse(at, "-4 needs two numbers after it");
    }
    if (!has_dims(at, 1)) {
        return refuse(at, "-4 needs one more dimension of the array");
    }
    int64_t whole = dim_at(at, at->source++);
    int64_t first = code_at(at, code + 1), second = code_at(at, code + 2);
    if ((first == INFER && second == INFER) || first < INFER || second < INFER) {
        return refuse(at, "of the two numbers after -4 only one can be inferred (-1)");
    }
    if (first == INFER) {
        first = second > 0 ? whole / second : 0;
    } else if (second == INFER) {
        second = first > 0 ? whole / first : 0;
    }
    int64_t product;
    if (__builtin_mul_overflow(first, second, &product) || product != whole) {
        return refuse(at, "the two numbers after -4 do not make up the dimension they split");
    }
    int error = add(at, first);
    return error == MXP_OK ? add(at, second) : error;
}

static int add_code(reshape *at, int *index)
{
    int64_t code = code_at(at, *index);
    switch (code) {
    case 0:
        return has_dims(at, 1) ? add(at, dim_at(at, at->source++))
                               : refuse(at, "0 copies a dimension the array does not have");
    case INFER:
        return add_inferred(at);
    case COPY_REST:
        return add_rest(at);
    case MERGE:
        return add_merged(at);
    case SPLIT:
        *index += 2;
        return add_split(at, *index - 2);
    default:
        at->source++;
        return code > 0 ? add(at, code) : refuse(at, "codes below -4 mean nothing");
    }
}

// Whether it is a size that a shape may have; see mxn_shape_countable.
static bool product_of(const mxn_shape *shape, int64_t *product)
{
    bool empty = false;
    *product = 1;
    for (int32_t i = 0; i < shape->ndim; i++) {
        empty = empty || shape->dims[i] == 0;
        if (shape->dims[i] != 0 && __builtin_mul_overflow(*product, shape->dims[i], product)) {
            return false;
        }
    }
    bool fits = *product <= MXN_SIZE_LIMIT;
    *product = empty ? 0 : *product;
    return fits;
}

static int infer_rest(reshape *at)
{
    int64_t have = (int64_t)mxn_shape_size(at->shape);
    int64_t others;
    if (!product_of(&at->result, &others)) {
        return refuse(at, "the result has too many elements");
    }
    if (at->inferred < 0) {
        return MXP_OK;
    }
    if (others == 0 ? have != 0 : have % others != 0) {
        return refuse(at, "the inferred dimension would not be a whole number");
    }
    at->result.dims[at->inferred] = others == 0 ? 0 : have / others;
    return MXP_OK;
}

void mxn_shape_reverse(mxn_shape *shape)
{
    for (int32_t i = 0; i < shape->ndim / 2; i++) {
        int64_t dim = shape->dims[i];
        shape->dims[i] = shape->dims[shape->ndim - 1 - i];
        shape->dims[shape->ndim - 1 - i] = dim;
    }
}

int mxn_shape_infer_reshape(const mxn_shape *shape, int count, const int64_t *codes, bool reverse,
                            mxn_shape *result)
{
    reshape at = {.shape = shape, .codes = codes, .count = count, .reverse = reverse};
    at.inferred = -1;
    if (count < 0 || (count > 0 && codes == NULL)) {
        return mxp__fail(MXP_EINVAL, "reshape: the list of %d dimensions is not valid", count);
    }
    if (!mxn_shape_known(shape)) {
        return refuse(&at, "the array has no known shape");
    }
    int error = MXP_OK;
    for (int i = 0; error == MXP_OK && i < count; i++) {
        error = add_code(&at, &i);
    }
    if (error == MXP_OK) {
        error = infer_rest(&at);
    }
    if (error == MXP_OK && reverse) {
        mxn_shape_reverse(&at.result);
    }
    if (error == MXP_OK) {
        mxn_shape_copy(result, &at.result);
    }
    return error;
}
