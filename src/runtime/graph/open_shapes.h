// SPDX-License-Identifier: Apache-2.0
// Networks with operators that do not know how large their result is, and have no input that tells:
// `_zeros` of shape (2, 0), where a size of 0 is one that is not known. Their other operators tell,
// as soon as the shapes of the network's inputs are known: for each such choice there is a network
// of its own, in which all sizes are told. Private to graph/.
//
// Thread rule: any thread may ask, several at once.
#ifndef MXN_GRAPH_OPEN_SHAPES_H
#define MXN_GRAPH_OPEN_SHAPES_H

#include "runtime/graph/cached_op.h"

typedef struct mxn_open_shapes mxn_open_shapes;

// Makes a cached operator of a symbol; the flags are those of `context`.
typedef int (*mxn_open_shapes_maker)(const mxn_symbol *symbol, const void *context,
                                     mxn_cached_op **op);

// *open is null where the symbol has no such operator. `symbol` outlives it. 0 or MXP_ENOMEM.
int mxn__open_shapes_new(const mxn_symbol *symbol, mxn_open_shapes **open);
void mxn__open_shapes_free(mxn_open_shapes *open);  // null does nothing

// The network for inputs of these shapes, MXN_LIST_INPUTS of them; borrowed. What nothing tells
// stays 0. MXP_EINVAL: the shapes contradict each other.
int mxn__open_shapes_told(mxn_open_shapes *open, mxn_array *const *inputs, uint32_t count,
                          mxn_open_shapes_maker make, const void *context, mxn_cached_op **op);

#endif
