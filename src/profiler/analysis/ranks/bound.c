// SPDX-License-Identifier: Apache-2.0
// See bound.h.
#include "profiler/analysis/ranks/bound.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/ranks/link_steps.h"
#include "profiler/analysis/ranks/step_waits.h"
#include "profiler/analysis/statistics/sample.h"

static const double rate_least = 0.8, rate_most = 1.2;  // of the probe's
static const double uneven = 1.5;  // the probe's best part over its median
static const double owner_least = 0.5;  // of what communication takes

static const char memory_for[] = "what bounds communication";

typedef struct search {
    const mxp_bound_owner *owners;
    size_t owner_count;
    mxp_bounds *bounds;
    bool sums_for_hosts;
    double *series;  // room for a value of each worker
} search;

typedef enum member { PROBE, STEP, BUSY, WAITED, NETWORK } member;

static double value_of(const mxp_bound_link *link, member which)
{
    return which == PROBE    ? (double)link->probe.bytes_per_s
           : which == STEP   ? link->step_ns
           : which == BUSY   ? link->busy_ns
           : which == WAITED ? link->waited_ns
                             : link->network_ns.middle;
}

// The median of the workers; of the probes, of those that have one.
static double middle_of(const search *self, member which)
{
    size_t count = 0;
    for (size_t i = 0; i < self->bounds->link_count; i++) {
        const double value = value_of(&self->bounds->links[i], which);
        if (which != PROBE || value > 0) {
            self->series[count++] = value;
        }
    }
    return count > 0 ? mxp__sample_middle(self->series, count) : 0;
}

// ---- the network -------------------------------------------------------------------------------
static bool is_even(const mxp_rank_probe *probe)
{
    return (double)probe->most <= uneven * (double)probe->bytes_per_s;
}

static bool is_within(double bytes_per_s, double probe)
{
    return bytes_per_s >= rate_least * probe && bytes_per_s <= rate_most * probe;
}

static bool has_rate(double bytes, double network_ns)
{
    return bytes >= MXP__BOUND_BYTES || network_ns >= MXP__BOUND_NS;
}

static bool link_has_rate(const mxp_bound_link *link)
{
    return has_rate(link->out_bytes + link->in_bytes, link->network_ns.middle);
}

// As fast as the probe, it seems.
static bool is_little(const mxp_bound_link *link)
{
    return !link_has_rate(link) &&
           link->bytes_per_s.middle >= rate_least * (double)link->probe.bytes_per_s;
}

static bool is_full(const mxp_bound_link *link)
{
    const double probe = (double)link->probe.bytes_per_s;
    return link->steps > 0 && probe > 0 && is_even(&link->probe) && link_has_rate(link) &&
           is_within(link->bytes_per_s.middle, probe) &&
           link->bytes_per_s.low >= rate_least * probe &&
           link->network_ns.middle >= MXP__BOUND_SHARE * link->step_ns;
}

static void find_full_links(mxp_bounds *bounds)
{
    for (size_t i = 0; i < bounds->link_count; i++) {
        mxp_bound_link *link = &bounds->links[i];
        const mxp_bound_link *shown =
            bounds->link == MXP__BOUND_NOWHERE ? NULL : &bounds->links[bounds->link];
        link->is_full = is_full(link);
        bounds->full_links += link->is_full;
        if (shown == NULL || link->is_full > shown->is_full ||
            (link->is_full == shown->is_full &&
             link->network_ns.middle > shown->network_ns.middle)) {
            bounds->link = (int)i;
        }
    }
}

static double owned_bytes(const mxp_bound_owner *owner)
{
    double bytes = 0;
    for (size_t i = 0; i < owner->waits->round_count; i++) {
        bytes += (double)owner->waits->rounds[i].bytes;
    }
    return bytes;
}

// What all workers move in a step, in one direction, while the one that takes longest for it does.
// Values come one after another where workers do: then the waits for each other belong to it.
static double rate_of_all(const mxp_bounds *bounds)
{
    double out_bytes = 0, in_bytes = 0, out_ns = 0, in_ns = 0;
    for (size_t i = 0; i < bounds->link_count; i++) {
        const mxp_bound_link *link = &bounds->links[i];
        out_bytes += link->out_bytes;
        in_bytes += link->in_bytes;
        out_ns = link->out_ns + link->way_waited_ns > out_ns ? link->out_ns + link->way_waited_ns
                                                             : out_ns;
        in_ns = link->in_ns > in_ns ? link->in_ns : in_ns;
    }
    const double out = out_ns > 0 ? out_bytes / out_ns * 1e9 : 0;
    const double in = in_ns > 0 ? in_bytes / in_ns * 1e9 : 0;
    return out > in ? out : in;
}

// Many workers that share the card of one server: each of them reaches a part of the rate, and all
// together the whole.
static void find_full_server(search *self)
{
    mxp_bounds *bounds = self->bounds;
    double all_owned = 0, bytes = 0;
    for (size_t i = 0; i < bounds->link_count; i++) {
        const mxp_rank_probe *probe = &bounds->links[i].probe;
        if (probe->bytes_per_s > 0 && !is_even(probe)) {
            return;
        }
        bytes += bounds->links[i].out_bytes + bounds->links[i].in_bytes;
    }
    for (size_t i = 0; i < self->owner_count; i++) {
        all_owned += owned_bytes(&self->owners[i]);
    }
    const double probe = middle_of(self, PROBE), all = rate_of_all(bounds);
    const bool keeps = middle_of(self, NETWORK) >= MXP__BOUND_SHARE * middle_of(self, STEP) &&
                       has_rate(bytes, middle_of(self, NETWORK));
    for (size_t i = 0; i < self->owner_count && keeps && all_owned > 0 && probe > 0; i++) {
        const double rate = all * owned_bytes(&self->owners[i]) / all_owned;
        if (self->owners[i].is_apart && is_within(rate, probe) &&
            rate > bounds->server_bytes_per_s) {
            bounds->server = (int)i;
            bounds->server_bytes_per_s = rate;
        }
    }
}

// Why nothing can be said of the network, if nothing can.
static mxp_bound_doubt doubt_of(const search *self)
{
    const mxp_bounds *bounds = self->bounds;
    mxp_bound_doubt doubt = MXP__DOUBT_NO_PROBE;
    if (self->sums_for_hosts && !bounds->are_of_hosts) {
        return MXP__DOUBT_HOSTS;
    }
    for (size_t i = 0; i < bounds->link_count; i++) {
        const mxp_bound_link *link = &bounds->links[i];
        const double probe = (double)link->probe.bytes_per_s;
        if (probe <= 0) {
            continue;
        }
        const mxp_bound_doubt own =
            link->steps == 0                                             ? MXP__DOUBT_NO_RATE
            : link->network_ns.middle < MXP__BOUND_SHARE * link->step_ns ? MXP__DOUBT_NONE
            : is_little(link)                                            ? MXP__DOUBT_LITTLE
            : link->bytes_per_s.middle > rate_most * probe               ? MXP__DOUBT_SLOW_PROBE
            : !is_even(&link->probe)                                     ? MXP__DOUBT_UNEVEN
                                                                         : MXP__DOUBT_NONE;
        if (own == MXP__DOUBT_NONE) {
            return own;
        }
        doubt = own > doubt ? own : doubt;
    }
    return doubt;
}

// ---- owners ------------------------------------------------------------------------------------
// The part of its time in which an owner adds, or owes answers that all values are here for.
static int busy_share(const mxp_bound_owner *owner, double *share)
{
    const mxp_rank_waits *waits = owner->waits;
    static const mxp_rank plain;
    double add_ns = 0;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    mxp_rank_time *times = mxp__alloc(waits->round_count * sizeof *times);
    *share = 0;
    if (waits->round_count == 0) {
        return MXP_OK;
    }
    if (times == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < waits->round_count; i++) {
        const mxp_rank_round *round = &waits->rounds[i];
        add_ns += (double)round->add_ns;
        first_ns = round->begin_ns < first_ns ? round->begin_ns : first_ns;
        last_ns = round->end_ns > last_ns ? round->end_ns : last_ns;
        times[i] = (mxp_rank_time){round->end_ns - (int64_t)round->own_ns, round->end_ns};
    }
    const double own_ns = mxp__blocked_by(&plain, times, waits->round_count);
    const double length_ns = (double)last_ns - (double)first_ns;
    *share = length_ns > 0 ? (own_ns > add_ns ? own_ns : add_ns) / length_ns : 0;
    mxp__free(times, waits->round_count * sizeof *times);
    return MXP_OK;
}

static int find_owner(search *self)
{
    mxp_bounds *bounds = self->bounds;
    const double step_ns = middle_of(self, STEP);
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < self->owner_count; i++) {
        double share = 0;
        if (self->owners[i].waits->round_count == 0 || !self->owners[i].waits->rounds[0].has_own) {
            continue;
        }
        error = busy_share(&self->owners[i], &share);
        if (bounds->owner == MXP__BOUND_NOWHERE || share * step_ns > bounds->owner_ns) {
            bounds->owner = (int)i;
            bounds->owner_ns = share * step_ns;
        }
    }
    return error;
}

static bool is_owner_bound(const search *self)
{
    const double owner_ns = self->bounds->owner_ns;
    return self->bounds->owner != MXP__BOUND_NOWHERE &&
           owner_ns >= MXP__BOUND_SHARE * middle_of(self, STEP) &&
           owner_ns > middle_of(self, WAITED) && owner_ns >= owner_least * middle_of(self, BUSY);
}

// ---- both --------------------------------------------------------------------------------------
static void decide(search *self)
{
    mxp_bounds *bounds = self->bounds;
    find_full_links(bounds);
    bounds->doubt = doubt_of(self);
    if (bounds->doubt == MXP__DOUBT_HOSTS) {
        bounds->full_links = 0;
    } else if (bounds->full_links == 0) {
        find_full_server(self);
    }
    const bool is_network = bounds->full_links > 0 || bounds->server != MXP__BOUND_NOWHERE;
    const bool is_owners = is_owner_bound(self);
    const double network_ns = bounds->full_links > 0 ? bounds->links[bounds->link].network_ns.middle
                                                     : middle_of(self, NETWORK);
    if (is_network && (!is_owners || network_ns >= bounds->owner_ns)) {
        bounds->bound = MXP__BOUND_NETWORK;
        bounds->doubt = MXP__DOUBT_NONE;
    } else if (is_owners) {
        bounds->bound = MXP__BOUND_OWNERS;
    } else {
        bounds->bound = bounds->doubt == MXP__DOUBT_NONE ? MXP__BOUND_NEITHER : MXP__BOUND_UNKNOWN;
    }
}

int mxp__bounds_find(const mxp_rank *ranks, size_t rank_count, const mxp_bound_owner *owners,
                     size_t owner_count, mxp_bounds *bounds)
{
    mxp_id_map owner_times = {0};
    *bounds = (mxp_bounds){.link_count = rank_count,
                           .link = MXP__BOUND_NOWHERE,
                           .server = MXP__BOUND_NOWHERE,
                           .owner = MXP__BOUND_NOWHERE};
    search self = {.owners = owners, .owner_count = owner_count, .bounds = bounds};
    bounds->links = mxp__alloc(rank_count * sizeof *bounds->links);
    self.series = mxp__alloc(rank_count * sizeof *self.series);
    int error = rank_count > 0 && (bounds->links == NULL || self.series == NULL)
                    ? mxp__fail_memory(memory_for)
                    : mxp__owner_times_make(owners, owner_count, &owner_times);
    for (size_t i = 0; i < rank_count; i++) {
        self.sums_for_hosts |= ranks[i].waits->sums_for_host;
        bounds->are_of_hosts |= ranks[i].waits->forward_count > 0;
    }
    for (size_t i = 0; error == MXP_OK && i < rank_count; i++) {
        bounds->links[i].probe = ranks[i].waits->probe;
        error =
            mxp__link_steps_read(&ranks[i], &owner_times, bounds->are_of_hosts, &bounds->links[i]);
    }
    if (error == MXP_OK) {
        error = find_owner(&self);
    }
    if (error == MXP_OK && rank_count > 0) {
        decide(&self);
    }
    mxp__free(self.series, rank_count * sizeof *self.series);
    mxp__id_map_fini(&owner_times);
    return error;
}

void mxp__bounds_fini(mxp_bounds *bounds)
{
    mxp__free(bounds->links, bounds->link_count * sizeof *bounds->links);
    *bounds = (mxp_bounds){.link = MXP__BOUND_NOWHERE};
}
