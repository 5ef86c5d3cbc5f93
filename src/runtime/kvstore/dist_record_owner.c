// SPDX-License-Identifier: Apache-2.0
// Records of owners, and of workers that sum for their host: messages, rounds with their sums, and
// counters.
#include <mxprof/error.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/name_once.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/dist_record_parts.h"

MXN_RECORD_ARGUMENT(key)
MXN_RECORD_ARGUMENT(bytes)
MXN_RECORD_ARGUMENT(worker)
MXN_RECORD_ARGUMENT(offset)
MXN_RECORD_ARGUMENT(flow)
MXN_RECORD_ARGUMENT(round)
MXN_RECORD_ARGUMENT(first)
MXN_RECORD_ARGUMENT(last)
MXN_RECORD_ARGUMENT(spread_ns)
MXN_RECORD_ARGUMENT(add_ns)
MXN_RECORD_ARGUMENT(own_ns)

// ---- messages ---------------------------------------------------------------------------
static void owner_message(const mxn_arrival_of *arrival, mxp_name name, uint32_t bytes,
                          uint64_t begin_ticks, uint64_t end_ticks, uint64_t flow)
{
    const mxp_arg args[] = {
        mxp_u64(name_worker(), arrival->worker),
        mxp_name_arg(name_key(), mxp_string(arrival->part->name)),
        mxp_u64(name_offset(), arrival->header.offset),
        mxp_u64(name_bytes(), bytes),
        mxp_u64(name_flow(), flow),
    };
    mxn__record_emit(name, begin_ticks, end_ticks, args, sizeof args / sizeof *args);
}

static bool is_recorded(const mxn_arrival_of *arrival)
{
    return (arrival->header.flags & MXN_WIRE_RECORDED) != 0 && mxn__records(arrival->dist);
}

void mxn__record_arrival(mxn_arrival_of *arrival)
{
    static mxp_atomic_u32 cache;
    if (is_recorded(arrival)) {
        owner_message(arrival, mxn__record_async_name(&cache, "receive"), arrival->header.bytes,
                      arrival->begin_ticks, mxp_ticks(), arrival->header.flow);
        mxp_flow(MXN_RECORD_CLASS, mxn__record_flow_name(), MXP_FLOW_END, arrival->header.flow);
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
        owner_message(arrival, mxn__record_async_name(&cache, "add"), arrival->piece->bytes,
                      begin_ticks, end_ticks, arrival->header.flow);
    }
}

void mxn__record_reply(mxn_arrival_of *arrival, mxn_wire *reply)
{
    if (is_recorded(arrival)) {
        reply->flags |= MXN_WIRE_RECORDED;
        arrival->reply_flow = reply->flow = mxn__record_next_flow(arrival->dist);
        arrival->begin_ticks = mxp_ticks();
        mxp_flow(MXN_RECORD_CLASS, mxn__record_flow_name(), MXP_FLOW_START, reply->flow);
    }
}

// From its header until the reply has left.
static void count_request(const mxn_arrival_of *arrival)
{
    mxn_dist *dist = arrival->dist;
    mxn_owner *owner = dist->owner;
    char whom[32];
    if (owner->of_workers == NULL) {
        owner->of_workers = mxp__alloc(dist->worker_count * sizeof *owner->of_workers);
    }
    if (owner->of_workers != NULL) {
        mxn_statistic *of = &owner->of_workers[arrival->worker];
        snprintf(whom, sizeof whom, "worker %u", arrival->worker);
        mxn__statistic_add_span(of, "request", whom, arrival->came_ticks, mxp_ticks());
        mxn__statistic_add(of, MXN_QUANTITY_BYTES, "request", whom, arrival->header.bytes);
    }
}

void mxn__record_replied(const mxn_arrival_of *arrival)
{
    static mxp_atomic_u32 cache;
    if (arrival->came_ticks != 0 && arrival->piece != NULL && mxn__counts(arrival->dist)) {
        count_request(arrival);
    }
    if (arrival->reply_flow != 0 && mxn__records(arrival->dist)) {
        owner_message(arrival, mxn__record_async_name(&cache, "reply"), arrival->piece->bytes,
                      arrival->begin_ticks, mxp_ticks(), arrival->reply_flow);
    }
}

// ---- rounds ----------------------------------------------------------------------------
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
    mxp_operator_emit(MXN_RECORD_CLASS, &op);
}

static const char *round_text(const mxn_owner_part *part)
{
    return part->host_key == NULL ? "KVStore round" : "KVStore host round";
}

typedef struct round_record {
    uint64_t begin_ticks, round;
    uint32_t first, last;
    uint64_t spread_ns, add_ns, own_ns;
} round_record;

static void count_round(mxn_owner_part *part, const round_record *of, uint64_t end_ticks)
{
    mxn_statistic *statistic = &part->round_statistic;
    const char *what = round_text(part);
    mxn__statistic_add_span(statistic, what, part->name, of->begin_ticks, end_ticks);
    mxn__statistic_add(statistic, MXN_QUANTITY_WAITED, what, part->name, of->spread_ns);
    mxn__statistic_add(statistic, MXN_QUANTITY_BYTES, what, part->name, part->bytes);
}

static void emit_round(mxn_owner_part *part, const round_record *of)
{
    static mxp_atomic_u32 cache, host_cache;
    const uint64_t end_ticks = mxp_ticks();
    if (mxn__counts(part->dist) && of->begin_ticks != 0) {
        count_round(part, of, end_ticks);
    }
    if (!mxn__records(part->dist)) {
        return;
    }
    const mxp_arg args[] = {
        mxp_name_arg(name_key(), mxp_string(part->name)),
        mxp_u64(name_round(), of->round),
        mxp_u64(name_first(), of->first),
        mxp_u64(name_last(), of->last),
        mxp_u64(name_spread_ns(), of->spread_ns),
        mxp_u64(name_bytes(), part->bytes),
        mxp_u64(name_add_ns(), of->add_ns),
        mxp_u64(name_own_ns(), of->own_ns),
    };
    const mxp_name name =
        mxn__record_async_name(part->host_key == NULL ? &cache : &host_cache, round_text(part));
    mxn__record_emit(name, of->begin_ticks, end_ticks, args, sizeof args / sizeof *args);
}

// What the round's sums took, by the clock that has measured the round.
static uint64_t add_ns(const mxn_owner_part *part)
{
    const uint64_t round_ticks = mxp_ticks() - part->first_ticks;
    const double part_of_round =
        (double)(part->copy_ticks + part->add_ticks) / (double)(round_ticks == 0 ? 1 : round_ticks);
    return (uint64_t)((double)mxn__record_ns_since(part->first_ns) * part_of_round);
}

static void emit_sum(const mxn_owner_part *part)
{
    static mxp_atomic_u32 copy, sum;
    const uint32_t others = part->pushers - 1;
    emit_operator(&copy, "CopyCPU2CPU", part->copy_ticks, part->sum_end_ticks - part->add_ticks,
                  2 * (float)part->bytes);
    if (others > 0) {
        emit_operator(&sum, "BinaryOpKernel", part->add_ticks, part->sum_end_ticks,
                      3 * (float)part->bytes * (float)others);
    }
}

void mxn__record_round(mxn_owner_part *part)
{
    if (!mxp_enabled(MXN_RECORD_CLASS) || part->first_ticks == 0) {
        return;
    }
    if (mxn__counts(part->dist)) {
        mxn__statistic_add_span(&part->sum_statistic, "sum", part->name, 0,
                                part->copy_ticks + part->add_ticks);
    }
    if (mxn__records(part->dist)) {
        emit_sum(part);
    }
    const round_record round = {.begin_ticks = part->first_ticks,
                                .round = part->pieces[0].round - 1,
                                .first = part->first,
                                .last = part->last,
                                .spread_ns = part->last_ns - part->first_full_ns,
                                .add_ns = add_ns(part),
                                .own_ns = mxn__record_ns_since(part->last_ns)};
    emit_round(part, &round);
}

void mxn__record_async_round(mxn_owner_part *part, const mxn_gather *gather)
{
    if (mxp_enabled(MXN_RECORD_CLASS)) {
        const round_record round = {.begin_ticks = gather->first_ticks,
                                    .round = gather->round,
                                    .first = gather->worker,
                                    .last = gather->worker,
                                    .own_ns = mxn__record_ns_since(gather->arrivals.last->here_ns)};
        emit_round(part, &round);
    }
}

// ---- counters ----------------------------------------------------------------------------------
static void count(mxp_atomic_u32 *cache, const char *text, int unit, uint64_t value, uint64_t *told)
{
    if (value != *told) {
        *told = value;
        mxp_counter_u64(MXN_RECORD_CLASS,
                        mxn__record_name(cache, "communication", text, MXP_STYLE_COUNTER, unit),
                        value);
    }
}

// A profile begins with what there is; after that each change is told, at most once a turn.
void mxn__record_counters(mxn_dist *dist)
{
    static mxp_atomic_u32 held, waiting, in, out;
    mxn_owner *owner = dist->owner;
    if (owner == NULL || !mxp_enabled(MXN_RECORD_CLASS)) {
        return;
    }
    count(&held, "kvstore: bytes held", MXP_UNIT_BYTES, owner->held_bytes, &owner->told[0]);
    count(&waiting, "kvstore: pieces waiting", MXP_UNIT_NONE, owner->pieces_waiting,
          &owner->told[1]);
    count(&in, "kvstore: bytes in", MXP_UNIT_BYTES, owner->in_bytes, &owner->told[2]);
    count(&out, "kvstore: bytes out", MXP_UNIT_BYTES, owner->out_bytes, &owner->told[3]);
}
