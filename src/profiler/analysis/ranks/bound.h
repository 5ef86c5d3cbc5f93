// SPDX-License-Identifier: Apache-2.0
// What bounds the communication of a job: the network, its owners, or neither of them.
//
// The network does where the messages of a step move at 80 to 120 % of the rate that the start's
// probe has reached, and keep a part of the step: their time is the sending and the way back,
// without the waits for other workers and without what the owner takes. Of few bytes in a short
// time there is no rate, because who had the cores takes most of it. Owners do where they take
// longer to add, update and answer than workers wait for one another, and at least half of what
// communication takes. With two levels what leaves a host are sums, which some of its workers hand
// on: the ways are theirs, while the time of the rest is each worker's own. Nothing is compared
// that different clocks have measured.
#ifndef MXP_RANKS_BOUND_H
#define MXP_RANKS_BOUND_H

#include "profiler/analysis/ranks/straggler.h"

typedef enum mxp_bound {
    MXP__BOUND_UNKNOWN,
    MXP__BOUND_NEITHER,
    MXP__BOUND_NETWORK,
    MXP__BOUND_OWNERS
} mxp_bound;

// Why it is not known whether the network bounds them.
typedef enum mxp_bound_doubt {
    MXP__DOUBT_NONE,
    MXP__DOUBT_NO_PROBE,
    MXP__DOUBT_NO_RATE,  // operations say nothing of bytes that left
    MXP__DOUBT_LITTLE,  // too few bytes in too short a time for a rate
    MXP__DOUBT_UNEVEN,  // parts of the probe are far apart
    MXP__DOUBT_SLOW_PROBE,  // it reached less than the messages of the steps
    MXP__DOUBT_HOSTS  // workers of a host are summed first, and what leaves it is not recorded
} mxp_bound_doubt;

// A value a step: its median, and 95 % bounds of it.
typedef struct mxp_bound_figure {
    double middle, low, high;
} mxp_bound_figure;

// A worker's way to others.
typedef struct mxp_bound_link {
    size_t steps;  // in which anything went that way
    mxp_bound_figure bytes_per_s;
    mxp_bound_figure network_ns;  // of a step: its messages were under way, and it was blocked
    double busy_ns;  // of a step: operations were under way, without their waits for workers
    double waited_ns, step_ns;  // of a step
    double way_waited_ns;  // of a step: of what went that way, waits for other workers
    double out_bytes, in_bytes, out_ns, in_ns;  // of a step, by direction
    mxp_rank_probe probe;
    bool is_full;
} mxp_bound_link;

typedef struct mxp_bound_owner {
    const mxp_rank_waits *waits;
    bool is_apart;  // a server: no worker is in its process
} mxp_bound_owner;

enum { MXP__BOUND_NOWHERE = -1 };
#define MXP__BOUND_SHARE 0.05  // of a step: what keeps less of it bounds nothing
// A step's way is compared with the probe where it carries a piece of that at least, or takes so
// long that who had the cores does not matter.
#define MXP__BOUND_BYTES ((double)(512 << 10))
#define MXP__BOUND_NS 2e6

typedef struct mxp_bounds {
    mxp_bound bound;
    mxp_bound_doubt doubt;
    mxp_bound_link *links;  // of each worker
    size_t link_count;
    int link;  // place of the one that is shown: of those that are full the costliest
    size_t full_links;
    bool are_of_hosts;  // ways are those of sums of hosts: with two levels nothing else leaves one
    int server;  // place of the owner whose own link is full, where no worker's is
    double server_bytes_per_s;  // what reaches and leaves it
    int owner;  // place of the owner that takes longest, MXP__BOUND_NOWHERE: they do not tell
    double owner_ns;  // a step
} mxp_bounds;

// MXP_ENOMEM. To be finished in either case.
int mxp__bounds_find(const mxp_rank *ranks, size_t rank_count, const mxp_bound_owner *owners,
                     size_t owner_count, mxp_bounds *bounds);
void mxp__bounds_fini(mxp_bounds *bounds);

#endif
