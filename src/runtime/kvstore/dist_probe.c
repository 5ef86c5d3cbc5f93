// SPDX-License-Identifier: Apache-2.0
// See dist_probe.h. A probe begins when the exchanges of clocks at the start have gone by: its
// pieces would stand in their way and make what is known of the clocks wider.
#include "runtime/kvstore/dist_probe.h"

#include <mxprof/record.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_record.h"

enum { WINDOW = 8, PARTS = 7, BYTES = MXN_WIRE_PROBE_BYTES };
#define SETTLE_NS UINT64_C(5000000)
#define SETTLE_MOST_NS UINT64_C(500000000)
#define PROBE_MOST_NS UINT64_C(2000000000)
#define SPARE_NS UINT64_C(100000000)

static const char memory_for[] = "the probe of the network";

// A piece that another process sends.
typedef struct probe_receive {
    mxn_ticket ticket;
    struct probe_receive *next;
    mxn_dist *dist;
    uint32_t peer;
    mxn_wire header;
    mxn_piece_buffer *into;  // null: its receive is not posted yet
} probe_receive;

struct mxn_probe {
    bool *is_far;  // by peer
    uint32_t peer_count;
    uint64_t open_ns;
    // Sending.
    uint32_t peer;
    bool is_on, has_begun, has_failed;
    unsigned char *value;  // a window of pieces
    mxn_ticket tickets[MXN_PROBE_PIECES_MAX];
    uint32_t begun, count;  // sent, and done
    uint64_t begin_ns, begin_ticks;
    uint64_t done_ns[MXN_PROBE_PIECES_MAX];
    // Receiving.
    probe_receive *receives;
    mxn_piece_pool pool;  // its own: what it needs is given back when nothing comes any more
    uint64_t received_ns;
};

// ---- the rate ----------------------------------------------------------------------------------
static uint64_t rate_of(uint64_t bytes, uint64_t ns)
{
    return (uint64_t)((double)bytes / (double)(ns == 0 ? 1 : ns) * 1e9);
}

mxn_probe_rate mxn__probe_rate(const uint64_t *done_ns, uint32_t count, uint32_t bytes)
{
    const uint32_t skipped = count >= 3 * WINDOW ? WINDOW : 1;
    uint64_t rates[PARTS];
    uint32_t parts = 0;
    if (count <= skipped) {
        return (mxn_probe_rate){0};
    }
    const uint32_t wanted = count - skipped < PARTS ? count - skipped : PARTS;
    for (uint32_t i = 0; i < wanted; i++) {
        const uint32_t from = skipped + (count - skipped) * i / wanted;
        const uint32_t to = skipped + (count - skipped) * (i + 1) / wanted;
        const uint64_t rate =
            rate_of((uint64_t)(to - from) * bytes, done_ns[to - 1] - done_ns[from - 1]);
        uint32_t at = parts++;
        for (; at > 0 && rates[at - 1] > rate; at--) {
            rates[at] = rates[at - 1];
        }
        rates[at] = rate;
    }
    return (mxn_probe_rate){rates[parts / 2], rates[0], rates[parts - 1]};
}

// ---- who ---------------------------------------------------------------------------------------
static void find_far(const mxn_transport *transport, bool *is_far)
{
    const mxn_peer *self = &transport->peers[transport->rank];
    bool any = false;
    for (uint32_t i = 0; i < transport->size; i++) {
        is_far[i] = !mxn__peers_share_machine(&transport->peers[i], self);
        any |= is_far[i];
    }
    for (uint32_t i = 0; i < transport->size && !any; i++) {
        is_far[i] = i != transport->rank;
    }
}

// The next one that is far; those of one machine begin so far on that each finds another one.
static bool find_peer(const mxn_transport *transport, const bool *is_far, uint32_t *peer)
{
    const mxn_peer *const self = &transport->peers[transport->rank];
    uint32_t near = 0;
    for (uint32_t i = 0; i < transport->size; i++) {
        near += mxn__peers_share_machine(&transport->peers[i], self);
    }
    const uint32_t first = near == transport->size ? 1 : near;
    for (uint32_t i = 0; i < transport->size; i++) {
        *peer = (transport->rank + first + i) % transport->size;
        const uint32_t roles = transport->peers[*peer].roles;
        if (is_far[*peer] && (roles & (MXN_ROLE_WORKER | MXN_ROLE_OWNER)) != 0) {
            return true;
        }
    }
    return false;
}

bool mxn__probe_is_far(const mxn_dist *dist, uint32_t peer)
{
    return dist->probe != NULL && dist->probe->is_far[peer];
}

// ---- life --------------------------------------------------------------------------------------
int mxn__probe_init(mxn_dist *dist)
{
    const mxn_transport *transport = dist->transport;
    if (transport->size < 2) {
        return MXP_OK;
    }
    mxn_probe *made = mxp__alloc(sizeof *made);
    bool *is_far = mxp__alloc(transport->size * sizeof *is_far);
    if (made == NULL || is_far == NULL) {
        mxp__free(made, sizeof *made);
        mxp__free(is_far, transport->size * sizeof *is_far);
        return mxp__fail_memory(memory_for);
    }
    made->is_far = is_far;
    made->peer_count = transport->size;
    made->pool.piece_bytes = BYTES;
    made->open_ns = mxp__os_monotonic_ns();
    dist->probe = made;
    find_far(transport, is_far);
    made->is_on = dist->config.probe_pieces > 0 && (dist->roles & MXN_ROLE_WORKER) != 0 &&
                  mxn__record_is_on() && find_peer(transport, is_far, &made->peer);
    return MXP_OK;
}

static void free_value(mxn_probe *probe)
{
    mxp__free(probe->value, (size_t)WINDOW * BYTES);
    probe->value = NULL;
}

void mxn__probe_fini(mxn_dist *dist)
{
    mxn_probe *probe = dist->probe;
    if (probe == NULL) {
        return;
    }
    while (probe->receives != NULL) {
        probe_receive *of = probe->receives;
        probe->receives = of->next;
        mxn__pool_give(&probe->pool, of->into);
        mxp__free(of, sizeof *of);
    }
    mxn__pool_fini(&probe->pool);
    free_value(probe);
    mxp__free(probe->is_far, probe->peer_count * sizeof *probe->is_far);
    mxp__free(probe, sizeof *probe);
    dist->probe = NULL;
}

// ---- when --------------------------------------------------------------------------------------
// No stamps are exchanged, as far as this process knows.
static bool is_quiet(const mxn_dist *dist, uint64_t now_ns)
{
    const uint64_t open_ns = dist->probe->open_ns;
    const uint64_t since_ns = dist->last_stamp_ns > open_ns ? dist->last_stamp_ns : open_ns;
    return dist->clock == NULL || now_ns >= open_ns + SETTLE_MOST_NS ||
           (now_ns >= since_ns + SETTLE_NS && !mxn_clock_cuts_are_under_way(dist->clock));
}

bool mxn__probe_holds(const mxn_dist *dist)
{
    return dist->probe != NULL && dist->probe->is_on && !dist->has_failed_all;
}

static bool any_unposted(const mxn_probe *probe)
{
    for (const probe_receive *at = probe->receives; at != NULL; at = at->next) {
        if (at->into == NULL) {
            return true;
        }
    }
    return false;
}

bool mxn__probe_waits(const mxn_dist *dist)
{
    const mxn_probe *probe = dist->probe;
    return probe != NULL && !dist->has_failed_all &&
           ((probe->is_on && !probe->has_begun) || any_unposted(probe));
}

bool mxn__probe_is_idle(const mxn_dist *dist)
{
    const mxn_probe *probe = dist->probe;
    return probe == NULL || (probe->begun == probe->count && probe->receives == NULL);
}

// ---- sending -----------------------------------------------------------------------------------
static void piece_is_sent(mxn_ticket *ticket, int error)
{
    mxn_probe *probe = ticket->context;
    probe->has_failed |= error != MXP_OK;
    probe->done_ns[probe->count++] = mxp__os_monotonic_ns();
}

static bool begin(mxn_probe *probe)
{
    probe->has_begun = true;
    probe->value = mxp__alloc((size_t)WINDOW * BYTES);
    if (probe->value == NULL) {
        probe->is_on = false;  // a training does not fail for it
        return false;
    }
    memset(probe->value, 1, (size_t)WINDOW * BYTES);  // pages are there before the time counts
    probe->begin_ns = mxp__os_monotonic_ns();
    probe->begin_ticks = mxp_ticks();
    return true;
}

static void send_piece(mxn_dist *dist)
{
    mxn_probe *probe = dist->probe;
    mxn_wire header = mxn__wire(MXN_WIRE_PROBE);
    mxn_ticket *ticket = &probe->tickets[probe->begun];
    header.bytes = BYTES;
    header.round = probe->begun;
    *ticket = (mxn_ticket){.done = piece_is_sent, .context = probe};
    if (dist->transport->ops->send(dist->transport, probe->peer, &header,
                                   probe->value + (size_t)(probe->begun % WINDOW) * BYTES,
                                   ticket) == MXP_OK) {
        probe->begun++;
    } else {
        probe->has_failed = true;
    }
}

static void end(mxn_dist *dist)
{
    mxn_probe *probe = dist->probe;
    const mxn_probe_rate rate = mxn__probe_rate(probe->done_ns, probe->count, BYTES);
    probe->is_on = false;
    free_value(probe);
    if (!probe->has_failed && rate.bytes_per_s > 0) {
        const mxn_probe_record record = {.peer = probe->peer,
                                         .pieces = probe->count,
                                         .bytes = (uint64_t)probe->count * BYTES,
                                         .bytes_per_s = rate.bytes_per_s,
                                         .least = rate.least,
                                         .most = rate.most,
                                         .is_elsewhere = !mxn__peers_share_machine(
                                             &dist->transport->peers[probe->peer],
                                             &dist->transport->peers[dist->transport->rank])};
        mxn__record_probe(dist, &record, probe->begin_ticks);
    }
}

static bool pump_sends(mxn_dist *dist, uint64_t now_ns)
{
    mxn_probe *probe = dist->probe;
    const uint32_t before = probe->begun;
    if (!probe->is_on || dist->has_failed_all ||
        (!probe->has_begun && (!is_quiet(dist, now_ns) || !begin(probe)))) {
        return false;
    }
    const bool is_late = now_ns >= probe->begin_ns + PROBE_MOST_NS;
    while (!is_late && !probe->has_failed && probe->begun - probe->count < WINDOW &&
           probe->begun < dist->config.probe_pieces) {
        send_piece(dist);
    }
    const bool is_over = is_late || probe->has_failed || probe->begun == dist->config.probe_pieces;
    if (is_over && probe->begun == probe->count) {
        end(dist);
        return true;
    }
    return probe->begun != before;
}

// ---- receiving ---------------------------------------------------------------------------------
static void piece_is_here(mxn_ticket *ticket, int error)
{
    probe_receive *of = ticket->context;
    mxn_probe *probe = of->dist->probe;
    probe_receive **at = &probe->receives;
    (void)error;  // whoever sends it is lost: the transport says so
    while (*at != of) {
        at = &(*at)->next;
    }
    *at = of->next;
    mxn__pool_give(&probe->pool, of->into);
    probe->received_ns = mxp__os_monotonic_ns();
    mxp__free(of, sizeof *of);
}

static void post(probe_receive *of)
{
    mxn_dist *dist = of->dist;
    of->into = mxn__pool_take(&dist->probe->pool, of->header.bytes);
    if (of->into == NULL) {
        mxn_dist_fail(dist, "there is no memory for the probe of the network");
        return;
    }
    of->ticket = (mxn_ticket){.done = piece_is_here, .context = of};
    if (dist->transport->ops->receive(dist->transport, of->peer, &of->header, of->into->data,
                                      &of->ticket) != MXP_OK) {
        mxn__dist_lose(dist, of->peer, mxp_last_error());
        piece_is_here(&of->ticket, MXP_EIO);
    }
}

// At most a window of one peer, however many headers it sends: that bounds the memory.
static uint32_t posted_of(const mxn_probe *probe, uint32_t peer)
{
    uint32_t count = 0;
    for (const probe_receive *at = probe->receives; at != NULL; at = at->next) {
        count += at->peer == peer && at->into != NULL;
    }
    return count;
}

// In the order of their headers, because that is the order of the bodies.
static bool pump_receives(mxn_dist *dist, uint64_t now_ns)
{
    mxn_probe *probe = dist->probe;
    bool any = false;
    if (probe->receives == NULL) {
        if (probe->pool.spare_bytes > 0 && now_ns >= probe->received_ns + SPARE_NS) {
            mxn__pool_fini(&probe->pool);
        }
        return false;
    }
    if (!is_quiet(dist, now_ns)) {
        return false;
    }
    for (probe_receive *at = probe->receives, *next; at != NULL && !dist->has_failed_all;
         at = next) {
        next = at->next;
        if (at->into == NULL && posted_of(probe, at->peer) < WINDOW) {
            post(at);
            any = true;
        }
    }
    return any;
}

void mxn__probe_handle(mxn_dist *dist, uint32_t peer, const mxn_wire *header)
{
    mxn_probe *probe = dist->probe;
    uint32_t count = 0;
    probe_receive **last = probe == NULL ? NULL : &probe->receives;
    for (; last != NULL && *last != NULL; last = &(*last)->next) {
        count += (*last)->peer == peer;
    }
    if (last == NULL || (dist->transport->peers[peer].roles & MXN_ROLE_WORKER) == 0 ||
        count >= MXN_PROBE_PIECES_MAX || !mxn__wire_has_body(header)) {
        mxn__dist_lose(dist, peer, "it probes the network more than it may");
        return;
    }
    probe_receive *of = mxp__alloc(sizeof *of);
    if (of == NULL) {
        mxn_dist_fail(dist, "there is no memory for the probe of the network");
        return;
    }
    *of = (probe_receive){.dist = dist, .peer = peer, .header = *header};
    *last = of;
}

bool mxn__probe_pump(mxn_dist *dist)
{
    const mxn_probe *probe = dist->probe;
    if (probe == NULL ||
        (!probe->is_on && probe->receives == NULL && probe->pool.spare_bytes == 0)) {
        return false;
    }
    const uint64_t now_ns = mxp__os_monotonic_ns();
    const bool sent = pump_sends(dist, now_ns);
    return pump_receives(dist, now_ns) || sent;
}
