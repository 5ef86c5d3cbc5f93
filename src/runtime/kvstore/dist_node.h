// SPDX-License-Identifier: Apache-2.0
// What a node of the distributed store consists of; the files dist*.c know each other by this.
//
//   any thread                    the communication thread
//   submit, answered, fail  --->  turn: what was submitted  (dist_turn.c)
//        under `lock`                   the transport's turn: headers to worker, owner, head
//                                                                    (dist_message.c)
//                                       pieces that may be received  (dist_owner.c)
//                                       pieces that may be sent      (dist_piece.c)
//
// Fields are the communication thread's unless they say otherwise.
#ifndef MXN_KVSTORE_DIST_NODE_H
#define MXN_KVSTORE_DIST_NODE_H

#include <pthread.h>

#include "base/lock.h"
#include "runtime/kvstore/clock_cuts.h"
#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/dist_hosts.h"
#include "runtime/kvstore/dist_key.h"
#include "runtime/kvstore/dist_sampling.h"
#include "runtime/kvstore/piece_pool.h"

typedef struct mxn_dist_op mxn_dist_op;
typedef struct mxn_owner mxn_owner;
typedef struct mxn_owner_part mxn_owner_part;
typedef struct mxn_bucket mxn_bucket;
typedef struct mxn_head mxn_head;
typedef struct mxn_probe mxn_probe;

// ---- the worker --------------------------------------------------------------------------------
// What is awaited for a piece, or of a server for a command.
enum { MXN_AWAITS_SEND = 1, MXN_AWAITS_REPLY = 2, MXN_AWAITS_BODY = 4, MXN_AWAITS_GRANT = 8 };

// A piece of an operation that is under way.
typedef struct mxn_flight {
    mxn_ticket sent, received;
    mxn_dist_op *op;
    uint32_t part, piece;
    uint32_t link;  // to whom it goes
    uint32_t awaits;  // MXN_AWAITS_*; 0: not begun, or over
    bool in_window;
    uint64_t begin_ticks, reply_ticks;
    uint64_t flow, reply_flow;
    void *answer;  // of a command
    uint32_t answer_bytes;
} mxn_flight;

// An operation, and for each part of its key how far it is.
struct mxn_dist_op {
    mxn_dist *dist;
    mxn_dist_operation of;
    mxn_dist_op *next;  // submitted; then of its key
    mxn_dist_op *older, *younger;  // of all that are not over; under the lock
    mxn_dist_key *key;  // null: barrier, command
    uint64_t number;  // of submission
    uint64_t generation;  // INIT, BARRIER
    uint64_t round;  // written under the lock
    mxn_dist_op *beside;  // of barriers, of commands
    uint32_t flight_count, left;  // pieces; those that are not over
    uint32_t unsent;  // pieces that have not left
    mxn_flight *flights;
    // Of what sums for its host: a part that goes to its owner, or whose value is asked for.
    mxn_owner_part *forwards;
    bool is_taken;  // by the communication thread
    float threshold;  // of a compressed push; else 0
    bool is_last;  // barrier: of mxn_dist_close
    bool is_cut;  // a peer it waits for is lost: it ends when the job fails, by who has died
    bool is_told;  // `done` was called although flights are not over: the job has failed
    int error;
    char *text;  // of the error
    uint64_t submit_ticks, begin_ticks, sent_ticks;
    uint64_t begin_ns, sent_ns, wait_ns, reply_ns;  // reply: when the first value came
    uint64_t out_bytes, in_bytes;  // to and from those that are far (dist_probe.h)
    uint32_t last;  // rank of the worker that was waited for
    void *copy;  // of a command's body
};

// What is next to be sent to one owner: an operation and one of its parts.
typedef struct mxn_turn_part {
    mxn_dist_op *op;
    uint32_t part, next;  // piece
} mxn_turn_part;

typedef struct mxn_link {  // to one owner, or to one worker that sums for the host
    uint32_t peer;
    mxn_statistic statistic;  // of its messages
    uint32_t bodies, pulls;  // under way: what the window bounds
    mxn_turn_part *heap;  // by priority, then by number
    size_t heap_count, heap_capacity;
} mxn_link;

// ---- buckets -----------------------------------------------------------------------------------
// A message of parts (parts.h) that is being sent or received.
struct mxn_bucket {
    mxn_ticket ticket;
    mxn_dist *dist;
    mxn_bucket *next, *before;  // of all
    mxn_bucket *after;  // of those that wait for room
    mxn_link *link;  // in whose window it is; null: in none
    uint32_t peer;
    mxn_wire header;
    mxn_piece_buffer *body;
};

// ---- requests ----------------------------------------------------------------------------------
enum { MXN_REQUEST_UPDATE, MXN_REQUEST_COMMAND };

struct mxn_dist_request {
    int kind;
    mxn_dist *dist;
    mxn_dist_request *next;
    void *of;  // the owner's: a part, or a command
    int error;
    char *text;
    void *answer;
    uint64_t answer_bytes;
};

// ---- the node ----------------------------------------------------------------------------------
typedef struct mxn_store_keys {
    bool is_async;
    mxn_dist_key **keys;
    size_t count, capacity;
    // Under the lock.
    uint64_t pushes;
    float threshold;  // of compression; 0: pushes are not compressed
    bool is_agreeing;  // on it
} mxn_store_keys;

enum { MXN_DIST_RUNNING, MXN_DIST_CLOSING, MXN_DIST_CLOSED };

struct mxn_dist {
    mxn_dist_config config;
    uint32_t process;  // that it belongs to
    mxn_transport *transport;
    uint32_t roles, rank;
    uint32_t worker_count, owner_count;
    uint32_t *worker_peers;  // by rank
    mxn_hosts hosts;

    mxp_lock lock;
    pthread_cond_t changed;
    // Under the lock, by any thread.
    mxn_dist_op *submitted, *submitted_last;
    mxn_dist_op *oldest, *youngest;  // of all that are not over
    mxn_dist_request *answered, *answered_last;
    mxn_store_keys stores[MXN_DIST_STORES_MAX];
    uint32_t store_count;
    uint64_t submissions, generations;
    uint32_t *next_slot;  // of each owner
    uint32_t host_slots;
    int state;  // MXN_DIST_*
    bool is_opened;  // the thread has
    bool wants_exchange, has_exchanged, wants_bye, wants_close;  // what it was asked for
    bool is_over;  // it has ended
    bool is_cut;  // ends without a word: driven nodes
    bool has_thread;
    int open_error;
    char *open_text;
    mxp_atomic_ptr failure;  // text; null: it has not failed
    mxp_atomic_u32 is_asleep;

    pthread_t thread;
    int (*open)(void *context, mxn_transport **);
    void *open_context;
    bool has_told_loss, has_failed_all;
    uint64_t last_busy_ns, last_stall_check_ns, last_refresh_ns;
    uint64_t exchange_end_ns, end_ns;

    // The worker.
    mxn_link *links;  // one an owner, then one a worker of this host
    uint32_t link_count;
    mxn_dist_op *barriers;  // that wait for their release
    mxn_dist_op *commands;
    mxn_dist_op *abandoned;  // told of a failure; pieces of them are on their way
    uint32_t ops;  // that are not over
    mxn_bucket *buckets;  // that are under way, the owner's too
    uint32_t buckets_sent;  // of them, those that are being sent
    uint64_t flows;  // given out
    bool has_said_bye;

    mxn_owner *owner;  // null: this is none
    mxn_head *head;  // null: not worker 0
    mxn_clock_cuts *clock;  // null: stamps are not exchanged
    uint64_t last_stamp_ns;  // when the last one came
    mxn_probe *probe;  // null: there are no others
    uint32_t detail_turn;  // of config.detail (record_detail.h)
    mxn_sampling sampling;
    uint32_t byes;  // of workers, to this owner or scheduler
    bool *has_bye;  // by worker
    bool *has_left;  // by worker: it pushes nothing any more
    bool any_has_left, is_hopeless;
    mxn_piece_pool pool;
};

// ---- dist.c, dist_submit.c ---------------------------------------------------------------------
int mxn__dist_check_process(const mxn_dist *dist);  // MXP_ESTATE: it belongs to another one
void mxn__dist_submit_last_barrier(mxn_dist *dist);
void mxn__dist_free_stores(mxn_dist *dist);
mxn_dist_key *mxn__dist_find(mxn_dist *dist, uint16_t store, uint32_t key);  // null: none
// Ends an operation: tells `done`, and frees it.
void mxn__dist_complete(mxn_dist *dist, mxn_dist_op *op, const void *answer, uint64_t bytes);
// One that was told of its failure with pieces on their way: they are over, or the transport is.
void mxn__dist_leave_abandoned(mxn_dist *dist, mxn_dist_op *op);
void mxn__dist_free_abandoned(mxn_dist *dist);
void mxn__dist_op_fail(mxn_dist_op *op, int error, const char *text);  // the first error counts
// Texts from peers, which end nowhere. Null: there is none, or no memory.
char *mxn__dist_text(const void *text, uint32_t bytes);

// ---- dist_message.c ----------------------------------------------------------------------------
void mxn__dist_handle(void *context, uint32_t peer, const mxn_wire *header, const void *inlined);
void mxn__dist_lost(void *context, uint32_t peer, const char *text);  // the transport's word
// Nonsense came from a peer, or a send failed: the line of this thread says what.
void mxn__dist_lose(mxn_dist *dist, uint32_t peer, const char *text);
// What others wait for will never come; the first text counts. By the communication thread.
void mxn__dist_give_up(mxn_dist *dist, const char *text);
// A header without a body that is longer than a message.
void mxn__dist_send(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *body);

// ---- dist_turn.c -------------------------------------------------------------------------------
void mxn__dist_run(mxn_dist *dist);  // the thread's: until it was asked to end, and may
void mxn__dist_wake(mxn_dist *dist);
void mxn__dist_fail_all(mxn_dist *dist);  // once, if the job has failed

// ---- dist_worker.c -----------------------------------------------------------------------------
int mxn__worker_init(mxn_dist *dist);
void mxn__worker_fini(mxn_dist *dist);
void mxn__worker_take(mxn_dist *dist, mxn_dist_op *op);  // one that was submitted
void mxn__worker_finish(mxn_dist *dist, mxn_dist_op *op);  // all of its pieces are over
// Flights for the parts from `first` on, queued on their links. MXP_ENOMEM.
int mxn__worker_queue(mxn_dist *dist, mxn_dist_op *op, uint32_t first, uint32_t count);
void mxn__worker_inited(mxn_dist *dist, mxn_dist_op *op);  // after the barrier of its key
void mxn__worker_fail(mxn_dist *dist, const char *text);  // everything that is not over

// ---- dist_link.c -------------------------------------------------------------------------------
int mxn__link_push(mxn_link *link, const mxn_turn_part *part);
void mxn__link_pop(mxn_link *link);  // the first one; there is one

// ---- dist_piece.c ------------------------------------------------------------------------------
uint32_t mxn__piece_link(const mxn_dist *dist, const mxn_dist_op *op, uint32_t part);
// Of a message of an op to this link: LOCAL, SUMMED. And the bytes of a part's value in it.
uint16_t mxn__piece_flags(const mxn_dist *dist, const mxn_dist_op *op, uint32_t link);
uint64_t mxn__piece_part_bytes(const mxn_dist_op *op, uint32_t part);
uint32_t mxn__piece_plain_bytes(const mxn_dist *dist, const mxn_flight *flight);  // of its values
uint32_t mxn__piece_sent_bytes(const mxn_dist *dist, const mxn_flight *flight);
bool mxn__worker_pump(mxn_dist *dist);
void mxn__worker_reply(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);
void mxn__worker_grant(mxn_dist *dist, uint32_t peer, const mxn_wire *header);

// A part that goes in a bucket: its piece is under way. The header of a message of its own, and
// what would follow it; then what the piece's send ends.
mxn_wire mxn__piece_begin(mxn_dist *dist, const mxn_turn_part *of, const void **value);
void mxn__piece_sent(mxn_dist *dist, const mxn_turn_part *of);
void mxn__piece_send(mxn_dist *dist, const mxn_turn_part *of);  // in a message of its own

// ---- dist_bucket.c -----------------------------------------------------------------------------
// Sends what goes together of what is next. False: the first one does not go in a bucket.
bool mxn__bucket_pump(mxn_dist *dist, mxn_link *link);
void mxn__bucket_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);
// With a body for `header->bytes`; null: the job has failed.
mxn_bucket *mxn__bucket_new(mxn_dist *dist, uint32_t peer, const mxn_wire *header);
void mxn__bucket_send(mxn_bucket *bucket, mxn_link *link);  // is gone; `link` as in the struct
void mxn__bucket_receive(mxn_bucket *bucket);  // hands its parts on when they are here; is gone
void mxn__buckets_free(mxn_dist *dist);  // the transport is closed

// ---- dist_host_sum.c ---------------------------------------------------------------------------
int mxn__host_define(mxn_dist *dist, mxn_dist_key *key);  // the parts that this process sums
void mxn__host_finish(mxn_dist *dist, mxn_dist_op *op);  // one that forwards is over

// ---- dist_control.c ----------------------------------------------------------------------------
void mxn__control_begin(mxn_dist *dist,
                        mxn_dist_op *op);  // barrier, command; an init's second half
void mxn__control_release(mxn_dist *dist, uint32_t peer, const mxn_wire *header,
                          const void *inlined);
void mxn__control_answer(mxn_dist *dist, uint32_t peer, const mxn_wire *header,
                         const void *inlined);

// ---- dist_head.c -------------------------------------------------------------------------------
int mxn__head_init(mxn_dist *dist);
void mxn__head_fini(mxn_dist *dist);
void mxn__head_barrier(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);

// ---- dist_owner.c ------------------------------------------------------------------------------
int mxn__owner_init(mxn_dist *dist);
void mxn__owner_fini(mxn_dist *dist);
// KEY, INIT, PUSH, PULL, PUSHPULL, COMMAND.
void mxn__owner_left(mxn_dist *dist, uint32_t peer);  // a LEAVE
void mxn__owner_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined);
void mxn__owner_handle_part(mxn_dist *dist, uint32_t peer, mxn_wire *header, const void *value);
bool mxn__owner_pump(mxn_dist *dist);
void mxn__owner_answered(mxn_dist *dist, mxn_dist_request *request);  // frees it
uint32_t mxn__owner_drop_answers(mxn_dist *dist);  // after its end; how many are still to come
void mxn__owner_check_stalls(mxn_dist *dist, uint64_t now_ns);
int mxn__owner_set_updater(mxn_dist *dist, uint16_t store, bool is_on);
void mxn__owner_fail(mxn_dist *dist);
bool mxn__owner_is_idle(const mxn_dist *dist);  // nothing of its own is under way

#endif
