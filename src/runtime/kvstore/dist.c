// SPDX-License-Identifier: Apache-2.0
// A node's life, and its communication thread.
#include "runtime/kvstore/dist.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/dist_record.h"

// How long the thread looks for messages again before it sleeps, and how long it sleeps at most.
#define LOOK_AGAIN_NS UINT64_C(20000)
#define SLEEP_NS UINT64_C(10000000)
#define SECOND_NS UINT64_C(1000000000)

// ---- failure -----------------------------------------------------------------------------------
void mxn_dist_fail(mxn_dist *dist, const char *text)
{
    static char no_memory[] = "the job has failed";
    mxp__lock(&dist->lock);
    if (mxp_atomic_load(&dist->failure) == NULL) {
        char *copy = mxp__strdup(text);
        // Pairs with mxn_dist_failure.
        mxp_atomic_store_release(&dist->failure, copy == NULL ? no_memory : copy);
    }
    pthread_cond_broadcast(&dist->changed);
    const bool has_transport = dist->is_opened && dist->transport != NULL;
    mxp__unlock(&dist->lock);
    if (has_transport) {
        mxn__dist_wake(dist);
    }
}

const char *mxn_dist_failure(const mxn_dist *dist)
{
    return mxp_atomic_load_acquire(&dist->failure);
}

void mxn__dist_lose(mxn_dist *dist, uint32_t peer, const char *text)
{
    const mxn_peer *of = &dist->transport->peers[peer];
    const bool is_worker = (of->roles & MXN_ROLE_WORKER) != 0;
    mxp_strbuf line = {0};
    mxp__strbuf_printf(&line, "%s %" PRIu32 " (rank %" PRIu32 ", host %s, pid %" PRIu32 "): %s",
                       is_worker                           ? "worker"
                       : (of->roles & MXN_ROLE_OWNER) != 0 ? "server"
                                                           : "scheduler",
                       is_worker ? of->worker : of->owner, peer, of->host, of->pid, text);
    if (!dist->has_told_loss && !dist->has_failed_all) {
        dist->has_told_loss = true;
        if (dist->config.hooks.lost != NULL) {
            dist->config.hooks.lost(dist->config.hooks.context, peer, mxp__strbuf_text(&line));
        } else {
            mxn_dist_fail(dist, mxp__strbuf_text(&line));
        }
    }
    mxp__strbuf_fini(&line);
}

void mxn__dist_give_up(mxn_dist *dist, const char *text)
{
    if (dist->is_hopeless || dist->has_failed_all) {
        return;
    }
    dist->is_hopeless = true;
    if (dist->config.hooks.hopeless != NULL) {
        dist->config.hooks.hopeless(dist->config.hooks.context, text);
    } else {
        mxn_dist_fail(dist, text);
    }
}

// ---- messages ----------------------------------------------------------------------------------
static void bye(mxn_dist *dist, uint32_t peer)
{
    const mxn_peer *of = &dist->transport->peers[peer];
    if ((of->roles & MXN_ROLE_WORKER) == 0 || dist->has_bye[of->worker]) {
        mxn__dist_lose(dist, peer, "it says goodbye and is no worker, or has said it");
        return;
    }
    dist->has_bye[of->worker] = true;
    mxp__lock(&dist->lock);
    dist->byes++;
    pthread_cond_broadcast(&dist->changed);
    mxp__unlock(&dist->lock);
}

static void handle(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_dist *dist = context;
    switch (header->kind) {
    case MXN_WIRE_REPLY:
        mxn__worker_reply(dist, peer, header, inlined);
        break;
    case MXN_WIRE_GRANT:
        mxn__worker_grant(dist, peer, header);
        break;
    case MXN_WIRE_RELEASE:
        mxn__control_release(dist, peer, header, inlined);
        break;
    case MXN_WIRE_ANSWER:
        mxn__control_answer(dist, peer, header, inlined);
        break;
    case MXN_WIRE_BARRIER:
        if (dist->head != NULL) {
            mxn__head_barrier(dist, peer, header, inlined);
        } else {
            mxn__dist_lose(dist, peer, "it takes another process for worker 0");
        }
        break;
    case MXN_WIRE_BYE:
        bye(dist, peer);
        break;
    case MXN_WIRE_LEAVE:
        mxn__owner_left(dist, peer);
        break;
    case MXN_WIRE_PING:
    case MXN_WIRE_PONG:
        if (dist->clock != NULL) {
            mxn_clock_cuts_handle(dist->clock, peer, header);
        }
        break;
    default:
        mxn__owner_handle(dist, peer, header, inlined);
        break;
    }
}

static void lost(void *context, uint32_t peer, const char *text)
{
    mxn__dist_lose(context, peer, text);
}

void mxn__dist_send(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *body)
{
    if (dist->transport->ops->send(dist->transport, peer, header, body, NULL) != MXP_OK) {
        mxn__dist_lose(dist, peer, mxp_last_error());
    }
}

// ---- turns -------------------------------------------------------------------------------------
static bool take_submitted(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    mxn_dist_op *ops = dist->submitted;
    mxn_dist_request *requests = dist->answered;
    dist->submitted = dist->submitted_last = NULL;
    dist->answered = dist->answered_last = NULL;
    mxp__unlock(&dist->lock);
    const bool any = ops != NULL || requests != NULL;
    while (requests != NULL) {
        mxn_dist_request *next = requests->next;
        mxn__owner_answered(dist, requests);
        requests = next;
    }
    while (ops != NULL) {
        mxn_dist_op *next = ops->next;
        mxn__worker_take(dist, ops);
        ops = next;
    }
    return any;
}

static void fail_all(mxn_dist *dist)
{
    const char *text = mxn_dist_failure(dist);
    if (text != NULL && !dist->has_failed_all) {
        dist->has_failed_all = true;
        mxn__worker_fail(dist, text);
    }
}

// What happens by the clock, and not because a message has come.
static void look_at_clock(mxn_dist *dist, uint64_t now_ns)
{
    if (now_ns - dist->last_stall_check_ns >= SECOND_NS / 4) {
        dist->last_stall_check_ns = now_ns;
        mxn__owner_check_stalls(dist, now_ns);
    }
    if (dist->clock != NULL && now_ns - dist->last_refresh_ns >= 10 * SECOND_NS) {
        dist->last_refresh_ns = now_ns;
        mxn_clock_cuts_refresh(dist->clock);
    }
}

bool mxn__dist_turn(mxn_dist *dist)
{
    bool any = take_submitted(dist);
    fail_all(dist);
    any |= dist->transport->ops->progress(dist->transport);
    any |= mxn__owner_pump(dist);
    any |= mxn__worker_pump(dist);
    mxn__record_counters(dist);
    fail_all(dist);
    return any;
}

// ---- the thread --------------------------------------------------------------------------------
static bool has_mail(mxn_dist *dist)
{
    mxp__lock(&dist->lock);
    const bool has = dist->submitted != NULL || dist->answered != NULL || dist->wants_close ||
                     (dist->wants_exchange && !dist->has_exchanged) ||
                     (dist->wants_bye && !dist->has_said_bye) ||
                     (mxp_atomic_load(&dist->failure) != NULL && !dist->has_failed_all);
    mxp__unlock(&dist->lock);
    return has;
}

void mxn__dist_wake(mxn_dist *dist)
{
    // Pairs with the store in rest: the thread sees what was left, or this sees that it sleeps.
    if (mxp_atomic_load_seq_cst(&dist->is_asleep) != 0) {
        dist->transport->ops->wake(dist->transport);
    }
}

// A transport whose sleep messages do not end knows itself how long it looks before it sleeps.
static void rest(mxn_dist *dist, uint64_t now_ns)
{
    const bool is_exact = dist->transport->wakes_for_messages;
    if (is_exact && now_ns - dist->last_busy_ns < LOOK_AGAIN_NS) {
        mxp__os_yield();
        return;
    }
    mxp_atomic_store_seq_cst(&dist->is_asleep, 1u);
    if (!has_mail(dist)) {
        dist->transport->ops->sleep(dist->transport, is_exact ? SECOND_NS / 4 : SLEEP_NS);
    }
    mxp_atomic_store(&dist->is_asleep, 0u);
}

// Whether a node that was asked to end may do so. After a failure whoever makes an update has a
// second to answer.
static bool may_end(mxn_dist *dist, uint64_t now_ns)
{
    if (dist->has_failed_all) {
        dist->end_ns = dist->end_ns == 0 ? now_ns + SECOND_NS : dist->end_ns;
        return mxn__owner_is_idle(dist) || now_ns >= dist->end_ns;
    }
    return dist->ops == 0 && mxn__owner_is_idle(dist);
}

static void say_bye(mxn_dist *dist)
{
    const mxn_wire header = mxn__wire(MXN_WIRE_BYE);
    for (uint32_t i = 0; i < dist->transport->size; i++) {
        if ((dist->transport->peers[i].roles & (MXN_ROLE_OWNER | MXN_ROLE_SCHEDULER)) != 0) {
            mxn__dist_send(dist, i, &header, NULL);
        }
    }
}

// The last exchanges of clocks, before the last barrier: worker 0 answers until then.
static void exchange_at_end(mxn_dist *dist, uint64_t now_ns)
{
    dist->exchange_end_ns =
        dist->exchange_end_ns == 0 ? now_ns + SECOND_NS / 2 : dist->exchange_end_ns;
    if (mxn_clock_cuts_close(dist->clock) && now_ns < dist->exchange_end_ns) {
        return;
    }
    mxp__lock(&dist->lock);
    dist->has_exchanged = true;
    pthread_cond_broadcast(&dist->changed);
    mxp__unlock(&dist->lock);
}

// True: the thread goes on.
static bool take_orders(mxn_dist *dist, uint64_t now_ns)
{
    mxp__lock(&dist->lock);
    const bool exchanges = dist->wants_exchange && !dist->has_exchanged;
    const bool byes = dist->wants_bye && !dist->has_said_bye;
    const bool ends = dist->wants_close;
    dist->has_said_bye |= byes;
    mxp__unlock(&dist->lock);
    if (exchanges) {
        exchange_at_end(dist, now_ns);
    }
    if (byes && !dist->has_failed_all) {
        say_bye(dist);
    }
    return !ends || !may_end(dist, now_ns);
}

static void run(mxn_dist *dist)
{
    dist->last_refresh_ns = mxp__os_monotonic_ns();
    if (dist->clock != NULL) {
        mxn_clock_cuts_open(dist->clock);
    }
    for (;;) {
        const bool any = mxn__dist_turn(dist);
        const uint64_t now_ns = mxp__os_monotonic_ns();
        if (!take_orders(dist, now_ns)) {
            return;
        }
        look_at_clock(dist, now_ns);
        if (any) {
            dist->last_busy_ns = now_ns;
        } else {
            rest(dist, now_ns);
        }
    }
}

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
    dist->rank = (self->roles & MXN_ROLE_WORKER) != 0 ? self->worker : self->owner;
    return MXP_OK;
}

static void send_stamps(void *context, uint32_t peer, const mxn_wire *header)
{
    mxn__dist_send(context, peer, header, NULL);
}

static int open_parts(mxn_dist *dist)
{
    const bool is_worker = (dist->roles & MXN_ROLE_WORKER) != 0;
    const bool is_head = is_worker && dist->rank == 0;
    int error = dist->config.reads_detail
                    ? mxn__dist_detail(dist->rank, is_worker, &dist->config.detail)
                    : MXP_OK;
    if (error == MXP_OK) {
        error = mxn__worker_init(dist);
    }
    if (error == MXP_OK && (dist->roles & MXN_ROLE_OWNER) != 0) {
        error = mxn__owner_init(dist);
    }
    if (error == MXP_OK && is_head) {
        error = mxn__head_init(dist);
    }
    if (error == MXP_OK && dist->config.exchanges_stamps && dist->transport->size > 1) {
        error = mxn_clock_cuts_create(dist->transport, send_stamps, dist, &dist->clock);
    }
    return error;
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
        dist->transport->handler = handle;
        dist->transport->lost = lost;
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
        run(dist);
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
        dist->pool.piece_bytes = config->piece_bytes;
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
        fail_all(dist);
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
    mxn__worker_fini(dist);
    mxn__head_fini(dist);
    mxn__owner_fini(dist);
    mxn_clock_cuts_free(dist->clock);
    mxn__pool_fini(&dist->pool);
    mxp__free(dist->worker_peers, dist->worker_count * sizeof *dist->worker_peers);
    mxp__free(dist->has_bye, dist->worker_count * sizeof *dist->has_bye);
    mxp__free(dist->has_left, dist->worker_count * sizeof *dist->has_left);
    pthread_cond_destroy(&dist->changed);
    free_text(dist);
    mxp__free(dist, sizeof *dist);
}
