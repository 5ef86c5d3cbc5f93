// SPDX-License-Identifier: Apache-2.0
// One lock for the world: those who share it are tests, or there is only one peer. Handlers and
// `done` are called without it.
#include "runtime/kvstore/transport_threads.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "runtime/kvstore/transport_match.h"

enum { TURN = 16 };

// A header on its way, and then its body, which waits to be taken from the sender's memory.
typedef struct parcel {
    mxn_arrival arrival;
    uint32_t from;
    bool has_header, has_body;
    mxn_wire header;
    const void *body;
    mxn_ticket *ticket;  // the sender's
    size_t inline_bytes;
    unsigned char inlined[];
} parcel;

typedef struct endpoint {
    mxn_transport base;
    mxn_threads_world *world;
    // All under the lock of the world.
    parcel *first, *last;
    parcel *at_handler;  // in no list while its header is handled; its body may still be taken back
    mxn_match match;
    mxn_done_list done;
    pthread_cond_t cond;
    bool is_woken, is_open, is_dead;
    bool *told;  // of each peer whose death this one was told of
} endpoint;

struct mxn_threads_world {
    mxp_lock lock;
    uint32_t size;
    uint32_t dead;  // how many
    uint64_t random;  // 0: messages arrive as they were sent
    bool is_alone;  // ends with its one transport
    mxn_peer *peers;
    endpoint *endpoints;
};

static void free_parcel(parcel *of)
{
    mxp__free(of, sizeof *of + of->inline_bytes);
}

static void wake_locked(endpoint *to)
{
    to->is_woken = true;
    pthread_cond_signal(&to->cond);
}

// ---- bodies ------------------------------------------------------------------------------------
static void done_locked(mxn_threads_world *world, uint32_t peer, mxn_ticket *ticket, int error)
{
    if (ticket != NULL && world->endpoints[peer].is_open) {
        mxn__done_add(&world->endpoints[peer].done, ticket, error);
        wake_locked(&world->endpoints[peer]);
    }
}

// A body meets a posted receive: both ends are done. One of another length is for nobody.
static void meet_locked(endpoint *self, parcel *of, mxn_ticket *receive)
{
    const bool fits = mxn__match_bytes(receive) == of->header.bytes;
    if (fits) {
        memcpy(mxn__match_into(receive), of->body, of->header.bytes);
    }
    mxn__done_add(&self->done, receive, fits ? MXP_OK : MXP_EIO);
    done_locked(self->world, of->from, of->ticket, fits ? MXP_OK : MXP_EIO);
    free_parcel(of);
}

static void arrive_locked(endpoint *self, parcel *of)
{
    mxn_ticket *receive = mxn__match_take_posted(&self->match, of->arrival.key);
    if (receive != NULL) {
        meet_locked(self, of, receive);
    } else {
        mxn__match_arrive(&self->match, &of->arrival);
    }
}

// ---- sending -----------------------------------------------------------------------------------
static int post(endpoint *self, uint32_t peer, const mxn_wire *header, const void *body,
                mxn_ticket *ticket, bool has_header)
{
    const uint32_t bytes = mxn__wire_body_bytes(header);
    const bool is_inline = bytes <= MXN_WIRE_INLINE_MAX;
    const size_t inline_bytes = is_inline ? bytes : 0;
    parcel *of = mxp__alloc(sizeof *of + inline_bytes);
    if (of == NULL) {
        return mxp__fail_memory("a message");
    }
    *of = (parcel){.arrival.key = mxn__match_key(self->base.rank, header),
                   .from = self->base.rank,
                   .has_header = has_header,
                   .has_body = !is_inline && body != NULL,
                   .header = *header,
                   .body = body,
                   .ticket = is_inline ? NULL : ticket,
                   .inline_bytes = inline_bytes};
    if (is_inline) {
        of->header.flags |= MXN_WIRE_INLINE;
        if (bytes > 0) {
            memcpy(of->inlined, body, bytes);
        }
    }
    mxn_threads_world *world = self->world;
    endpoint *to = &world->endpoints[peer];
    mxp__lock(&world->lock);
    if (is_inline) {
        mxn__done_add(&self->done, ticket, MXP_OK);
    }
    if (to->is_dead || self->is_dead) {
        done_locked(world, self->base.rank, of->ticket, MXP_EIO);
        free_parcel(of);
    } else {
        if (to->last == NULL) {
            to->first = of;
        } else {
            to->last->arrival.next = &of->arrival;
        }
        to->last = of;
        wake_locked(to);
    }
    mxp__unlock(&world->lock);
    return MXP_OK;
}

static int send_message(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                        const void *body, mxn_ticket *ticket)
{
    return post((endpoint *)transport, peer, header, body, ticket, true);
}

static int send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket)
{
    return post((endpoint *)transport, peer, header, body, ticket, false);
}

// ---- receiving ---------------------------------------------------------------------------------
static int receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header, void *into,
                   mxn_ticket *ticket)
{
    endpoint *self = (endpoint *)transport;
    const uint64_t key = mxn__match_key(peer, header);
    mxp__lock(&self->world->lock);
    mxn__match_post(&self->match, key, into, header->bytes, ticket);
    if (self->world->endpoints[peer].is_dead) {
        mxn__match_unpost(&self->match, ticket);
        mxn__done_add(&self->done, ticket, MXP_EIO);
    } else {
        parcel *came = (parcel *)mxn__match_take_arrived(&self->match, key);
        if (came != NULL) {
            meet_locked(self, came, mxn__match_take_posted(&self->match, key));
        }
    }
    mxp__unlock(&self->world->lock);
    return MXP_OK;
}

static void drop_body(parcel *of)
{
    of->ticket = NULL;
    of->has_body = false;
}

// A body that this peer has sent and nobody has taken.
static parcel *take_back_locked(endpoint *from, const mxn_ticket *ticket)
{
    for (uint32_t i = 0; i < from->world->size; i++) {
        endpoint *to = &from->world->endpoints[i];
        for (parcel *at = to->first; at != NULL; at = (parcel *)at->arrival.next) {
            if (at->ticket == ticket) {
                drop_body(at);
                return NULL;  // its header stays
            }
        }
        if (to->at_handler != NULL && to->at_handler->ticket == ticket) {
            drop_body(to->at_handler);
            return NULL;
        }
        for (size_t b = 0; b < MXN_MATCH_BUCKETS; b++) {
            for (mxn_arrival *at = to->match.arrived[b]; at != NULL; at = at->next) {
                if (((parcel *)at)->ticket == ticket) {
                    mxn__match_remove(&to->match, at);
                    return (parcel *)at;
                }
            }
        }
    }
    return NULL;
}

// Whether it is among those that are done.
static bool is_done_locked(const endpoint *self, const mxn_ticket *ticket)
{
    const mxn_ticket *at = self->done.first;
    while (at != NULL && at != ticket) {
        at = (const mxn_ticket *)(uintptr_t)at->reserved[0];
    }
    return at != NULL;
}

static void cancel(mxn_transport *transport, mxn_ticket *ticket)
{
    endpoint *self = (endpoint *)transport;
    mxp__lock(&self->world->lock);
    if (mxn__match_unpost(&self->match, ticket)) {
        mxn__done_add(&self->done, ticket, MXP_ESTATE);
    } else if (!is_done_locked(self, ticket)) {
        parcel *of = take_back_locked(self, ticket);
        if (of != NULL) {
            free_parcel(of);
        }
        mxn__done_add(&self->done, ticket, MXP_ESTATE);
    }
    mxp__unlock(&self->world->lock);
}

// ---- turns -------------------------------------------------------------------------------------
static uint64_t draw(mxn_threads_world *world)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

// The oldest parcel of the sender of one that is chosen at random, or the oldest of all.
static parcel *take_locked(endpoint *self)
{
    parcel *chosen = self->first;
    if (chosen == NULL) {
        return NULL;
    }
    if (self->world->random != 0) {
        uint64_t steps = draw(self->world) % 8;
        while (steps-- > 0 && chosen->arrival.next != NULL) {
            chosen = (parcel *)chosen->arrival.next;
        }
    }
    parcel *before = NULL, *at = self->first;
    while (at->from != chosen->from) {
        before = at;
        at = (parcel *)at->arrival.next;
    }
    parcel *next = (parcel *)at->arrival.next;
    if (before == NULL) {
        self->first = next;
    } else {
        before->arrival.next = at->arrival.next;
    }
    self->last = self->last == at ? before : self->last;
    at->arrival.next = NULL;
    return at;
}

static void lose_locked(endpoint *self, uint32_t peer)
{
    self->told[peer] = true;
    for (mxn_ticket *at; (at = mxn__match_take_peer(&self->match, peer)) != NULL;) {
        mxn__done_add(&self->done, at, MXP_EIO);
    }
}

static bool tell_of_dead(endpoint *self)
{
    mxn_threads_world *world = self->world;
    for (uint32_t i = 0; i < world->size; i++) {
        mxp__lock(&world->lock);
        const bool is_new = world->endpoints[i].is_dead && !self->told[i];
        if (is_new) {
            lose_locked(self, i);
        }
        mxp__unlock(&world->lock);
        if (is_new) {
            self->base.lost(self->base.context, i, "it ended without a word");
            return true;
        }
    }
    return false;
}

static bool deliver_one(endpoint *self)
{
    mxp__lock(&self->world->lock);
    parcel *of = self->is_dead ? NULL : take_locked(self);
    self->at_handler = of;
    mxp__unlock(&self->world->lock);
    if (of == NULL) {
        return false;
    }
    if (of->has_header) {
        self->base.handler(self->base.context, of->from, &of->header, of->inlined);
    }
    mxp__lock(&self->world->lock);
    self->at_handler = NULL;
    if (of->has_body) {
        arrive_locked(self, of);
    } else {
        free_parcel(of);
    }
    mxp__unlock(&self->world->lock);
    return true;
}

static bool call_done(endpoint *self)
{
    bool any = false;
    for (int i = 0; i < TURN; i++) {
        mxp__lock(&self->world->lock);
        mxn_done_list one = {.first = self->done.first, .last = self->done.first};
        if (one.first != NULL) {
            self->done.first = (mxn_ticket *)(uintptr_t)one.first->reserved[0];
            self->done.last = self->done.first == NULL ? NULL : self->done.last;
            one.first->reserved[0] = 0;
        }
        mxp__unlock(&self->world->lock);
        if (!mxn__done_call(&one, 1)) {
            break;
        }
        any = true;
    }
    return any;
}

static bool progress(mxn_transport *transport)
{
    endpoint *self = (endpoint *)transport;
    bool any = false;
    for (int i = 0; i < TURN && deliver_one(self); i++) {
        any = true;
    }
    any |= call_done(self);
    mxp__lock(&self->world->lock);
    const bool has_dead = self->world->dead > 0;
    mxp__unlock(&self->world->lock);
    return (has_dead && tell_of_dead(self)) || any;
}

static void sleep_until_message(mxn_transport *transport, uint64_t timeout_ns)
{
    endpoint *self = (endpoint *)transport;
    const uint64_t until = mxp__os_monotonic_ns() + timeout_ns;
    const struct timespec at = {.tv_sec = (time_t)(until / 1000000000),
                                .tv_nsec = (long)(until % 1000000000)};
    int error = 0;
    mxp__lock(&self->world->lock);
    while (!self->is_woken && self->first == NULL && self->done.first == NULL && error == 0) {
        error = mxp__lock_wait_until(&self->world->lock, &self->cond, &at);
    }
    self->is_woken = false;
    mxp__unlock(&self->world->lock);
}

static void wake(mxn_transport *transport)
{
    endpoint *self = (endpoint *)transport;
    mxp__lock(&self->world->lock);
    wake_locked(self);
    mxp__unlock(&self->world->lock);
}

// ---- life --------------------------------------------------------------------------------------
// Nobody takes anything of this peer's memory from now on.
static void withdraw_locked(endpoint *self)
{
    mxn_threads_world *world = self->world;
    for (uint32_t i = 0; i < world->size; i++) {
        endpoint *to = &world->endpoints[i];
        for (parcel *at = to->first; at != NULL; at = (parcel *)at->arrival.next) {
            if (at->from == self->base.rank) {
                drop_body(at);
            }
        }
        if (to->at_handler != NULL && to->at_handler->from == self->base.rank) {
            drop_body(to->at_handler);
        }
        for (size_t b = 0; b < MXN_MATCH_BUCKETS; b++) {
            mxn_arrival *next = NULL;
            for (mxn_arrival *at = to->match.arrived[b]; at != NULL; at = next) {
                next = at->next;
                if (((parcel *)at)->from == self->base.rank) {
                    mxn__match_remove(&to->match, at);
                    free_parcel((parcel *)at);
                }
            }
        }
    }
}

static void empty_locked(endpoint *self)
{
    while (self->first != NULL) {
        parcel *of = self->first;
        self->first = (parcel *)of->arrival.next;
        done_locked(self->world, of->from, of->ticket, MXP_EIO);
        free_parcel(of);
    }
    self->last = NULL;
    for (mxn_arrival *at; (at = mxn__match_take_any(&self->match)) != NULL;) {
        done_locked(self->world, ((parcel *)at)->from, ((parcel *)at)->ticket, MXP_EIO);
        free_parcel((parcel *)at);
    }
}

static void close_endpoint(mxn_transport *transport, bool failed)
{
    endpoint *self = (endpoint *)transport;
    mxp__lock(&self->world->lock);
    self->is_open = false;
    if (failed) {
        withdraw_locked(self);
    }
    empty_locked(self);
    const bool is_alone = self->world->is_alone;
    mxp__unlock(&self->world->lock);
    if (is_alone) {
        mxn__threads_world_free(self->world);
    }
}

static const mxn_transport_ops ops = {
    .name = "threads",
    .send = send_message,
    .send_body = send_body,
    .receive = receive,
    .cancel = cancel,
    .progress = progress,
    .sleep = sleep_until_message,
    .wake = wake,
    .close = close_endpoint,
};

void mxn__threads_kill(mxn_threads_world *world, uint32_t peer)
{
    mxp__lock(&world->lock);
    endpoint *of = &world->endpoints[peer];
    if (!of->is_dead) {
        of->is_dead = true;
        world->dead++;
        withdraw_locked(of);
        empty_locked(of);
        for (uint32_t i = 0; i < world->size; i++) {
            wake_locked(&world->endpoints[i]);
        }
    }
    mxp__unlock(&world->lock);
}

static int init_endpoint(mxn_threads_world *world, uint32_t peer)
{
    endpoint *of = &world->endpoints[peer];
    of->told = mxp__alloc(world->size * sizeof(bool));
    of->world = world;
    of->base = (mxn_transport){.ops = &ops,
                               .rank = peer,
                               .size = world->size,
                               .peers = world->peers,
                               .wakes_for_messages = true,
                               .slots_max = MXN_WIRE_SLOTS_MAX};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&of->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return of->told == NULL ? mxp__fail_memory("a transport") : MXP_OK;
}

int mxn__threads_world_new(uint32_t size, const uint32_t *roles, uint64_t seed,
                           mxn_threads_world **world)
{
    mxn_threads_world *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a transport");
    }
    made->size = size;
    made->random = seed;
    mxp__lock_reset(&made->lock);
    made->peers = mxp__alloc(size * sizeof *made->peers);
    made->endpoints = mxp__alloc(size * sizeof *made->endpoints);
    int error =
        made->peers == NULL || made->endpoints == NULL ? mxp__fail_memory("a transport") : MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < size; i++) {
        mxn__peer_self(&made->peers[i]);
        made->peers[i].roles = roles[i];
        error = init_endpoint(made, i);
    }
    if (error != MXP_OK) {
        mxn__threads_world_free(made);
        return error;
    }
    mxn__peers_rank(made->peers, size);
    *world = made;
    return MXP_OK;
}

mxn_transport *mxn__threads_open(mxn_threads_world *world, uint32_t peer)
{
    mxp__lock(&world->lock);
    assert(!world->endpoints[peer].is_open);
    world->endpoints[peer].is_open = true;
    mxp__unlock(&world->lock);
    return &world->endpoints[peer].base;
}

void mxn__threads_world_free(mxn_threads_world *world)
{
    for (uint32_t i = 0; world->endpoints != NULL && i < world->size; i++) {
        endpoint *of = &world->endpoints[i];
        empty_locked(of);
        pthread_cond_destroy(&of->cond);
        mxp__free(of->told, world->size * sizeof(bool));
    }
    mxp__free(world->endpoints, world->size * sizeof *world->endpoints);
    mxp__free(world->peers, world->size * sizeof *world->peers);
    mxp__free(world, sizeof *world);
}

int mxn__transport_open_alone(mxn_transport **transport)
{
    const uint32_t roles = MXN_ROLE_WORKER | MXN_ROLE_OWNER;
    mxn_threads_world *world = NULL;
    int error = mxn__threads_world_new(1, &roles, 0, &world);
    if (error == MXP_OK) {
        world->is_alone = true;
        *transport = mxn__threads_open(world, 0);
    }
    return error;
}
