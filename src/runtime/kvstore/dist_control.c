// SPDX-License-Identifier: Apache-2.0
// What is not about values: barriers with worker 0, commands of worker 0 to all owners.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_compression.h"
#include "runtime/kvstore/dist_record.h"

static void add_beside(mxn_dist_op **list, mxn_dist_op *op)
{
    while (*list != NULL) {
        list = &(*list)->beside;
    }
    *list = op;
    op->beside = NULL;
}

static void remove_beside(mxn_dist_op **list, const mxn_dist_op *op)
{
    while (*list != op) {
        list = &(*list)->beside;
    }
    *list = op->beside;
}

// ---- barriers ----------------------------------------------------------------------------------
// Owners, and who sums for the host, learn that nothing more is pushed before worker 0 learns that
// nothing more is done.
static void leave(mxn_dist *dist)
{
    const mxn_wire header = mxn__wire(MXN_WIRE_LEAVE);
    for (uint32_t i = 0; i < dist->link_count; i++) {
        const uint32_t peer = dist->links[i].peer;
        const bool has_owner = (dist->transport->peers[peer].roles & MXN_ROLE_OWNER) != 0;
        if (i < dist->owner_count || !has_owner) {  // each once
            mxn__dist_send(dist, peer, &header, NULL);
        }
    }
}

static void begin_barrier(mxn_dist *dist, mxn_dist_op *op)
{
    unsigned char body[MXN_DEFINITION_MAX];
    mxn_wire header = mxn__wire(MXN_WIRE_BARRIER);
    header.round = op->generation;
    if (op->is_last) {
        header.flags = MXN_WIRE_LAST;
        leave(dist);
    }
    if (op->key != NULL) {
        header.key = op->key->number;
        header.store = op->key->store;
        header.dtype = (uint16_t)op->key->dtype;
        header.bytes = mxn__definition_write(op->key, body);
    }
    if (op->of.kind == MXN_DIST_COMPRESSION) {
        header.flags = MXN_WIRE_COMPRESSED;
        header.store = op->of.store;
        header.last = mxn__two_bit_bits(op->of.threshold);
        mxp__lock(&dist->lock);
        header.offset = dist->stores[op->of.store].pushes;
        mxp__unlock(&dist->lock);
    }
    add_beside(&dist->barriers, op);
    mxn__dist_send(dist, dist->worker_peers[0], &header, body);
}

void mxn__control_release(mxn_dist *dist, uint32_t peer, const mxn_wire *header,
                          const void *inlined)
{
    mxn_dist_op *op = peer == dist->worker_peers[0] ? dist->barriers : NULL;
    while (op != NULL && op->generation != header->round) {
        op = op->beside;
    }
    if (op == NULL) {
        if (!dist->has_failed_all) {
            mxn__dist_lose(dist, peer, "it releases a barrier at which nobody is");
        }
        return;
    }
    remove_beside(&dist->barriers, op);
    if ((header->flags & MXN_WIRE_ERROR) != 0) {
        char *text = mxn__dist_text(inlined, header->bytes);
        mxn__dist_op_fail(op, MXP_EINVAL, text == NULL ? "workers differ" : text);
        mxp__strfree(text);
    }
    op->wait_ns = header->wait_ns;
    op->last = header->last;
    if (op->key != NULL) {
        mxn__worker_inited(dist, op);
        return;
    }
    if (op->of.kind == MXN_DIST_COMPRESSION) {
        mxn__compression_end(dist, op);
    }
    mxn__record_barrier(dist, op);
    if (dist->clock != NULL) {
        mxn_clock_cuts_refresh(dist->clock);
    }
    mxn__dist_complete(dist, op, NULL, 0);
}

// ---- commands ----------------------------------------------------------------------------------
// One after another, in the order of the owners: u64 length, bytes.
static void tell_answers(mxn_dist *dist, mxn_dist_op *op)
{
    uint64_t bytes = 0, at = 0;
    for (uint32_t i = 0; i < op->flight_count; i++) {
        bytes += sizeof(uint64_t) + op->flights[i].answer_bytes;
    }
    char *all = op->error == MXP_OK ? mxp__realloc(NULL, 0, bytes) : NULL;
    if (all == NULL && op->error == MXP_OK) {
        mxn__dist_op_fail(op, MXP_ENOMEM, "out of memory: the answers of the owners");
    }
    for (uint32_t i = 0; i < op->flight_count && all != NULL; i++) {
        const uint64_t length = op->flights[i].answer_bytes;
        memcpy(all + at, &length, sizeof length);
        if (length > 0) {
            memcpy(all + at + sizeof length, op->flights[i].answer, length);
        }
        at += sizeof length + length;
    }
    mxn__dist_complete(dist, op, all, all == NULL ? 0 : bytes);
    mxp__free(all, bytes);
}

static void came(mxn_flight *flight, uint32_t what)
{
    mxn_dist_op *op = flight->op;
    mxn_dist *dist = op->dist;
    flight->awaits &= ~what;
    if (flight->awaits != 0 || --op->left > 0) {
        return;
    }
    if (op->is_told) {
        mxn__dist_leave_abandoned(dist, op);
        return;
    }
    if (op->is_cut) {
        return;  // mxn__worker_fail ends it
    }
    remove_beside(&dist->commands, op);
    tell_answers(dist, op);
}

static void command_is_sent(mxn_ticket *ticket, int error)
{
    mxn_flight *flight = ticket->context;
    mxn_dist *dist = flight->op->dist;
    if (error != MXP_OK && !dist->has_failed_all) {
        mxn__dist_lose(dist, dist->links[flight->link].peer, "a command could not be sent to it");
    }
    came(flight, MXN_AWAITS_SEND);
}

static void answer_has_come(mxn_ticket *ticket, int error)
{
    mxn_flight *flight = ticket->context;
    if (error != MXP_OK) {
        flight->op->is_cut = true;
        mxn__dist_lose(flight->op->dist, flight->op->dist->links[flight->link].peer,
                       "an answer could not be received from it");
    }
    came(flight, MXN_AWAITS_BODY);
}

static void begin_command(mxn_dist *dist, mxn_dist_op *op)
{
    const mxn_transport_ops *ops = dist->transport->ops;
    op->flights = mxp__alloc(dist->owner_count * sizeof *op->flights);
    if (op->flights == NULL) {
        mxn__dist_op_fail(op, MXP_ENOMEM, "out of memory: a command");
        mxn__dist_complete(dist, op, NULL, 0);
        return;
    }
    op->flight_count = op->left = dist->owner_count;
    add_beside(&dist->commands, op);
    mxn_wire header = mxn__wire(MXN_WIRE_COMMAND);
    header.key = op->of.key;
    header.round = op->number;
    header.bytes = (uint32_t)op->of.bytes;
    for (uint32_t i = 0; i < dist->owner_count; i++) {
        mxn_flight *flight = &op->flights[i];
        const bool is_long = header.bytes > MXN_WIRE_INLINE_MAX;
        *flight = (mxn_flight){.op = op,
                               .link = i,
                               .awaits = MXN_AWAITS_REPLY | (is_long ? MXN_AWAITS_SEND : 0),
                               .sent = {.done = command_is_sent, .context = flight}};
        if (ops->send(dist->transport, dist->links[i].peer, &header, op->copy,
                      is_long ? &flight->sent : NULL) != MXP_OK) {
            flight->awaits &= ~(uint32_t)MXN_AWAITS_SEND;
            mxn__dist_lose(dist, dist->links[i].peer, mxp_last_error());
        }
    }
}

static mxn_flight *find_command(mxn_dist *dist, uint32_t peer, uint64_t number)
{
    mxn_dist_op *op = dist->commands;
    while (op != NULL && op->number != number) {
        op = op->beside;
    }
    const uint32_t owner = dist->transport->peers[peer].owner;
    if (op == NULL || (dist->transport->peers[peer].roles & MXN_ROLE_OWNER) == 0 ||
        (op->flights[owner].awaits & MXN_AWAITS_REPLY) == 0) {
        return NULL;
    }
    return &op->flights[owner];
}

static void take_answer(mxn_dist *dist, uint32_t peer, mxn_flight *flight, const mxn_wire *header,
                        const void *inlined)
{
    flight->answer = mxp__realloc(NULL, 0, header->bytes);
    if (flight->answer == NULL) {
        mxn__dist_lose(dist, peer, "there is no memory for its answer");
        return;
    }
    flight->answer_bytes = header->bytes;
    if (!mxn__wire_has_body(header)) {
        memcpy(flight->answer, inlined, header->bytes);
        return;
    }
    flight->awaits |= MXN_AWAITS_BODY;
    flight->received = (mxn_ticket){.done = answer_has_come, .context = flight};
    if (dist->transport->ops->receive(dist->transport, peer, header, flight->answer,
                                      &flight->received) != MXP_OK) {
        flight->awaits &= ~(uint32_t)MXN_AWAITS_BODY;
        mxn__dist_lose(dist, peer, mxp_last_error());
    }
}

// Of several errors the first one that comes is told, with the server's rank.
static void take_error(const mxn_dist *dist, mxn_flight *flight, const mxn_wire *header,
                       const void *inlined)
{
    mxp_strbuf text = {0};
    char *said = mxn__dist_text(inlined, header->bytes);
    mxp__strbuf_printf(&text, "%s %u: %s", mxn_dist_has_servers(dist) ? "server" : "owner",
                       flight->link, said == NULL ? "it has failed" : said);
    mxn__dist_op_fail(flight->op, MXP_ESTATE, mxp__strbuf_text(&text));
    mxp__strfree(said);
    mxp__strbuf_fini(&text);
}

void mxn__control_answer(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_flight *flight = find_command(dist, peer, header->round);
    if (flight == NULL) {
        if (!dist->has_failed_all) {
            mxn__dist_lose(dist, peer, "it answers what nobody has asked");
        }
        return;
    }
    if ((header->flags & MXN_WIRE_ERROR) != 0) {
        take_error(dist, flight, header, inlined);
    } else if (header->bytes > 0) {
        take_answer(dist, peer, flight, header, inlined);
    }
    came(flight, MXN_AWAITS_REPLY);
}

void mxn__control_begin(mxn_dist *dist, mxn_dist_op *op)
{
    if (op->of.kind == MXN_DIST_COMMAND) {
        begin_command(dist, op);
    } else {
        mxn__record_barrier_begin(op);
        begin_barrier(dist, op);
    }
}
