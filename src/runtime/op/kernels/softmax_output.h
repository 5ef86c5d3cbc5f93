// SPDX-License-Identifier: Apache-2.0
// The gradient of a softmax whose loss is the cross entropy. Private to op/.
#ifndef MXN_OP_KERNELS_SOFTMAX_OUTPUT_H
#define MXN_OP_KERNELS_SOFTMAX_OUTPUT_H

#include "runtime/op/kernels/kernels.h"

typedef struct mxn_softmax_output_back {
    mxn_axis_view s;
    const void *y, *labels;  // a label for each row of y
    void *to;
    double smoothing;  // what of the label's 1 goes to the others
    bool ignores;  // rows with the label `ignored`: their gradient is 0
    float ignored;
} mxn_softmax_output_back;

typedef struct mxn_softmax_output_kernels {  // each of float, of double
    // Probability less what the label says. Returns the number of rows that were not ignored.
    int64_t (*backward[2])(const mxn_softmax_output_back *b);
    void (*difference[2])(const void *y, const void *labels, void *to, size_t count);
    // to = to scale g; null g: 1
    void (*scale[2])(void *to, double scale, const void *g, size_t count);
} mxn_softmax_output_kernels;

MXN_EACH_WIDTH(mxn_softmax_output_kernels, mxn__softmax_output);

#endif
