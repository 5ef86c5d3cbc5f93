// SPDX-License-Identifier: Apache-2.0
// A node whose processes are watched (liveness.h): deaths, stalls, snapshots of all. There is one
// node a process, and so one watch. Private to kvstore/.
#ifndef MXN_KVSTORE_DIST_WATCH_H
#define MXN_KVSTORE_DIST_WATCH_H

#include "runtime/kvstore/dist.h"

// As mxn_dist_open. Sets the hooks `lost` and `stalled` of *config, and reads
// MXNET_KVSTORE_TIMEOUT_S: seconds after which a stall ends the job; 0, the default: never. Nobody
// sends anything before everybody is watched.
int mxn__watch_open(mxn_dist_config *config, int (*open)(void *context, mxn_transport **transport),
                    void *open_context, mxn_dist **dist);
// As mxn_dist_close; then says goodbye to the others. Of a node that has failed it does not: the
// end of this process is a death to those who have not failed. A second call does nothing.
int mxn__watch_close(mxn_dist *dist);
// Every process takes a snapshot of its profile, also one that is stuck: to `path` with the role
// and rank before its last part, as "runs/worker0_last.mxp"; null: to its own next name. `last_ms`
// 0: all. MXP_ESTATE: there is no node, or it is alone.
int mxn__watch_snapshot_all(const char *path, double last_ms);

#endif
