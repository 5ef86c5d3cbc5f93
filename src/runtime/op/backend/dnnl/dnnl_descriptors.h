// SPDX-License-Identifier: Apache-2.0
// Descriptions of problems in the terms of one major version of oneDNN: 2.x here. Another version
// is another file with these functions. Private to op/backend/dnnl.
#ifndef MXN_OP_BACKEND_DNNL_DNNL_DESCRIPTORS_H
#define MXN_OP_BACKEND_DNNL_DNNL_DESCRIPTORS_H

#include "runtime/op/backend/dnnl/dnnl_primitive.h"
#include "runtime/op/linalg/product.h"
#include "runtime/op/nn/convolution.h"
#include "runtime/op/nn/pooling.h"

// Keys. Their makers are below; arguments in the order that is told there.
void mxn__describe_convolution(mxn_problem_key *key, const mxn_conv *conv, int kind);
void mxn__describe_product(mxn_problem_key *key, const mxn_product *product);
void mxn__describe_pooling(mxn_problem_key *key, const mxn_pool *pool);
void mxn__describe_relu(mxn_problem_key *key, int64_t count, bool backward);
void mxn__describe_softmax(mxn_problem_key *key, const int64_t sizes[3]);

#define MXN_DESCRIBER(name)                                                          \
    dnnl_status_t mxn__make_##name(const mxn_problem_key *key, dnnl_engine_t engine, \
                                   const_dnnl_primitive_attr_t attributes, mxn_problem_plan *plan)
MXN_DESCRIBER(convolution);  // data, weight, result, bias if there is one
MXN_DESCRIBER(product);  // a, b, c
MXN_DESCRIBER(pool);  // data, result
MXN_DESCRIBER(relu);  // data, result; backward: gradient, result, what becomes of the gradient
MXN_DESCRIBER(softmax);  // data, result

#endif
