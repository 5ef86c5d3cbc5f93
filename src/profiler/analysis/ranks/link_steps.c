// SPDX-License-Identifier: Apache-2.0
// See link_steps.h. Times are unions: sixty keys that are sent side by side share one way. The two
// directions have a union each, because a probe measures one of them while the other is used, too.
#include "profiler/analysis/ranks/link_steps.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/ranks/step_waits.h"
#include "profiler/analysis/statistics/sample.h"

static const char memory_for[] = "what the ways between processes carried";

typedef struct owner_time {
    uint64_t key, own_ns;
} owner_time;

int mxp__owner_times_make(const mxp_bound_owner *owners, size_t count, mxp_id_map *times)
{
    *times = (mxp_id_map){.entry_bytes = sizeof(owner_time)};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < owners[i].waits->round_count; j++) {
            const mxp_rank_round *round = &owners[i].waits->rounds[j];
            owner_time *time = mxp__id_map_add(times, mxp__round_number(round->key, round->round));
            if (time == NULL) {
                return mxp__fail_memory(memory_for);
            }
            time->own_ns = round->own_ns > time->own_ns ? round->own_ns : time->own_ns;
        }
    }
    return MXP_OK;
}

// ---- a step ------------------------------------------------------------------------------------
typedef struct gathered {
    mxp_rank_time *times;
    size_t count;
} gathered;

typedef struct step_figures {
    // Of each step.
    double *rates, *network, *spent, *waited, *lengths, *out_bytes, *in_bytes, *out_ns, *in_ns,
        *way_waited;
    size_t rate_count;
} step_figures;

typedef struct reading {
    const mxp_rank *rank;
    const mxp_rank_waits *ways;  // its `waits` are what went to others
    const mxp_id_map *owner_times;
    gathered out, in, both, whole, waits, way_waits;  // room for the operations of all steps
    step_figures of;
} reading;

static void add(gathered *to, int64_t from_ns, int64_t to_ns)
{
    if (to_ns > from_ns) {
        to->times[to->count++] = (mxp_rank_time){from_ns, to_ns};
    }
}

static double length_of(const gathered *of)
{
    static const mxp_rank plain;  // blocked for all of it
    return mxp__blocked_by(&plain, of->times, of->count);
}

static uint64_t own_ns_of(const reading *self, const mxp_rank_wait *of)
{
    const owner_time *time =
        mxp__id_map_find(self->owner_times, mxp__round_number(of->key, of->round));
    return time != NULL ? time->own_ns : 0;
}

// What came back took the end of the operation: from the first value on, and at least what sending,
// waiting and the owner leave. A pull waits for nobody, so all of it counts.
static int64_t back_from(const reading *self, const mxp_rank_wait *of)
{
    const uint64_t whole_ns = (uint64_t)of->end_ns - (uint64_t)of->begin_ns;
    const uint64_t other_ns = of->send_ns + of->waited_ns + own_ns_of(self, of);
    uint64_t back_ns = whole_ns > other_ns ? whole_ns - other_ns : 0;
    back_ns = of->receive_ns > back_ns ? of->receive_ns : back_ns;
    back_ns = !of->goes_out || back_ns > whole_ns ? whole_ns : back_ns;
    return of->end_ns - (int64_t)back_ns;
}

static void add_waited(gathered *to, const mxp_rank_wait *of)
{
    add(to, of->end_ns - (int64_t)of->waited_ns, of->end_ns);
}

static void gather_ways(reading *self, const mxp_rank_step *step, double *out_bytes,
                        double *in_bytes)
{
    const size_t end = mxp__first_wait(self->ways, step->end_ns);
    *out_bytes = *in_bytes = 0;
    self->out.count = self->in.count = self->both.count = self->way_waits.count = 0;
    for (size_t i = mxp__first_wait(self->ways, step->begin_ns); i < end; i++) {
        const mxp_rank_wait *of = &self->ways->waits[i];
        const int64_t sent_ns = of->begin_ns + (int64_t)of->send_ns;
        if (of->bytes_out > 0) {
            add(&self->out, of->begin_ns, sent_ns);
            add(&self->both, of->begin_ns, sent_ns);
        }
        if (of->bytes_in > 0) {
            add(&self->in, back_from(self, of), of->end_ns);
            add(&self->both, back_from(self, of), of->end_ns);
        }
        add_waited(&self->way_waits, of);
        *out_bytes += (double)of->bytes_out;
        *in_bytes += (double)of->bytes_in;
    }
}

static void gather_operations(reading *self, const mxp_rank_step *step)
{
    const mxp_rank_waits *waits = self->rank->waits;
    const size_t end = mxp__first_wait(waits, step->end_ns);
    self->whole.count = self->waits.count = 0;
    for (size_t i = mxp__first_wait(waits, step->begin_ns); i < end; i++) {
        add(&self->whole, waits->waits[i].begin_ns, waits->waits[i].end_ns);
        add_waited(&self->waits, &waits->waits[i]);
    }
}

static void read_step(reading *self, size_t place)
{
    const mxp_rank_step *step = &self->rank->steps[place];
    step_figures *of = &self->of;
    gather_ways(self, step, &of->out_bytes[place], &of->in_bytes[place]);
    gather_operations(self, step);
    of->way_waited[place] = length_of(&self->way_waits);
    of->out_ns[place] = length_of(&self->out);
    of->in_ns[place] = length_of(&self->in);
    const double bytes = of->out_bytes[place] + of->in_bytes[place];
    const double way_ns = of->out_ns[place] + of->in_ns[place];
    if (bytes > 0 && way_ns > 0) {
        of->rates[of->rate_count++] = bytes / way_ns * 1e9;
    }
    of->network[place] = mxp__blocked_by(self->rank, self->both.times, self->both.count);
    of->waited[place] = length_of(&self->waits);
    of->spent[place] = length_of(&self->whole) - of->waited[place];
    of->lengths[place] = (double)step->end_ns - (double)step->begin_ns;
}

// ---- all steps ---------------------------------------------------------------------------------
static mxp_bound_figure figure_of(double *values, size_t count)
{
    if (count == 0) {
        return (mxp_bound_figure){0, 0, 0};
    }
    mxp__sample_sort(values, count);
    // Order statistics of the median, 95 %.
    const double n = (double)count, room = 0.98 * sqrt(n);
    const double low = floor(n / 2 - room), high = ceil(n / 2 + room);
    return (mxp_bound_figure){mxp__sample_median(values, count), values[low < 0 ? 0 : (size_t)low],
                              values[high > n - 1 ? count - 1 : (size_t)high]};
}

int mxp__link_steps_read(const mxp_rank *rank, const mxp_id_map *owner_times, bool sums_for_hosts,
                         mxp_bound_link *link)
{
    enum { SERIES = 10, GATHERED = 7 };  // `both` holds two of each operation
    const mxp_rank_waits *own = rank->waits;
    const mxp_rank_waits forwards = {.waits = own->forwards, .wait_count = own->forward_count};
    const size_t steps = rank->step_count;
    const size_t waits =
        own->wait_count > own->forward_count ? own->wait_count : own->forward_count;
    double *series = mxp__alloc(SERIES * steps * sizeof *series);
    mxp_rank_time *times = mxp__alloc(GATHERED * waits * sizeof *times);
    int error = MXP_OK;
    if ((series == NULL && steps > 0) || (times == NULL && waits > 0)) {
        error = mxp__fail_memory(memory_for);
    } else if (steps > 0 && waits > 0) {
        reading self = {.rank = rank,
                        .ways = sums_for_hosts ? &forwards : own,
                        .owner_times = owner_times,
                        .out = {.times = times},
                        .in = {.times = times + waits},
                        .both = {.times = times + 2 * waits},
                        .whole = {.times = times + 4 * waits},
                        .waits = {.times = times + 5 * waits},
                        .way_waits = {.times = times + 6 * waits},
                        .of = {series, series + steps, series + 2 * steps, series + 3 * steps,
                               series + 4 * steps, series + 5 * steps, series + 6 * steps,
                               series + 7 * steps, series + 8 * steps, series + 9 * steps, 0}};
        for (size_t i = 0; i < steps; i++) {
            read_step(&self, i);
        }
        link->steps = self.of.rate_count;
        link->bytes_per_s = figure_of(self.of.rates, self.of.rate_count);
        link->network_ns = figure_of(self.of.network, steps);
        link->busy_ns = mxp__sample_middle(self.of.spent, steps);
        link->waited_ns = mxp__sample_middle(self.of.waited, steps);
        link->way_waited_ns = mxp__sample_middle(self.of.way_waited, steps);
        link->step_ns = mxp__sample_middle(self.of.lengths, steps);
        link->out_bytes = mxp__sample_middle(self.of.out_bytes, steps);
        link->in_bytes = mxp__sample_middle(self.of.in_bytes, steps);
        link->out_ns = mxp__sample_middle(self.of.out_ns, steps);
        link->in_ns = mxp__sample_middle(self.of.in_ns, steps);
    }
    mxp__free(times, times != NULL ? GATHERED * waits * sizeof *times : 0);
    mxp__free(series, series != NULL ? SERIES * steps * sizeof *series : 0);
    return error;
}
