// SPDX-License-Identifier: Apache-2.0
// Which pushes of a store are compressed, on which its workers agree (dist_compression.c). Private
// to kvstore/.
#ifndef MXN_KVSTORE_DIST_COMPRESSION_H
#define MXN_KVSTORE_DIST_COMPRESSION_H

#include "runtime/kvstore/dist_node.h"

// Under the lock, of what is submitted: that the workers agree; and with which threshold a push is
// compressed, 0 if it is not. Errors as of mxn_dist_submit.
int mxn__compression_begin_locked(mxn_dist *dist, const mxn_dist_operation *of);
int mxn__compression_check_locked(mxn_dist *dist, const mxn_dist_operation *of,
                                  const mxn_dist_key *key, float *threshold);
// They have agreed, unless the operation has failed.
void mxn__compression_end(mxn_dist *dist, const mxn_dist_op *op);

#endif
