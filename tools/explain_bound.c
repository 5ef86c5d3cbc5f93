// SPDX-License-Identifier: Apache-2.0
// See explain_bound.h.
#include "explain_bound.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "text/figure.h"
#include "text/label.h"

static const char memory_for[] = "what bounds communication";

// ---- making ------------------------------------------------------------------------------------
int mxp__explain_owner_add(mxp_explain_ranks *ranks, const mxp_rank_waits *waits, const char *name,
                           bool is_apart)
{
    if (waits->round_count == 0) {
        return MXP_OK;
    }
    if (mxp__grow(&ranks->owners, &ranks->owner_capacity, ranks->owner_count + 1,
                  sizeof *ranks->owners) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_rank_owner *owner = &ranks->owners[ranks->owner_count++];
    *owner = (mxp_rank_owner){
        .name = name, .rounds = waits->round_count, .waits = waits, .is_apart = is_apart};
    for (size_t i = 0; i < waits->round_count; i++) {
        const mxp_rank_round *round = &waits->rounds[i];
        const double length_ns = (double)round->end_ns - (double)round->begin_ns;
        const double spread_ns = (double)round->spread_ns;
        const double own_ns =
            (double)(round->add_ns > round->own_ns ? round->add_ns : round->own_ns);
        owner->spread_ns += spread_ns;
        owner->busy_ns += round->has_own          ? own_ns
                          : length_ns > spread_ns ? length_ns - spread_ns
                                                  : 0;
    }
    return MXP_OK;
}

int mxp__explain_bound_make(mxp_explain_ranks *ranks, const mxp_rank *workers, size_t count)
{
    mxp_bound_owner *owners = mxp__alloc(ranks->owner_count * sizeof *owners);
    if (owners == NULL && ranks->owner_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < ranks->owner_count; i++) {
        owners[i] = (mxp_bound_owner){ranks->owners[i].waits, ranks->owners[i].is_apart};
    }
    const int error = mxp__bounds_find(workers, count, owners, ranks->owner_count, &ranks->bounds);
    const mxp_bounds *bounds = &ranks->bounds;
    if (error == MXP_OK && bounds->link != MXP__BOUND_NOWHERE &&
        bounds->links[bounds->link].probe.peer != NULL) {
        snprintf(ranks->probed, sizeof ranks->probed, "%s", bounds->links[bounds->link].probe.peer);
    }
    mxp__free(owners, ranks->owner_count * sizeof *owners);
    return error;
}

// ---- words -------------------------------------------------------------------------------------
static void put_rate(double bytes_per_s, mxp_strbuf *out)
{
    mxp__put_bytes(bytes_per_s, out);
    mxp__strbuf_puts(out, "/s");
}

// The probe's slowest and fastest part.
static void put_spread(const mxp_rank_probe *probe, mxp_strbuf *out)
{
    put_rate((double)probe->least, out);
    mxp__strbuf_puts(out, " to ");
    put_rate((double)probe->most, out);
}

static double part_of(double value, double whole)
{
    return whole > 0 ? value / whole : 0;
}

// "moves 38.9 MB/s, 97 % of the 40.1 MB/s of its probe to server 0 (39.2 MB/s to 41.0 MB/s)"
static void put_reached(const mxp_explain_ranks *ranks, const mxp_bound_link *link, mxp_strbuf *out)
{
    const double probe = (double)link->probe.bytes_per_s;
    put_rate(link->bytes_per_s.middle, out);
    mxp__strbuf_printf(out, " (%.0f %%) of the ", 100 * part_of(link->bytes_per_s.middle, probe));
    put_rate(probe, out);
    mxp__strbuf_printf(out, "\nthat its probe reached to %s at the start (",
                       ranks->probed[0] != '\0' ? ranks->probed : "the next process");
    put_spread(&link->probe, out);
    mxp__strbuf_puts(out, ")");
}

static void put_kept(const mxp_bound_link *link, const mxp_screen *screen, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "Messages keep ");
    mxp__put_duration(screen, link->network_ns.middle, out);
    mxp__strbuf_puts(out, " (");
    mxp__put_duration(screen, link->network_ns.low, out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_duration(screen, link->network_ns.high, out);
    mxp__strbuf_puts(out, ") of a step of ");
    mxp__put_duration(screen, link->step_ns, out);
    mxp__strbuf_printf(out, ", %.0f %%.\n", 100 * part_of(link->network_ns.middle, link->step_ns));
}

static void put_links(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_bounds *bounds = &ranks->bounds;
    const mxp_bound_link *link = &bounds->links[bounds->link];
    mxp__strbuf_printf(out, "Network-bound: the way of %s carries ", ranks->names[bounds->link]);
    put_reached(ranks, link, out);
    mxp__strbuf_puts(out, ".\n");
    put_kept(link, screen, out);
    mxp__strbuf_printf(out, "The ways of %zu of %zu workers are full. Try fewer bytes: ",
                       bounds->full_links, bounds->link_count);
    mxp__strbuf_puts(out, bounds->are_of_hosts
                              ? "float16. They\ncarry the sums of hosts already.\n"
                              : "gradient compression,\nfloat16; or two levels where workers share "
                                "a host (MXNET_KVSTORE_LEVELS=2).\n");
}

static void put_server(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_bounds *bounds = &ranks->bounds;
    const mxp_bound_link *link = &bounds->links[bounds->link];
    mxp__strbuf_printf(out, "Network-bound: the way of %s carries ",
                       ranks->owners[bounds->server].name);
    put_rate(bounds->server_bytes_per_s, out);
    mxp__strbuf_puts(out, " of all workers, where\nthe probe of one reached ");
    put_rate((double)link->probe.bytes_per_s, out);
    mxp__strbuf_puts(out, " at the start (");
    put_spread(&link->probe, out);
    mxp__strbuf_puts(out, ").\n");
    put_kept(link, screen, out);
    mxp__strbuf_puts(out,
                     "Try more servers, or owners in the workers (no servers); or fewer bytes: ");
    mxp__strbuf_puts(out,
                     bounds->are_of_hosts ? "float16.\n" : "gradient\ncompression, float16.\n");
}

static void put_owners(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_bounds *bounds = &ranks->bounds;
    mxp__strbuf_printf(out, "Owner-bound: %s adds, updates and answers for ",
                       ranks->owners[bounds->owner].name);
    mxp__put_duration(screen, bounds->owner_ns, out);
    mxp__strbuf_printf(out,
                       " of a step,\n%.0f %% of it, and longer than workers wait for one "
                       "another.\n",
                       100 * part_of(bounds->owner_ns, ranks->found.step_ns));
    mxp__strbuf_puts(out, "Try more servers, or a cheaper optimizer on them.\n");
}

// Messages that are faster than their probe, which then had no core, are no share of it.
static bool is_slow_probe(const mxp_bound_link *link)
{
    return link->bytes_per_s.middle > (double)link->probe.bytes_per_s;
}

static void put_neither(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_bound_link *link = &ranks->bounds.links[ranks->bounds.link];
    mxp__strbuf_puts(out, "Neither network nor owners bound the job");
    if (!is_slow_probe(link)) {
        mxp__strbuf_printf(out, ":\nthe way of %s carries ", ranks->names[ranks->bounds.link]);
        put_reached(ranks, link, out);
    }
    mxp__strbuf_puts(out, ".\n");
    put_kept(link, screen, out);
    if (part_of(link->network_ns.middle, link->step_ns) >= MXP__BOUND_SHARE) {
        mxp__strbuf_puts(out,
                         "What takes time there are not bytes: try fewer and longer messages, by "
                         "larger\nbuckets (MXNET_KVSTORE_BUCKET_BYTES) or fewer keys.\n");
    }
}

static void put_unknown(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_bound_link *link = &ranks->bounds.links[ranks->bounds.link];
    mxp__strbuf_puts(out, "Whether the network bounds the job is unknown, because ");
    switch (ranks->bounds.doubt) {
    case MXP__DOUBT_NO_RATE:
        mxp__strbuf_puts(out, "no bytes that left a\nprocess are recorded in its steps.\n");
        break;
    case MXP__DOUBT_LITTLE:
        mxp__strbuf_puts(out, "a step moves ");
        mxp__put_bytes(link->out_bytes + link->in_bytes, out);
        mxp__strbuf_puts(out, "\nin ");
        mxp__put_duration(screen, link->network_ns.middle, out);
        mxp__strbuf_puts(out, ", too little for a rate that can be compared with the probe's.\n");
        break;
    case MXP__DOUBT_UNEVEN:
        mxp__strbuf_puts(out, "the start's probe was\nuneven: ");
        put_spread(&link->probe, out);
        mxp__strbuf_puts(out, ".\n");
        break;
    case MXP__DOUBT_SLOW_PROBE:
        mxp__strbuf_puts(out, "the start's probe\nreached ");
        put_rate((double)link->probe.bytes_per_s, out);
        mxp__strbuf_puts(out, ", and messages of the steps ");
        put_rate(link->bytes_per_s.middle, out);
        mxp__strbuf_puts(out, ".\n");
        break;
    case MXP__DOUBT_HOSTS:
        mxp__strbuf_puts(out, "workers of a host\nare summed first, and what leaves it is not "
                              "measured.\n");
        break;
    default:
        mxp__strbuf_puts(out, "no probe was recorded.\n");
        break;
    }
}

void mxp__explain_bound_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out)
{
    const mxp_bounds *bounds = &ranks->bounds;
    if (bounds->bound == MXP__BOUND_OWNERS) {
        put_owners(ranks, screen, out);
    } else if (bounds->bound == MXP__BOUND_UNKNOWN) {
        put_unknown(ranks, screen, out);
    } else if (bounds->bound == MXP__BOUND_NEITHER) {
        put_neither(ranks, screen, out);
    } else if (bounds->full_links > 0) {
        put_links(ranks, screen, out);
    } else {
        put_server(ranks, screen, out);
    }
}

// ---- for programs ------------------------------------------------------------------------------
static void put_figure(mxp_json *json, const char *key, const mxp_bound_figure *of)
{
    mxp__json_object(json, key);
    mxp__json_number(json, "median", of->middle);
    mxp__json_number(json, "low", of->low);
    mxp__json_number(json, "high", of->high);
    mxp__json_end(json);
}

static void put_link_json(const mxp_explain_ranks *ranks, size_t place, mxp_json *json)
{
    const mxp_bound_link *link = &ranks->bounds.links[place];
    mxp__json_row(json, NULL);
    mxp__json_text(json, "worker", ranks->names[place]);
    mxp__json_bool(json, "is_full", link->is_full);
    put_figure(json, "bytes_per_s", &link->bytes_per_s);
    put_figure(json, "network_ns", &link->network_ns);
    mxp__json_number(json, "step_ns", link->step_ns);
    if (link->probe.bytes_per_s == 0) {
        mxp__json_null(json, "probe");
    } else {
        mxp__json_object(json, "probe");
        mxp__json_u64(json, "bytes_per_s", link->probe.bytes_per_s);
        mxp__json_u64(json, "least", link->probe.least);
        mxp__json_u64(json, "most", link->probe.most);
        mxp__json_bool(json, "elsewhere", link->probe.is_elsewhere);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__explain_bound_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    static const char *const names[] = {[MXP__BOUND_UNKNOWN] = "unknown",
                                        [MXP__BOUND_NEITHER] = "neither",
                                        [MXP__BOUND_NETWORK] = "network",
                                        [MXP__BOUND_OWNERS] = "owners"};
    static const char *const doubts[] = {
        [MXP__DOUBT_NO_PROBE] = "no probe was recorded",
        [MXP__DOUBT_NO_RATE] = "no bytes that left a process are recorded",
        [MXP__DOUBT_LITTLE] = "too little is moved for a rate",
        [MXP__DOUBT_UNEVEN] = "the probe was uneven",
        [MXP__DOUBT_SLOW_PROBE] = "the probe reached less than the messages",
        [MXP__DOUBT_HOSTS] = "workers of a host are summed first"};
    const mxp_bounds *bounds = &ranks->bounds;
    mxp__json_text(json, "bound", names[bounds->bound]);
    if (bounds->doubt == MXP__DOUBT_NONE) {
        mxp__json_null(json, "network_unknown");
    } else {
        mxp__json_text(json, "network_unknown", doubts[bounds->doubt]);
    }
    mxp__json_bool(json, "owner_bound", bounds->bound == MXP__BOUND_OWNERS);
    mxp__json_u64(json, "full_links", bounds->full_links);
    mxp__json_bool(json, "links_of_hosts", bounds->are_of_hosts);
    if (bounds->server == MXP__BOUND_NOWHERE) {
        mxp__json_null(json, "full_server");
    } else {
        mxp__json_text(json, "full_server", ranks->owners[bounds->server].name);
        mxp__json_number(json, "full_server_bytes_per_s", bounds->server_bytes_per_s);
    }
    if (bounds->owner == MXP__BOUND_NOWHERE) {
        mxp__json_null(json, "owner_ns");
    } else {
        mxp__json_number(json, "owner_ns", bounds->owner_ns);
    }
    mxp__json_array(json, "links");
    for (size_t i = 0; i < bounds->link_count; i++) {
        put_link_json(ranks, i, json);
    }
    mxp__json_end(json);
}
