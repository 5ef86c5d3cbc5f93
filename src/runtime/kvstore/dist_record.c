// SPDX-License-Identifier: Apache-2.0
// Records of workers and owners, from the communication thread. The operators of workers are the
// engine's own; a span of the same name beside each tells what it was about.
#include "runtime/kvstore/dist_record.h"

#include <mxprof/error.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/name_once.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_probe.h"
#include "runtime/kvstore/record_detail.h"

enum { CLASS = MXP_CLASS_IMPERATIVE };

// ---- names -------------------------------------------------------------------------------------
#define ARGUMENT(name)                          \
    static mxp_name name_##name(void)           \
    {                                           \
        static mxp_atomic_u32 cache;            \
        return mxp__string_once(&cache, #name); \
    }
ARGUMENT(key)
ARGUMENT(bytes)
ARGUMENT(pieces)
ARGUMENT(waited_ns)
ARGUMENT(waited_for)
ARGUMENT(send_ns)
ARGUMENT(flow)
ARGUMENT(peer)
ARGUMENT(offset)
ARGUMENT(worker)
ARGUMENT(round)
ARGUMENT(first)
ARGUMENT(last)
ARGUMENT(spread_ns)
ARGUMENT(communication)
ARGUMENT(bytes_out)
ARGUMENT(bytes_in)
ARGUMENT(receive_ns)
ARGUMENT(add_ns)
ARGUMENT(own_ns)
ARGUMENT(bytes_per_s)
ARGUMENT(least_bytes_per_s)
ARGUMENT(most_bytes_per_s)
ARGUMENT(elsewhere)

static mxp_name once(mxp_atomic_u32 *cache, const char *category, const char *text, int style,
                     int unit)
{
    mxp_name name = mxp_atomic_load(cache);
    if (name == MXP_NAME_NONE) {
        name = mxp_intern(category, text, style, unit);
        mxp_atomic_store(cache, name);
    }
    return name;
}

static mxp_name async_name(mxp_atomic_u32 *cache, const char *text)
{
    return once(cache, "communication", text, MXP_STYLE_ASYNC, MXP_UNIT_NONE);
}

static mxp_name flow_name(void)
{
    static mxp_atomic_u32 cache;
    return once(&cache, "communication", "kvstore", MXP_STYLE_FLOW, MXP_UNIT_NONE);
}

int mxn__record_follow(mxn_dist *dist)
{
    if (!dist->config.reads_detail) {
        return MXP_OK;
    }
    dist->detail_turn = mxn_record_detail_turn();
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
    return mxp_enabled(CLASS);
}

static bool records(mxn_dist *dist)
{
    return mxp_enabled(CLASS) && detail_of(dist) != MXN_DETAIL_STATISTICS;
}

static bool records_messages(mxn_dist *dist)
{
    return mxp_enabled(CLASS) && detail_of(dist) == MXN_DETAIL_MESSAGES;
}

// What began before recording did is not told.
static void emit(mxp_name name, uint32_t lane, uint64_t begin_ticks, uint64_t end_ticks,
                 const mxp_arg *args, uint32_t count)
{
    if (begin_ticks == 0) {
        return;
    }
    const mxp_span span = {.name = name,
                           .begin_ticks = begin_ticks,
                           .end_ticks = end_ticks,
                           .lane = lane,
                           .clock = MXP_CLOCK_TRACE,
                           .arg_count = count,
                           .args = args};
    mxp_span_emit(CLASS, &span);
}

static mxp_name string_of(const char *text)
{
    return mxp_string(text);
}

static uint64_t ns_of(uint64_t from_ns)
{
    const uint64_t now_ns = mxp__os_monotonic_ns();
    return now_ns > from_ns ? now_ns - from_ns : 0;
}

// ---- workers: operations -----------------------------------------------------------------------
void mxn__record_operation_begin(mxn_dist *dist, mxn_dist_op *op)
{
    op->begin_ticks = records(dist) ? mxp_ticks() : 0;
    op->sent_ns = op->reply_ns = 0;
    op->out_bytes = op->in_bytes = 0;
}

static mxp_name operation_name(int kind, bool is_compressed)
{
    static mxp_atomic_u32 caches[4], compressed;
    static const char *const texts[] = {[MXN_DIST_INIT] = "KVStoreDistInit",
                                        [MXN_DIST_PUSH] = "KVStoreDistDefaultPush",
                                        [MXN_DIST_PULL] = "KVStoreDistDefaultStoragePull",
                                        [MXN_DIST_PUSHPULL] = "KVStoreDistDefaultStoragePushPull"};
    return is_compressed ? async_name(&compressed, "KVStoreDistCompressedPush")
                         : async_name(&caches[kind], texts[kind]);
}

void mxn__record_operation(mxn_dist *dist, mxn_dist_op *op)
{
    if (!records(dist) || op->begin_ticks == 0 || op->error != MXP_OK ||
        op->of.kind == MXN_DIST_INIT) {
        return;
    }
    // The wait is a part of what comes after sending: the parts tile the operation.
    const uint64_t whole_ns = ns_of(op->begin_ns);
    const uint64_t sent_ns = op->sent_ns > op->begin_ns ? op->sent_ns - op->begin_ns : 0;
    const uint64_t rest_ns = whole_ns > sent_ns ? whole_ns - sent_ns : 0;
    const mxp_arg args[] = {
        mxp_name_arg(name_key(), string_of(op->key->name)),
        mxp_u64(name_bytes(), op->threshold > 0 ? op->key->words_bytes : op->key->bytes),
        mxp_u64(name_pieces(), op->key->pieces),
        mxp_u64(name_waited_ns(), op->wait_ns < rest_ns ? op->wait_ns : rest_ns),
        mxp_i64(name_waited_for(), op->of.kind == MXN_DIST_PULL ? -1 : (int64_t)op->last),
        mxp_u64(name_send_ns(), sent_ns),
        mxp_u64(name_round(), op->round),
        mxp_u64(name_flow(), op->flights[0].flow),
        mxp_u64(name_bytes_out(), op->out_bytes),
        mxp_u64(name_bytes_in(), op->in_bytes),
        mxp_u64(name_receive_ns(), op->reply_ns == 0 ? 0 : ns_of(op->reply_ns)),
    };
    emit(operation_name(op->of.kind, op->threshold > 0), name_communication(), op->begin_ticks,
         mxp_ticks(), args, sizeof args / sizeof *args);
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
    op->begin_ticks = records(op->dist) ? mxp_ticks() : 0;
}

void mxn__record_barrier(mxn_dist *dist, mxn_dist_op *op)
{
    static mxp_atomic_u32 cache;
    if (records(dist)) {
        const mxp_arg args[] = {mxp_u64(name_waited_ns(), op->wait_ns),
                                mxp_u64(name_last(), op->last)};
        emit(async_name(&cache, "barrier"), name_communication(), op->begin_ticks, mxp_ticks(),
             args, 2);
    }
}

// ---- workers: messages -------------------------------------------------------------------------
static uint64_t next_flow(mxn_dist *dist)
{
    const uint64_t counter = ++dist->flows & ((UINT64_C(1) << 44) - 1);
    return (uint64_t)dist->transport->rank << 44 | counter;
}

void mxn__record_begin(mxn_dist *dist, mxn_flight *flight, mxn_wire *header)
{
    if (mxn__probe_is_far(dist, dist->links[flight->link].peer)) {
        flight->op->out_bytes += mxn__wire_body_bytes(header);
    }
    if (records_messages(dist)) {
        flight->begin_ticks = mxp_ticks();
        flight->flow = header->flow = next_flow(dist);
        header->flags |= MXN_WIRE_RECORDED;
        mxp_flow(CLASS, flow_name(), MXP_FLOW_START, flight->flow);
    }
}

// "server 1", "worker 0".
static mxp_arg peer_arg(const mxn_dist *dist, uint32_t peer, bool as_owner)
{
    const mxn_peer *of = &dist->transport->peers[peer];
    char text[32];
    mxp_name name;
    snprintf(text, sizeof text, "%s %u", as_owner ? "server" : "worker",
             as_owner ? of->owner : of->worker);
    name = string_of(text);
    return mxp_name_arg(name_peer(), name);
}

static void message(const mxn_dist *dist, mxp_name name, const mxn_flight *flight, uint32_t bytes,
                    uint64_t begin_ticks, uint64_t flow)
{
    const mxn_dist_op *op = flight->op;
    const mxn_key_part *part = &op->key->parts[flight->part];
    const mxp_arg args[] = {
        peer_arg(dist, dist->links[flight->link].peer, flight->link < dist->owner_count),
        mxp_name_arg(name_key(), string_of(op->key->name)),
        mxp_u64(name_offset(), mxn__piece_offset(part, dist->config.piece_bytes, flight->piece)),
        mxp_u64(name_bytes(), bytes),
        mxp_u64(name_flow(), flow),
    };
    emit(name, name_communication(), begin_ticks, mxp_ticks(), args, sizeof args / sizeof *args);
}

void mxn__record_sent(mxn_dist *dist, mxn_flight *flight)
{
    static mxp_atomic_u32 cache;
    if (--flight->op->unsent == 0 && records(dist)) {
        flight->op->sent_ns = mxp__os_monotonic_ns();
    }
    if (flight->flow != 0 && records(dist)) {
        message(dist, async_name(&cache, "send"), flight, mxn__piece_sent_bytes(dist, flight),
                flight->begin_ticks, flight->flow);
    }
}

void mxn__record_received(mxn_dist *dist, mxn_flight *flight)
{
    static mxp_atomic_u32 cache;
    if (flight->reply_flow != 0 && records(dist)) {
        message(dist, async_name(&cache, "receive"), flight,
                mxn__piece_bytes(&flight->op->key->parts[flight->part], dist->config.piece_bytes,
                                 flight->piece),
                flight->reply_ticks, flight->reply_flow);
        mxp_flow(CLASS, flow_name(), MXP_FLOW_END, flight->reply_flow);
    }
}

// ---- workers: the start's probe ----------------------------------------------------------------
void mxn__record_probe(const mxn_dist *dist, const mxn_probe_record *of, uint64_t begin_ticks)
{
    static mxp_atomic_u32 cache;
    const bool is_worker = (dist->transport->peers[of->peer].roles & MXN_ROLE_WORKER) != 0;
    if (!mxp_enabled(CLASS)) {
        return;
    }
    const mxp_arg args[] = {
        peer_arg(dist, of->peer, !is_worker),         mxp_u64(name_bytes(), of->bytes),
        mxp_u64(name_pieces(), of->pieces),           mxp_u64(name_bytes_per_s(), of->bytes_per_s),
        mxp_u64(name_least_bytes_per_s(), of->least), mxp_u64(name_most_bytes_per_s(), of->most),
        mxp_u64(name_elsewhere(), of->is_elsewhere),
    };
    emit(async_name(&cache, "KVStore probe"), name_communication(), begin_ticks, mxp_ticks(), args,
         sizeof args / sizeof *args);
}

// ---- owners: messages --------------------------------------------------------------------------
static void owner_message(const mxn_arrival_of *arrival, mxp_name name, uint32_t bytes,
                          uint64_t begin_ticks, uint64_t end_ticks, uint64_t flow)
{
    const mxp_arg args[] = {
        mxp_u64(name_worker(), arrival->worker),
        mxp_name_arg(name_key(), string_of(arrival->part->name)),
        mxp_u64(name_offset(), arrival->header.offset),
        mxp_u64(name_bytes(), bytes),
        mxp_u64(name_flow(), flow),
    };
    emit(name, name_communication(), begin_ticks, end_ticks, args, sizeof args / sizeof *args);
}

static bool is_recorded(const mxn_arrival_of *arrival)
{
    return (arrival->header.flags & MXN_WIRE_RECORDED) != 0 && records(arrival->dist);
}

void mxn__record_arrival(mxn_arrival_of *arrival)
{
    static mxp_atomic_u32 cache;
    if (is_recorded(arrival)) {
        owner_message(arrival, async_name(&cache, "receive"), arrival->header.bytes,
                      arrival->begin_ticks, mxp_ticks(), arrival->header.flow);
        mxp_flow(CLASS, flow_name(), MXP_FLOW_END, arrival->header.flow);
    }
}

void mxn__record_request(mxn_arrival_of *arrival)
{
    if (is_recorded(arrival)) {
        arrival->begin_ticks = mxp_ticks();
        mxn__record_arrival(arrival);
    }
}

void mxn__record_add(const mxn_arrival_of *arrival, uint64_t begin_ticks, uint64_t end_ticks)
{
    static mxp_atomic_u32 cache;
    if (is_recorded(arrival)) {
        owner_message(arrival, async_name(&cache, "add"), arrival->piece->bytes, begin_ticks,
                      end_ticks, arrival->header.flow);
    }
}

void mxn__record_reply(mxn_arrival_of *arrival, mxn_wire *reply)
{
    if (is_recorded(arrival)) {
        reply->flags |= MXN_WIRE_RECORDED;
        arrival->reply_flow = reply->flow = next_flow(arrival->dist);
        arrival->begin_ticks = mxp_ticks();
        mxp_flow(CLASS, flow_name(), MXP_FLOW_START, reply->flow);
    }
}

void mxn__record_replied(const mxn_arrival_of *arrival)
{
    static mxp_atomic_u32 cache;
    if (arrival->reply_flow != 0 && records(arrival->dist)) {
        owner_message(arrival, async_name(&cache, "reply"), arrival->piece->bytes,
                      arrival->begin_ticks, mxp_ticks(), arrival->reply_flow);
    }
}

// ---- owners: rounds ----------------------------------------------------------------------------
// As long as the pieces of the part took together, up to the last of them.
static void emit_operator(mxp_atomic_u32 *cache, const char *text, uint64_t ticks,
                          uint64_t end_ticks, float bytes)
{
    static uint32_t operators;  // the communication thread's; the engine's numbers are below
    const mxp_operator op = {.name = mxp__span_name_once(cache, "operator", text),
                             .id = UINT32_C(0x80000000) | ++operators,
                             .start_ticks = end_ticks - ticks,
                             .end_ticks = end_ticks,
                             .flags = MXP_PHASE_COMMUNICATION,
                             .push_thread = 0xffff,
                             .bytes = bytes};
    mxp_operator_emit(CLASS, &op);
}

typedef struct round_record {
    uint64_t begin_ticks, round;
    uint32_t first, last;
    uint64_t spread_ns, add_ns, own_ns;
} round_record;

static void emit_round(const mxn_owner_part *part, const round_record *of)
{
    static mxp_atomic_u32 cache, host_cache;
    const mxp_arg args[] = {
        mxp_name_arg(name_key(), string_of(part->name)),
        mxp_u64(name_round(), of->round),
        mxp_u64(name_first(), of->first),
        mxp_u64(name_last(), of->last),
        mxp_u64(name_spread_ns(), of->spread_ns),
        mxp_u64(name_bytes(), part->bytes),
        mxp_u64(name_add_ns(), of->add_ns),
        mxp_u64(name_own_ns(), of->own_ns),
    };
    const mxp_name name = part->host_key == NULL ? async_name(&cache, "KVStore round")
                                                 : async_name(&host_cache, "KVStore host round");
    emit(name, name_communication(), of->begin_ticks, mxp_ticks(), args,
         sizeof args / sizeof *args);
}

// What the round's sums took, by the clock that has measured the round.
static uint64_t add_ns(const mxn_owner_part *part)
{
    const uint64_t round_ticks = mxp_ticks() - part->first_ticks;
    const double part_of_round =
        (double)(part->copy_ticks + part->add_ticks) / (double)(round_ticks == 0 ? 1 : round_ticks);
    return (uint64_t)((double)ns_of(part->first_ns) * part_of_round);
}

void mxn__record_round(mxn_owner_part *part)
{
    static mxp_atomic_u32 copy, sum;
    if (!records(part->dist) || part->first_ticks == 0) {
        return;
    }
    const uint32_t others = part->pushers - 1;
    emit_operator(&copy, "CopyCPU2CPU", part->copy_ticks, part->sum_end_ticks - part->add_ticks,
                  2 * (float)part->bytes);
    if (others > 0) {
        emit_operator(&sum, "BinaryOpKernel", part->add_ticks, part->sum_end_ticks,
                      3 * (float)part->bytes * (float)others);
    }
    const round_record round = {.begin_ticks = part->first_ticks,
                                .round = part->pieces[0].round - 1,
                                .first = part->first,
                                .last = part->last,
                                .spread_ns = part->last_ns - part->first_full_ns,
                                .add_ns = add_ns(part),
                                .own_ns = ns_of(part->last_ns)};
    emit_round(part, &round);
}

void mxn__record_async_round(mxn_owner_part *part, const mxn_gather *gather)
{
    if (records(part->dist)) {
        const round_record round = {.begin_ticks = gather->first_ticks,
                                    .round = gather->round,
                                    .first = gather->worker,
                                    .last = gather->worker,
                                    .own_ns = ns_of(gather->arrivals.last->here_ns)};
        emit_round(part, &round);
    }
}

// ---- counters ----------------------------------------------------------------------------------
static void count(mxp_atomic_u32 *cache, const char *text, int unit, uint64_t value, uint64_t *told)
{
    if (value != *told) {
        *told = value;
        mxp_counter_u64(CLASS, once(cache, "communication", text, MXP_STYLE_COUNTER, unit), value);
    }
}

// A profile begins with what there is; after that each change is told, at most once a turn.
void mxn__record_counters(mxn_dist *dist)
{
    static mxp_atomic_u32 held, waiting, in, out;
    mxn_owner *owner = dist->owner;
    if (owner == NULL || !mxp_enabled(CLASS)) {
        return;
    }
    count(&held, "kvstore: bytes held", MXP_UNIT_BYTES, owner->held_bytes, &owner->told[0]);
    count(&waiting, "kvstore: pieces waiting", MXP_UNIT_NONE, owner->pieces_waiting,
          &owner->told[1]);
    count(&in, "kvstore: bytes in", MXP_UNIT_BYTES, owner->in_bytes, &owner->told[2]);
    count(&out, "kvstore: bytes out", MXP_UNIT_BYTES, owner->out_bytes, &owner->told[3]);
}
