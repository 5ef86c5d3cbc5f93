// SPDX-License-Identifier: Apache-2.0
// A node's life: how it opens, and how it ends with all the others.
#include "runtime/kvstore/dist.h"

#include <inttypes.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "runtime/kvstore/dist_probe.h"
#include "runtime/kvstore/dist_record.h"

// ---- opening -----------------------------------------------------------------------------------
static int count_peers(mxn_dist *dist)
{
    const mxn_transport *transport = dist->transport;
    for (uint32_t i = 0; i < transport->size; i++) {
        dist->worker_count += (transport->peers[i].roles & MXN_ROLE_WORKER) != 0;
        dist->owner_count += (transport->peers[i].roles & MXN_ROLE_OWNER) != 0;
    }
    if (dist->worker_count == 0 || dist->owner_count == 0) {
        return mxp__fail(MXP_ESTATE,
                         "a distributed store needs a worker and a server; there are "
                         "%" PRIu32 " and %" PRIu32,
                         dist->worker_count, dist->owner_count);
    }
    dist->worker_peers = mxp__alloc(dist->worker_count * sizeof *dist->worker_peers);
    dist->has_bye = mxp__alloc(dist->worker_count * sizeof *dist->has_bye);
    dist->has_left = mxp__alloc(dist->worker_count * sizeof *dist->has_left);
    if (dist->worker_peers == NULL || dist->has_bye == NULL || dist->has_left == NULL) {
        return mxp__fail_memory("a distributed store");
    }
    for (uint32_t i = 0; i < transport->size; i++) {
        if ((transport->peers[i].roles & MXN_ROLE_WORKER) != 0) {
            dist->worker_peers[transport->peers[i].worker] = i;
        }
    }
    const mxn_peer *self = &transport->peers[transport->rank];
    dist->roles = self->roles;
    const bool is_worker = (self->roles & MXN_ROLE_WORKER) != 0;
    dist->rank = is_worker ? self->worker : self->owner;
    const int error =
        is_worker ? mxn__sampling_init(transport->peers, dist->worker_peers, dist->worker_count,
                                       dist->rank, dist->config.sampled_above, &dist->sampling)
                  : MXP_OK;
    return error != MXP_OK ? error
                           : mxn__hosts_init(&dist->config, transport->peers, dist->worker_peers,
                                             dist->worker_count,
                                             is_worker ? dist->rank : UINT32_MAX, &dist->hosts);
}

static void send_stamps(void *context, uint32_t peer, const mxn_wire *header)
{
    mxn__dist_send(context, peer, header, NULL);
}

static int open_parts(mxn_dist *dist)
{
    const bool is_worker = (dist->roles & MXN_ROLE_WORKER) != 0;
    const bool is_head = is_worker && dist->rank == 0;
    int error = mxn__record_follow(dist);
    if (error == MXP_OK) {
        error = mxn__worker_init(dist);
    }
    if (error == MXP_OK && ((dist->roles & MXN_ROLE_OWNER) != 0 || dist->hosts.local_count > 0)) {
        error = mxn__owner_init(dist);
    }
    if (error == MXP_OK && is_head) {
        error = mxn__head_init(dist);
    }
    if (error == MXP_OK && dist->config.exchanges_stamps && dist->transport->size > 1) {
        error = mxn_clock_cuts_create(dist->transport, send_stamps, dist, &dist->clock);
    }
    return error == MXP_OK ? mxn__probe_init(dist) : error;
}

static int open_by_start(void *context, mxn_transport **transport)
{
    (void)context;
    return mxn__transport_open(transport);
}

static int open_node(mxn_dist *dist)
{
    int error = dist->open(dist->open_context, &dist->transport);
    if (error == MXP_OK) {
        dist->transport->handler = mxn__dist_handle;
        dist->transport->lost = mxn__dist_lost;
        dist->transport->context = dist;
        error = count_peers(dist);
    }
    return error == MXP_OK ? open_parts(dist) : error;
}

static void note_opened(mxn_dist *dist, int error)
{
    mxp__lock(&dist->lock);
    dist->open_error = error;
    dist->open_text = error == MXP_OK ? NULL : mxp__strdup(mxp_last_error());
    dist->is_opened = true;
    pthread_cond_broadcast(&dist->changed);
    mxp__unlock(&dist->lock);
}

static void close_node(mxn_dist *dist)
{
    if (dist->transport != NULL) {
        dist->transport->ops->close(dist->transport, dist->has_failed_all || dist->is_cut);
    }
    mxp__lock(&dist->lock);
    dist->is_over = true;
    pthread_cond_broadcast(&dist->changed);
    mxp__unlock(&dist->lock);
}

static void *communicate(void *argument)
{
    mxn_dist *dist = argument;
    mxp_thread_name("communication");
    const int error = open_node(dist);
    note_opened(dist, error);
    if (error == MXP_OK) {
        mxn__dist_run(dist);
    }
    close_node(dist);
    return NULL;
}

static mxn_dist *new_node(const mxn_dist_config *config)
{
    mxn_dist *dist = mxp__alloc(sizeof *dist);
    if (dist != NULL) {
        dist->config = *config;
        dist->process = mxp__os_process_id();
        dist->pool.piece_bytes =
            config->piece_bytes > config->bucket_bytes ? config->piece_bytes : config->bucket_bytes;
        dist->generations = 1;
        mxp__lock_reset(&dist->lock);
        pthread_cond_init(&dist->changed, NULL);
    }
    return dist;
}

static int start(mxn_dist *dist)
{
    if (dist->config.is_driven) {
        note_opened(dist, open_node(dist));
    } else {
        const int error = mxp__os_start_thread(&dist->thread, communicate, dist);
        if (error != 0) {
            return mxp__fail(MXP_ENOMEM, "the communication thread cannot start: %s",
                             strerror(error));
        }
        dist->has_thread = true;
        mxp__lock(&dist->lock);
        while (!dist->is_opened) {
            mxp__lock_wait(&dist->lock, &dist->changed);
        }
        mxp__unlock(&dist->lock);
    }
    return dist->open_error == MXP_OK
               ? MXP_OK
               : mxp_set_last_error(dist->open_error,
                                    dist->open_text == NULL ? "" : dist->open_text);
}

int mxn_dist_open(const mxn_dist_config *config, int (*open)(void *context, mxn_transport **),
                  void *open_context, mxn_dist **dist)
{
    mxn_dist *made = new_node(config);
    if (made == NULL) {
        return mxp__fail_memory("a distributed store");
    }
    made->open = open == NULL ? open_by_start : open;
    made->open_context = open_context;
    int error = start(made);
    if (error != MXP_OK) {
        made->state = MXN_DIST_CLOSED;
        mxn_dist_free(made);
        return error;
    }
    *dist = made;
    return MXP_OK;
}

// ---- closing -----------------------------------------------------------------------------------
static bool has_failed(mxn_dist *dist)
{
    return mxp_atomic_load_acquire(&dist->failure) != NULL;
}

// The last barrier: all workers have ended what they had to do.
static void meet_at_end(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    while (dist->oldest != NULL && !has_failed(dist)) {
        mxp__lock_wait(&dist->lock, &dist->changed);
    }
    dist->wants_exchange = dist->clock != NULL;
    mxp__unlock(&dist->lock);
    mxn__dist_wake(dist);
    mxp__lock(&dist->lock);
    while (dist->wants_exchange && !dist->has_exchanged && !has_failed(dist)) {
        mxp__lock_wait(&dist->lock, &dist->changed);
    }
    mxp__unlock(&dist->lock);
    mxn__dist_submit_last_barrier(dist);
    mxp__lock(&dist->lock);
    while (dist->oldest != NULL && !has_failed(dist)) {
        mxp__lock_wait(&dist->lock, &dist->changed);
    }
    dist->wants_bye = true;
    mxp__unlock(&dist->lock);
    mxn__dist_wake(dist);
}

static void wait_for_byes(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    while (dist->byes < dist->worker_count && !has_failed(dist)) {
        mxp__lock_wait(&dist->lock, &dist->changed);
    }
    mxp__unlock(&dist->lock);
}

static void end_thread(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    dist->wants_close = true;
    mxp__unlock(&dist->lock);
    if (dist->has_thread) {
        mxn__dist_wake(dist);
        pthread_join(dist->thread, NULL);
        dist->has_thread = false;
    } else if (!dist->is_over && dist->transport != NULL) {
        dist->is_cut = true;  // driven nodes do not wait for one another
        mxn_dist_fail(dist, "this store was closed");
        mxn__dist_fail_all(dist);
        close_node(dist);
    }
}

static int failure_of(mxn_dist *dist)
{
    const char *text = mxn_dist_failure(dist);
    return text == NULL ? MXP_OK : mxp__fail(MXP_EIO, "%s", text);
}

int mxn_dist_close(mxn_dist *dist)
{
    int error = mxn__dist_check_process(dist);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&dist->lock);
    const bool is_first = dist->state == MXN_DIST_RUNNING;
    dist->state = is_first ? MXN_DIST_CLOSING : dist->state;
    mxp__unlock(&dist->lock);
    if (!is_first) {
        return MXP_OK;
    }
    if (!dist->config.is_driven) {
        if ((dist->roles & MXN_ROLE_WORKER) != 0) {
            meet_at_end(dist);
        }
        if ((dist->roles & (MXN_ROLE_OWNER | MXN_ROLE_SCHEDULER)) != 0) {
            wait_for_byes(dist);
        }
    }
    end_thread(dist);
    mxp__lock(&dist->lock);
    dist->state = MXN_DIST_CLOSED;
    mxp__unlock(&dist->lock);
    return failure_of(dist);
}

int mxn_dist_serve(mxn_dist *dist)
{
    int error = mxn__dist_check_process(dist);
    if (error == MXP_OK) {
        wait_for_byes(dist);
        error = failure_of(dist);
    }
    return error;
}

static void free_text(mxn_dist *dist)
{
    char *failure = mxp_atomic_load(&dist->failure);
    if (failure != NULL && strcmp(failure, "the job has failed") != 0) {
        mxp__strfree(failure);
    }
    mxp__strfree(dist->open_text);
}

void mxn_dist_free(mxn_dist *dist)
{
    if (dist == NULL || dist->process != mxp__os_process_id()) {
        return;  // in a forked child it is the parent's
    }
    mxn_dist_close(dist);
    end_thread(dist);
    if (mxn__owner_drop_answers(dist) > 0) {
        return;  // somebody still makes an update of its values: they stay
    }
    mxn__dist_free_abandoned(dist);
    mxn__dist_free_stores(dist);
    mxn__buckets_free(dist);
    mxn__worker_fini(dist);
    mxn__head_fini(dist);
    mxn__owner_fini(dist);
    mxn_clock_cuts_free(dist->clock);
    mxn__probe_fini(dist);
    mxn__pool_fini(&dist->pool);
    mxn__hosts_fini(&dist->hosts);
    mxn__sampling_fini(&dist->sampling);
    mxp__free(dist->worker_peers, dist->worker_count * sizeof *dist->worker_peers);
    mxp__free(dist->has_bye, dist->worker_count * sizeof *dist->has_bye);
    mxp__free(dist->has_left, dist->worker_count * sizeof *dist->has_left);
    pthread_cond_destroy(&dist->changed);
    free_text(dist);
    mxp__free(dist, sizeof *dist);
}
