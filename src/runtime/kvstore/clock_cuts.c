// SPDX-License-Identifier: Apache-2.0
// See clock_cuts.h. One PING is under way at a time, so that what waits behind it delays no other.
// Its length is measured by CLOCK_MONOTONIC_RAW, read outside of the ticks on both sides: that
// makes it longer by the time of two readings, never shorter.
#include "runtime/kvstore/clock_cuts.h"

#include <mxprof/error.h>
#include <mxprof/gate.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"

enum { OPEN_EXCHANGES = 16, REFRESH_EXCHANGES = 4 };
static const uint64_t refresh_ns = 1000000000;

struct mxn_clock_cuts {
    const mxn_transport *transport;
    mxn_clock_send *send;
    void *context;
    mxp_clock_owner owner;
    uint32_t head;  // the peer that is asked
    bool asks;
    bool is_closing;
    unsigned left;  // exchanges of this burst
    uint64_t number;  // of the PING under way
    uint64_t sent_ticks, sent_raw_ns;
    uint64_t last_ns;  // when the last burst began
    unsigned owed;  // by worker 0 at the end: answers to those it has invited
    size_t count;
    mxp_clock_cut all[MXP_CLOCK_CUTS_MAX];
};

// ---- who is who --------------------------------------------------------------------------------
static uint32_t find_head(const mxn_transport *transport)
{
    for (uint32_t i = 0; i < transport->size; i++) {
        const mxn_peer *peer = &transport->peers[i];
        if ((peer->roles & MXN_ROLE_WORKER) != 0 && peer->worker == 0) {
            return i;
        }
    }
    return 0;
}

// The first of its machine, but for the head.
static bool find_asks(const mxn_transport *transport, uint32_t peer, uint32_t head)
{
    for (uint32_t i = 0; i < peer; i++) {
        if (i != head && mxn__peers_share_machine(&transport->peers[i], &transport->peers[peer])) {
            return false;
        }
    }
    return peer != head;
}

// Servers and schedulers do not know when a training ends.
static bool is_invited(const mxn_clock_cuts *cuts, uint32_t peer)
{
    return (cuts->transport->peers[peer].roles & MXN_ROLE_WORKER) == 0 &&
           find_asks(cuts->transport, peer, cuts->head);
}

// What `mxprof run` calls the job, or a number made of who takes part: the same in all processes.
static uint64_t job_number(const mxn_transport *transport)
{
    static const uint64_t prime = UINT64_C(0x100000001b3);
    const char *given = getenv("MXPROF_RUN_JOB");
    uint64_t number = given != NULL ? strtoull(given, NULL, 16) : 0;
    if (number != 0) {
        return number;
    }
    number = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < transport->size; i++) {
        const mxn_peer *peer = &transport->peers[i];
        for (const char *at = peer->host; *at != '\0'; at++) {
            number = (number ^ (unsigned char)*at) * prime;
        }
        number = (number ^ peer->pid) * prime;
    }
    return number == 0 ? 1 : number;
}

static void describe_owner(const mxn_transport *transport, mxp_clock_owner *owner)
{
    const mxn_peer *own = &transport->peers[transport->rank];
    const bool is_worker = (own->roles & MXN_ROLE_WORKER) != 0;
    *owner = (mxp_clock_owner){
        .job = job_number(transport),
        .role = is_worker                                ? MXP_ROLE_WORKER
                : (own->roles & MXN_ROLE_SCHEDULER) != 0 ? MXP_ROLE_SCHEDULER
                                                         : MXP_ROLE_SERVER,
        .rank = is_worker ? own->worker : own->owner,
        .process = transport->rank,
        .flags = getenv("MXPROF_TEST_CLOCK") != NULL ? MXP_CLOCK_IS_TEST : 0,
    };
    memcpy(owner->boot_id, own->boot_id, sizeof owner->boot_id);
    owner->boot_id[sizeof owner->boot_id - 1] = '\0';
    memcpy(owner->host, own->host, sizeof owner->host);
    owner->host[sizeof owner->host - 1] = '\0';
}

static void publish(const mxn_clock_cuts *cuts)
{
    (void)mxp_clock_cuts(&cuts->owner, cuts->all, cuts->count);
}

int mxn_clock_cuts_create(const mxn_transport *transport, mxn_clock_send *send, void *context,
                          mxn_clock_cuts **cuts)
{
    mxn_clock_cuts *made = mxp__alloc(sizeof *made);
    *cuts = made;
    if (made == NULL) {
        return mxp__fail_memory("how the clock lies to the other machines'");
    }
    made->transport = transport;
    made->send = send;
    made->context = context;
    made->head = find_head(transport);
    // A clock that a test shifts is no machine's: who has one asks for itself.
    made->asks = find_asks(transport, transport->rank, made->head) ||
                 (getenv("MXPROF_TEST_CLOCK") != NULL && transport->rank != made->head);
    describe_owner(transport, &made->owner);
    publish(made);
    return MXP_OK;
}

void mxn_clock_cuts_free(mxn_clock_cuts *cuts)
{
    mxp__free(cuts, sizeof *cuts);
}

// ---- thinning ----------------------------------------------------------------------------------
// Whether the middle one of three bounds keeps lines away that the other two let pass.
static bool bends(uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1, uint64_t x2, uint64_t y2)
{
    const long double part = (long double)x1 - (long double)x0;
    const long double whole = (long double)x2 - (long double)x0;
    return ((long double)y1 - (long double)y0) * whole > ((long double)y2 - (long double)y0) * part;
}

// Marks those on the hull of the lows (from above), or of the highs (from below).
static void mark_hull(const mxp_clock_cut *all, size_t count, bool of_lows, bool *kept)
{
    static uint16_t hull[MXP_CLOCK_CUTS_MAX];  // the communication thread's
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        while (length >= 2) {
            const mxp_clock_cut *a = &all[hull[length - 2]], *b = &all[hull[length - 1]];
            const mxp_clock_cut *c = &all[i];
            const bool is_hull =
                of_lows
                    ? bends(a->ticks, a->low_ns, b->ticks, b->low_ns, c->ticks, c->low_ns)
                    : bends(a->ticks, ~a->high_ns, b->ticks, ~b->high_ns, c->ticks, ~c->high_ns);
            if (is_hull) {
                break;
            }
            length--;
        }
        hull[length++] = (uint16_t)i;
    }
    for (size_t i = 0; i < length; i++) {
        kept[hull[i]] = true;
    }
}

static uint64_t width_of(const mxp_clock_cut *cut)
{
    return cut->high_ns - cut->low_ns;
}

// Of each four neighbours the loosest one goes, unless a line may just pass it.
size_t mxn__clock_cuts_thin(mxp_clock_cut *all, size_t count)
{
    enum { NEIGHBOURS = 4 };
    bool kept[MXP_CLOCK_CUTS_MAX] = {false};
    size_t left = 0;
    mark_hull(all, count, true, kept);
    mark_hull(all, count, false, kept);
    for (size_t first = 0; first < count; first += NEIGHBOURS) {
        size_t loosest = SIZE_MAX;
        const size_t end = first + NEIGHBOURS < count ? first + NEIGHBOURS : count;
        for (size_t i = first; i < end; i++) {
            const bool is_looser =
                loosest == SIZE_MAX || width_of(&all[i]) > width_of(&all[loosest]);
            loosest = !kept[i] && is_looser ? i : loosest;
        }
        for (size_t i = first; i < end; i++) {
            if (i != loosest) {
                all[left++] = all[i];
            }
        }
    }
    return left;
}

void mxn__clock_cuts_add(mxn_clock_cuts *cuts, const mxp_clock_cut *cut)
{
    if (cuts->count == MXP_CLOCK_CUTS_MAX) {
        cuts->count = mxn__clock_cuts_thin(cuts->all, cuts->count);
    }
    if (cuts->count < MXP_CLOCK_CUTS_MAX) {
        cuts->all[cuts->count++] = *cut;
    }
}

// ---- exchanges ---------------------------------------------------------------------------------
static void ask(mxn_clock_cuts *cuts)
{
    mxn_wire header = mxn__wire(MXN_WIRE_PING);
    header.round = ++cuts->number;
    cuts->sent_raw_ns = mxp__os_raw_ns();
    cuts->sent_ticks = mxp_ticks();
    cuts->send(cuts->context, cuts->head, &header);
}

static void begin(mxn_clock_cuts *cuts, unsigned exchanges)
{
    const uint64_t now_ns = mxp__os_monotonic_ns();
    const bool is_late =
        now_ns - cuts->last_ns >= refresh_ns;  // the answer is: worker 0 had no ear
    if (!cuts->asks || (cuts->left > 0 && !is_late)) {
        return;
    }
    cuts->left = exchanges;
    cuts->last_ns = now_ns;
    ask(cuts);
}

// To those who would ask at the end, if they knew: an answer to nothing (number 0).
static void invite(mxn_clock_cuts *cuts)
{
    const mxn_wire header = mxn__wire(MXN_WIRE_PONG);
    for (uint32_t i = 0; i < cuts->transport->size; i++) {
        if (is_invited(cuts, i)) {
            cuts->owed += OPEN_EXCHANGES;
            cuts->send(cuts->context, i, &header);
        }
    }
}

static void answer(mxn_clock_cuts *cuts, uint32_t peer, const mxn_wire *ping)
{
    cuts->owed -= cuts->owed > 0 && is_invited(cuts, peer);
    mxn_wire header = mxn__wire(MXN_WIRE_PONG);
    header.round = ping->round;
    header.offset = mxp__os_raw_ns();
    header.wait_ns = mxp__os_raw_ns();
    cuts->send(cuts->context, peer, &header);
}

static void take(mxn_clock_cuts *cuts, const mxn_wire *pong)
{
    const uint64_t ticks = mxp_ticks();
    const uint64_t raw_ns = mxp__os_raw_ns();
    if (pong->round != cuts->number || cuts->left == 0 || ticks <= cuts->sent_ticks ||
        pong->wait_ns < pong->offset) {
        return;  // nothing that was asked
    }
    const double rate = (double)(raw_ns - cuts->sent_raw_ns) / (double)(ticks - cuts->sent_ticks);
    const mxp_clock_cut cut =
        mxp_clock_cut_of(cuts->sent_ticks, pong->offset, pong->wait_ns, ticks, rate, cuts->head);
    mxn__clock_cuts_add(cuts, &cut);
    if (--cuts->left == 0 || cuts->is_closing) {  // which may be cut off
        publish(cuts);
    }
    if (cuts->left > 0) {
        ask(cuts);
    }
}

void mxn_clock_cuts_handle(mxn_clock_cuts *cuts, uint32_t peer, const mxn_wire *header)
{
    if (header->kind == MXN_WIRE_PING) {
        answer(cuts, peer, header);
    } else if (header->kind == MXN_WIRE_PONG && peer == cuts->head) {
        if (header->round == 0) {
            (void)mxn_clock_cuts_close(cuts);
        } else {
            take(cuts, header);
        }
    }
}

// ---- when --------------------------------------------------------------------------------------
void mxn_clock_cuts_open(mxn_clock_cuts *cuts)
{
    begin(cuts, OPEN_EXCHANGES);
}

void mxn_clock_cuts_refresh(mxn_clock_cuts *cuts)
{
    if (!cuts->is_closing && mxp__os_monotonic_ns() - cuts->last_ns >= refresh_ns) {
        begin(cuts, cuts->count == 0 ? OPEN_EXCHANGES : REFRESH_EXCHANGES);
    }
}

bool mxn_clock_cuts_are_under_way(const mxn_clock_cuts *cuts)
{
    return cuts->left > 0;
}

bool mxn_clock_cuts_close(mxn_clock_cuts *cuts)
{
    if (!cuts->is_closing) {
        cuts->is_closing = true;
        cuts->left = 0;  // what is under way would be answered too late to count twice
        begin(cuts, OPEN_EXCHANGES);
        if (cuts->transport->rank == cuts->head) {
            invite(cuts);
        }
    }
    return cuts->left > 0 || cuts->owed > 0;
}

const mxp_clock_cut *mxn_clock_cuts_all(const mxn_clock_cuts *cuts, size_t *count)
{
    *count = cuts->count;
    return cuts->all;
}
