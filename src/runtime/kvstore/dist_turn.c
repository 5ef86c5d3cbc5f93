// SPDX-License-Identifier: Apache-2.0
// A node's communication thread: turn after turn it takes what was submitted, lets the transport,
// the owner and the worker do their part, and rests when nothing happens.
#include "base/os/os.h"
#include "runtime/kvstore/dist_probe.h"
#include "runtime/kvstore/dist_record.h"

// How long the thread looks for messages again before it sleeps, and how long it sleeps at most.
#define LOOK_AGAIN_NS UINT64_C(20000)
#define SLEEP_NS UINT64_C(10000000)
#define SETTLE_LOOK_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

// ---- turns -------------------------------------------------------------------------------------
static bool take_submitted(mxn_dist *dist)
{
    const bool is_held = mxn__probe_holds(dist);
    mxp__lock(&dist->lock);
    mxn_dist_op *ops = is_held ? NULL : dist->submitted;
    mxn_dist_request *requests = dist->answered;
    if (!is_held) {
        dist->submitted = dist->submitted_last = NULL;
    }
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

void mxn__dist_fail_all(mxn_dist *dist)
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
    mxn__dist_fail_all(dist);
    any |= dist->transport->ops->progress(dist->transport);
    any |= mxn__owner_pump(dist);
    any |= mxn__worker_pump(dist);
    any |= mxn__probe_pump(dist);
    mxn__record_counters(dist);
    mxn__dist_fail_all(dist);
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
        dist->transport->ops->sleep(dist->transport, mxn__probe_waits(dist) ? SETTLE_LOOK_NS
                                                     : is_exact             ? SECOND_NS / 4
                                                                            : SLEEP_NS);
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
    return dist->ops == 0 && dist->buckets_sent == 0 && mxn__owner_is_idle(dist) &&
           mxn__probe_is_idle(dist);
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

void mxn__dist_run(mxn_dist *dist)
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
