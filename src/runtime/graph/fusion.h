// SPDX-License-Identifier: Apache-2.0
// Steps of a program that run as one operation. Private to graph/.
//
// Two kinds of steps in a row are fused: operators of one element after the other on values of one
// shape; and an operator whose results may be computed for a part of the batch (a convolution, a
// product, a normalisation by known statistics), with those that go on with its result. What only
// they see becomes an inner value, which needs no memory of the plan.
//
// Only where MXNET_SUBGRAPH_BACKEND is set, and not to NONE: operators that are fused have no time
// of their own in a profile, and other bulks.
#ifndef MXN_GRAPH_FUSION_H
#define MXN_GRAPH_FUSION_H

#include "runtime/graph/program.h"

// After the last step, and once it is known which values are kept; before memory is planned.
int mxn__program_fuse(mxn_program *program, const mxn_program_form *form);

#endif
