// SPDX-License-Identifier: Apache-2.0
// What the profile learns of a distributed store, by the names of docs/distributed-records.md.
// Every function costs a load and a branch while nothing is recorded. The communication thread's.
#ifndef MXN_KVSTORE_DIST_RECORD_H
#define MXN_KVSTORE_DIST_RECORD_H

#include <mxprof/record.h>

#include "runtime/kvstore/dist_owner.h"

// How much is recorded, where that is not what config says (reads_detail). MXP_EVALUE: a variable.
int mxn__record_follow(mxn_dist *dist);

bool mxn__record_is_on(void);  // this process is profiled now

// The time, 0 while nothing is recorded.
static inline uint64_t mxn__record_now(void)
{
    return mxp_enabled(MXP_CLASS_IMPERATIVE) ? mxp_ticks() : 0;
}

// What a probe has found (dist_probe.h).
typedef struct mxn_probe_record {
    uint32_t peer, pieces;
    uint64_t bytes, bytes_per_s, least, most;
    bool is_elsewhere;  // on another machine
} mxn_probe_record;
// Whatever the detail: it is one record of a process.
void mxn__record_probe(const mxn_dist *dist, const mxn_probe_record *of, uint64_t begin_ticks);

// ---- workers -----------------------------------------------------------------------------------
void mxn__record_operation_begin(mxn_dist_op *op);
void mxn__record_operation(mxn_dist *dist, mxn_dist_op *op);
// One that hands the sum of a host on (dist_host_sum.c).
void mxn__record_forward(mxn_dist *dist, const mxn_dist_op *op);
void mxn__record_barrier_begin(mxn_dist_op *op);
void mxn__record_barrier(mxn_dist *dist, mxn_dist_op *op);
void mxn__record_answer(mxn_dist *dist, mxn_dist_op *op, uint32_t peer, const mxn_wire *reply);
// Of a piece; the header gets its flow. Messages are recorded on both ends or on neither.
void mxn__record_begin(mxn_dist *dist, mxn_flight *flight, mxn_wire *header);
void mxn__record_sent(mxn_dist *dist, mxn_flight *flight);
void mxn__record_received(mxn_dist *dist, mxn_flight *flight);

// ---- owners ------------------------------------------------------------------------------------
void mxn__record_arrival(mxn_arrival_of *arrival);  // its value has come
void mxn__record_request(mxn_arrival_of *arrival);  // its header has, and no value follows
void mxn__record_add(const mxn_arrival_of *arrival, uint64_t begin_ticks, uint64_t end_ticks);
void mxn__record_reply(mxn_arrival_of *arrival, mxn_wire *reply);
void mxn__record_replied(const mxn_arrival_of *arrival);
void mxn__record_round(mxn_owner_part *part);
void mxn__record_async_round(mxn_owner_part *part, const mxn_gather *gather);
void mxn__record_counters(mxn_dist *dist);

#endif
