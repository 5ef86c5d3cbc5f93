// SPDX-License-Identifier: Apache-2.0
// Codes are taken one by one, each with the dimensions of the input that it speaks of.
#include "runtime/op/shape/numpy_reshape.h"

#include "runtime/op/registry/infer.h"

typedef struct matching {
    const mxn_shapes *shapes;
    const mxn_shape *in;
    const mxn_tuple *codes;
    mxn_shape result;
    int32_t at;  // of the input
    int32_t unknown;  // where the -1 went, -1 none
} matching;

static bool put_dim(matching *m, int64_t dim)
{
    if (m->result.ndim == MXN_DIMS_MAX) {
        return false;
    }
    if (dim < 0) {
        if (m->unknown >= 0) {
            return false;
        }
        m->unknown = m->result.ndim;
        dim = 1;
    }
    m->result.dims[m->result.ndim++] = dim;
    return true;
}

// -6 and its two numbers, of which one may be -1.
static bool split_dim(matching *m, int32_t i)
{
    if (i + 2 >= m->codes->count || m->at >= m->in->ndim) {
        return false;
    }
    int64_t whole = m->in->dims[m->at++];
    int64_t first = m->codes->values[i + 1], second = m->codes->values[i + 2];
    if (first == -1 && second > 0) {
        first = whole / second;
    } else if (second == -1 && first > 0) {
        second = whole / first;
    }
    int64_t product;
    return first >= 0 && second >= 0 && !__builtin_mul_overflow(first, second, &product) &&
           product == whole && put_dim(m, first) && put_dim(m, second);
}

static bool take_code(matching *m, int32_t *i)
{
    const mxn_shape *in = m->in;
    switch (m->codes->values[*i]) {
    case -1:
        m->at++;
        return put_dim(m, -1);
    case -2:
        return m->at < in->ndim && put_dim(m, in->dims[m->at++]);
    case -3:
        return m->at < in->ndim && in->dims[m->at++] == 1;
    case -4:
        while (m->at < in->ndim) {
            if (!put_dim(m, in->dims[m->at++])) {
                return false;
            }
        }
        return true;
    case -5:
        m->at += 2;
        return m->at <= in->ndim && put_dim(m, in->dims[m->at - 2] * in->dims[m->at - 1]);
    case -6:
        *i += 2;
        return split_dim(m, *i - 2);
    default:
        m->at++;
        return m->codes->values[*i] >= 0 && put_dim(m, m->codes->values[*i]);
    }
}

// Matching from the right is matching from the left with everything reversed: -6 then stands
// after its two numbers.
static void reverse_codes(mxn_tuple *to, const mxn_tuple *codes)
{
    to->count = codes->count;
    for (int32_t i = 0; i < codes->count; i++) {
        to->values[i] = codes->values[codes->count - 1 - i];
    }
}

static int match_codes(matching *m)
{
    for (int32_t i = 0; i < m->codes->count; i++) {
        const int64_t code = m->codes->values[i];
        if (!take_code(m, &i)) {
            return mxn__shape_refused(m->shapes, 0, "newshape element %lld does not fit",
                                      (long long)code);
        }
    }
    return 0;
}

int mxn__numpy_reshape(const mxn_shapes *shapes, const mxn_tuple *codes, bool reverse,
                       mxn_shape *result)
{
    mxn_shape in;
    mxn_tuple reversed;
    mxn_shape_copy(&in, shapes->inputs[0]);
    if (reverse) {
        mxn_shape_reverse(&in);
        reverse_codes(&reversed, codes);
    }
    matching m = {shapes, &in, reverse ? &reversed : codes, {0}, 0, -1};
    int error = match_codes(&m);
    if (error != 0) {
        return error;
    }
    uint64_t size = mxn_shape_size(&in), got = mxn_shape_size(&m.result);
    if (m.unknown >= 0 && got > 0 && size % got == 0) {
        m.result.dims[m.unknown] = (int64_t)(size / got);
    }
    if (reverse) {
        mxn_shape_reverse(&m.result);
    }
    *result = m.result;
    return 0;
}
