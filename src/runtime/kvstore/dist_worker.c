// SPDX-License-Identifier: Apache-2.0
// A worker's operations: those of a key one after another, from their submission to their end.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/dist_record.h"

// ---- operations --------------------------------------------------------------------------------
static void begin(mxn_dist *dist, mxn_dist_op *op);

// The operation is over for its key: the next one begins.
static void leave_key(mxn_dist *dist, mxn_dist_op *op)
{
    mxn_dist_key *key = op->key;
    assert(key->first == op && "operations of a key end in their order");
    key->first = op->next;
    key->last = key->first == NULL ? NULL : key->last;
    op->next = NULL;
    if (key->first != NULL && !dist->has_failed_all) {
        begin(dist, key->first);
    }
}

void mxn__worker_finish(mxn_dist *dist, mxn_dist_op *op)
{
    if (op->forwards != NULL) {
        mxn__host_finish(dist, op);
        return;
    }
    if (op->is_told) {
        mxn__dist_leave_abandoned(dist, op);
        return;
    }
    if (op->is_cut) {
        return;  // mxn__worker_fail ends it
    }
    if (op->of.kind == MXN_DIST_INIT && op->error == MXP_OK) {
        mxn__control_begin(dist, op);  // the values are on their owners; now all meet
        return;
    }
    leave_key(dist, op);
    mxn__record_operation(dist, op);
    mxn__dist_complete(dist, op, NULL, 0);
}

static void define_key(mxn_dist *dist, const mxn_dist_key *key)
{
    unsigned char body[MXN_DEFINITION_MAX];
    mxn_wire header = mxn__wire(MXN_WIRE_KEY);
    header.flags = dist->stores[key->store].is_async ? MXN_WIRE_ASYNC : 0;
    header.key = key->number;
    header.store = key->store;
    header.dtype = (uint16_t)key->dtype;
    header.bytes = mxn__definition_write(key, body);
    header.wait_ns = dist->config.piece_bytes;
    for (uint32_t i = 0; i < key->part_count; i++) {
        header.slot = key->parts[i].slot;
        header.offset = key->parts[i].offset;
        header.round = key->parts[i].bytes;
        mxn__dist_send(dist, dist->links[key->parts[i].owner].peer, &header, body);
    }
}

static int make_flights(const mxn_dist *dist, mxn_dist_op *op, uint32_t first, uint32_t count)
{
    const mxn_key_part *parts = &op->key->parts[first];
    const uint32_t pieces = parts[count - 1].before + parts[count - 1].pieces - parts[0].before;
    op->flights = mxp__alloc(pieces * sizeof *op->flights);
    if (op->flights == NULL) {
        return mxp__fail_memory("the pieces of an operation");
    }
    op->flight_count = op->left = op->unsent = pieces;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < parts[i].pieces; j++) {
            op->flights[parts[i].before - parts[0].before + j] =
                (mxn_flight){.op = op,
                             .part = first + i,
                             .piece = j,
                             .link = mxn__piece_link(dist, op, first + i)};
        }
    }
    return MXP_OK;
}

int mxn__worker_queue(mxn_dist *dist, mxn_dist_op *op, uint32_t first, uint32_t count)
{
    int error = make_flights(dist, op, first, count);
    for (uint32_t i = first; error == MXP_OK && i < first + count; i++) {
        const mxn_turn_part part = {.op = op, .part = i};
        error = mxn__link_push(&dist->links[mxn__piece_link(dist, op, i)], &part);
    }
    return error;
}

static void begin(mxn_dist *dist, mxn_dist_op *op)
{
    mxn_dist_key *key = op->key;
    op->begin_ns = mxp__os_monotonic_ns();
    mxn__record_operation_begin(op);
    const bool is_push = op->of.kind == MXN_DIST_PUSH || op->of.kind == MXN_DIST_PUSHPULL;
    mxp__lock(&dist->lock);  // whoever asks what goes on reads it
    op->round = key->round;
    mxp__unlock(&dist->lock);
    key->round += is_push;
    if (op->of.kind == MXN_DIST_INIT) {
        if (mxn__host_define(dist, key) != MXP_OK) {
            mxn_dist_fail(dist, mxp_last_error());
            return;
        }
        if (dist->rank != 0) {
            mxn__control_begin(dist, op);
            return;
        }
        define_key(dist, key);
    }
    if (mxn__worker_queue(dist, op, 0, key->part_count) != MXP_OK) {
        mxn_dist_fail(dist, mxp_last_error());  // half of its pieces may be on their way
    }
}

void mxn__worker_take(mxn_dist *dist, mxn_dist_op *op)
{
    dist->ops++;
    op->is_taken = true;
    if (op->key == NULL) {
        mxn__control_begin(dist, op);
        return;
    }
    op->next = NULL;
    if (op->key->last == NULL) {
        op->key->first = op->key->last = op;
        begin(dist, op);
    } else {
        op->key->last->next = op;
        op->key->last = op;
    }
}

// An init, after the barrier of its key.
void mxn__worker_inited(mxn_dist *dist, mxn_dist_op *op)
{
    leave_key(dist, op);
    mxn__dist_complete(dist, op, NULL, 0);
}

// ---- failure -----------------------------------------------------------------------------------
// Tells that it failed. Its pieces are taken back where the transport can; where it cannot, their
// memory stays until they are done.
static void abandon(mxn_dist *dist, mxn_dist_op *op, const char *text)
{
    op->next = NULL;
    mxn__dist_op_fail(op, MXP_EIO, text);
    op->left = 0;
    for (uint32_t i = 0; i < op->flight_count; i++) {
        mxn_flight *flight = &op->flights[i];
        flight->awaits &= MXN_AWAITS_SEND | MXN_AWAITS_BODY;
        op->left += flight->awaits != 0;
        if ((flight->awaits & MXN_AWAITS_SEND) != 0) {
            dist->transport->ops->cancel(dist->transport, &flight->sent);
        }
        if ((flight->awaits & MXN_AWAITS_BODY) != 0) {
            dist->transport->ops->cancel(dist->transport, &flight->received);
        }
    }
    mxn__dist_complete(dist, op, NULL, 0);
}

void mxn__worker_fail(mxn_dist *dist, const char *text)
{
    for (uint32_t i = 0; i < dist->link_count; i++) {
        dist->links[i].heap_count = 0;
    }
    dist->barriers = dist->commands = NULL;
    for (;;) {
        mxp__lock(&dist->lock);
        mxn_dist_op *op = dist->oldest;
        dist->submitted = dist->submitted_last = NULL;
        mxp__unlock(&dist->lock);
        if (op == NULL) {
            return;
        }
        if (op->key != NULL) {
            op->key->first = op->key->last = NULL;
        }
        abandon(dist, op, text);
    }
}

// ---- life --------------------------------------------------------------------------------------
int mxn__worker_init(mxn_dist *dist)
{
    dist->link_count = dist->owner_count + dist->hosts.local_count;
    dist->links = mxp__alloc(dist->link_count * sizeof *dist->links);
    dist->next_slot = mxp__alloc(dist->owner_count * sizeof *dist->next_slot);
    if (dist->links == NULL || dist->next_slot == NULL) {
        return mxp__fail_memory("the owners of keys");
    }
    for (uint32_t i = 0; i < dist->transport->size; i++) {
        if ((dist->transport->peers[i].roles & MXN_ROLE_OWNER) != 0) {
            dist->links[dist->transport->peers[i].owner].peer = i;
        }
    }
    for (uint32_t i = 0; i < dist->hosts.local_count; i++) {
        dist->links[dist->owner_count + i].peer = dist->worker_peers[dist->hosts.locals[i]];
    }
    return MXP_OK;
}

void mxn__worker_fini(mxn_dist *dist)
{
    for (uint32_t i = 0; dist->links != NULL && i < dist->link_count; i++) {
        mxp__free(dist->links[i].heap, dist->links[i].heap_capacity * sizeof(mxn_turn_part));
    }
    mxp__free(dist->links, dist->link_count * sizeof *dist->links);
    mxp__free(dist->next_slot, dist->owner_count * sizeof *dist->next_slot);
}
