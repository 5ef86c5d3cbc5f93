// SPDX-License-Identifier: Apache-2.0
// Gradients of a store over processes, compressed by the engine before they are handed to the node.
// Private to kvstore/.
#ifndef MXN_KVSTORE_WORKER_COMPRESSION_H
#define MXN_KVSTORE_WORKER_COMPRESSION_H

#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/entries.h"

// Pushes "QuantizeCPU", which makes the words of a gradient of the key, of float32, and leaves the
// rest in the key's residual. It reads the gradient alone, so that is free before it has been sent.
// `*words` is the caller's, who releases it: where they will be. MXP_ENOMEM.
int mxn__worker_compress(mxn_dist *dist, uint16_t store, mxn_kv_entry *entry, float threshold,
                         mxn_array *gradient, int priority, mxn_array **words);

#endif
