// SPDX-License-Identifier: Apache-2.0
// Requests of workers, from header to reply.
#include "runtime/kvstore/dist_owner.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/sums.h"

// ---- lists -------------------------------------------------------------------------------------
void mxn__list_add(mxn_arrival_list *list, mxn_arrival_of *arrival)
{
    arrival->next = NULL;
    arrival->before = list->last;
    if (list->last == NULL) {
        list->first = arrival;
    } else {
        list->last->next = arrival;
    }
    list->last = arrival;
}

mxn_arrival_of *mxn__list_take(mxn_arrival_list *list)
{
    mxn_arrival_of *taken = list->first;
    if (taken != NULL) {
        list->first = taken->next;
        if (list->first == NULL) {
            list->last = NULL;
        } else {
            list->first->before = NULL;
        }
        taken->next = NULL;
    }
    return taken;
}

// ---- arrivals ----------------------------------------------------------------------------------
static mxn_arrival_of *new_arrival(mxn_dist *dist, uint32_t peer, const mxn_wire *header)
{
    mxn_owner *owner = dist->owner;
    mxn_arrival_of *made = owner->spare;
    if (made != NULL) {
        owner->spare = made->next;
    } else {
        made = mxp__alloc(sizeof *made);
    }
    if (made != NULL) {
        *made = (mxn_arrival_of){.dist = dist,
                                 .peer = peer,
                                 .worker = dist->transport->peers[peer].worker,
                                 .by = dist->transport->peers[peer].worker,
                                 .header = *header,
                                 .came_ticks = mxn__record_now(),
                                 .older = owner->youngest};
        if (owner->youngest != NULL) {
            owner->youngest->younger = made;
        }
        owner->youngest = made;
    }
    return made;
}

void mxn__owner_free_arrival(mxn_arrival_of *arrival)
{
    mxn_owner *owner = arrival->dist->owner;
    mxn__pool_give(&arrival->dist->pool, arrival->held);
    arrival->held = NULL;
    if (arrival->younger != NULL) {
        arrival->younger->older = arrival->older;
    } else {
        owner->youngest = arrival->older;
    }
    if (arrival->older != NULL) {
        arrival->older->younger = arrival->younger;
    }
    arrival->next = owner->spare;
    owner->spare = arrival;
}

// ---- replies -----------------------------------------------------------------------------------
static mxn_wire reply_to(const mxn_arrival_of *arrival)
{
    mxn_wire reply = mxn__wire(MXN_WIRE_REPLY);
    reply.key = arrival->header.key;
    reply.slot = arrival->header.slot;
    reply.offset = arrival->header.offset;
    reply.store = arrival->header.store;
    reply.dtype = arrival->header.dtype;
    reply.round = arrival->header.round;
    reply.priority = arrival->header.priority;
    reply.flags = arrival->header.flags & MXN_WIRE_LOCAL;
    if (arrival->part != NULL) {  // of a wide sum the request's were others
        reply.dtype = (uint16_t)arrival->part->of.dtype;
        reply.offset = arrival->part->offset + arrival->piece->offset;
    }
    return reply;
}

static void reply_is_sent(mxn_ticket *ticket, int error)
{
    mxn_arrival_of *arrival = ticket->context;
    mxn_dist *dist = arrival->dist;
    if (error != MXP_OK && !dist->has_failed_all) {
        mxn__dist_lose(dist, arrival->peer, "a reply could not be sent to it");
    }
    mxn__record_replied(arrival);
    arrival->part->readers--;
    dist->owner->sending--;
    mxn__round_updates(arrival->part);
    mxn__owner_free_arrival(arrival);
}

void mxn__owner_reply(mxn_arrival_of *arrival, uint32_t last, uint64_t wait_ns)
{
    mxn_dist *dist = arrival->dist;
    const mxn_owner_piece *piece = arrival->piece;
    const bool wants =
        arrival->header.kind == MXN_WIRE_PULL || arrival->header.kind == MXN_WIRE_PUSHPULL;
    mxn_wire reply = reply_to(arrival);
    reply.last = last;
    reply.wait_ns = wait_ns;
    reply.bytes = wants ? piece->bytes : 0;
    dist->owner->out_bytes += reply.bytes;
    if ((arrival->header.flags & MXN_WIRE_PART) != 0) {
        mxn__replies_add(arrival, &reply);
        return;
    }
    mxn__record_reply(arrival, &reply);
    const unsigned char *value = arrival->part->values[piece->current] + piece->offset;
    if (reply.bytes <= MXN_WIRE_INLINE_MAX) {
        mxn__dist_send(dist, arrival->peer, &reply, value);
        mxn__record_replied(arrival);
        mxn__owner_free_arrival(arrival);
        return;
    }
    arrival->ticket = (mxn_ticket){.done = reply_is_sent, .context = arrival};
    arrival->part->readers++;
    dist->owner->sending++;
    if (dist->transport->ops->send(dist->transport, arrival->peer, &reply, value,
                                   &arrival->ticket) != MXP_OK) {
        mxn__dist_lose(dist, arrival->peer, mxp_last_error());
        reply_is_sent(&arrival->ticket, MXP_OK);
    }
}

// Also takes a body that is on its way, and forgets it: unless the owner asks for it, none is.
static void refuse_body(mxn_arrival_of *arrival)
{
    const bool comes = mxn__wire_has_body(&arrival->header) &&
                       (arrival->header.flags & MXN_WIRE_ASKED) == 0 &&
                       arrival->state == MXN_ARRIVAL_SEEN;
    arrival->piece = NULL;
    arrival->part = NULL;
    if (comes) {
        mxn__room_receive(arrival);
    } else {
        mxn__owner_free_arrival(arrival);
    }
}

void mxn__owner_refuse(mxn_arrival_of *arrival, const char *text)
{
    const size_t length = strlen(text);
    mxn_wire reply = reply_to(arrival);
    reply.flags |= MXN_WIRE_ERROR;
    reply.bytes = (uint32_t)(length < MXN_WIRE_INLINE_MAX ? length : MXN_WIRE_INLINE_MAX);
    mxn__dist_send(arrival->dist, arrival->peer, &reply, text);
    refuse_body(arrival);
}

// ---- requests ----------------------------------------------------------------------------------
static void take_init(mxn_arrival_of *arrival, const void *inlined)
{
    if ((arrival->header.flags & MXN_WIRE_ASKED) != 0) {
        mxn_wire grant = arrival->header;
        grant.kind = MXN_WIRE_GRANT;
        grant.bytes = 0;
        grant.flags = 0;
        mxn__dist_send(arrival->dist, arrival->peer, &grant, NULL);
    }
    unsigned char *to = arrival->part->values[arrival->piece->current] + arrival->piece->offset;
    if (!mxn__wire_has_body(&arrival->header)) {
        memcpy(to, inlined, arrival->header.bytes);
        mxn__record_request(arrival);
        mxn__owner_reply(arrival, 0, 0);
        return;
    }
    arrival->into = to;
    mxn__room_receive(arrival);
}

uint32_t mxn__owner_widening(const mxn_owner_part *part, const mxn_wire *header)
{
    const bool is_wide = (header->flags & MXN_WIRE_SUMMED) != 0 && mxn__sum_is_wide(part->of.dtype);
    return is_wide ? sizeof(float) / sizeof(mxn_half) : 1;
}

static bool is_its_piece(const mxn_arrival_of *arrival)
{
    const mxn_wire *header = &arrival->header;
    const uint32_t times = mxn__owner_widening(arrival->part, header);
    const bool is_compressed = mxn__wire_is_compressed(header);  // of float32
    return header->bytes == (is_compressed
                                 ? mxn__two_bit_bytes(arrival->piece->bytes / sizeof(float))
                                 : arrival->piece->bytes * times) &&
           header->dtype == (times > 1 ? MXN_FLOAT32 : (uint16_t)arrival->part->of.dtype) &&
           header->offset == (arrival->part->offset + arrival->piece->offset) * times;
}

// Whether a push says of itself that it is a host's sum where the part is one of sums of hosts.
static bool is_of_its_level(const mxn_arrival_of *arrival)
{
    const bool is_sum = (arrival->header.flags & MXN_WIRE_SUMMED) != 0;
    const mxn_hosts *hosts = &arrival->dist->hosts;
    return is_sum == mxn__owner_sums_hosts(arrival->part) &&
           (!is_sum || (arrival->header.last < hosts->worker_count &&
                        hosts->of[arrival->header.last] == arrival->from));
}

// Null: it is well.
static const char *fault_of(const mxn_arrival_of *arrival, mxp_strbuf *text)
{
    const mxn_wire *header = &arrival->header;
    const mxn_owner_piece *piece = arrival->piece;
    const mxn_owner_part *part = arrival->part;
    const bool is_push = header->kind == MXN_WIRE_PUSH || header->kind == MXN_WIRE_PUSHPULL;
    if (piece == NULL) {
        mxp__strbuf_printf(text, "key %" PRIu32 " doesn't exist. Did you init?%s%s", header->key,
                           arrival->dist->owner->refusal == NULL ? "" : " ",
                           arrival->dist->owner->refusal == NULL ? ""
                                                                 : arrival->dist->owner->refusal);
    } else if (!is_its_piece(arrival)) {
        mxp__strbuf_printf(text,
                           "key '%s': %" PRIu32 " bytes of type %u at %" PRIu64
                           " are no piece of it, which has %" PRIu32
                           " bytes of type %d at %" PRIu64,
                           part->name, header->bytes, header->dtype, header->offset, piece->bytes,
                           part->of.dtype, part->offset + piece->offset);
    } else if (arrival->from == UINT32_MAX || (is_push && !is_of_its_level(arrival))) {
        mxp__strbuf_printf(text,
                           "key '%s': worker %" PRIu32
                           " sums it in another way: MXNET_KVSTORE_LEVELS and MXNET_KVSTORE_HOSTS "
                           "are the same in all processes",
                           part->name, arrival->worker);
    } else if (is_push && (piece->arrivals[arrival->from] != NULL ||
                           (!part->is_async && header->round != piece->round))) {
        mxp__strbuf_printf(
            text, "key '%s': round %" PRIu64 " of worker %" PRIu32 " comes in round %" PRIu64,
            part->name, header->round, arrival->worker, piece->round);
    } else if (header->kind == MXN_WIRE_INIT && (arrival->worker != 0 || piece->round != 0)) {
        mxp__strbuf_printf(text, "key '%s': its value is that of worker 0, before the first round",
                           part->name);
    } else {
        return NULL;
    }
    return mxp__strbuf_text(text);
}

static void take_request(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_arrival_of *arrival = new_arrival(dist, peer, header);
    if (arrival == NULL) {
        mxn_dist_fail(dist, "an owner has no memory for what is pushed to it");
        return;
    }
    arrival->piece = mxn__owner_find(dist, header, &arrival->part);
    arrival->from = arrival->piece == NULL ? 0 : mxn__owner_place(arrival->part, arrival->worker);
    mxp_strbuf text = {0};
    const char *fault = fault_of(arrival, &text);
    arrival->by = (header->flags & MXN_WIRE_SUMMED) != 0 ? header->last : arrival->worker;
    if (fault != NULL) {
        mxn__owner_refuse(arrival, fault);
    } else if (header->kind == MXN_WIRE_INIT) {
        take_init(arrival, inlined);
    } else if (header->kind == MXN_WIRE_PULL) {
        mxn__round_pull(arrival);
    } else {
        mxn__round_push(arrival, inlined);
    }
    mxp__strbuf_fini(&text);
}

void mxn__owner_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    const bool is_owners = (dist->roles & MXN_ROLE_OWNER) != 0;
    if ((dist->transport->peers[peer].roles & MXN_ROLE_WORKER) == 0 || dist->owner == NULL ||
        (!is_owners && (header->flags & MXN_WIRE_LOCAL) == 0)) {
        mxn__dist_lose(dist, peer, "it asks an owner for what workers ask for");
        return;
    }
    if (header->kind == MXN_WIRE_KEY) {
        mxn__owner_define(dist, peer, header, inlined);
    } else if (header->kind == MXN_WIRE_COMMAND) {
        mxn__owner_command(dist, peer, header, inlined);
    } else {
        take_request(dist, peer, header, inlined);
    }
}

static void free_request(mxn_dist_request *request)
{
    mxp__strfree(request->text);
    mxp__free(request->answer, request->answer_bytes);
    mxp__free(request, sizeof *request);
}

void mxn__owner_answered(mxn_dist *dist, mxn_dist_request *request)
{
    dist->owner->requests--;
    if (request->kind == MXN_REQUEST_UPDATE) {
        mxn__round_updated(request->of, request->error, request->text);
    } else {
        mxn__owner_command_answered(dist, request);
    }
    free_request(request);
}

uint32_t mxn__owner_drop_answers(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    mxn_dist_request *at = dist->answered;
    dist->answered = dist->answered_last = NULL;
    mxp__unlock(&dist->lock);
    while (at != NULL) {
        mxn_dist_request *next = at->next;
        dist->owner->requests--;
        free_request(at);
        at = next;
    }
    return dist->owner == NULL ? 0 : dist->owner->requests;
}

bool mxn__owner_pump(mxn_dist *dist)
{
    if (dist->owner == NULL || dist->has_failed_all) {
        return false;
    }
    const bool any = mxn__room_pump(dist);
    return mxn__replies_send(dist) || any;
}

bool mxn__owner_is_idle(const mxn_dist *dist)
{
    return dist->owner == NULL || (dist->owner->requests == 0 && dist->owner->sending == 0);
}

// ---- stalls ------------------------------------------------------------------------------------
static void tell_stall(mxn_dist *dist, mxn_owner_part *part, uint64_t now_ns)
{
    uint32_t *missing = mxp__alloc(dist->worker_count * sizeof *missing), count = 0;
    if (missing == NULL) {
        return;
    }
    for (uint32_t i = 0; i < dist->worker_count; i++) {
        const uint32_t place = mxn__owner_place(part, i);
        if (place != UINT32_MAX && part->here[place] < part->piece_count) {
            missing[count++] = i;
        }
    }
    const mxn_dist_stall stall = {.part = &part->of,
                                  .round = part->pieces[0].round,
                                  .waited_ns = now_ns - part->first_ns,
                                  .missing = missing,
                                  .missing_count = count};
    if (count > 0) {
        dist->config.hooks.stalled(dist->config.hooks.context, &stall);
    }
    mxp__free(missing, dist->worker_count * sizeof *missing);
}

void mxn__owner_check_stalls(mxn_dist *dist, uint64_t now_ns)
{
    const uint64_t minute_ns = UINT64_C(60000000000);
    if (dist->owner == NULL || dist->config.stall_ns == 0 || dist->config.hooks.stalled == NULL) {
        return;
    }
    for (mxn_owner_part *part = dist->owner->parts; part != NULL; part = part->next) {
        const bool waits = part->first_ns != 0 && !part->is_updating &&
                           now_ns - part->first_ns >= dist->config.stall_ns;
        if (waits && (part->told_ns == 0 || now_ns - part->told_ns >= minute_ns)) {
            part->told_ns = now_ns;
            tell_stall(dist, part, now_ns);
        }
    }
}

// ---- life --------------------------------------------------------------------------------------
int mxn__owner_set_updater(mxn_dist *dist, uint16_t store, bool is_on)
{
    mxp__lock(&dist->lock);
    if (dist->owner != NULL) {
        dist->owner->has_updater[store] = is_on;
    }
    mxp__unlock(&dist->lock);
    return dist->owner == NULL ? mxp__fail(MXP_ESTATE, "this process owns no keys") : MXP_OK;
}

int mxn__owner_init(mxn_dist *dist)
{
    dist->owner = mxp__alloc(sizeof *dist->owner);
    if (dist->owner != NULL) {
        dist->owner->replies = mxp__alloc(dist->worker_count * sizeof *dist->owner->replies);
    }
    return dist->owner == NULL || dist->owner->replies == NULL
               ? mxp__fail_memory("an owner of keys")
               : MXP_OK;
}

void mxn__owner_fini(mxn_dist *dist)
{
    mxn_owner *owner = dist->owner;
    if (owner == NULL) {
        return;
    }
    while (owner->parts != NULL) {
        mxn_owner_part *part = owner->parts;
        owner->parts = part->next;
        mxn__owner_free_part(part);
    }
    mxn__owner_command_fini(owner);
    while (owner->youngest != NULL) {
        mxn__owner_free_arrival(owner->youngest);
    }
    while (owner->spare != NULL) {
        mxn_arrival_of *arrival = owner->spare;
        owner->spare = arrival->next;
        mxp__free(arrival, sizeof *arrival);
    }
    mxp__free(owner->slots, owner->slot_capacity * sizeof *owner->slots);
    mxp__free(owner->slot_parts, owner->part_capacity * sizeof *owner->slot_parts);
    mxp__strfree(owner->refusal);
    mxp__free(owner->replies, dist->worker_count * sizeof *owner->replies);
    mxp__free(owner->of_workers,
              owner->of_workers == NULL ? 0 : dist->worker_count * sizeof *owner->of_workers);
    mxp__free(owner, sizeof *owner);
    dist->owner = NULL;
}
