// SPDX-License-Identifier: Apache-2.0
// Commands of worker 0 to an owner: handed on in their order, each when its text is here.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/dist_owner.h"

static void free_command(mxn_owner_command *of)
{
    mxp__free(of->body, of->header.bytes);
    mxp__free(of, sizeof *of);
}

static void answer(mxn_dist *dist, const mxn_owner_command *of, const char *error,
                   const void *bytes, uint64_t count)
{
    mxn_wire header = mxn__wire(MXN_WIRE_ANSWER);
    header.key = of->header.key;
    header.round = of->header.round;
    if (count > MXN_WIRE_BYTES_MAX) {
        error = "the answer is longer than a message can be";
    }
    const size_t length = error == NULL ? 0 : strlen(error);
    header.flags = error == NULL ? 0 : MXN_WIRE_ERROR;
    header.bytes = error == NULL
                       ? (uint32_t)count
                       : (uint32_t)(length < MXN_WIRE_INLINE_MAX ? length : MXN_WIRE_INLINE_MAX);
    mxn__dist_send(dist, of->peer, &header, error == NULL ? bytes : error);
}

// Hands on what is here, in the order in which it was sent.
static void hand_on(mxn_dist *dist)
{
    mxn_owner_command *of = dist->owner->commands;
    while (of != NULL && of->is_handed) {
        of = of->next;
    }
    for (; of != NULL && of->is_here; of = of->next) {
        of->is_handed = true;
        mxn_dist_request *request = mxp__alloc(sizeof *request);
        if (request == NULL) {
            mxn_dist_fail(dist, "an owner has no memory for a command");
            return;
        }
        *request = (mxn_dist_request){.kind = MXN_REQUEST_COMMAND, .dist = dist, .of = of};
        dist->owner->requests++;
        if (dist->config.hooks.command == NULL) {
            mxn_dist_answered(request, MXP_ENOTSUP, "this owner takes no commands", NULL, 0);
        } else {
            dist->config.hooks.command(dist->config.hooks.context, of->header.key, of->body,
                                       of->header.bytes, request);
        }
    }
}

static void body_is_here(mxn_ticket *ticket, int error)
{
    mxn_owner_command *of = ticket->context;
    if (error != MXP_OK) {
        if (!of->dist->has_failed_all) {
            mxn__dist_lose(of->dist, of->peer, "a command could not be received from it");
        }
        return;
    }
    of->is_here = true;
    hand_on(of->dist);
}

void mxn__owner_command(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_owner *owner = dist->owner;
    mxn_owner_command *of = mxp__alloc(sizeof *of);
    void *body = mxp__alloc(header->bytes);
    if (of == NULL || (body == NULL && header->bytes > 0)) {
        mxp__free(of, sizeof *of);
        mxp__free(body, header->bytes);
        mxn_dist_fail(dist, "an owner has no memory for a command");
        return;
    }
    *of = (mxn_owner_command){.dist = dist,
                              .ticket = {.done = body_is_here, .context = of},
                              .peer = peer,
                              .header = *header,
                              .body = body};
    if (owner->commands_last == NULL) {
        owner->commands = of;
    } else {
        owner->commands_last->next = of;
    }
    owner->commands_last = of;
    if (!mxn__wire_has_body(header)) {
        if (header->bytes > 0) {
            memcpy(body, inlined, header->bytes);
        }
        of->is_here = true;
        hand_on(dist);
    } else if (dist->transport->ops->receive(dist->transport, peer, header, body, &of->ticket) !=
               MXP_OK) {
        mxn__dist_lose(dist, peer, mxp_last_error());
    }
}

static void remove_command(mxn_owner *owner, const mxn_owner_command *of)
{
    mxn_owner_command *before = NULL, *at = owner->commands;
    while (at != of) {
        before = at;
        at = at->next;
    }
    if (before == NULL) {
        owner->commands = at->next;
    } else {
        before->next = at->next;
    }
    owner->commands_last = owner->commands_last == of ? before : owner->commands_last;
}

// What is a long answer is copied for the way: the request is freed when this returns.
struct mxn_long_answer {
    mxn_long_answer *next;
    mxn_ticket ticket;
    mxn_dist *dist;
    uint64_t bytes;
    unsigned char value[];
};

static void free_answer(mxn_owner *owner, mxn_long_answer *of)
{
    mxn_long_answer **at = &owner->answers;
    while (*at != of) {
        at = &(*at)->next;
    }
    *at = of->next;
    mxp__free(of, sizeof *of + of->bytes);
}

static void answer_is_sent(mxn_ticket *ticket, int error)
{
    mxn_long_answer *of = ticket->context;
    (void)error;  // that the worker is gone is told by others
    of->dist->owner->sending--;
    free_answer(of->dist->owner, of);
}

static void answer_long(mxn_dist *dist, const mxn_owner_command *of,
                        const mxn_dist_request *request)
{
    mxn_long_answer *kept = mxp__realloc(NULL, 0, sizeof *kept + request->answer_bytes);
    if (kept == NULL) {
        answer(dist, of, "the owner has no memory for its answer", NULL, 0);
        return;
    }
    kept->next = dist->owner->answers;
    dist->owner->answers = kept;
    kept->dist = dist;
    kept->bytes = request->answer_bytes;
    kept->ticket = (mxn_ticket){.done = answer_is_sent, .context = kept};
    memcpy(kept->value, request->answer, request->answer_bytes);
    mxn_wire header = mxn__wire(MXN_WIRE_ANSWER);
    header.key = of->header.key;
    header.round = of->header.round;
    header.bytes = (uint32_t)request->answer_bytes;
    dist->owner->sending++;
    if (dist->transport->ops->send(dist->transport, of->peer, &header, kept->value,
                                   &kept->ticket) != MXP_OK) {
        answer_is_sent(&kept->ticket, MXP_EIO);
        mxn__dist_lose(dist, of->peer, mxp_last_error());
    }
}

void mxn__owner_command_answered(mxn_dist *dist, mxn_dist_request *request)
{
    mxn_owner_command *of = request->of;
    if (request->error != MXP_OK) {
        answer(dist, of, request->text == NULL ? "it has failed" : request->text, NULL, 0);
    } else if (request->answer_bytes > MXN_WIRE_INLINE_MAX &&
               request->answer_bytes <= MXN_WIRE_BYTES_MAX) {
        answer_long(dist, of, request);
    } else {
        answer(dist, of, NULL, request->answer, request->answer_bytes);
    }
    remove_command(dist->owner, of);
    free_command(of);
}

void mxn__owner_command_fini(mxn_owner *owner)
{
    while (owner->commands != NULL) {
        mxn_owner_command *of = owner->commands;
        owner->commands = of->next;
        free_command(of);
    }
    while (owner->answers != NULL) {
        free_answer(owner, owner->answers);
    }
}
