// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/ranks: what the processes of a job waited for one another.
//
// What one process tells of that: how long its operations waited for the worker that came last,
// which the owner has told it with the answer, and the rounds of keys that it owns. Both were
// measured on one clock each, so nothing here depends on how the clocks lie to one another.
#ifndef MXP_RANKS_RANK_WAITS_H
#define MXP_RANKS_RANK_WAITS_H

#include "base/id_map.h"
#include "profiler/trace/source.h"

#define MXP__RANK_UNKNOWN UINT32_MAX

// A long span with an argument `waited_ns`: a push, a pull after it, a barrier.
typedef struct mxp_rank_wait {
    int64_t begin_ns, end_ns;  // of the operation; what it waited ends with it
    uint64_t waited_ns, bytes;
    uint64_t key;  // a number made of the key's text, 0: none (a barrier)
    uint64_t round;
    uint32_t last;  // worker that came last
    bool goes_out, comes_in;  // its bytes: of a push, of a pull, both of both
    // Until its last piece had left; from the first value that came to its end. What of it went to
    // and came from other processes (of other machines, where there are any).
    uint64_t send_ns, receive_ns, bytes_out, bytes_in;
} mxp_rank_wait;

// A span `KVStore round` of an owner.
typedef struct mxp_rank_round {
    int64_t begin_ns, end_ns;
    uint64_t spread_ns;  // from the first worker's arrival to the last one's
    uint64_t key, round, bytes;
    uint32_t first, last;
    // What its sums took, and from the last arrival to its end.
    uint64_t add_ns, own_ns;
    bool has_own;  // both are recorded
} mxp_rank_round;

// What the way to another process gave as the store began: the median of its parts, the least and
// the most of them.
typedef struct mxp_rank_probe {
    uint64_t bytes_per_s, least, most;  // 0: no probe was recorded
    bool is_elsewhere;  // to another machine
    const char *peer;  // "server 0"; as long as the source
} mxp_rank_probe;

typedef struct mxp_key_name {
    uint64_t key;
    const char *text;  // as long as the source
    size_t length;
} mxp_key_name;

// Begins as zeros.
typedef struct mxp_rank_waits {
    mxp_rank_wait *waits;  // by their begin
    size_t wait_count, wait_capacity;
    mxp_rank_round *rounds;
    size_t round_count, round_capacity;
    mxp_rank_probe probe;
    bool sums_for_host;  // it has rounds of its host, which go on to another owner
    mxp_rank_wait *forwards;  // of these, from there to the owner and back; by their begin
    size_t forward_count, forward_capacity;
    mxp_id_map names;  // mxp_key_name
    mxp_id_map turns;  // of keys whose operations do not say their round
} mxp_rank_waits;

// Reads all records of a process. Ranges that cannot be read are left out. MXP_ENOMEM.
int mxp__rank_waits_read(mxp_source *process, mxp_rank_waits *waits);
void mxp__rank_waits_fini(mxp_rank_waits *waits);

#endif
