// SPDX-License-Identifier: Apache-2.0
// Buckets: several small requests to one owner as one message, and several replies to one worker.
// What is ready in the same turn goes together; nothing waits for a bucket to fill. A request that
// came in a bucket is answered in one, so nobody posts a receive for its value beforehand.
//
// Values are copied into the body, so they are the caller's again at once, and the body has a place
// in the window until its send is done, as every other one.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/dist_owner.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/parts.h"

enum { PARTS = 512 };  // of a bucket of requests at most

// ---- bodies ------------------------------------------------------------------------------------
mxn_bucket *mxn__bucket_new(mxn_dist *dist, uint32_t peer, const mxn_wire *header)
{
    mxn_bucket *made = mxp__alloc(sizeof *made);
    mxn_piece_buffer *body = mxn__pool_take(&dist->pool, header->bytes);
    if (made == NULL || body == NULL) {
        mxp__free(made, sizeof *made);
        mxn__pool_give(&dist->pool, body);
        mxn_dist_fail(dist, "there is no memory for a bucket");
        return NULL;
    }
    *made = (mxn_bucket){
        .dist = dist, .peer = peer, .header = *header, .body = body, .next = dist->buckets};
    if (dist->buckets != NULL) {
        dist->buckets->before = made;
    }
    dist->buckets = made;
    return made;
}

static void free_bucket(mxn_bucket *of)
{
    mxn_dist *dist = of->dist;
    *(of->before == NULL ? &dist->buckets : &of->before->next) = of->next;
    if (of->next != NULL) {
        of->next->before = of->before;
    }
    mxn__pool_give(&dist->pool, of->body);
    mxp__free(of, sizeof *of);
}

void mxn__buckets_free(mxn_dist *dist)
{
    while (dist->buckets != NULL) {
        free_bucket(dist->buckets);
    }
}

// ---- sending -----------------------------------------------------------------------------------
static void bucket_is_sent(mxn_ticket *ticket, int error)
{
    mxn_bucket *of = ticket->context;
    mxn_dist *dist = of->dist;
    if (error != MXP_OK && !dist->has_failed_all) {
        mxn__dist_lose(dist, of->peer, "a bucket could not be sent to it");
    }
    if (of->link != NULL) {
        of->link->bodies--;
    }
    dist->buckets_sent--;
    free_bucket(of);
}

void mxn__bucket_send(mxn_bucket *of, mxn_link *link)
{
    mxn_dist *dist = of->dist;
    if (of->header.bytes <= MXN_WIRE_INLINE_MAX) {
        mxn__dist_send(dist, of->peer, &of->header, of->body->data);
        free_bucket(of);
        return;
    }
    of->ticket = (mxn_ticket){.done = bucket_is_sent, .context = of};
    of->link = link;
    if (link != NULL) {
        link->bodies++;
    }
    dist->buckets_sent++;
    if (dist->transport->ops->send(dist->transport, of->peer, &of->header, of->body->data,
                                   &of->ticket) != MXP_OK) {
        mxn__dist_lose(dist, of->peer, mxp_last_error());
        bucket_is_sent(&of->ticket, MXP_OK);
    }
}

// ---- requests ----------------------------------------------------------------------------------
static uint16_t flags_of(const mxn_dist *dist, const mxn_turn_part *of)
{
    return mxn__piece_flags(dist, of->op, mxn__piece_link(dist, of->op, of->part));
}

// Pushes of a store are all compressed, with one threshold, or none is.
static void mark_compressed(mxn_wire *header, const mxn_turn_part *parts, uint32_t count)
{
    float threshold = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float own = parts[i].op->threshold;
        assert(own == 0 || threshold == 0 || own == threshold);
        threshold = own > 0 ? own : threshold;
    }
    if (threshold > 0) {
        header->flags |= MXN_WIRE_COMPRESSED;
        header->last = mxn__two_bit_bits(threshold);
    }
}

// What it takes of a bucket; 0: it does not go in one. Where an owner asks for what it takes, only
// what would not be asked for does.
static uint32_t share_of(const mxn_dist *dist, const mxn_turn_part *of)
{
    const mxn_dist_op *op = of->op;
    const uint64_t bytes = mxn__piece_part_bytes(op, of->part);
    const bool is_pull = op->of.kind == MXN_DIST_PULL;
    const uint32_t most =
        dist->config.owner_held_bytes != 0 && !is_pull ? MXN_WIRE_INLINE_MAX : MXN_PART_VALUE_MAX;
    if (dist->config.bucket_bytes == 0 || op->of.kind == MXN_DIST_INIT ||
        op->key->parts[of->part].pieces > 1 || bytes > most) {
        return 0;
    }
    return mxn__part_head_bytes(MXN_WIRE_BUCKET, flags_of(dist, of)) +
           (is_pull ? 0 : mxn__part_value_bytes(MXN_WIRE_PUSH, (uint32_t)bytes));
}

// Takes what goes together from the link, the first one alone if need be; its bytes.
static uint32_t take_parts(const mxn_dist *dist, mxn_link *link, mxn_turn_part *parts,
                           uint32_t *count)
{
    const bool has_window =
        dist->config.owner_held_bytes != 0 || link->bodies < dist->config.window;
    const uint32_t limit = has_window ? dist->config.bucket_bytes : MXN_WIRE_INLINE_MAX;
    uint32_t bytes = 0, share = share_of(dist, &link->heap[0]);
    *count = 0;
    do {
        parts[(*count)++] = link->heap[0];
        mxn__link_pop(link);
        bytes += share;
        share = link->heap_count == 0 ? 0 : share_of(dist, &link->heap[0]);
    } while (share != 0 && *count < PARTS && bytes + share <= limit &&
             link->heap[0].op->key->store == parts[0].op->key->store &&
             flags_of(dist, &link->heap[0]) == flags_of(dist, &parts[0]));
    return bytes;
}

bool mxn__bucket_pump(mxn_dist *dist, mxn_link *link)
{
    mxn_turn_part parts[PARTS];
    uint32_t count = 0;
    if (share_of(dist, &link->heap[0]) == 0) {
        return false;
    }
    mxn_wire header = mxn__wire(MXN_WIRE_BUCKET);
    header.bytes = take_parts(dist, link, parts, &count);
    header.store = parts[0].op->key->store;
    header.flags = flags_of(dist, &parts[0]);
    header.priority = parts[0].op->of.priority;
    mark_compressed(&header, parts, count);
    if (count == 1) {
        mxn__piece_send(dist, &parts[0]);
        return true;
    }
    mxn_bucket *bucket = mxn__bucket_new(dist, link->peer, &header);
    if (bucket == NULL) {
        return true;
    }
    mxn_parts_writer writer = mxn__parts_write(&bucket->header, bucket->body->data, count);
    for (uint32_t i = 0; i < count; i++) {
        const void *value = NULL;
        header = mxn__piece_begin(dist, &parts[i], &value);
        mxn__parts_put(&writer, &header, value);
    }
    assert(writer.values_at == bucket->header.bytes);
    mxn__bucket_send(bucket, link);
    for (uint32_t i = 0; i < count; i++) {
        mxn__piece_sent(dist, &parts[i]);
    }
    return true;
}

// ---- receiving ---------------------------------------------------------------------------------
static void hand_parts(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *body)
{
    mxn_parts_reader reader;
    mxn_wire of;
    const void *value = NULL;
    if (mxn__parts_read(header, body, &reader) != MXP_OK) {
        mxn__dist_lose(dist, peer, mxp_last_error());
        return;
    }
    while (mxn__parts_next(&reader, &of, &value)) {
        if (header->kind == MXN_WIRE_REPLIES) {
            mxn__worker_reply(dist, peer, &of, value);
        } else {
            mxn__owner_handle_part(dist, peer, &of, value);
        }
    }
}

static void bucket_is_here(mxn_ticket *ticket, int error)
{
    mxn_bucket *of = ticket->context;
    mxn_dist *dist = of->dist;
    if (of->header.kind == MXN_WIRE_BUCKET) {
        dist->owner->inflight_bytes -= of->header.bytes;
    }
    if (error == MXP_OK) {
        hand_parts(dist, of->peer, &of->header, of->body->data);
    } else if (!dist->has_failed_all) {
        mxn__dist_lose(dist, of->peer, "a bucket could not be received from it");
    }
    free_bucket(of);
}

void mxn__bucket_receive(mxn_bucket *of)
{
    mxn_dist *dist = of->dist;
    of->ticket = (mxn_ticket){.done = bucket_is_here, .context = of};
    if (of->header.kind == MXN_WIRE_BUCKET) {
        dist->owner->inflight_bytes += of->header.bytes;
    }
    if (dist->transport->ops->receive(dist->transport, of->peer, &of->header, of->body->data,
                                      &of->ticket) != MXP_OK) {
        mxn__dist_lose(dist, of->peer, mxp_last_error());
    }
}

void mxn__bucket_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    const uint32_t roles = dist->transport->peers[peer].roles;
    const bool is_request = header->kind == MXN_WIRE_BUCKET;
    if (is_request ? (roles & MXN_ROLE_WORKER) == 0 || dist->owner == NULL
                   : (roles & MXN_ROLE_OWNER) == 0 && (header->flags & MXN_WIRE_LOCAL) == 0) {
        mxn__dist_lose(dist, peer, "it sends a bucket to whom it has nothing to say");
        return;
    }
    if (!mxn__wire_has_body(header)) {
        hand_parts(dist, peer, header, inlined);
        return;
    }
    mxn_bucket *bucket = mxn__bucket_new(dist, peer, header);
    if (bucket != NULL && is_request) {
        mxn__room_want_bucket(bucket);
    } else if (bucket != NULL) {
        mxn__bucket_receive(bucket);
    }
}
