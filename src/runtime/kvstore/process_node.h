// SPDX-License-Identifier: Apache-2.0
// This process's part in a distributed program: the node, which the first store over processes
// opens and the process's end closes, and the server that stands behind it where the process is an
// owner. All stores over processes share it. Private to kvstore/.
#ifndef MXN_KVSTORE_PROCESS_NODE_H
#define MXN_KVSTORE_PROCESS_NODE_H

#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/server.h"

// Joins the others if that was not done, and waits until all are there. The same node ever after;
// its calls fail once it was closed, and in a forked child. Errors are those of mxn_dist_open; the
// next call tries again.
int mxn__process_node(mxn_dist **dist);
// Null: not opened, or opened by the process that this one was forked from.
mxn_dist *mxn__process_node_now(void);
mxn_kv_server *mxn__process_server(void);  // likewise

#endif
