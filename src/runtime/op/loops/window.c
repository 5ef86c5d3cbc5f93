// SPDX-License-Identifier: Apache-2.0
// Windows from parameters.
#include "runtime/op/loops/window.h"

#include "base/fail.h"

const mxn_word mxn__words_layouts[] = {
    {MXN_NONE_WORD, MXN_LAYOUT_NONE},    {"NCDHW", MXN_LAYOUT_CHANNELS_FIRST},
    {"NCHW", MXN_LAYOUT_CHANNELS_FIRST}, {"NCW", MXN_LAYOUT_CHANNELS_FIRST},
    {"NDHWC", MXN_LAYOUT_CHANNELS_LAST}, {"NHWC", MXN_LAYOUT_CHANNELS_LAST},
    {"NWC", MXN_LAYOUT_CHANNELS_LAST},   {0}};

static bool is_zero(const mxn_tuple *tuple)
{
    bool zero = true;
    for (int32_t i = 0; i < tuple->count; i++) {
        zero = zero && tuple->values[i] == 0;
    }
    return zero;
}

static int fill(const mxn_op *op, const char *what, const mxn_tuple *tuple, int32_t ndim,
                int64_t least, int64_t *numbers)
{
    if (tuple->count > 0 && tuple->count != ndim) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %s has %d elements, kernel has %d", op->name,
                         what, tuple->count, ndim);
    }
    for (int32_t i = 0; i < tuple->count; i++) {
        int64_t value = tuple->values[i];
        if (value < least || value > INT32_MAX) {
            return mxp__fail(MXP_EINVAL, "Operator %s: %s has %lld, the least is %lld", op->name,
                             what, (long long)value, (long long)least);
        }
        numbers[3 - ndim + i] = value;
    }
    return 0;
}

int mxn__window_init(mxn_window *window, const mxn_op *op, const mxn_tuple *kernel,
                     const mxn_tuple *stride, const mxn_tuple *dilate, const mxn_tuple *pad)
{
    *window = (mxn_window){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    int32_t ndim = kernel->count;
    if (ndim < 1 || ndim > 3) {
        return mxp__fail(MXP_EINVAL, "Operator %s: kernel must have 1, 2 or 3 elements", op->name);
    }
    static const mxn_tuple none = {0};
    int error = fill(op, "kernel", kernel, ndim, 1, window->kernel);
    if (error == 0) {
        error = fill(op, "stride", stride, ndim, 1, window->stride);
    }
    if (error == 0) {
        error = fill(op, "dilate", dilate == NULL ? &none : dilate, ndim, 1, window->dilate);
    }
    // No pad may be said with zeros for any number of dimensions, as in MXNet.
    return error != 0 || is_zero(pad) ? error : fill(op, "pad", pad, ndim, 0, window->pad);
}

void mxn__window_images(mxn_window *window, const mxn_shape *in, const mxn_shape *out,
                        int32_t first)
{
    int32_t count = in->ndim - 2;
    for (int32_t i = 0; i < count; i++) {
        window->in[3 - count + i] = in->dims[first + i];
        window->out[3 - count + i] = out->dims[first + i];
    }
}
