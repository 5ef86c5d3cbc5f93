// SPDX-License-Identifier: Apache-2.0
// The pieces of a worker's operations: sent by priority, each with the receive of its reply posted
// before it, and over when all that it has waited for has come.
//
// A piece's place in the window is free when its send is done, never when its reply comes: two
// workers that push in different orders would wait for each other for ever, each with a window full
// of pieces that the other has not sent.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/sums.h"

static bool carries_value(const mxn_dist_op *op)
{
    return op->of.kind != MXN_DIST_PULL;
}

static bool wants_value(const mxn_dist_op *op)
{
    return op->of.kind == MXN_DIST_PULL || op->of.kind == MXN_DIST_PUSHPULL;
}

static int wire_kind(const mxn_dist_op *op)
{
    static const int kinds[] = {[MXN_DIST_INIT] = MXN_WIRE_INIT,
                                [MXN_DIST_PUSH] = MXN_WIRE_PUSH,
                                [MXN_DIST_PULL] = MXN_WIRE_PULL,
                                [MXN_DIST_PUSHPULL] = MXN_WIRE_PUSHPULL};
    return kinds[op->of.kind];
}

// ---- where they go -----------------------------------------------------------------------------
// With two levels what is summed goes to who sums it for the host, and from there to its owner.
uint32_t mxn__piece_link(const mxn_dist *dist, const mxn_dist_op *op, uint32_t part)
{
    const mxn_dist_key *key = op->key;
    const bool is_direct = !dist->hosts.are_two_levels || op->of.kind == MXN_DIST_INIT ||
                           op->forwards != NULL || dist->stores[key->store].is_async;
    return is_direct ? key->parts[part].owner : dist->owner_count + key->parts[part].summer;
}

uint16_t mxn__piece_flags(const mxn_dist *dist, const mxn_dist_op *op, uint32_t link)
{
    return link >= dist->owner_count                   ? MXN_WIRE_LOCAL
           : op->forwards != NULL && carries_value(op) ? MXN_WIRE_SUMMED
                                                       : 0;
}

// Sums of narrow floats go on in float32, because they are rounded once.
static bool is_wide(const mxn_dist_op *op)
{
    return op->forwards != NULL && carries_value(op) && mxn__sum_is_wide(op->key->dtype);
}

static bool is_compressed(const mxn_dist_op *op)
{
    return op->threshold > 0;
}

uint64_t mxn__piece_part_bytes(const mxn_dist_op *op, uint32_t part)
{
    if (is_compressed(op)) {
        return op->key->parts[part].words_bytes;
    }
    return op->key->parts[part].bytes * (is_wide(op) ? sizeof(float) / sizeof(mxn_half) : 1);
}

// Where a piece's value is within what an operation has: all of a key, or a part that it forwards.
static uint64_t place_of(const mxn_dist *dist, const mxn_flight *flight)
{
    const mxn_key_part *part = &flight->op->key->parts[flight->part];
    return mxn__piece_offset(part, dist->config.piece_bytes, flight->piece) -
           (flight->op->forwards == NULL ? 0 : part->offset);
}

static const void *value_of(const mxn_dist *dist, const mxn_flight *flight)
{
    const mxn_dist_op *op = flight->op;
    if (is_compressed(op)) {
        return (const char *)op->of.in + mxn__piece_words_offset(&op->key->parts[flight->part],
                                                                 dist->config.piece_bytes,
                                                                 flight->piece);
    }
    const uint64_t place = place_of(dist, flight);
    return (const char *)op->of.in +
           (is_wide(op) ? place * sizeof(float) / sizeof(mxn_half) : place);
}

// ---- the end of pieces -------------------------------------------------------------------------
// Something that a piece has waited for has come.
static void came(mxn_dist *dist, mxn_flight *flight, uint32_t what)
{
    mxn_dist_op *op = flight->op;
    assert((flight->awaits & what) == what);
    flight->awaits &= ~what;
    if ((what & MXN_AWAITS_SEND) != 0 && flight->in_window) {
        flight->in_window = false;
        dist->links[flight->link].bodies--;
    }
    if (flight->awaits != 0) {
        return;
    }
    mxn__record_received(dist, flight);
    if (--op->left == 0) {
        mxn__worker_finish(dist, op);
    }
}

static void send_is_done(mxn_ticket *ticket, int error)
{
    mxn_flight *flight = ticket->context;
    mxn_dist *dist = flight->op->dist;
    if (error != MXP_OK && !dist->has_failed_all) {
        mxn__dist_lose(dist, dist->links[flight->link].peer, "a value could not be sent to it");
    }
    mxn__record_sent(dist, flight);
    came(dist, flight, MXN_AWAITS_SEND);
}

static void body_is_done(mxn_ticket *ticket, int error)
{
    mxn_flight *flight = ticket->context;
    mxn_dist *dist = flight->op->dist;
    if (error != MXP_OK && flight->op->error == MXP_OK) {  // else an error came in its place
        flight->op->is_cut = true;
        mxn__dist_lose(dist, dist->links[flight->link].peer,
                       "a value could not be received from it");
    }
    came(dist, flight, MXN_AWAITS_BODY);
}

// ---- pieces ------------------------------------------------------------------------------------
uint32_t mxn__piece_plain_bytes(const mxn_dist *dist, const mxn_flight *flight)
{
    return mxn__piece_bytes(&flight->op->key->parts[flight->part], dist->config.piece_bytes,
                            flight->piece);
}

uint32_t mxn__piece_sent_bytes(const mxn_dist *dist, const mxn_flight *flight)
{
    const mxn_dist_op *op = flight->op;
    if (is_compressed(op)) {
        return mxn__piece_words_bytes(&op->key->parts[flight->part], dist->config.piece_bytes,
                                      flight->piece);
    }
    const uint32_t bytes = mxn__piece_plain_bytes(dist, flight);
    return is_wide(op) ? bytes * (uint32_t)(sizeof(float) / sizeof(mxn_half)) : bytes;
}

static mxn_wire header_of(const mxn_dist *dist, const mxn_flight *flight)
{
    const mxn_dist_op *op = flight->op;
    const mxn_key_part *part = &op->key->parts[flight->part];
    mxn_wire header = mxn__wire(wire_kind(op));
    header.flags = flight->piece + 1 == part->pieces ? MXN_WIRE_LAST : 0;
    header.key = op->key->number;
    header.flags |= mxn__piece_flags(dist, op, flight->link);
    header.slot =
        ((header.flags & MXN_WIRE_LOCAL) != 0 ? part->host_slot : part->slot) + flight->piece;
    header.offset = mxn__piece_offset(part, dist->config.piece_bytes, flight->piece);
    header.store = op->key->store;
    header.dtype = (uint16_t)op->key->dtype;
    header.round = op->round;
    header.priority = op->of.priority;
    header.last = op->last;
    header.bytes = mxn__piece_sent_bytes(dist, flight);
    if (is_compressed(op)) {
        header.flags |= MXN_WIRE_COMPRESSED;
        header.last = mxn__two_bit_bits(op->threshold);
    } else if (is_wide(op)) {
        header.dtype = MXN_FLOAT32;
        header.offset *= sizeof(float) / sizeof(mxn_half);
    }
    return header;
}

static mxn_flight *flight_of(const mxn_turn_part *of)
{
    const mxn_dist_op *op = of->op;
    const uint32_t first = op->flights[0].part;
    return &op->flights[op->key->parts[of->part].before - op->key->parts[first].before + of->next];
}

static bool is_long(const mxn_dist *dist, const mxn_turn_part *of)
{
    return mxn__piece_sent_bytes(dist, flight_of(of)) > MXN_WIRE_INLINE_MAX;
}

// With an owner's limit there is no window: the owner asks for what it takes.
static bool may_send(const mxn_dist *dist, const mxn_link *link, const mxn_turn_part *of)
{
    if (!carries_value(of->op)) {
        return link->pulls <
               2 * dist->config.window;  // waits for nobody else, so it may be bounded
    }
    return dist->config.owner_held_bytes != 0 || !is_long(dist, of) ||
           link->bodies < dist->config.window;
}

static void post_reply(mxn_dist *dist, mxn_flight *flight, const mxn_wire *header)
{
    mxn_wire reply = *header;
    reply.kind = MXN_WIRE_REPLY;
    reply.bytes = mxn__piece_plain_bytes(dist, flight);
    flight->awaits |= MXN_AWAITS_BODY;
    flight->received = (mxn_ticket){.done = body_is_done, .context = flight};
    if (dist->transport->ops->receive(dist->transport, dist->links[flight->link].peer, &reply,
                                      (char *)flight->op->of.out + place_of(dist, flight),
                                      &flight->received) != MXP_OK) {
        flight->awaits &= ~(uint32_t)MXN_AWAITS_BODY;
        mxn__dist_op_fail(flight->op, MXP_ENOMEM, "a receive could not be posted");
    }
}

static void send_value(mxn_dist *dist, mxn_flight *flight, const mxn_wire *header, bool is_alone)
{
    const mxn_transport_ops *ops = dist->transport->ops;
    mxn_link *link = &dist->links[flight->link];
    const void *value = value_of(dist, flight);
    flight->sent = (mxn_ticket){.done = send_is_done, .context = flight};
    flight->awaits |= MXN_AWAITS_SEND;
    flight->in_window = true;
    link->bodies++;
    int error = is_alone ? ops->send_body(dist->transport, link->peer, header, value, &flight->sent)
                         : ops->send(dist->transport, link->peer, header, value, &flight->sent);
    if (error != MXP_OK) {
        flight->awaits &= ~(uint32_t)MXN_AWAITS_SEND;
        flight->in_window = false;
        link->bodies--;
        mxn__dist_lose(dist, link->peer, mxp_last_error());
    }
}

mxn_wire mxn__piece_begin(mxn_dist *dist, const mxn_turn_part *of, const void **value)
{
    mxn_flight *flight = flight_of(of);
    flight->awaits = MXN_AWAITS_REPLY;
    mxn_wire header = header_of(dist, flight);
    mxn__record_begin(dist, flight, &header);
    dist->links[flight->link].pulls += !carries_value(of->op);
    *value = carries_value(of->op) ? value_of(dist, flight) : NULL;
    return header;
}

void mxn__piece_sent(mxn_dist *dist, const mxn_turn_part *of)
{
    mxn__record_sent(dist, flight_of(of));
}

void mxn__piece_send(mxn_dist *dist, const mxn_turn_part *of)
{
    mxn_dist_op *op = of->op;
    mxn_flight *flight = flight_of(of);
    mxn_link *link = &dist->links[flight->link];
    const bool carries = carries_value(op), body = carries && is_long(dist, of);
    flight->awaits = MXN_AWAITS_REPLY;
    mxn_wire header = header_of(dist, flight);
    mxn__record_begin(dist, flight, &header);
    if (wants_value(op) && mxn__piece_plain_bytes(dist, flight) > MXN_WIRE_INLINE_MAX) {
        post_reply(dist, flight, &header);
    }
    if (body && dist->config.owner_held_bytes == 0) {
        send_value(dist, flight, &header, false);
        return;
    }
    if (body) {
        header.flags |= MXN_WIRE_ASKED;
        flight->awaits |= MXN_AWAITS_GRANT;
        mxn__dist_send(dist, link->peer, &header, NULL);
        return;
    }
    link->pulls += !carries;
    mxn__dist_send(dist, link->peer, &header, carries ? value_of(dist, flight) : NULL);
    mxn__record_sent(dist, flight);
}

static bool pump_link(mxn_dist *dist, mxn_link *link)
{
    bool any = false;
    for (int i = 0; i < 16 && link->heap_count > 0 && may_send(dist, link, &link->heap[0]); i++) {
        any = true;
        if (mxn__bucket_pump(dist, link)) {
            continue;
        }
        const mxn_turn_part of = link->heap[0];
        // What sending calls never comes back here: handlers run in the transport's turn alone.
        if (of.next + 1 == of.op->key->parts[of.part].pieces) {
            mxn__link_pop(link);
        } else {
            link->heap[0].next++;
        }
        mxn__piece_send(dist, &of);
    }
    return any;
}

bool mxn__worker_pump(mxn_dist *dist)
{
    bool any = false;
    for (uint32_t i = 0; i < dist->link_count && !dist->has_failed_all; i++) {
        any |= pump_link(dist, &dist->links[i]);
    }
    return any;
}

// ---- replies -----------------------------------------------------------------------------------
// The piece that a header is about, null: nobody has asked for it.
static mxn_flight *find_flight(mxn_dist *dist, uint32_t peer, const mxn_wire *header)
{
    const mxn_dist_key *key = mxn__dist_find(dist, header->store, header->key);
    const bool is_local = (header->flags & MXN_WIRE_LOCAL) != 0;
    if (key == NULL || (is_local && !dist->hosts.are_two_levels)) {
        return NULL;
    }
    for (uint32_t i = 0; i < key->part_count; i++) {
        const mxn_key_part *part = &key->parts[i];
        const uint32_t slot = is_local ? part->host_slot : part->slot;
        const mxn_link *link =
            &dist->links[is_local ? dist->owner_count + part->summer : part->owner];
        mxn_dist_op *op = !is_local && part->forward != NULL ? part->forward : key->first;
        if (link->peer == peer && header->slot >= slot && header->slot - slot < part->pieces) {
            const mxn_turn_part of = {.op = op, .part = i, .next = header->slot - slot};
            const bool is_its = op != NULL && op->flights != NULL &&
                                (uint32_t)op->round == (uint32_t)header->round &&
                                mxn__piece_link(dist, op, i) == (uint32_t)(link - dist->links);
            return is_its ? flight_of(&of) : NULL;
        }
    }
    return NULL;
}

static void take_error(mxn_dist *dist, mxn_flight *flight, const mxn_wire *header,
                       const void *inlined)
{
    char *text = mxn__dist_text(inlined, header->bytes);
    mxn__dist_op_fail(flight->op, MXP_ESTATE, text == NULL ? "an owner has refused it" : text);
    mxp__strfree(text);
    if ((flight->awaits & MXN_AWAITS_BODY) != 0) {
        dist->transport->ops->cancel(dist->transport, &flight->received);
    }
    flight->awaits &= ~(uint32_t)MXN_AWAITS_GRANT;
}

static void note_wait(mxn_dist_op *op, const mxn_wire *header)
{
    if (header->wait_ns >= op->wait_ns) {  // the last worker itself has waited for nobody
        op->wait_ns = header->wait_ns;
        op->last = header->last;
    }
}

void mxn__worker_reply(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_flight *flight = find_flight(dist, peer, header);
    if (flight == NULL || (flight->awaits & MXN_AWAITS_REPLY) == 0) {
        if (!dist->has_failed_all) {
            mxn__dist_lose(dist, peer, "it replies to what nobody has asked");
        }
        return;
    }
    mxn_dist_op *op = flight->op;
    const uint32_t wanted = wants_value(op) ? mxn__piece_plain_bytes(dist, flight) : 0;
    if ((header->flags & MXN_WIRE_ERROR) != 0) {
        take_error(dist, flight, header, inlined);
    } else if (header->bytes != wanted) {
        mxn__dist_lose(dist, peer, "its reply has another length than what was asked");
        return;
    } else if (!mxn__wire_has_body(header) && wanted > 0) {
        memcpy((char *)op->of.out + place_of(dist, flight), inlined, wanted);
    }
    flight->reply_flow = header->flow;
    flight->reply_ticks = mxp_ticks();
    note_wait(op, header);
    mxn__record_answer(dist, op, peer, header);
    dist->links[flight->link].pulls -= op->of.kind == MXN_DIST_PULL;
    came(dist, flight, MXN_AWAITS_REPLY);
}

void mxn__worker_grant(mxn_dist *dist, uint32_t peer, const mxn_wire *header)
{
    mxn_flight *flight = find_flight(dist, peer, header);
    if (flight == NULL || (flight->awaits & MXN_AWAITS_GRANT) == 0) {
        if (!dist->has_failed_all) {
            mxn__dist_lose(dist, peer, "it asks for what nobody has offered");
        }
        return;
    }
    mxn_wire body = header_of(dist, flight);
    send_value(dist, flight, &body, true);
    flight->awaits &= ~(uint32_t)MXN_AWAITS_GRANT;
}
