// SPDX-License-Identifier: Apache-2.0
// The life of the transport over threads, and its turns.
#include "runtime/kvstore/transport_threads.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/thread_node.h"

enum { TURN = 16 };

// ---- turns -------------------------------------------------------------------------------------
static uint64_t draw(mxn_threads_world *world)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

// The oldest parcel of the sender of one that is chosen at random, or the oldest of all.
static mxn_parcel *take_locked(mxn_endpoint *self)
{
    mxn_parcel *chosen = self->first;
    if (chosen == NULL) {
        return NULL;
    }
    if (self->world->random != 0) {
        uint64_t steps = draw(self->world) % 8;
        while (steps-- > 0 && chosen->arrival.next != NULL) {
            chosen = (mxn_parcel *)chosen->arrival.next;
        }
    }
    mxn_parcel *before = NULL, *at = self->first;
    while (at->from != chosen->from) {
        before = at;
        at = (mxn_parcel *)at->arrival.next;
    }
    mxn_parcel *next = (mxn_parcel *)at->arrival.next;
    if (before == NULL) {
        self->first = next;
    } else {
        before->arrival.next = at->arrival.next;
    }
    self->last = self->last == at ? before : self->last;
    at->arrival.next = NULL;
    return at;
}

static void lose_locked(mxn_endpoint *self, uint32_t peer)
{
    self->told[peer] = true;
    for (mxn_ticket *at; (at = mxn__match_take_peer(&self->match, peer)) != NULL;) {
        mxn__done_add(&self->done, at, MXP_EIO);
    }
}

static bool tell_of_dead(mxn_endpoint *self)
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

static bool deliver_one(mxn_endpoint *self)
{
    mxp__lock(&self->world->lock);
    mxn_parcel *of = self->is_dead ? NULL : take_locked(self);
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
        mxn__endpoint_arrive_locked(self, of);
    } else {
        mxn__parcel_free(of);
    }
    mxp__unlock(&self->world->lock);
    return true;
}

static bool call_done(mxn_endpoint *self)
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
    mxn_endpoint *self = (mxn_endpoint *)transport;
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
    mxn_endpoint *self = (mxn_endpoint *)transport;
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
    mxn_endpoint *self = (mxn_endpoint *)transport;
    mxp__lock(&self->world->lock);
    mxn__endpoint_wake_locked(self);
    mxp__unlock(&self->world->lock);
}

// ---- life --------------------------------------------------------------------------------------
// Nobody takes anything of this peer's memory from now on.
static void withdraw_locked(mxn_endpoint *self)
{
    mxn_threads_world *world = self->world;
    for (uint32_t i = 0; i < world->size; i++) {
        mxn_endpoint *to = &world->endpoints[i];
        for (mxn_parcel *at = to->first; at != NULL; at = (mxn_parcel *)at->arrival.next) {
            if (at->from == self->base.rank) {
                mxn__parcel_drop_body(at);
            }
        }
        if (to->at_handler != NULL && to->at_handler->from == self->base.rank) {
            mxn__parcel_drop_body(to->at_handler);
        }
        for (size_t b = 0; b < MXN_MATCH_BUCKETS; b++) {
            mxn_arrival *next = NULL;
            for (mxn_arrival *at = to->match.arrived[b]; at != NULL; at = next) {
                next = at->next;
                if (((mxn_parcel *)at)->from == self->base.rank) {
                    mxn__match_remove(&to->match, at);
                    mxn__parcel_free((mxn_parcel *)at);
                }
            }
        }
    }
}

static void empty_locked(mxn_endpoint *self)
{
    while (self->first != NULL) {
        mxn_parcel *of = self->first;
        self->first = (mxn_parcel *)of->arrival.next;
        mxn__endpoint_done_locked(self->world, of->from, of->ticket, MXP_EIO);
        mxn__parcel_free(of);
    }
    self->last = NULL;
    for (mxn_arrival *at; (at = mxn__match_take_any(&self->match)) != NULL;) {
        mxn__endpoint_done_locked(self->world, ((mxn_parcel *)at)->from, ((mxn_parcel *)at)->ticket,
                                  MXP_EIO);
        mxn__parcel_free((mxn_parcel *)at);
    }
}

static void close_endpoint(mxn_transport *transport, bool failed)
{
    mxn_endpoint *self = (mxn_endpoint *)transport;
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
    .send = mxn__threads_send,
    .send_body = mxn__threads_send_body,
    .receive = mxn__threads_receive,
    .cancel = mxn__threads_cancel,
    .progress = progress,
    .sleep = sleep_until_message,
    .wake = wake,
    .close = close_endpoint,
};

void mxn__threads_kill(mxn_threads_world *world, uint32_t peer)
{
    mxp__lock(&world->lock);
    mxn_endpoint *of = &world->endpoints[peer];
    if (!of->is_dead) {
        of->is_dead = true;
        world->dead++;
        withdraw_locked(of);
        empty_locked(of);
        for (uint32_t i = 0; i < world->size; i++) {
            mxn__endpoint_wake_locked(&world->endpoints[i]);
        }
    }
    mxp__unlock(&world->lock);
}

static int init_endpoint(mxn_threads_world *world, uint32_t peer)
{
    mxn_endpoint *of = &world->endpoints[peer];
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
        mxn_endpoint *of = &world->endpoints[i];
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
