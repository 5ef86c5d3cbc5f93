// SPDX-License-Identifier: Apache-2.0
// An owner: the parts of keys that it holds, what has arrived for them, and what room there is for
// more. Private to dist_owner*.c. Everything is the communication thread's.
//
//   header --> arrival --> room: its body is received when there is room  (dist_owner_room.c)
//                            --> round: held, added in order, updated       (dist_owner_round.c)
//                                  --> reply                                 (dist_owner.c)
#ifndef MXN_KVSTORE_DIST_OWNER_H
#define MXN_KVSTORE_DIST_OWNER_H

#include "runtime/kvstore/dist_node.h"

typedef struct mxn_owner_piece mxn_owner_piece;
typedef struct mxn_arrival_of mxn_arrival_of;
typedef struct mxn_gather mxn_gather;
typedef struct mxn_long_answer mxn_long_answer;

enum { MXN_ARRIVAL_SEEN, MXN_ARRIVAL_RECEIVING, MXN_ARRIVAL_HERE, MXN_ARRIVAL_ADDED };

// A request of a worker for one piece, from its header to the end of its reply.
struct mxn_arrival_of {
    mxn_ticket ticket;  // of its body, then of its reply
    mxn_dist *dist;
    mxn_arrival_of *next, *before;  // of a list
    mxn_arrival_of *younger, *older;  // of all that are not free
    mxn_owner_part *part;
    mxn_owner_piece *piece;  // null: refused, its body is received and forgotten
    uint32_t peer, worker;
    uint32_t from;  // place among those who push the part
    uint32_t by;  // of a host's sum: the worker that arrived last there; else `worker`
    mxn_wire header;
    int state;  // MXN_ARRIVAL_*
    uint64_t age;  // number of its batch
    mxn_gather *gather;  // of dist_async
    void *into;  // where its value goes; null: to a buffer that is taken when it is received
    mxn_piece_buffer *held;  // null: `into` is where it is wanted
    uint64_t here_ns, begin_ticks;
    uint64_t came_ticks;  // its header; 0: nothing was recorded then
    uint64_t reply_flow;
};

typedef struct mxn_arrival_list {
    mxn_arrival_of *first, *last;
} mxn_arrival_list;

// Bodies that are taken together, where an owner has a limit: those of a round, or of an
// asynchronous push. All of their headers have been seen before the first one is asked for, so it
// ends.
typedef struct mxn_batch {
    struct mxn_batch *next;
    mxn_arrival_list bodies;
    uint32_t seen;
    uint64_t bytes;  // of room, from when it was opened
    uint64_t number;  // the order in which batches were first seen
    bool is_open;
} mxn_batch;

struct mxn_owner_piece {
    uint64_t offset;  // within the part
    uint32_t bytes;
    uint8_t current;  // which of the part's two values is the stored one
    uint32_t added;
    uint64_t round;
    mxn_batch batch;
    mxn_arrival_of **arrivals;  // of the round, by place
};

// A push of dist_async, piece by piece.
struct mxn_gather {
    struct mxn_gather *next;
    uint32_t worker, here;
    unsigned char *value;  // of the whole part
    mxn_batch batch;
    mxn_arrival_list arrivals;
    uint64_t first_ns, first_ticks, round;
};

struct mxn_owner_part {
    mxn_dist *dist;
    mxn_owner_part *next;  // of all
    mxn_dist_part of;
    char *name;
    mxn_shape shape;
    bool is_async;
    uint32_t slot, piece_count;
    uint64_t offset, bytes;  // within the key
    unsigned char
        *values[2];  // the stored one, and where the sum is made; which is which: the pieces
    float *wide;  // where narrow floats are summed; null before the first round
    mxn_owner_piece *pieces;
    mxn_arrival_of **arrivals;  // of all pieces
    uint32_t pushers;  // workers; with two levels hosts, or the workers of this one
    // The round.
    uint32_t *here;  // pieces that have come, by place
    uint64_t *here_ns;  // when the last one of them came
    uint32_t pieces_done, pushers_here;
    uint32_t first, last;  // workers, by their last pieces
    bool updates;  // whether this round goes through the updater
    uint64_t first_ns, first_full_ns, last_ns, told_ns, first_ticks;
    uint64_t copy_ticks, add_ticks, sum_end_ticks;  // spent on this round's sum
    mxn_statistic round_statistic, sum_statistic;
    // Updates.
    uint32_t readers;  // replies that are being sent from the stored value
    bool is_updating;
    mxn_gather *gathering;  // pushes of dist_async of which pieces are missing
    mxn_gather *due, *due_last;  // complete, in the order of their arrival
    mxn_arrival_list pulls;  // that wait for an update
    // Of a part that is summed for this host: the value is that of its owner.
    mxn_dist_key *host_key;  // null: this process is its owner
    uint32_t host_index;  // of the part, within the key
    int32_t priority;  // of who pushed last
    mxn_dist_op *forward;  // the sum, or a question for the value, is on its way
    bool has_value, wants_value;  // whether anybody has asked for it in this round
    uint64_t value_round;  // of the value it has
    uint64_t outer_wait_ns;  // for other hosts
    uint32_t outer_last;
};

typedef struct mxn_owner_command {
    struct mxn_owner_command *next;
    mxn_dist *dist;
    mxn_ticket ticket;
    uint32_t peer;
    mxn_wire header;
    bool is_here, is_handed;
    void *body;
} mxn_owner_command;

struct mxn_owner {
    mxn_owner_part *parts;
    mxn_owner_piece **slots;
    mxn_owner_part **slot_parts;
    size_t slot_count, slot_capacity, part_capacity;
    uint64_t stored_bytes;  // of all parts, with the places of their sums
    char *refusal;  // why the last key could not be made
    mxn_arrival_of *spare, *youngest;
    bool has_updater[MXN_DIST_STORES_MAX];  // under the node's lock
    uint32_t requests;  // that are not answered
    uint32_t sending;  // replies that are under way

    // Replies to requests that came in buckets, by worker.
    mxn_arrival_list *replies;
    uint32_t reply_count;

    // Room.
    mxn_bucket *buckets, *buckets_last;  // that may be received
    mxn_arrival_list wanted;  // bodies that may be received, by the age of their batches
    mxn_batch *ready, *ready_last;  // all of whose headers have been seen
    uint64_t inflight_bytes, open_bytes, batches;
    // For counters.
    uint64_t held_bytes, pieces_waiting, in_bytes, out_bytes;
    uint64_t told[4];
    mxn_statistic *of_workers;  // of their messages, by rank; null before the first one

    mxn_owner_command *commands, *commands_last;
    mxn_long_answer *answers;  // that are being sent
};

// ---- dist_owner.c ------------------------------------------------------------------------------
void mxn__list_add(mxn_arrival_list *list, mxn_arrival_of *arrival);
mxn_arrival_of *mxn__list_take(mxn_arrival_list *list);
// Replies with the stored value of the piece if one was asked for; the arrival is gone.
void mxn__owner_reply(mxn_arrival_of *arrival, uint32_t last, uint64_t wait_ns);
void mxn__owner_refuse(mxn_arrival_of *arrival, const char *text);
void mxn__owner_free_arrival(mxn_arrival_of *arrival);

// ---- dist_owner_bucket.c -----------------------------------------------------------------------
void mxn__replies_add(mxn_arrival_of *arrival, const mxn_wire *reply);
bool mxn__replies_send(mxn_dist *dist);  // all that there are

// ---- dist_owner_key.c --------------------------------------------------------------------------
void mxn__owner_define(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);
mxn_owner_piece *mxn__owner_find(mxn_dist *dist, const mxn_wire *header, mxn_owner_part **part);
// Who pushes it: the place of a worker, UINT32_MAX if it is none of them; and whether they are
// hosts.
uint32_t mxn__owner_place(const mxn_owner_part *part, uint32_t worker);
bool mxn__owner_sums_hosts(const mxn_owner_part *part);
// By how much the bytes of a message are more than those of its piece: sums of narrow floats are
// float32.
uint32_t mxn__owner_widening(const mxn_owner_part *part, const mxn_wire *header);
// What this process sums for its host. MXP_ENOMEM.
int mxn__owner_add_host_part(mxn_dist *dist, mxn_dist_key *key, uint32_t index);
void mxn__owner_free_part(mxn_owner_part *part);

// ---- dist_host_sum.c ---------------------------------------------------------------------------
void mxn__host_free(mxn_dist_op *op);  // null does nothing
void mxn__host_forward(mxn_owner_part *part);  // the sum is made; readers are gone
bool mxn__host_has(const mxn_owner_part *part, uint64_t round);  // the value after that round
void mxn__host_ask(mxn_owner_part *part);  // for what `pulls` wait, if nothing is on its way

// ---- dist_owner_room.c -------------------------------------------------------------------------
// A body that is to be received to `into`; then `arrived` is called.
void mxn__room_want(mxn_arrival_of *arrival, mxn_batch *batch, uint32_t batch_count,
                    uint64_t batch_bytes);
// One of the batch whose value has come with its header: others may be bodies.
void mxn__room_pass(mxn_arrival_of *arrival, mxn_batch *batch, uint32_t batch_count,
                    uint64_t batch_bytes);
// A body that is received at once, whatever the room: of an init, of what was refused.
void mxn__room_receive(mxn_arrival_of *arrival);
void mxn__room_want_bucket(mxn_bucket *bucket);
bool mxn__room_pump(mxn_dist *dist);
void mxn__room_close(mxn_owner *owner, mxn_batch *batch);  // it is over, or was never opened

// ---- dist_owner_round.c ------------------------------------------------------------------------
void mxn__round_push(mxn_arrival_of *arrival, const void *inlined);  // PUSH, PUSHPULL; checked
void mxn__round_pull(mxn_arrival_of *arrival);
void mxn__round_here(mxn_arrival_of *arrival);  // its body has come
void mxn__round_updated(mxn_owner_part *part, int error, const char *text);
bool mxn__round_updates(mxn_owner_part *part);  // begins an update that is due
void mxn__round_free(mxn_owner_part *part);

// ---- dist_owner_command.c ----------------------------------------------------------------------
// Gives the job up if a round of the part waits for a worker that has left.
void mxn__owner_check_left(mxn_owner_part *part);
void mxn__owner_command(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);
void mxn__owner_command_answered(mxn_dist *dist, mxn_dist_request *request);
void mxn__owner_command_fini(mxn_owner *owner);

#endif
