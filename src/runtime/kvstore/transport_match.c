// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport_match.h"

#include <stddef.h>

#include "base/fail.h"

// In the `reserved` of a ticket that is posted or done.
enum { NEXT, KEY, INTO, BYTES, ERROR };

static mxn_ticket *next_of(const mxn_ticket *ticket)
{
    return (mxn_ticket *)(uintptr_t)ticket->reserved[NEXT];
}

static void set_next(mxn_ticket *ticket, const mxn_ticket *next)
{
    ticket->reserved[NEXT] = (uint64_t)(uintptr_t)next;
}

static size_t bucket_of(uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

// ---- receives ----------------------------------------------------------------------------------
void mxn__match_post(mxn_match *match, uint64_t key, void *into, uint32_t bytes, mxn_ticket *ticket)
{
    ticket->reserved[KEY] = key;
    ticket->reserved[INTO] = (uint64_t)(uintptr_t)into;
    ticket->reserved[BYTES] = bytes;
    set_next(ticket, NULL);
    mxn_ticket *last = match->posted[bucket_of(key)];
    if (last == NULL) {
        match->posted[bucket_of(key)] = ticket;
        return;
    }
    while (next_of(last) != NULL) {
        last = next_of(last);
    }
    set_next(last, ticket);
}

// Takes the first one for which the key, with `mask`, is `key`; or `wanted` itself.
static mxn_ticket *take(mxn_match *match, size_t bucket, uint64_t mask, uint64_t key,
                        const mxn_ticket *wanted)
{
    mxn_ticket *before = NULL, *at = match->posted[bucket];
    while (at != NULL && (wanted != NULL ? at != wanted : (at->reserved[KEY] & mask) != key)) {
        before = at;
        at = next_of(at);
    }
    if (at == NULL) {
        return NULL;
    }
    if (before == NULL) {
        match->posted[bucket] = next_of(at);
    } else {
        set_next(before, next_of(at));
    }
    return at;
}

mxn_ticket *mxn__match_take_posted(mxn_match *match, uint64_t key)
{
    return take(match, bucket_of(key), UINT64_MAX, key, NULL);
}

bool mxn__match_unpost(mxn_match *match, mxn_ticket *ticket)
{
    for (size_t i = 0; i < MXN_MATCH_BUCKETS; i++) {
        if (take(match, i, 0, 0, ticket) != NULL) {
            return true;
        }
    }
    return false;
}

mxn_ticket *mxn__match_take_peer(mxn_match *match, uint32_t peer)
{
    mxn_ticket *found = NULL;
    for (size_t i = 0; i < MXN_MATCH_BUCKETS && found == NULL; i++) {
        found = take(match, i, UINT64_C(0xffffffff00000000), (uint64_t)peer << 32, NULL);
    }
    return found;
}

void *mxn__match_into(const mxn_ticket *ticket)
{
    return (void *)(uintptr_t)ticket->reserved[INTO];
}

uint32_t mxn__match_bytes(const mxn_ticket *ticket)
{
    return (uint32_t)ticket->reserved[BYTES];
}

uint64_t mxn__match_key_of(const mxn_ticket *ticket)
{
    return ticket->reserved[KEY];
}

// ---- bodies ------------------------------------------------------------------------------------
void mxn__match_arrive(mxn_match *match, mxn_arrival *arrival)
{
    mxn_arrival **at = &match->arrived[bucket_of(arrival->key)];
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = arrival;
    arrival->next = NULL;
}

static mxn_arrival *unlink_arrival(mxn_arrival **at)
{
    mxn_arrival *taken = *at;
    if (taken != NULL) {
        *at = taken->next;
        taken->next = NULL;
    }
    return taken;
}

mxn_arrival *mxn__match_take_arrived(mxn_match *match, uint64_t key)
{
    mxn_arrival **at = &match->arrived[bucket_of(key)];
    while (*at != NULL && (*at)->key != key) {
        at = &(*at)->next;
    }
    return unlink_arrival(at);
}

bool mxn__match_remove(mxn_match *match, mxn_arrival *arrival)
{
    mxn_arrival **at = &match->arrived[bucket_of(arrival->key)];
    while (*at != NULL && *at != arrival) {
        at = &(*at)->next;
    }
    return unlink_arrival(at) != NULL;
}

mxn_arrival *mxn__match_take_any(mxn_match *match)
{
    mxn_arrival *taken = NULL;
    for (size_t i = 0; i < MXN_MATCH_BUCKETS && taken == NULL; i++) {
        taken = unlink_arrival(&match->arrived[i]);
    }
    return taken;
}

// ---- done --------------------------------------------------------------------------------------
void mxn__done_add(mxn_done_list *list, mxn_ticket *ticket, int error)
{
    if (ticket == NULL) {
        return;
    }
    ticket->reserved[ERROR] = (uint64_t)(int64_t)error;
    set_next(ticket, NULL);
    if (list->last == NULL) {
        list->first = ticket;
    } else {
        set_next(list->last, ticket);
    }
    list->last = ticket;
}

bool mxn__done_call(mxn_done_list *list, uint32_t most)
{
    bool any = false;
    for (uint32_t i = 0; i < most && list->first != NULL; i++) {
        mxn_ticket *ticket = list->first;
        list->first = next_of(ticket);
        list->last = list->first == NULL ? NULL : list->last;
        any = true;
        const int error = (int)(int64_t)ticket->reserved[ERROR];
        ticket->done(ticket, error);
    }
    return any;
}
