// SPDX-License-Identifier: Apache-2.0
// The plain C reference of convolutions (op/kernels/convolution.h).
#include <string.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/nn/convolution.h"

static void clear(void *data, int64_t count, int32_t dtype)
{
    if (count > 0) {
        memset(data, 0, (size_t)count * mxn_dtype_size(dtype));
    }
}

void mxn__conv_bias(const mxn_conv *c, int what, void *images, int64_t channels, int64_t size,
                    void *bias)
{
    if (what == MXN_BIAS_SUM) {
        clear(bias, channels, c->dtype);
    }
    MXN_WIDEST(mxn__convolution)
        ->bias[c->dtype == MXN_FLOAT64](c, what, images, channels, size, bias);
}

int mxn__conv_reference(mxn_job *job, const mxn_conv *c, int kind)
{
    if (c->dtype != MXN_FLOAT32 && c->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, c->dtype);
    }
    int64_t weights = c->filters * c->channels * c->kernel_size;
    if (kind == MXN_CONV_FORWARD) {
        mxn__conv_bias(c, MXN_BIAS_STORE, c->result, c->filters, c->out_size, c->bias);
    } else if (kind == MXN_CONV_TO_DATA) {
        clear(c->data, c->images * c->channels * c->groups * c->in_size, c->dtype);
    } else {
        clear(c->weight, weights, c->dtype);
        if (c->bias != NULL) {
            mxn__conv_bias(c, MXN_BIAS_SUM, c->result, c->filters, c->out_size, c->bias);
        }
    }
    MXN_WIDEST(mxn__convolution)->all[c->dtype == MXN_FLOAT64](c, kind);
    return 0;
}
