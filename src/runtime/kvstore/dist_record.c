// SPDX-License-Identifier: Apache-2.0
// What all records have in common, and those of workers, whose operators are the engine's own; a
// span of the same name beside each tells what it was about.
#include "runtime/kvstore/dist_record.h"

#include <mxprof/error.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/name_once.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_probe.h"
#include "runtime/kvstore/dist_record_parts.h"
#include "runtime/kvstore/record_detail.h"

// ---- names -------------------------------------------------------------------------------------
MXN_RECORD_ARGUMENT(key)
MXN_RECORD_ARGUMENT(bytes)
MXN_RECORD_ARGUMENT(pieces)
MXN_RECORD_ARGUMENT(waited_ns)
MXN_RECORD_ARGUMENT(waited_for)
MXN_RECORD_ARGUMENT(send_ns)
MXN_RECORD_ARGUMENT(flow)
MXN_RECORD_ARGUMENT(peer)
MXN_RECORD_ARGUMENT(offset)
MXN_RECORD_ARGUMENT(round)
MXN_RECORD_ARGUMENT(last)
MXN_RECORD_ARGUMENT(communication)
MXN_RECORD_ARGUMENT(bytes_out)
MXN_RECORD_ARGUMENT(bytes_in)
MXN_RECORD_ARGUMENT(receive_ns)
MXN_RECORD_ARGUMENT(bytes_per_s)
MXN_RECORD_ARGUMENT(least_bytes_per_s)
MXN_RECORD_ARGUMENT(most_bytes_per_s)
MXN_RECORD_ARGUMENT(elsewhere)

mxp_name mxn__record_name(mxp_atomic_u32 *cache, const char *category, const char *text, int style,
                          int unit)
{
    mxp_name name = mxp_atomic_load(cache);
    if (name == MXP_NAME_NONE) {
        name = mxp_intern(category, text, style, unit);
        mxp_atomic_store(cache, name);
    }
    return name;
}

mxp_name mxn__record_async_name(mxp_atomic_u32 *cache, const char *text)
{
    return mxn__record_name(cache, "communication", text, MXP_STYLE_ASYNC, MXP_UNIT_NONE);
}

mxp_name mxn__record_flow_name(void)
{
    static mxp_atomic_u32 cache;
    return mxn__record_name(&cache, "communication", "kvstore", MXP_STYLE_FLOW, MXP_UNIT_NONE);
}

int mxn__record_follow(mxn_dist *dist)
{
    if (!dist->config.reads_detail) {
        return MXP_OK;
    }
    dist->detail_turn = mxn_record_detail_turn();
    dist->sampling.is_on = dist->sampling.lasts != NULL && !mxn_record_ranks_are_given();
    return mxn_record_detail_of(dist->rank, (dist->roles & MXN_ROLE_WORKER) != 0,
                                &dist->config.detail);
}

// MXN_DETAIL_*; what was chosen last is valid.
static int detail_of(mxn_dist *dist)
{
    if (dist->detail_turn != mxn_record_detail_turn()) {
        (void)mxn__record_follow(dist);
    }
    return dist->config.detail;
}

bool mxn__record_is_on(void)
{
    return mxp_enabled(MXN_RECORD_CLASS);
}

bool mxn__records(mxn_dist *dist)
{
    return mxp_enabled(MXN_RECORD_CLASS) && detail_of(dist) != MXN_DETAIL_STATISTICS &&
           mxn__sampling_takes(&dist->sampling);
}

bool mxn__records_messages(mxn_dist *dist)
{
    return mxn__records(dist) &&
           (detail_of(dist) == MXN_DETAIL_MESSAGES || detail_of(dist) == MXN_DETAIL_ALL);
}

bool mxn__counts(mxn_dist *dist)
{
    const int detail = detail_of(dist);
    const bool is_left_out = dist->sampling.is_on && !dist->sampling.is_chosen;
    return mxp_enabled(MXN_RECORD_CLASS) &&
           (detail == MXN_DETAIL_STATISTICS || detail == MXN_DETAIL_ALL || is_left_out);
}

// What began before recording did is not told.
void mxn__record_emit(mxp_name name, uint64_t begin_ticks, uint64_t end_ticks, const mxp_arg *args,
                      uint32_t count)
{
    if (begin_ticks == 0) {
        return;
    }
    const mxp_span span = {.name = name,
                           .begin_ticks = begin_ticks,
                           .end_ticks = end_ticks,
                           .lane = name_communication(),
                           .clock = MXP_CLOCK_TRACE,
                           .arg_count = count,
                           .args = args};
    mxp_span_emit(MXN_RECORD_CLASS, &span);
}

uint64_t mxn__record_ns_since(uint64_t from_ns)
{
    const uint64_t now_ns = mxp__os_monotonic_ns();
    return now_ns > from_ns ? now_ns - from_ns : 0;
}

// ---- workers: operations -----------------------------------------------------------------------
void mxn__record_operation_begin(mxn_dist_op *op)
{
    op->begin_ticks = mxn__record_now();
    op->sent_ns = op->reply_ns = 0;
    op->out_bytes = op->in_bytes = 0;
}

static mxn_named_operation operation_of(const mxn_dist_op *op)
{
    return mxn__named_operation(op->of.kind, op->threshold > 0);
}

static mxp_name operation_name(mxn_named_operation operation)
{
    static mxp_atomic_u32 caches[MXN_NAMED_OPERATIONS];
    return mxn__record_async_name(&caches[operation], mxn__operation_texts[operation]);
}

static uint64_t operation_bytes(const mxn_dist_op *op)
{
    return op->threshold > 0 ? op->key->words_bytes : op->key->bytes;
}

static void count_operation(mxn_dist_op *op, uint64_t end_ticks, uint64_t waited_ns,
                            uint64_t sent_ns)
{
    mxn_statistic *of = &op->key->statistics[operation_of(op)];
    const char *what = mxn__operation_texts[operation_of(op)], *key = op->key->name;
    mxn__statistic_add_span(of, what, key, op->begin_ticks, end_ticks);
    mxn__statistic_add(of, MXN_QUANTITY_SENT, what, key, sent_ns);
    mxn__statistic_add(of, MXN_QUANTITY_BYTES, what, key, operation_bytes(op));
    if (op->of.kind != MXN_DIST_PULL) {  // which waits for nobody
        mxn__statistic_add(of, MXN_QUANTITY_WAITED, what, key, waited_ns);
    }
}

static uint64_t sending_ns(const mxn_dist_op *op)
{
    return op->sent_ns > op->begin_ns ? op->sent_ns - op->begin_ns : 0;
}

// The wait is a part of what comes after sending: the parts tile the operation.
static uint64_t waiting_ns(const mxn_dist_op *op)
{
    const uint64_t whole_ns = mxn__record_ns_since(op->begin_ns), sent_ns = sending_ns(op);
    const uint64_t rest_ns = whole_ns > sent_ns ? whole_ns - sent_ns : 0;
    return op->wait_ns < rest_ns ? op->wait_ns : rest_ns;
}

static uint64_t receiving_ns(const mxn_dist_op *op)
{
    return op->reply_ns == 0 ? 0 : mxn__record_ns_since(op->reply_ns);
}

void mxn__record_operation(mxn_dist *dist, mxn_dist_op *op)
{
    if (!mxp_enabled(MXN_RECORD_CLASS) || op->begin_ticks == 0 || op->error != MXP_OK ||
        op->of.kind == MXN_DIST_INIT) {
        return;
    }
    const uint64_t sent_ns = sending_ns(op), waited_ns = waiting_ns(op);
    const uint64_t end_ticks = mxp_ticks();
    if (op->of.kind != MXN_DIST_PULL) {
        mxn__sampling_note(&dist->sampling, op->last);
    }
    if (mxn__counts(dist)) {
        count_operation(op, end_ticks, waited_ns, sent_ns);
    }
    if (!mxn__records(dist)) {
        return;
    }
    const mxp_arg args[] = {
        mxp_name_arg(name_key(), mxp_string(op->key->name)),
        mxp_u64(name_bytes(), operation_bytes(op)),
        mxp_u64(name_pieces(), op->key->pieces),
        mxp_u64(name_waited_ns(), waited_ns),
        mxp_i64(name_waited_for(), op->of.kind == MXN_DIST_PULL ? -1 : (int64_t)op->last),
        mxp_u64(name_send_ns(), sent_ns),
        mxp_u64(name_round(), op->round),
        mxp_u64(name_flow(), op->flights[0].flow),
        mxp_u64(name_bytes_out(), op->out_bytes),
        mxp_u64(name_bytes_in(), op->in_bytes),
        mxp_u64(name_receive_ns(), receiving_ns(op)),
    };
    mxn__record_emit(operation_name(operation_of(op)), op->begin_ticks, end_ticks, args,
                     sizeof args / sizeof *args);
}

void mxn__record_forward(mxn_dist *dist, const mxn_dist_op *op)
{
    static mxp_atomic_u32 caches[MXN_DIST_PUSHPULL + 1];
    static const char *const texts[MXN_DIST_PUSHPULL + 1] = {[MXN_DIST_PUSH] = "KVStore host push",
                                                             [MXN_DIST_PULL] = "KVStore host pull",
                                                             [MXN_DIST_PUSHPULL] =
                                                                 "KVStore host pushpull"};
    if (op->error != MXP_OK || !mxn__records(dist)) {
        return;
    }
    const mxp_arg args[] = {
        mxp_name_arg(name_key(), mxp_string(op->key->name)),
        mxp_u64(name_round(), op->round),
        mxp_u64(name_bytes(), op->forwards->bytes),
        mxp_u64(name_waited_ns(), waiting_ns(op)),
        mxp_u64(name_send_ns(), sending_ns(op)),
        mxp_u64(name_bytes_out(), op->out_bytes),
        mxp_u64(name_bytes_in(), op->in_bytes),
        mxp_u64(name_receive_ns(), receiving_ns(op)),
    };
    mxn__record_emit(mxn__record_async_name(&caches[op->of.kind], texts[op->of.kind]),
                     op->begin_ticks, mxp_ticks(), args, sizeof args / sizeof *args);
}

void mxn__record_answer(mxn_dist *dist, mxn_dist_op *op, uint32_t peer, const mxn_wire *reply)
{
    if (op->begin_ticks != 0 && reply->bytes > 0 && mxn__probe_is_far(dist, peer)) {
        op->in_bytes += reply->bytes;
        op->reply_ns = op->reply_ns == 0 ? mxp__os_monotonic_ns() : op->reply_ns;
    }
}

void mxn__record_barrier_begin(mxn_dist_op *op)
{
    op->begin_ticks = mxn__record_now();
}

void mxn__record_barrier(mxn_dist *dist, mxn_dist_op *op)
{
    static mxp_atomic_u32 cache;
    static mxn_statistic of;
    const uint64_t end_ticks = mxp_ticks();
    if (mxn__counts(dist) && op->begin_ticks != 0) {
        mxn__statistic_add_span(&of, "barrier", NULL, op->begin_ticks, end_ticks);
        mxn__statistic_add(&of, MXN_QUANTITY_WAITED, "barrier", NULL, op->wait_ns);
    }
    if (mxn__records(dist)) {
        const mxp_arg args[] = {mxp_u64(name_waited_ns(), op->wait_ns),
                                mxp_u64(name_last(), op->last)};
        mxn__record_emit(mxn__record_async_name(&cache, "barrier"), op->begin_ticks, end_ticks,
                         args, 2);
    }
}

// ---- workers: messages -------------------------------------------------------------------------
uint64_t mxn__record_next_flow(mxn_dist *dist)
{
    const uint64_t counter = ++dist->flows & ((UINT64_C(1) << 44) - 1);
    return (uint64_t)dist->transport->rank << 44 | counter;
}

void mxn__record_begin(mxn_dist *dist, mxn_flight *flight, mxn_wire *header)
{
    if (mxn__probe_is_far(dist, dist->links[flight->link].peer)) {
        flight->op->out_bytes += mxn__wire_body_bytes(header);
    }
    flight->begin_ticks = mxn__record_now();
    if (mxn__records_messages(dist)) {
        flight->flow = header->flow = mxn__record_next_flow(dist);
        header->flags |= MXN_WIRE_RECORDED;
        mxp_flow(MXN_RECORD_CLASS, mxn__record_flow_name(), MXP_FLOW_START, flight->flow);
    }
}

// "server 1", "worker 0".
static void peer_text(const mxn_dist *dist, uint32_t peer, bool as_owner, char text[32])
{
    const mxn_peer *of = &dist->transport->peers[peer];
    snprintf(text, 32, "%s %u", as_owner ? "server" : "worker", as_owner ? of->owner : of->worker);
}

static mxp_arg peer_arg(const mxn_dist *dist, uint32_t peer, bool as_owner)
{
    char text[32];
    peer_text(dist, peer, as_owner, text);
    return mxp_name_arg(name_peer(), mxp_string(text));
}

static void message(const mxn_dist *dist, mxp_name name, const mxn_flight *flight, uint32_t bytes,
                    uint64_t begin_ticks, uint64_t flow)
{
    const mxn_dist_op *op = flight->op;
    const mxn_key_part *part = &op->key->parts[flight->part];
    const mxp_arg args[] = {
        peer_arg(dist, dist->links[flight->link].peer, flight->link < dist->owner_count),
        mxp_name_arg(name_key(), mxp_string(op->key->name)),
        mxp_u64(name_offset(), mxn__piece_offset(part, dist->config.piece_bytes, flight->piece)),
        mxp_u64(name_bytes(), bytes),
        mxp_u64(name_flow(), flow),
    };
    mxn__record_emit(name, begin_ticks, mxp_ticks(), args, sizeof args / sizeof *args);
}

void mxn__record_sent(mxn_dist *dist, mxn_flight *flight)
{
    static mxp_atomic_u32 cache;
    if (--flight->op->unsent == 0 && mxp_enabled(MXN_RECORD_CLASS)) {
        flight->op->sent_ns = mxp__os_monotonic_ns();
    }
    if (flight->flow != 0 && mxn__records(dist)) {
        message(dist, mxn__record_async_name(&cache, "send"), flight,
                mxn__piece_sent_bytes(dist, flight), flight->begin_ticks, flight->flow);
    }
}

// From where it is handed over until all of its answer is here.
static void count_message(mxn_dist *dist, mxn_flight *flight)
{
    mxn_statistic *of = &dist->links[flight->link].statistic;
    char whom[32];
    peer_text(dist, dist->links[flight->link].peer, flight->link < dist->owner_count, whom);
    mxn__statistic_add_span(of, "message", whom, flight->begin_ticks, mxp_ticks());
    mxn__statistic_add(of, MXN_QUANTITY_BYTES, "message", whom,
                       mxn__piece_sent_bytes(dist, flight));
}

void mxn__record_received(mxn_dist *dist, mxn_flight *flight)
{
    static mxp_atomic_u32 cache;
    if (flight->begin_ticks != 0 && flight->op->key != NULL && mxn__counts(dist)) {
        count_message(dist, flight);
    }
    if (flight->reply_flow != 0 && mxn__records(dist)) {
        message(dist, mxn__record_async_name(&cache, "receive"), flight,
                mxn__piece_plain_bytes(dist, flight), flight->reply_ticks, flight->reply_flow);
        mxp_flow(MXN_RECORD_CLASS, mxn__record_flow_name(), MXP_FLOW_END, flight->reply_flow);
    }
}

// ---- workers: the start's probe ----------------------------------------------------------------
void mxn__record_probe(const mxn_dist *dist, const mxn_probe_record *of, uint64_t begin_ticks)
{
    static mxp_atomic_u32 cache;
    const bool is_worker = (dist->transport->peers[of->peer].roles & MXN_ROLE_WORKER) != 0;
    if (!mxp_enabled(MXN_RECORD_CLASS)) {
        return;
    }
    const mxp_arg args[] = {
        peer_arg(dist, of->peer, !is_worker),         mxp_u64(name_bytes(), of->bytes),
        mxp_u64(name_pieces(), of->pieces),           mxp_u64(name_bytes_per_s(), of->bytes_per_s),
        mxp_u64(name_least_bytes_per_s(), of->least), mxp_u64(name_most_bytes_per_s(), of->most),
        mxp_u64(name_elsewhere(), of->is_elsewhere),
    };
    mxn__record_emit(mxn__record_async_name(&cache, "KVStore probe"), begin_ticks, mxp_ticks(),
                     args, sizeof args / sizeof *args);
}
