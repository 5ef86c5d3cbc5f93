// SPDX-License-Identifier: Apache-2.0
// Workers that push nothing any more. A round of dist_sync that one of them has not pushed and
// somebody else has begun never ends: without a word everybody would wait for ever.
#include <inttypes.h>
#include <stdio.h>

#include "runtime/kvstore/dist_owner.h"

// Whether all that this worker, or its host, can push of what is under way is there. A worker
// leaves when what it has pushed is over: so a round in which its host's sum is missing is one
// without it.
static bool has_pushed(const mxn_owner_part *part, uint32_t place)
{
    for (uint32_t i = 0; i < part->piece_count; i++) {
        if (part->pieces[i].arrivals[place] == NULL) {
            return false;
        }
    }
    return true;
}

// Somebody who has begun a round; the number of workers: nobody has.
static uint32_t who_waits(const mxn_owner_part *part)
{
    uint32_t place = 0;
    while (place < part->pushers && part->pieces[0].arrivals[place] == NULL) {
        place++;
    }
    return place < part->pushers ? part->pieces[0].arrivals[place]->by : part->dist->worker_count;
}

void mxn__owner_check_left(mxn_owner_part *part)
{
    mxn_dist *dist = part->dist;
    if (!dist->any_has_left || part->is_async || part->piece_count == 0) {
        return;
    }
    const uint32_t waits = who_waits(part);
    for (uint32_t i = 0; waits < dist->worker_count && i < dist->worker_count; i++) {
        const uint32_t place = mxn__owner_place(part, i);
        if (dist->has_left[i] && place != UINT32_MAX && !has_pushed(part, place)) {
            char text[256];
            snprintf(text, sizeof text,
                     "worker %" PRIu32 " has ended without a push of key '%.120s', round %" PRIu64
                     ", for which worker %" PRIu32 " waits",
                     i, part->of.name, part->pieces[0].round, waits);
            mxn__dist_give_up(dist, text);
            return;
        }
    }
}

void mxn__owner_left(mxn_dist *dist, uint32_t peer)
{
    const mxn_peer *of = &dist->transport->peers[peer];
    if ((of->roles & MXN_ROLE_WORKER) == 0 || dist->owner == NULL || dist->has_left[of->worker]) {
        mxn__dist_lose(dist, peer, "it leaves and is no worker, or has left");
        return;
    }
    dist->has_left[of->worker] = dist->any_has_left = true;
    for (mxn_owner_part *part = dist->owner->parts; part != NULL; part = part->next) {
        mxn__owner_check_left(part);
    }
}
