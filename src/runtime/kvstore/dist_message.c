// SPDX-License-Identifier: Apache-2.0
// What comes to a node and whom it is handed to, what it sends, and what it tells when the job
// fails: a peer that is lost, one that sends nonsense, a wait that will not end.
#include <inttypes.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_probe.h"

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

void mxn__dist_handle(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
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
            dist->last_stamp_ns = mxp__os_monotonic_ns();
            mxn_clock_cuts_handle(dist->clock, peer, header);
        }
        break;
    case MXN_WIRE_BUCKET:
    case MXN_WIRE_REPLIES:
        mxn__bucket_handle(dist, peer, header, inlined);
        break;
    case MXN_WIRE_PROBE:
        mxn__probe_handle(dist, peer, header);
        break;
    default:
        mxn__owner_handle(dist, peer, header, inlined);
        break;
    }
}

void mxn__dist_lost(void *context, uint32_t peer, const char *text)
{
    mxn__dist_lose(context, peer, text);
}

void mxn__dist_send(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *body)
{
    if (dist->transport->ops->send(dist->transport, peer, header, body, NULL) != MXP_OK) {
        mxn__dist_lose(dist, peer, mxp_last_error());
    }
}
